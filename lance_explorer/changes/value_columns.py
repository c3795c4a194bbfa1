"""Which columns of values a feed has, and what they are called in each version.

A feed may show rows of versions with different schemas. Its columns have the names of the last
version; a column that was renamed on the way is one, and one that was dropped comes after those.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.schema import NO_PARENT, Field
from lance_explorer.history.rows.state_rows import StateRows

__all__ = ["ValueColumns", "value_columns"]

_Schema = tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """The columns of values of a feed.

    Attributes
    ----------
    schema : polars.Schema
        Their names and types; where a type changed, one that both fit in.
    names : mapping
        For each version's schema, by its ``id()``, what a column is called there.
    """

    schema: pl.Schema
    names: dict[int, dict[str, str]]

    def empty(self) -> pl.DataFrame:
        """Return no rows."""
        return pl.DataFrame(schema=self.schema)

    def nulls(self, num_rows: int) -> pl.DataFrame:
        """Return rows of which nothing is known."""
        return self.empty().clear(num_rows)


def value_columns(
    rows: StateRows, positions: Iterable[int], end: int, chosen: Sequence[str] | None
) -> ValueColumns:
    """Return the columns that some versions have.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    positions : iterable of int
        The versions, by their positions.
    end : int
        The last of them, which names columns.
    chosen : sequence of str or None
        Which columns, in order; all by default.

    Raises
    ------
    InvalidArgumentError
        If none of the versions has a chosen column, or a column has types that do not fit
        together.
    StorageError
        If a version cannot be opened.
    """
    records = rows.history.records
    one_of_each = {id(records[position].schema): position for position in (*positions, end)}
    last = _top_level(records[end].schema)
    overwrites = [n for n in range(end + 1) if records[n].operation == "Overwrite"]
    names, empties = dict[int, dict[str, str]](), list[pl.DataFrame]()
    for key, position in sorted(one_of_each.items(), key=lambda item: -item[1]):
        own = _top_level(records[position].schema)
        later = {} if overwrites and position < overwrites[-1] else last  # IDs begin anew there
        here = {later.get(field_id, name): name for field_id, name in own.items()}
        names[key] = here
        empties.append(_empty(rows, position, here))
    wanted = list(chosen) if chosen is not None else _all_names(names.values())
    known = {name for here in names.values() for name in here}
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InvalidArgumentError(
            f"no column {missing[0]!r}; there are: {', '.join(_all_names(names.values()))}"
        )
    empties = [
        frame.select([name for name in wanted if name in frame.columns]) for frame in empties
    ]
    try:
        schema = pl.concat(empties, how="diagonal_relaxed").select(wanted).schema
    except pl.exceptions.PolarsError as error:
        raise InvalidArgumentError(
            f"columns changed to types that do not fit together: {error}; name others in columns="
        ) from error
    return ValueColumns(schema, names)


def _top_level(schema: _Schema) -> dict[int, str]:
    return {field.id: field.name for field in schema if field.parent_id == NO_PARENT}


def _all_names(several: Iterable[dict[str, str]]) -> list[str]:
    """Return the names of all versions, those of the last one first."""
    return list(dict.fromkeys([name for here in several for name in here]))


def _empty(rows: StateRows, position: int, names: dict[str, str]) -> pl.DataFrame:
    from lance_explorer.values import row_schema

    record, source = rows.history.records[position], rows.source
    key = f"{__name__}.{record.version}"
    if key not in source.kept:
        storage = source.storage
        source.kept[key] = row_schema(storage.uri, record.version, storage.options)
    types = source.kept[key]
    return pl.DataFrame(schema={name: types[own] for name, own in names.items()})
