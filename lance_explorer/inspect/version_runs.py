"""Row-version sequences run by run: the ages of rows, and of their last updates."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.format.fragments import Fragment
from lance_explorer.frames.columns import (
    BRANCH,
    COUNT,
    ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.history.reading.stored_sequences import (
    FragmentSequence,
    RowVersions,
    read_row_versions,
    sequences_of,
)
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import PartRows
from lance_explorer.inspect.row_id_segments import ENCODING
from lance_explorer.inspect.sequence_frames import sequence_rows, sequence_rows_of_all
from lance_explorer.rowids.arrays import aranges, begins_of
from lance_explorer.rowids.segments import encoding_of
from lance_explorer.rowids.sequence import Ranges, RowIdSequence, num_segments

__all__ = ["ALL_VERSION_RUNS", "VERSION_RUNS", "all_version_runs", "version_runs"]

_N = TypeVar("_N", bound=np.generic)

_KIND = pl.Enum(["created_at", "last_updated_at"])

_RUN = (
    Column("fragment_id", ID, "fragment that the sequence belongs to"),
    Column("sequence", _KIND, "which of the two sequences"),
    Column("position", COUNT, "number of the run in its sequence, from 0"),
    Column("offset", COUNT, "offset of its first row in the fragment"),
    Column(
        "num_rows", COUNT, "number of consecutive rows with that version, including deleted ones"
    ),
    Column("row_version", ID, "version that created these rows, or last updated them"),
    Column("storage", TEXT, "where the sequence is: inline, external or spilled"),
    Column(
        "span_encoding",
        ENCODING,
        "encoding of the run's span of rows; null if spilled",
        nullable=True,
    ),
)

VERSION_RUNS = FrameSchema("version_runs", (VERSION, BRANCH, *_RUN))
"""The columns of ``inspect.version_runs()``."""

ALL_VERSION_RUNS = FrameSchema("all_version_runs", (BRANCH, *_RUN, *INTERVAL))
"""The columns of ``inspect.all_version_runs()``."""

_RUNS = FrameSchema("runs", _RUN)


def version_runs(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each run of the row-version sequences of a version."""
    return sequence_rows(VERSION_RUNS, view, version, _stored_versions, read_row_versions, _runs)


def all_version_runs(view: HistoryView) -> pl.DataFrame:
    """Return one row for each run of every sequence and each interval of it."""
    return sequence_rows_of_all(ALL_VERSION_RUNS, view, _stored_versions, read_row_versions, _runs)


def _stored_versions(fragment: Fragment) -> Iterable[FragmentSequence]:
    return sequences_of(fragment, "created_at", "last_updated_at")


def _runs(sequences: Sequence[tuple[FragmentSequence, RowVersions]]) -> PartRows:
    """Return the runs of sequences."""
    counts = np.array([len(runs.counts) for _, (_, runs) in sequences], dtype=np.int64)
    owner = np.repeat(np.arange(len(counts)), counts)
    num_rows = _joined([runs.counts for _, (_, runs) in sequences], np.int64)
    of_sequences = np.array([runs.counts.sum() for _, (_, runs) in sequences], dtype=np.int64)
    encodings = [
        name
        for _, (spans, runs) in sequences
        for name in ([None] * len(runs.counts) if spans is None else _encodings(spans))
    ]
    rows = _RUNS.build(
        {
            "fragment_id": np.array([s.fragment_id for s, _ in sequences], np.uint64)[owner],
            "sequence": pl.Series([s.kind for s, _ in sequences], dtype=_KIND)[owner],
            "position": aranges(np.zeros_like(counts), counts),
            "offset": begins_of(num_rows) - begins_of(of_sequences)[owner],
            "num_rows": num_rows,
            "row_version": _joined([runs.versions for _, (_, runs) in sequences], np.uint64),
            "storage": pl.Series([s.stored.storage for s, _ in sequences], dtype=TEXT)[owner],
            "span_encoding": pl.Series(encodings, dtype=ENCODING),
        }
    )
    return PartRows(rows, counts)


def _joined(arrays: list[NDArray[_N]], dtype: type[_N]) -> NDArray[_N]:
    return np.concatenate([np.empty(0, dtype), *arrays])


def _encodings(spans: RowIdSequence) -> Iterator[str]:
    """Yield the form of each segment."""
    for part in spans.parts:
        yield from ["range" if isinstance(part, Ranges) else encoding_of(part)] * num_segments(part)
