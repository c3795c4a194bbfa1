"""Which columns of values a feed has, and what they are called in each version.

A feed may show rows of versions with different schemas. Each column has the name of the last
version that has it; one that was renamed or cast on the way is one, and those that were dropped
come last. What else a column may be called is told by
:mod:`lance_explorer.changes.column_names`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from lance_explorer.changes.column_names import FeedColumns
from lance_explorer.changes.lost_values import LostValues
from lance_explorer.errors import InvalidArgumentError, StorageError
from lance_explorer.format.schema import NO_PARENT, Field, column_fields, is_blob
from lance_explorer.history.column_lives import ColumnLives, Doubt, Lives, column_lives
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import EMPTY
from lance_explorer.history.source import TableSource
from lance_explorer.history.value_files import value_root
from lance_explorer.values.inner_names import InnerNames, inner_names, renamed, renamed_types

__all__ = [
    "ValueColumns",
    "blob_columns",
    "check_key",
    "column_types",
    "known_types",
    "told_apart",
    "value_columns",
]

_Schema = tuple[Field, ...]
_Named = tuple[tuple[int, str], ...]


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
    inside : mapping
        For some versions the names of fields inside of columns that are others in the feed.
    """

    schema: pl.Schema
    names: dict[tuple[str, int], dict[str, str]]
    doubts: tuple[Doubt, ...] = ()
    inside: Mapping[tuple[str, int], InnerNames] = field(default_factory=dict)

    def names_in(self, source: TableSource, version: int) -> dict[str, str]:
        """Return what the columns that a version of a branch has are called there."""
        return self.names[source.storage.uri, version]

    def named(self, values: pl.DataFrame, source: TableSource, version: int) -> pl.DataFrame:
        """Return values of a version under the names that all is called in the feed."""
        key = source.storage.uri, version
        there = {own: name for name, own in self.names[key].items() if own in values.columns}
        return renamed(values, self.inside.get(key, {})).rename(there)

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
    alike = dict[tuple[int, int], list[int]]()
    for position in latest_first:
        shared = id(records[position].schema), id(lives[position])
        alike.setdefault(shared, []).append(position)
    inner = _inner_names([(records[same[0]].schema, lives[same[0]]) for same in alike.values()])
    kinds = dict[tuple[_Schema, _Named, _Named], list[int]]()
    for same in alike.values():
        schema = records[same[0]].schema
        own = tuple(_top_level(schema, lives[same[0]]).items())
        numbers = {life: field_id for field_id, life in lives[same[0]].items()}
        wanted = tuple([(numbers[life], name) for life, name in inner.items() if life in numbers])
        kinds.setdefault((schema, own, wanted), []).extend(same)
    columns_of = [dict(own) for _, own, _ in kinds]
    names = _feed_names(columns_of)
    found = FeedColumns(dict.fromkeys([name for name, _ in names.values()]))
    places = dict[tuple[str, int], dict[str, str]]()
    inside = dict[tuple[str, int], InnerNames]()
    for columns, (kind, same) in zip(columns_of, kinds.items(), strict=True):
        versions = [records[position].version for position in same]
        version, types = _known_types(rows, same, lost)
        if names_inside := inner_names(kind[0], dict(kind[2])):
            types = renamed_types(types, names_inside)
            inside |= {(rows.source.storage.uri, one): names_inside for one in versions}
        kept_first = sorted(columns, key=lambda life: life not in columns_of[0])
        there = {columns[life]: names[life] for life in kept_first if columns[life] in types}
        here = found.add(version, there, types)
        places |= {(rows.source.storage.uri, version): here for version in versions}
    told = ValueColumns(found.schema(chosen), places, inside=inside)
    return replace(told, doubts=told_apart(rows, latest_first, told, found_lives))


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
    doubts = dict[tuple[str, str], Doubt]()
    for doubt in sorted(found.doubts, key=lambda one: (one.version_after, -one.version_before)):
        old, new = places.get(doubt.before, {}), places.get(doubt.after, {})
        if old and new and old.keys().isdisjoint(new) and columns.schema.keys() & {*old, *new}:
            had = seen[doubt.before]
            version = next((version for version in had if version < doubt.version_after), had[0])
            before, after = next(iter(old)), next(iter(new))
            named = doubt._replace(version_before=version, name_before=before, name_after=after)
            doubts.setdefault((before, after), named)
    return tuple(doubts.values())


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


def _inner_names(versions: Sequence[tuple[_Schema, Lives]]) -> dict[int, str]:
    """Return the latest name of each field that is inside of a column, by its life.

    Fields of later versions come first, as ``versions`` do.
    """
    names = dict[int, str]()
    for schema, lives in versions:
        for one in schema:
            if one.parent_id != NO_PARENT:
                names.setdefault(lives[one.id], one.name)
    return names


def _feed_names(versions: Sequence[Mapping[int, str]]) -> dict[int, tuple[str, int]]:
    """Return the latest name of each column, and a number that tells columns of one name apart.

    Columns that no version has both share one number: to a feed they are one column.

    Parameters
    ----------
    versions : sequence of mapping of int to str
        The columns of versions, the latest first: their names, by the numbers of their lives.
    """
    names, within = dict[int, str](), defaultdict[int, set[int]](set)
    for index, own in enumerate(versions):
        for life, name in own.items():
            names.setdefault(life, name)
            within[life].add(index)
    numbered, found = defaultdict[str, list[set[int]]](list), dict[int, tuple[str, int]]()
    for life, name in names.items():
        taken = numbered[name]
        fits = [number for number, others in enumerate(taken) if others.isdisjoint(within[life])]
        number = fits[0] if fits else len(taken)
        taken[number : number + 1] = [within[life].union(*taken[number : number + 1])]
        found[life] = name, number
    return found
