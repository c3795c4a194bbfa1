"""Rows of versions before stable row IDs were turned on, by the row IDs that they got.

The version that turns row IDs on gives one to each slot of each fragment, including deleted ones.
So it can be read in both ways: as the last version whose rows are identified by address, and as the
first whose rows have IDs. Its map from addresses to row IDs connects both. A row that has no slot
there any more has an identity that is not a row ID.

For versions before, the versions that created and updated rows are replayed, since they are not
stored. The row versions that it stored for older rows mean nothing.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.history.evidence import Evidence
from lance_explorer.history.file_changes import homes_of
from lance_explorer.history.identity.row_origins import (
    NO_VERSION,
    RowOrigins,
    VersionsFrom,
    constant_versions,
    identity_bounds,
)
from lance_explorer.history.identity.stored_rows import StoredRows
from lance_explorer.history.identity.ways import StateRows
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.arrays import Uint64Array, begins_of
from lance_explorer.rowids.offsets import OffsetRanges, cut_at, rows_at
from lance_explorer.rowids.runs import RunColumns, Runs, outside, paired
from lance_explorer.rowids.sequence import Ranges, RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["RowsBeforeIds", "are_without_row_id"]

_FIRST_WITHOUT = np.uint64(0xC000_0000_0000_0000)
"""What is added to an address, modulo 2^64, to identify a row that never got a row ID."""

_LEAST_WITHOUT = np.uint64(0xA000_0000_0000_0000)
"""Identities from this one belong to such rows: row IDs, and IDs assigned twice, are lower."""


class RowsBeforeIds:
    """The rows of the versions up to the one that turned row IDs on.

    Parameters
    ----------
    rows : StoredRows
        What the states of a branch store.
    ids_from : int
        The position of that version.
    by_address : StateRows
        The rows of the versions up to it, as of a table without row IDs.
    """

    def __init__(self, rows: StoredRows, ids_from: int, by_address: StateRows) -> None:
        self._rows = rows
        self._by_address = by_address
        self._record = rows.history.records[ids_from]
        self._states = rows.history.states_at(ids_from)
        self._translated: dict[int, RowIdSequence] = {}
        self._versions: dict[tuple[int, int, bool], RowVersionRuns] = {}
        self._kept: list[object] = []

    def origins(self, state: int) -> RowOrigins:
        """Return the origins of a state of one of these versions."""
        own = self._by_address.origins(state)
        return RowOrigins(
            self._sequence(own.ids),
            own.created,
            own.updated,
            own.evidence,
            own.open_until,
            own.links,
        )

    @property
    def doubtful_links(self) -> dict[int, list[RowIdSequence]]:
        """The :attr:`StateRows.doubtful_links` of these versions."""
        links = self._by_address.doubtful_links
        return {position: [*map(self._sequence, some)] for position, some in links.items()}

    def with_versions(self, state: int, stored: RowOrigins) -> RowOrigins:
        """Return the origins of a later state: older rows have the replayed versions.

        A state without row versions keeps the replayed ones only if its fragment still has the
        files of the version that turned row IDs on: ``update_columns`` writes another file, and no
        row versions (docs/FORMAT.md 11.1).
        """
        low, _ = identity_bounds(stored.ids)
        if low >= self._record.manifest.next_row_id:
            return stored
        has_same_files = homes_of(self._rows.history.states[state]) in self._files_then
        created, updated = [
            self._replayed(stored.ids, runs, is_update=is_update)
            if runs is not None or has_same_files
            else None
            for runs, is_update in ((stored.created, False), (stored.updated, True))
        ]
        return RowOrigins(stored.ids, created, updated, stored.evidence, self._open_until)

    def evidence(self, identities: Uint64Array) -> NDArray[np.uint8]:
        """Return the evidence for the identity of rows before they had row IDs."""
        evidence = np.zeros(len(identities), dtype=np.uint8)
        for weaker, runs in self._weaker:
            known = runs.lookup(identities)[1]
            evidence[known] = np.maximum(evidence[known], np.uint8(weaker))
        return evidence

    @cached_property
    def _open_until(self) -> int:
        origins = map(self._by_address.origins, self._states)
        return max([some.open_until for some in origins], default=NO_VERSION)

    @cached_property
    def _files_then(self) -> set[tuple[object, ...]]:
        """The files of each fragment in the version that turned row IDs on."""
        return {homes_of(self._rows.history.states[state]) for state in self._states}

    # ------------------------------------------------------------------------------ identities

    @cached_property
    def _map(self) -> Runs:
        """From identities by address to row IDs: of live rows, and of others with a slot."""
        states = self._rows.history.states
        self._by_address.load_deleted(self._states)
        live, dead = list[RunColumns](), list[RunColumns]()
        for state in self._states:
            base = first_address(states[state].id)
            deleted = self._by_address.deleted(state)
            there = OffsetRanges.outside(deleted, self._by_address.num_rows(state))
            for places, found in ((there, live), (OffsetRanges.of(deleted), dead)):
                old = rows_at(self._by_address.ids(state), base, places)
                new = rows_at(self._rows.row_ids(state), base, places)
                pairs = paired(_by_place(new), _by_place(old))
                length = pairs.stop - pairs.start
                found.append(
                    RunColumns(pairs.other_address, pairs.other_address + length, pairs.address)
                )
        known = Runs.split(RunColumns.concatenated(live))[0]
        others = outside(RunColumns.concatenated(dead), known.start, known.stop)
        return known.union(Runs.split(others.where(others.start < others.stop))[0])

    def _sequence(self, ids: RowIdSequence) -> RowIdSequence:
        """Return identities instead of those by address; the same object for the same input."""
        if not self._translated:
            self._translate_stored()
        translated = self._translated.get(id(ids))
        if translated is None:
            translated = self._translated[id(ids)] = self._renamed(ids)
            self._kept.append(ids)
        return translated

    def _translate_stored(self) -> None:
        """Use the stored row IDs as the identities of the rows of a fragment."""
        for state in self._states:
            own, stored = self._by_address.ids(state), self._rows.row_ids(state)
            if all(map(np.array_equal, _ranges(self._renamed(own)), _ranges(stored))):
                self._translated[id(own)] = stored
                self._kept.append(own)

    def _renamed(self, ids: RowIdSequence) -> RowIdSequence:
        starts, stops = ids.ranges()
        borders = np.union1d(self._map.start, self._map.stop)
        owner, shift, length = cut_at(starts, stops - starts, borders)
        own = starts[owner] + shift
        row_ids, found = self._map.lookup(own)
        begins = np.where(found, row_ids, own + _FIRST_WITHOUT)
        return RowIdSequence((Ranges(*_merged(begins, begins + length)),))

    @cached_property
    def _weaker(self) -> list[tuple[Evidence, Runs]]:
        """The rows whose earlier identity is not recorded, by evidence."""
        by_evidence = dict[Evidence, list[RunColumns]]()
        for state in self._states:
            origins = self.origins(state)
            if origins.evidence != Evidence.RECORDED:
                starts, stops = origins.ids.ranges()
                by_evidence.setdefault(origins.evidence, []).append(
                    RunColumns(starts, stops, starts)
                )
        return [
            (one, Runs.split(RunColumns.concatenated(some))[0]) for one, some in by_evidence.items()
        ]

    # -------------------------------------------------------------------------------- versions

    def _replayed(
        self, ids: RowIdSequence, stored: RowVersionRuns | None, *, is_update: bool
    ) -> RowVersionRuns:
        """Return row versions with the earlier ones of rows instead of the stored ones."""
        key = id(ids), id(stored), is_update
        if key not in self._versions:
            self._versions[key] = self._looked_up(
                ids, stored or constant_versions(NO_VERSION, len(ids)), is_update=is_update
            )
            self._kept += [ids, stored]
        return self._versions[key]

    def _looked_up(
        self, ids: RowIdSequence, stored: RowVersionRuns, *, is_update: bool
    ) -> RowVersionRuns:
        before = self._updated if is_update else self._created
        starts, stops = ids.ranges()
        next_row_id = np.uint64(self._record.manifest.next_row_id)
        borders = np.union1d(before.address, next_row_id)
        owner, shift, lengths = cut_at(starts, stops - starts, borders)
        own, counts = starts[owner] + shift, lengths.astype(np.int64)
        begins = np.union1d(begins_of(stored.counts), begins_of(counts))
        now, then = stored.at(begins), RowVersionRuns(counts, before.at(own)).at(begins)
        is_older = RowVersionRuns(counts, (own < next_row_id).astype(np.uint64)).at(begins)
        versions = np.where((is_older == 1) & (now <= self._record.version), then, now)
        return RowVersionRuns(np.diff(np.append(begins, len(stored))), versions)

    @cached_property
    def _created(self) -> VersionsFrom:
        return self._by_row_id(lambda origins: origins.created)

    @cached_property
    def _updated(self) -> VersionsFrom:
        return self._by_row_id(lambda origins: origins.updated)

    def _by_row_id(self, choose: Callable[[RowOrigins], RowVersionRuns | None]) -> VersionsFrom:
        """Return the first row ID of each version that rows had when they got their IDs."""
        nothing = np.empty(0, dtype=np.uint64)
        row_ids, versions = [nothing], [nothing]
        for state in self._states:
            runs = choose(self._by_address.origins(state))
            if runs is None:
                runs = constant_versions(NO_VERSION, self._by_address.num_rows(state))
            starts, stops = self._rows.row_ids(state).ranges()
            lengths = stops - starts
            begins = np.cumsum(lengths) - lengths
            borders = begins_of(runs.counts).astype(np.uint64)
            owner, shift, _ = cut_at(begins, lengths, borders)
            row_ids.append(starts[owner] + shift)
            versions.append(runs.at((begins[owner] + shift).astype(np.int64)))
        every_id = np.concatenate(row_ids)
        order = np.argsort(every_id)
        return VersionsFrom(every_id[order], np.concatenate(versions)[order])


def are_without_row_id(identities: Uint64Array) -> NDArray[np.bool_]:
    """Return which identities belong to rows that never got a row ID."""
    return np.asarray(identities >= _LEAST_WITHOUT)


def _by_place(rows: RunColumns) -> RunColumns:
    return RunColumns(rows.address, rows.address + (rows.stop - rows.start), rows.start)


def _ranges(ids: RowIdSequence) -> tuple[Uint64Array, Uint64Array]:
    return _merged(*ids.ranges())


def _merged(starts: Uint64Array, stops: Uint64Array) -> tuple[Uint64Array, Uint64Array]:
    """Return ranges in order, merging those that continue each other."""
    begins = np.ones(len(starts) + 1, dtype=np.bool_)
    begins[1:-1] = starts[1:] != stops[:-1]
    return starts[begins[:-1]], stops[begins[1:]]
