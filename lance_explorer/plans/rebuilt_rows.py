"""The rows of damaged fragments, rebuilt from the files that are left."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.changes.version_rows import PlaceRows, place_rows
from lance_explorer.checks.copies import Copies
from lance_explorer.checks.damage import DamagedFile
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.schema import column_fields
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.identity import columns_at
from lance_explorer.history.events.address_identities import identities_at
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.values.later_values import values_at
from lance_explorer.plans.arrow_columns import arrow_column, stored_field
from lance_explorer.plans.frames import PLAN_CONFLICTS
from lance_explorer.plans.places import Places, chunks
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["RebuiltRows"]

_Mask = NDArray[np.bool_]


class _Source(NamedTuple):
    """Where a column is read: a version, the row addresses in it, and the column's name there."""

    place: PlaceRows
    addresses: Uint64Array
    name: str


class RebuiltRows:
    """The rows of damaged fragments, each with the values that are left anywhere.

    A row is left out if none of its values is left, or if a non-nullable column is lost.

    Parameters
    ----------
    place : BranchVersion
        The latest version that can be read.
    damaged : sequence of DamagedFile
        The damaged data files of the latest version.
    copies : Copies
        Where rows of damaged files also are.
    schema : pyarrow.Schema
        The columns of the table.

    Attributes
    ----------
    num_rows, num_lost : int
        How many rows there are, and how many are lost.
    num_null : dict of str to int
        For each column how many of these rows lost their value in it.
    written : list of pyarrow.Field
        The columns, all of which are written.
    updated : ndarray of uint64
        The addresses of the rows.
    """

    num_left_alone = 0
    num_overwritten = 0

    def __init__(
        self,
        place: BranchVersion,
        damaged: Sequence[DamagedFile],
        copies: Copies,
        schema: pa.Schema,
    ) -> None:
        self._place = place
        self._damaged = damaged
        self._copies = copies
        self.written = [*schema]
        self.fragments = sorted({one.fragment for one in damaged if one.fragment is not None})
        is_lost = {field.name: self._has_no_value(field.name) for field in schema}
        is_gone = np.logical_and.reduce([*is_lost.values()])
        for field in schema:
            if not field.nullable:
                is_gone |= is_lost[field.name]
        self._chosen = np.flatnonzero(~is_gone)
        self.num_lost = int(is_gone.sum())
        self.num_rows = len(self._chosen)
        self.updated = self._live.after[self._chosen]
        self.num_null = {
            name: count for name, lost in is_lost.items() if (count := int((lost & ~is_gone).sum()))
        }

    @property
    def schema(self) -> pa.Schema:
        """The columns of :meth:`batches`."""
        own = {"_change": pa.string(), "_rowid": pa.uint64(), "_rowaddr": pa.uint64()}
        return pa.schema([*pa.schema(own), *map(stored_field, self.written)])

    @property
    def conflicts(self) -> pl.DataFrame:
        """None."""
        return PLAN_CONFLICTS.polars_schema.to_frame()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, so many at a time."""
        ids = self._live.identity if self._now.has_row_ids else self._live.after
        for span in chunks(self.num_rows):
            some = self._chosen[span]
            arrays = [
                pa.array(["update"] * len(some), pa.string()),
                pa.array(ids[some], pa.uint64()),
                pa.array(self.updated[span], pa.uint64()),
                *[self._values(field, some) for field in self.written],
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    @cached_property
    def _now(self) -> PlaceRows:
        return place_rows(self._place)

    @cached_property
    def _live(self) -> RowRuns:
        """The live rows of damaged fragments, one run each."""
        live = self._now.live().rows()
        live = live.where(np.isin(fragments_of(live.after), self.fragments))
        return live.where(np.argsort(live.after))

    @cached_property
    def _elsewhere(self) -> list[tuple[PlaceRows, Uint64Array, dict[str, str]]]:
        """The other versions that have some of the rows, newest first.

        With the addresses of the rows there, and the names of the columns there by their present
        names.
        """
        versions = {version for one in self._damaged for version in one.versions_elsewhere}
        others = []
        for version in sorted(versions, reverse=True):
            then = BranchVersion(self._place.view, version)
            places, there = Places(VersionPair(self._place, then).runs), place_rows(then)
            columns = columns_at([self._now.stop, there.stop]).columns
            names = {number: name for name, number in columns(there.stop).items()}
            now = columns(self._now.stop).items()
            own = {name: names[number] for name, number in now if number in names}
            others.append((there, places.after(self._live.after), own))
        return others

    def _has_no_value(self, name: str) -> _Mask:
        """Return which rows have no value of a column left anywhere."""
        is_missing = np.ones(len(self._live), dtype=np.bool_)
        for source in self._sources[name]:
            is_missing &= source.addresses == NO_ADDRESS
        return is_missing

    def _values(self, field: pa.Field, some: NDArray[np.intp]) -> pa.Array:
        """Return the values of a column in some rows; null where they are lost."""
        values_found = pa.nulls(len(some), stored_field(field).type)
        missing = np.ones(len(some), dtype=np.bool_)
        for source in self._sources[field.name]:
            there = missing & (source.addresses[some] != NO_ADDRESS)
            if not there.any():
                continue
            rows, position = source.place.rows, source.place.position
            addresses = source.addresses[some][there]
            ids, _ = identities_at(rows, position, addresses)
            values = values_at(rows, position, addresses, ids, [source.name])[source.name]
            place = np.arange(len(some))
            place[there] = len(some) + np.arange(int(there.sum()))
            values_found = pa.concat_arrays([values_found, arrow_column(values, field)]).take(
                pa.array(place)
            )
            missing &= ~there
        return values_found

    @cached_property
    def _sources(self) -> dict[str, list[_Source]]:
        """Where each column is read: in the latest version, then in others, newest first."""
        return {field.name: [*self._look(field.name)] for field in self.written}

    def _look(self, name: str) -> Iterator[_Source]:
        addresses = self._live.after
        yield self._source(self._now, name, addresses)
        is_lost = np.isin(addresses, self._lost(name))
        for place, there, names in self._elsewhere:
            if name in names:
                yield self._source(place, names[name], np.where(is_lost, NO_ADDRESS, there))

    def _lost(self, name: str) -> Uint64Array:
        """Return the rows whose value of a column is lost, or may be."""
        lost = [np.empty(0, dtype=np.uint64)]
        for one in self._damaged:
            if name in one.columns and one.rows is not None:
                is_known = one.fate is not None
                lost += [one.lost, one.open] if is_known else [one.rows]
        return np.concatenate(lost)

    def _source(self, place: PlaceRows, name: str, addresses: Uint64Array) -> _Source:
        """Return a version with the rows whose fragments have whole files for a column there."""
        wanted = {field.id for field in column_fields(place.record.schema)[name]}
        broken = [one.id for one in place.fragments if self._is_broken(one, wanted)]
        is_broken = np.isin(fragments_of(addresses), broken)
        return _Source(place, np.where(is_broken, NO_ADDRESS, addresses), name)

    def _is_broken(self, fragment: Fragment, wanted: set[int]) -> bool:
        fields = self._copies.broken_fields(fragment)
        return fields is None or bool(fields & wanted)
