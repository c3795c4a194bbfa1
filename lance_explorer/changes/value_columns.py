"""Which columns of values a feed has, and what they are called in each version.

A feed may show rows of versions with different schemas. Its columns have the names of the last
version; a column that was renamed on the way is one, and one that was dropped comes after those.
What else a column may be called is told by :mod:`lance_explorer.changes.column_names`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from lance_explorer.changes.column_names import FeedColumns
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.format.schema import NO_PARENT, Field, is_blob
from lance_explorer.history.column_lives import ColumnLives, Doubt, Lives, column_lives
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import EMPTY
from lance_explorer.history.source import TableSource
from lance_explorer.history.value_files import value_root

__all__ = [
    "ValueColumns",
    "blob_columns",
    "check_key",
    "column_fields",
    "column_types",
    "known_types",
    "told_apart",
    "value_columns",
]

_Schema = tuple[Field, ...]

_Kind = tuple[_Schema, tuple[tuple[str, str], ...], frozenset[str]]
"""A schema, the names of its columns, each with that in the last version, and which are others."""


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """The columns of values of a feed.

    Attributes
    ----------
    schema : polars.Schema
        Their names and types; where a type changed, one that both fit in.
    names : mapping
        For each version, by the URI of its branch and its number, what a column is called there.
    doubts : tuple of Doubt
        Of which two columns it is not known whether they are one.
    """

    schema: pl.Schema
    names: dict[tuple[str, int], dict[str, str]]
    doubts: tuple[Doubt, ...] = ()

    def names_in(self, source: TableSource, version: int) -> dict[str, str]:
        """Return what the columns that a version of a branch has are called there."""
        return self.names[source.storage.uri, version]

    def empty(self) -> pl.DataFrame:
        """Return no rows."""
        return pl.DataFrame(schema=self.schema)

    def nulls(self, num_rows: int) -> pl.DataFrame:
        """Return rows of which nothing is known."""
        return self.empty().clear(num_rows)


def value_columns(
    rows: StateRows,
    positions: Iterable[int],
    end: int,
    chosen: Sequence[str] | None,
    lost: LostValues | None = None,
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
    lost : LostValues, optional
        With it versions that pylance cannot open are noted there, and have no columns.

    Raises
    ------
    InvalidArgumentError
        If none of the versions has a chosen column.
    """
    records = rows.history.records
    if end == EMPTY:  # which has no columns: those of the latest version stand for them
        end = len(records) - 1
    latest_first = sorted({*positions, end} - {EMPTY}, reverse=True)
    found_lives = column_lives(rows, latest_first)
    lives = found_lives.at
    last = _top_level(records[end].schema, lives[end])
    apart = _apart(last, [_top_level(records[p].schema, lives[p]) for p in latest_first])
    alike, kinds = dict[tuple[int, int], list[int]](), dict[_Kind, list[int]]()
    for position in latest_first:
        schema = records[position].schema
        shared = id(schema), id(lives[position])
        if shared not in alike:
            own = _top_level(schema, lives[position])
            kept_first = sorted(own.items(), key=lambda item: item[0] not in last)
            names = tuple([(name, last.get(life, name)) for life, name in kept_first])
            others = frozenset([name for life, name in own.items() if life in apart])
            alike[shared] = kinds.setdefault((schema, names, others), [])
        alike[shared].append(position)
    found = FeedColumns(list(dict.fromkeys([name for _, own, _ in kinds for _, name in own])))
    places = dict[tuple[str, int], dict[str, str]]()
    for (_, own_names, others), same in kinds.items():
        versions = [records[position].version for position in same]
        version, types = _known_types(rows, same, lost)
        there = {name: later for name, later in own_names if name in types}
        here = found.add(version, there, types, others)
        places |= {(rows.source.storage.uri, version): here for version in versions}
    columns = ValueColumns(found.schema(chosen), places)
    return replace(columns, doubts=told_apart(rows, latest_first, columns, found_lives))


def told_apart(
    rows: StateRows, positions: Sequence[int], columns: ValueColumns, found: ColumnLives
) -> tuple[Doubt, ...]:
    """Return the doubts about columns that are two in a feed, of which it has one at least.

    They name both as the feed does. ``positions`` are those of its versions, the latest first.
    """
    if not found.doubts:
        return ()
    places, seen = dict[int | None, dict[str, None]](), dict[int | None, list[int]]()
    for position in positions:
        record = rows.history.records[position]
        there = columns.names_in(rows.source, record.version)
        by_own_name = {own: place for place, own in there.items()}
        for life, own in _top_level(record.schema, found.at[position]).items():
            if own in by_own_name:
                places.setdefault(life, {})[by_own_name[own]] = None
                seen.setdefault(life, []).append(record.version)
    earlier = {doubt.after: doubt.before for doubt in found.doubts}
    doubts = list[Doubt]()
    for doubt in found.doubts:
        before = doubt.before
        while before not in places and before in earlier:  # no version of the feed has that one
            before = earlier[before]
        old, new = places.get(before, {}), places.get(doubt.after, {})
        if old and new and old.keys().isdisjoint(new) and columns.schema.keys() & {*old, *new}:
            had = [version for version in seen[before] if version < doubt.version_after]
            doubts.append(
                doubt._replace(
                    before=before,
                    version_before=next(iter(had or seen[before])),
                    name_before=next(iter(old)),
                    name_after=next(iter(new)),
                )
            )
    return tuple(doubts)


def column_types(source: TableSource, version: int) -> pl.Schema:
    """Return the types of the columns of a version, with whole blobs; they are kept."""
    from lance_explorer.values import row_schema

    key = f"{__name__}.{version}"
    if key not in source.kept:
        storage = source.storage
        source.kept[key] = row_schema(
            value_root(source, version), version, storage.options, whole_blobs=True
        )
    types: pl.Schema = source.kept[key]
    return types


def known_types(rows: StateRows, position: int, lost: LostValues | None) -> pl.Schema:
    """Return the same as :func:`column_types`, empty where the version is lost."""
    try:
        return column_types(rows.source, rows.history.records[position].version)
    except StorageError:
        if lost is None or not lost.has_unknown_format(rows, position):
            raise
        return pl.Schema()


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
    return {name for name, fields in column_fields(schema).items() if any(map(is_blob, fields))}


def _known_types(
    rows: StateRows, positions: Sequence[int], lost: LostValues | None
) -> tuple[int, pl.Schema]:
    """Return the types of versions of one schema, and the first of them that has them."""
    for position in positions:
        types = known_types(rows, position, lost)
        if types:
            break
    return rows.history.records[position].version, types


def _top_level(schema: _Schema, lives: Lives) -> dict[int, str]:
    """Return the names of columns, by the numbers of their lives."""
    return {lives[field.id]: field.name for field in schema if field.parent_id == NO_PARENT}


def _apart(last: Mapping[int, str], versions: Iterable[Mapping[int, str]]) -> set[int]:
    """Return the lives of columns that some version has beside the one which got their name."""
    return {
        life
        for own in versions
        for life, name in own.items()
        if life not in last and any(last.get(other) == name for other in own)
    }
