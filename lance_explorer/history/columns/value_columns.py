"""The columns of values of a frame, and their names in each version.

A frame may show rows of versions with different schemas. **Named as in:** every frame of values
names its columns as in its last version: the end of a feed or a diff, the latest version of the
branch in :meth:`Table.find` and in the history of a row. A column that this version lacks has its
name in the last other version that has it. :mod:`lance_explorer.history.columns.identity`
identifies columns between versions, and :mod:`lance_explorer.history.columns.names` names several
columns of one name.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.schema import NO_PARENT, Field, column_fields, is_blob
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.common_types import fitted
from lance_explorer.history.columns.identity import ColumnsAt, columns_at
from lance_explorer.history.columns.lives import Doubt
from lance_explorer.history.columns.names import FrameColumns
from lance_explorer.history.memories import notes
from lance_explorer.history.paths import Stop
from lance_explorer.history.value_files import value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.values.inner_names import InnerNames, inner_names, renamed, renamed_types

__all__ = [
    "TypesOf",
    "ValueColumns",
    "blob_columns",
    "column_types",
    "types_if_known",
    "value_columns",
]

_Schema = tuple[Field, ...]

TypesOf = Callable[[Stop], pl.Schema]
"""Returns the types of the columns of a version; none if they are unknown."""


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """The columns of values of a frame.

    Attributes
    ----------
    schema : polars.Schema
        Their names and types; where a type changed, one that has all values of both.
    names : mapping
        For each version, by the URI of its branch and its number, what a column is called there.
    doubts : tuple of Doubt
        Of which two columns it is not known whether they are one.
    inside : mapping
        For some versions the names of fields inside of columns that are others in the frame.
    """

    schema: pl.Schema
    names: dict[tuple[str, int], dict[str, str]]
    doubts: tuple[Doubt, ...] = ()
    inside: Mapping[tuple[str, int], InnerNames] = field(default_factory=dict)

    def names_in(self, view: HistoryView, version: int) -> dict[str, str]:
        """Return the names of the columns in a version of a branch."""
        return self.names[view.storage.uri, version]

    def own_names(self, view: HistoryView, version: int) -> list[str]:
        """Return the names of the frame's columns in a version."""
        names = self.names_in(view, version)
        return [names[name] for name in self.schema if name in names]

    def named(self, values: pl.DataFrame, view: HistoryView, version: int) -> pl.DataFrame:
        """Return values of a version under the names, and with the types, of the frame."""
        key = view.storage.uri, version
        there = {own: name for name, own in self.names[key].items() if own in values.columns}
        frame = renamed(values.select([*there]), self.inside.get(key, {})).rename(there)
        types = pl.Schema({name: self.schema[name] for name in frame.columns})
        if frame.schema == types:
            return frame
        return frame.with_columns([fitted(frame[name], dtype) for name, dtype in types.items()])

    def filled(self, values: pl.DataFrame, view: HistoryView, version: int) -> pl.DataFrame:
        """Return them with all columns of the frame, null for those that the version lacks."""
        frame = self.named(values, view, version)
        if frame.schema == self.schema:
            return frame
        return pl.concat([self.empty(), frame], how="diagonal")

    def of(self, places: Iterable[BranchVersion]) -> "ValueColumns":
        """Return the columns that some of the versions have."""
        there = {name for place in places for name in self.names_in(*place)}
        schema = {name: kind for name, kind in self.schema.items() if name in there}
        return replace(self, schema=pl.Schema(schema))

    def empty(self) -> pl.DataFrame:
        """Return no rows."""
        return pl.DataFrame(schema=self.schema)

    def nulls(self, num_rows: int) -> pl.DataFrame:
        """Return rows with unknown values."""
        return self.empty().clear(num_rows)


