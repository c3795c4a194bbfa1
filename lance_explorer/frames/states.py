"""Counts and sizes of fragment states, as arrays over all states of a history."""

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.format.fragments import DataFile, Fragment, StoredSequence
from lance_explorer.history.history import UNKNOWN_COUNT, History

__all__ = [
    "data_bytes",
    "files_of",
    "inline_bytes",
    "known",
    "live_rows",
    "nullable",
    "num_data_files",
    "physical_rows",
    "sequence_bytes",
]

_Counts = NDArray[np.int64]


def files_of(fragment: Fragment) -> Iterable[DataFile]:
    """Return the data files of a fragment, those of its overlays too."""
    if not fragment.overlays:
        return fragment.files
    return (*fragment.files, *[overlay.data_file for overlay in fragment.overlays])


def physical_rows(history: History) -> _Counts:
    """Rows with the deleted ones; UNKNOWN_COUNT where the writer did not store it."""
    return np.array(
        [UNKNOWN_COUNT if s.physical_rows is None else s.physical_rows for s in history.states],
        dtype=np.int64,
    )


def live_rows(history: History) -> _Counts:
    """Rows that are not deleted; UNKNOWN_COUNT where a number is unknown, or they contradict."""
    physical, deleted = physical_rows(history), history.num_deleted_rows
    is_known = (deleted >= 0) & (physical >= deleted)
    return np.where(is_known, physical - deleted, UNKNOWN_COUNT)


def num_data_files(history: History) -> _Counts:
    """Count the data files, those of overlays too."""
    return np.array([len(s.files) + len(s.overlays) for s in history.states], dtype=np.int64)


def data_bytes(history: History) -> _Counts:
    """Size of the data files; UNKNOWN_COUNT where the writer did not store one of them."""
    return np.array([_data_bytes(state) for state in history.states], dtype=np.int64)


def sequence_bytes(history: History) -> tuple[_Counts, _Counts]:
    """Inline bytes of the row-ID sequence, and of both row-version sequences."""
    row_ids = [inline_bytes(state.row_ids) for state in history.states]
    versions = [
        inline_bytes(state.created_at) + inline_bytes(state.last_updated_at)
        for state in history.states
    ]
    return np.array(row_ids, dtype=np.int64), np.array(versions, dtype=np.int64)


def inline_bytes(sequence: StoredSequence | None) -> int:
    """Return how many bytes of a manifest a sequence takes."""
    return 0 if sequence is None else sequence.num_bytes


def known(counts: _Counts) -> list[int | None]:
    """Return counts as a list, with None for those that are unknown."""
    return [None if count < 0 else count for count in counts.tolist()]


def nullable(counts: _Counts) -> pl.Series:
    """Return counts with null for those that are unknown."""
    series = pl.Series(counts)
    return series.set(series < 0, None) if (counts < 0).any() else series


def _data_bytes(fragment: Fragment) -> int:
    total = 0
    for file in files_of(fragment):
        if file.size_bytes is None:
            return UNKNOWN_COUNT
        total += file.size_bytes
    return total
