"""The rows of damaged fragments, put together from what is there."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.changes.version_rows import PlaceRows, place_rows
from lance_explorer.checks.copies import Copies
from lance_explorer.checks.damage import DamagedFile
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.schema import column_fields
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.identity import columns_at
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.plans.arrow_columns import arrow_column, stored_field
from lance_explorer.plans.frames import PLAN_CONFLICTS
from lance_explorer.plans.places import Places
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["RebuiltRows"]

_Mask = NDArray[np.bool_]


class _Source(NamedTuple):
    """Where cells are read: a version, and the addresses of rows in it; NO_ADDRESS: not there."""

    place: BranchVersion
    addresses: Uint64Array
    names: Mapping[str, str]


class RebuiltRows:
    """The rows of damaged fragments, each with the values that stand anywhere.

    A row is left out if nothing of it stands anywhere, or if a column that may not be null is lost.

    Parameters
    ----------
    view : HistoryView
        The branch.
    damaged : sequence of DamagedFile
        The damaged data files of the latest version.
    copies : Copies
        Where rows of damaged files stand besides.
    schema : pyarrow.Schema
        The columns of the table.

    Attributes
    ----------
    counts : ndarray of int64
        How many rows are updated, deleted and inserted: all are inserted.
    num_lost : int
        How many rows are not among them.
    num_null : dict of str to int
        For each column how many of these rows lost their value in it.
    """

    num_left_alone = 0
    num_overwritten = 0
    updated_row_bytes = 0.0
    inserted_bytes = 0.0
    updated = np.empty(0, dtype=np.uint64)

    def __init__(
        self,
        view: HistoryView,
        damaged: Sequence[DamagedFile],
        copies: Copies,
        schema: pa.Schema,
    ) -> None:
        self._view = view
        self._latest = BranchVersion(view, view.latest_version)
        self._damaged = damaged
        self._copies = copies
        self._columns = schema
        self.fragments = sorted({one.fragment for one in damaged if one.fragment is not None})
        is_lost = {field.name: self._has_no_value(field.name) for field in schema}
        is_gone = np.logical_and.reduce([*is_lost.values()])
        for field in schema:
            if not field.nullable:
                is_gone |= is_lost[field.name]
        self._chosen = ~is_gone
        self.num_lost = int(is_gone.sum())
        self.counts = np.array([0, 0, len(is_gone) - self.num_lost])
        self.num_null = {
            name: count for name, lost in is_lost.items() if (count := int((lost & ~is_gone).sum()))
        }

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return int(self.counts[2])

    @property
    def schema(self) -> pa.Schema:
        """The columns of :meth:`batches`."""
        own = {"_change": pa.string(), "_rowid": pa.uint64(), "_rowaddr": pa.uint64()}
        return pa.schema([*pa.schema(own), *map(stored_field, self._columns)])

    @property
    def conflicts(self) -> pl.DataFrame:
        """None."""
        return PLAN_CONFLICTS.polars_schema.to_frame()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, those of one fragment at a time."""
        addresses, ids = self._live
        owners = fragments_of(addresses)
        for fragment in self.fragments:
            some = np.flatnonzero((owners == fragment) & self._chosen)
            if not len(some):
                continue
            arrays = [
                pa.array(["insert"] * len(some), pa.string()),
                pa.array(ids[some], pa.uint64()),
                pa.nulls(len(some), pa.uint64()),
                *[self._values(field, some) for field in self._columns],
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    @cached_property
    def _place(self) -> PlaceRows:
        return place_rows(self._latest)

    @cached_property
    def _live(self) -> tuple[Uint64Array, Uint64Array]:
        """The addresses and row IDs of the live rows of damaged fragments."""
        runs = self._place.live()
        length = runs.length.astype(np.int64)
        shift = np.arange(length.sum(), dtype=np.uint64) - np.repeat(
            np.cumsum(length) - length, length
        ).astype(np.uint64)
        addresses = np.repeat(runs.after, length) + shift
        ids = np.repeat(runs.identity, length) + shift
        chosen = np.isin(fragments_of(addresses), self.fragments)
        order = np.argsort(addresses[chosen])
        return addresses[chosen][order], ids[chosen][order]

    def _has_no_value(self, name: str) -> _Mask:
        """Return which rows have the value of a column nowhere."""
        found = np.ones(len(self._live[0]), dtype=np.bool_)
        for source in self._sources(name):
            found &= source.addresses == NO_ADDRESS
        return found

    def _values(self, field: pa.Field, some: NDArray[np.intp]) -> pa.Array:
        """Return the values of a column in some rows; nulls where they are lost."""
        from lance_explorer.values import read_rows_at

        found = pa.nulls(len(some), stored_field(field).type)
        missing = np.ones(len(some), dtype=np.bool_)
        for source in self._sources(field.name):
            there = missing & (source.addresses[some] != NO_ADDRESS)
            if not there.any():
                continue
            view, version = source.place
            addresses = source.addresses[some][there]
            own = source.names[field.name]
            values = read_rows_at(
                value_root(view, version),
                version,
                addresses,
                self._row_ids(source.place, addresses),
                [own],
                view.storage.options,
                check_values(view, version),
            )[own]
            place = np.arange(len(some))
            place[there] = len(some) + np.arange(int(there.sum()))
            found = pa.concat_arrays([found, arrow_column(values, field)]).take(pa.array(place))
            missing &= ~there
        return found

    def _row_ids(self, place: BranchVersion, addresses: Uint64Array) -> Uint64Array:
        """Return the row IDs that rows have in a version."""
        runs = place_rows(place).live()
        runs = runs.where(np.argsort(runs.after))
        at = np.searchsorted(runs.after, addresses, side="right") - 1
        return runs.identity[at] + (addresses - runs.after[at])

    def _sources(self, name: str) -> list[_Source]:
        if name not in self._found:
            self._found[name] = [*self._look(name)]
        return self._found[name]

    @cached_property
    def _found(self) -> dict[str, list[_Source]]:
        return {}

    def _look(self, name: str) -> Iterator[_Source]:
        """Yield where a column is read: first the latest version, then others, the newest first."""
        addresses = self._live[0]
        yield _Source(self._latest, self._whole_there(self._latest, name, addresses), {name: name})
        lost = self._lost(name)
        own = self._place.stop
        number = columns_at([own]).columns(own)[name]
        for version in sorted(self._versions, reverse=True):
            place = BranchVersion(self._view, version)
            stop = place_rows(place).stop
            both = columns_at([own, stop])
            numbers = {number: name for name, number in both.columns(stop).items()}
            there = numbers.get(both.columns(own)[name])
            if there is None or number is None:
                continue
            now = Places(VersionPair(self._latest, place).runs).after(addresses)
            now = np.where(np.isin(addresses, lost), NO_ADDRESS, now)
            yield _Source(place, self._whole_there(place, there, now), {name: there})

    @property
    def _versions(self) -> set[int]:
        """The versions in which rows of damaged files stand besides."""
        return {version for one in self._damaged for version in one.versions_elsewhere}

    def _lost(self, name: str) -> Uint64Array:
        """Return the rows whose value of a column is lost, or may be."""
        found = [np.empty(0, dtype=np.uint64)]
        for one in self._damaged:
            if name in one.columns and one.rows is not None:
                is_known = one.fate is not None
                found += [one.lost, one.open] if is_known else [one.rows]
        return np.concatenate(found)

    def _whole_there(self, place: BranchVersion, name: str, addresses: Uint64Array) -> Uint64Array:
        """Return the addresses of rows whose fragment has a column in whole files."""
        rows = place_rows(place)
        wanted = {field.id for field in column_fields(rows.record.schema)[name]}
        broken = [one.id for one in rows.fragments if self._is_broken(one, wanted)]
        is_broken = np.isin(fragments_of(addresses), broken)
        return np.where(is_broken, NO_ADDRESS, addresses)

    def _is_broken(self, fragment: Fragment, wanted: set[int]) -> bool:
        fields = self._copies.broken_fields(fragment)
        return fields is None or bool(fields & wanted)