def value_columns(
    stops: Sequence[Stop],
    types_of: TypesOf,
    chosen: Sequence[str] | None = None,
    own: Collection[str] = (),
) -> ValueColumns:
    """Return the columns that some versions have.

    Parameters
    ----------
    stops : sequence of Stop
        The versions, the last one first: it names columns.
    types_of : callable
        Gives their types; it is asked once for versions of one schema.
    chosen : sequence of str, optional
        Which columns, in order; all by default.
    own : collection of str
        The names of the frame's own columns.

    Raises
    ------
    InvalidArgumentError
        If none of the versions has a chosen column.
    """
    there = columns_at(stops)
    alike = dict[tuple[int, int], list[Stop]]()
    for stop in stops:
        alike.setdefault((id(stop.record.schema), id(there.of(stop))), []).append(stop)
    kinds = dict[
        tuple[_Schema, tuple[tuple[str, int], ...], tuple[tuple[int, str], ...]], list[Stop]
    ]()
    latest = _latest_names([same[0] for same in alike.values()], there)
    for same in alike.values():
        schema = same[0].record.schema
        tops = tuple(there.columns(same[0]).items())
        ids = {number: id_ for id_, number in there.of(same[0]).items()}
        inner = tuple([(ids[number], name) for number, name in latest.items() if number in ids])
        kinds.setdefault((schema, tops, inner), []).extend(same)
    shown = _shown([dict(tops) for _, tops, _ in kinds], latest)
    frame_columns = FrameColumns(dict.fromkeys([name for name, _ in shown.values()]), own)
    names = dict[tuple[str, int], dict[str, str]]()
    inside = dict[tuple[str, int], InnerNames]()
    first = {number for _, number in next(iter(kinds))[1]}
    for (schema, tops, inner), same in kinds.items():
        types = next(filter(None, map(types_of, same)), pl.Schema())
        keys = [(stop.line.view.storage.uri, stop.record.version) for stop in same]
        named = {field.id for field in schema if field.parent_id != NO_PARENT}
        if names_inside := inner_names(schema, {i: n for i, n in inner if i in named}):
            types = renamed_types(types, names_inside)
            inside |= dict.fromkeys(keys, names_inside)
        kept_first = sorted(tops, key=lambda top: top[1] not in first)
        columns = {name: shown[number] for name, number in kept_first if name in types}
        names |= dict.fromkeys(keys, frame_columns.add(columns, types))
    both = ValueColumns(frame_columns.schema(chosen), names, inside=inside)
    return replace(both, doubts=_doubts_between(stops, both, there))


def column_types(view: HistoryView, version: int, *, whole_blobs: bool = True) -> pl.Schema:
    """Return the types of the columns of a version, cached."""
    from lance_explorer.values import row_schema

    known, key = _types(view), (version, whole_blobs)
    if key not in known:
        options = view.storage.options
        known[key] = row_schema(
            value_root(view, version), version, options, whole_blobs=whole_blobs
        )
    return known[key]


_types = notes(dict[tuple[int, bool], pl.Schema], are_carried=True)


def types_if_known(stop: Stop, *, whole_blobs: bool = True) -> pl.Schema:
    """Return the same; none if pylance cannot open the version."""
    try:
        return column_types(stop.line.view, stop.record.version, whole_blobs=whole_blobs)
    except LanceExplorerError:
        return pl.Schema()


def blob_columns(schema: _Schema) -> set[str]:
    """Return the columns that are blobs, or contain some."""
    return {name for name, fields in column_fields(schema).items() if any(map(is_blob, fields))}


def _latest_names(stops: Sequence[Stop], there: ColumnsAt) -> dict[int, str]:
    """Return the latest name of each field, by its number; later versions come first."""
    names = dict[int, str]()
    for stop in stops:
        for one in stop.record.schema:
            names.setdefault(there.of(stop)[one.id], one.name)
    return names


def _shown(
    versions: Sequence[Mapping[str, int]], latest: Mapping[int, str]
) -> dict[int, tuple[str, int]]:
    """Return the display name of each column: its latest name, and its number among those.

    Columns of one name that never exist together are shown as one.

    Parameters
    ----------
    versions : sequence of mapping of str to int
        The numbers of the columns of versions, the latest first.
    latest : mapping of int to str
        The latest names.
    """
    within = defaultdict[int, set[int]](set)
    for index, columns in enumerate(versions):
        for number in columns.values():
            within[number].add(index)
    numbered, found = defaultdict[str, list[set[int]]](list), dict[int, tuple[str, int]]()
    for number, there in within.items():
        taken = numbered[latest[number]]
        place = next((n for n, those in enumerate(taken) if those.isdisjoint(there)), len(taken))
        taken[place : place + 1] = [there.union(*taken[place : place + 1])]
        found[number] = latest[number], place
    return found


def _doubts_between(
    stops: Sequence[Stop], columns: ValueColumns, columns_there: ColumnsAt
) -> tuple[Doubt, ...]:
    """Return the doubts about columns that are two in a frame, if it contains one of them.

    They use the names of the frame.
    """
    if not columns_there.doubts:
        return ()
    places, seen = dict[int | None, dict[str, None]](), dict[int | None, list[int]]()
    for stop in stops:
        there = columns.names_in(stop.line.view, stop.record.version)
        by_own_name = {own: place for place, own in there.items()}
        for own, number in columns_there.columns(stop).items():
            if own in by_own_name:
                places.setdefault(number, {})[by_own_name[own]] = None
                seen.setdefault(number, []).append(stop.record.version)
    doubts = dict[tuple[str, str], Doubt]()
    for doubt in sorted(
        columns_there.doubts, key=lambda one: (one.version_after, -one.version_before)
    ):
        old, new = places.get(doubt.before, {}), places.get(doubt.after, {})
        if old and new and old.keys().isdisjoint(new) and columns.schema.keys() & {*old, *new}:
            had = seen[doubt.before]
            version = next((version for version in had if version < doubt.version_after), had[0])
            before, after = next(iter(old)), next(iter(new))
            named = doubt._replace(version_before=version, name_before=before, name_after=after)
            doubts.setdefault((before, after), named)
    return tuple(doubts.values())
