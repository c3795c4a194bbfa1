"""The cost of row identity, version by version: segments, runs, holes, bytes, index."""

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.fragment_columns import SequenceStorage
from lance_explorer.format.fragments import Fragment
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    KNOWN_FROM,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.counts import nullable
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.fragment_counts import totals
from lance_explorer.history.history import UNKNOWN_COUNT, History
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.readable import readable_history
from lance_explorer.history.reading.stored_sequences import FragmentSequence, read_row_ids
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import distinct_parts
from lance_explorer.inspect.row_id_segments import num_holes, num_runs, stored_row_ids
from lance_explorer.rowids.index import FragmentRows, RowIdIndex, address_rows
from lance_explorer.rowids.sequence import Ranges, RowIdSequence

__all__ = ["ROW_ID_TOTALS", "row_id_totals"]

ROW_ID_TOTALS = FrameSchema(
    "row_id_totals",
    (
        VERSION,
        BRANCH,
        Column("num_rows", COUNT, "live rows", nullable=True),
        Column("num_segments", COUNT, "number of segments of all row-ID sequences", nullable=True),
        Column("num_runs", COUNT, "number of stretches of consecutive row IDs", nullable=True),
        Column("num_holes", COUNT, "missing row IDs in all ranges", nullable=True),
        Column("row_ids_bytes", BYTES, "inline bytes of the row-ID sequences", unit="bytes"),
        Column(
            "bytes_per_row",
            pl.Float64(),
            "the same per live row; null if some are spilled",
            nullable=True,
        ),
        Column("versions_bytes", BYTES, "inline bytes of the row-version sequences", unit="bytes"),
        Column(
            "index_bytes",
            BYTES,
            "memory of the row-ID index; null if some are spilled",
            nullable=True,
            unit="bytes",
        ),
        Column(
            "num_spilled",
            COUNT,
            "fragments whose row IDs are spilled, and not counted in the other columns",
        ),
        KNOWN_FROM,
    ),
)
"""The columns of ``inspect.row_id_totals()``. Segments, runs, holes and the index are null where a
sequence of the version is damaged, these and rows where one of its reader flags is not known."""


def row_id_totals(view: HistoryView) -> pl.DataFrame:
    """Return one row for each kept version, oldest first."""
    history = view.history
    readable = readable_history(history)
    kept = [history.position(record.version) for record in readable.records]

    def of_all(counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return counts of the readable versions as those of all."""
        spread = np.full(len(history), UNKNOWN_COUNT)
        spread[kept] = counts
        return spread

    num_rows = of_all(totals(readable, readable.live_rows))
    segments, runs, holes, index_bytes = _sums(view, readable)
    states = history.states
    row_ids_bytes = totals(history, states.row_id_bytes)
    versions_bytes = totals(history, states.row_version_bytes)
    is_spilled = states.row_id_storage == SequenceStorage.SPILLED
    spilled = totals(history, is_spilled.astype(np.int64))
    has_ratio = (num_rows > 0) & (spilled == 0)
    ratio = pl.Series(row_ids_bytes / np.where(has_ratio, num_rows, 1))
    return ROW_ID_TOTALS.build(
        {
            "version": history.versions,
            "branch": [view.branch] * len(history),
            "num_rows": nullable(num_rows),
            "num_segments": nullable(of_all(segments)),
            "num_runs": nullable(of_all(runs)),
            "num_holes": nullable(of_all(holes)),
            "row_ids_bytes": row_ids_bytes,
            "bytes_per_row": ratio.set(pl.Series(~has_ratio), None),
            "versions_bytes": versions_bytes,
            "index_bytes": nullable(of_all(index_bytes)),
            "num_spilled": spilled,
            "known_from": known_from(view, history.versions),
        }
    )


def _sums(view: HistoryView, history: History) -> list[NDArray[np.int64]]:
    """Return for each version the segments, runs and holes of its sequences, and its index bytes.

    No run and no block of an index spans two fragments, so its size is the sum of the states.
    """
    sequences, intervals = distinct_parts(history, _not_spilled)
    counts = np.full((3, len(sequences)), UNKNOWN_COUNT)
    sizes = _IndexSizes(state_rows(view), history)
    for number, row_ids in read_row_ids(view, history, sequences, intervals):
        if not isinstance(row_ids, FormatError):
            counts[:, number] = _count(row_ids)
            sizes.add(sequences[number], row_ids)
    of_sequences = replace(history, intervals=intervals)
    return [*[totals(of_sequences, count) for count in counts], totals(history, sizes.of_states)]


class _IndexSizes:
    """The bytes of each state in a row-ID index, UNKNOWN_COUNT until they are known."""

    def __init__(self, rows: StateRows, history: History) -> None:
        self.of_states = np.full(len(history.states), UNKNOWN_COUNT)
        self._rows = rows
        self._states: dict[FragmentSequence, list[int]] = {}
        states, kept = history.states, np.unique(history.intervals.keys)
        is_run = states.row_id_ranges.found
        is_run |= (states.row_id_storage == SequenceStorage.ABSENT) & (states.physical_rows > 0)
        is_run &= states.deletion_types < 0
        self.of_states[is_run] = RowIdIndex.of_fragments([address_rows(0, 1)]).nbytes
        others = kept[~is_run[kept]].tolist()
        rows.load_deleted(others)
        for state in others:
            fragment = states[state]
            for sequence in stored_row_ids(fragment):
                self._states.setdefault(sequence, []).append(state)
            if fragment.row_ids is None and fragment.physical_rows is not None:
                self._add(state, address_rows(0, fragment.physical_rows).row_ids)

    def add(self, sequence: FragmentSequence, row_ids: RowIdSequence) -> None:
        """Add the states with a sequence."""
        for state in self._states.get(sequence, []):
            self._add(state, row_ids)

    def _add(self, state: int, row_ids: RowIdSequence) -> None:
        """Index the live rows of one state."""
        try:
            rows = FragmentRows(0, row_ids, self._rows.deleted(state))
            self.of_states[state] = RowIdIndex.of_fragments([rows]).nbytes
        except (FormatError, StorageError):
            return  # so it stays unknown


def _not_spilled(fragment: Fragment) -> list[FragmentSequence]:
    return [row_ids for row_ids in stored_row_ids(fragment) if row_ids.stored.storage != "spilled"]


def _count(row_ids: RowIdSequence) -> tuple[int, int, int]:
    """Return how many segments, runs and holes a sequence has."""
    holes = [num_holes(part) or 0 for part in row_ids.parts if not isinstance(part, Ranges)]
    return row_ids.num_segments, num_runs(row_ids), sum(holes)
