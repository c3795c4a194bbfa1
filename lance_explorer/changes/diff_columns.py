"""The columns of values of two versions, of whatever branches, side by side."""

from collections.abc import Sequence

import polars as pl

from lance_explorer.changes.branches import PlaceRows
from lance_explorer.changes.diff_schema import FieldPair
from lance_explorer.changes.value_columns import ValueColumns
from lance_explorer.errors import InvalidArgumentError

__all__ = ["columns_of_both"]


def columns_of_both(
    first: PlaceRows, second: PlaceRows, pairs: Sequence[FieldPair], chosen: Sequence[str] | None
) -> ValueColumns:
    """Return the columns of two versions under the names of the second one.

    Parameters
    ----------
    first, second : PlaceRows
        The versions.
    pairs : sequence of FieldPair
        Which field is which.
    chosen : sequence of str or None
        Which columns, in order; all by default.

    Raises
    ------
    InvalidArgumentError
        If neither version has a chosen column, or a column has types that do not fit together.
    StorageError
        If a version cannot be opened.
    """
    columns = [pair for pair in pairs if pair.is_top_level]
    new = {pair.after.name: pair.after.name for pair in columns if pair.after}
    old = {
        pair.after.name if pair.after else pair.before.name: pair.before.name
        for pair in columns
        if pair.before
    }
    known = list(dict.fromkeys([*new, *old]))
    wanted = known if chosen is None else list(chosen)
    missing = [name for name in wanted if name not in known]
    if missing:
        raise InvalidArgumentError(f"no column {missing[0]!r}; there are: {', '.join(known)}")
    empties = [_empty(place, names, wanted) for place, names in ((second, new), (first, old))]
    try:
        schema = pl.concat(empties, how="diagonal_relaxed").select(wanted).schema
    except pl.exceptions.PolarsError as error:
        raise InvalidArgumentError(
            f"columns have types that do not fit together: {error}; name others in columns="
        ) from error
    return ValueColumns(schema, {id(first.record.schema): old, id(second.record.schema): new})


def _empty(place: PlaceRows, names: dict[str, str], wanted: Sequence[str]) -> pl.DataFrame:
    from lance_explorer.values import row_schema

    storage = place.rows.source.storage
    types = row_schema(storage.uri, place.version, storage.options)
    return pl.DataFrame(schema={name: types[names[name]] for name in wanted if name in names})
