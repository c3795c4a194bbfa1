"""Which columns of values a feed has, and what they are called in each version.

A feed may show rows of versions with different schemas. Its columns have the names of the last
version; a column that was renamed on the way is one, and one that was dropped comes after those.
What else a column may be called is told by :mod:`lance_explorer.changes.column_names`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

from lance_explorer.changes.column_names import FeedColumns
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.schema import NO_PARENT, Field
from lance_explorer.history.paths import path_between
from lance_explorer.history.rows.state_rows import StateRows
from lance_explorer.history.source import TableSource

__all__ = [
    "ValueColumns",
    "blob_columns",
    "check_key",
    "column_fields",
    "column_types",
    "value_columns",
]

_Schema = tuple[Field, ...]

_BLOB = "lance.blob.v2"
"""Extension of blob columns, from data format 2.2 on."""

_OLD_BLOB = "lance-encoding:blob"
"""Metadata of blob columns before that."""


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
        If none of the versions has a chosen column.
    FormatError
        If the transaction of a restore cannot be understood.
    StorageError
        If a version cannot be opened.
    """
    records = rows.history.records
    one_of_each = {id(records[position].schema): position for position in (*positions, end)}
    last = _top_level(records[end].schema)
    names = dict[int, dict[str, str]]()
    for key, position in sorted(one_of_each.items(), key=lambda item: -item[1]):
        own = _top_level(records[position].schema)
        steps = path_between(rows, position, end).steps
        begins_anew = any(records[step].operation == "Overwrite" for step in steps)
        later = {} if begins_anew else last  # IDs begin anew there
        kept_first = sorted(own.items(), key=lambda item: item[0] not in later)
        names[key] = {name: later.get(field_id, name) for field_id, name in kept_first}
    found = FeedColumns(_all_names(names.values()))
    for key, own_names in names.items():
        position = one_of_each[key]
        version = records[position].version
        names[key] = found.add(version, own_names, column_types(rows.source, version))
    return ValueColumns(found.schema(chosen), names)


def column_types(source: TableSource, version: int) -> pl.Schema:
    """Return the types of the columns of a version, with whole blobs; they are kept.

    Raises
    ------
    StorageError
        If the version cannot be opened.
    """
    from lance_explorer.values import row_schema

    key = f"{__name__}.{version}"
    if key not in source.kept:
        storage = source.storage
        source.kept[key] = row_schema(storage.uri, version, storage.options, whole_blobs=True)
    types: pl.Schema = source.kept[key]
    return types


def check_key(columns: ValueColumns) -> None:
    """Raise InvalidArgumentError unless all versions have these columns, of types that fit."""
    for name in columns.schema:
        if not all(name in here for here in columns.names.values()):
            raise InvalidArgumentError(
                f"rows cannot be matched by {name!r}: not all versions have it, or its type changed"
            )


def column_fields(schema: _Schema) -> dict[str, list[Field]]:
    """Return for each column the fields that it consists of."""
    columns, owners = dict[str, list[Field]](), dict[int, str]()
    for field in schema:  # depth first: parents come before their children
        is_column = field.parent_id == NO_PARENT
        owner = owners[field.id] = field.name if is_column else owners[field.parent_id]
        columns.setdefault(owner, []).append(field)
    return columns


def blob_columns(schema: _Schema) -> set[str]:
    """Return the columns that are blobs, or hold some."""
    return {name for name, fields in column_fields(schema).items() if any(map(_is_blob, fields))}


def _is_blob(field: Field) -> bool:
    return field.extension_name == _BLOB or dict(field.metadata).get(_OLD_BLOB) == b"true"


def _top_level(schema: _Schema) -> dict[int, str]:
    return {field.id: field.name for field in schema if field.parent_id == NO_PARENT}


def _all_names(several: Iterable[dict[str, str]]) -> list[str]:
    """Return the names of all versions, those of the last one first."""
    return list(dict.fromkeys([name for here in several for name in here.values()]))
