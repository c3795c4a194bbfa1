"""Row-version sequences run by run: since when rows are there, and when they last changed."""

from collections.abc import Iterable

import numpy as np
import polars as pl

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
from lance_explorer.history.source import TableSource
from lance_explorer.history.stored_sequences import (
    FragmentSequence,
    RowVersions,
    read_row_versions,
    sequences_of,
)
from lance_explorer.inspect.row_id_segments import ENCODING
from lance_explorer.inspect.sequence_frames import sequence_rows, sequence_rows_of_all
from lance_explorer.rowids.arrays import begins_of
from lance_explorer.rowids.segments import encoding_of
from lance_explorer.rowids.sequence import Ranges, RowIdSequence

__all__ = ["ALL_VERSION_RUNS", "VERSION_RUNS", "all_version_runs", "version_runs"]

_RUN = (
    Column("fragment_id", ID, "fragment that the sequence belongs to"),
    Column("sequence", pl.Enum(["created_at", "last_updated_at"]), "which of the two it is"),
    Column("position", COUNT, "number of the run in its sequence, from 0"),
    Column("offset", COUNT, "offset of its first row in the fragment"),
    Column("num_rows", COUNT, "rows in a row that have the version, deleted ones too"),
    Column("row_version", ID, "version that created, or last updated, these rows"),
    Column("storage", TEXT, "inline, external or spilled"),
    Column(
        "span_encoding",
        ENCODING,
        "form of the segment that stands for the rows; null if it is spilled",
        nullable=True,
    ),
)

VERSION_RUNS = FrameSchema("version_runs", (VERSION, BRANCH, *_RUN))
"""The columns of ``inspect.version_runs()``."""

ALL_VERSION_RUNS = FrameSchema("all_version_runs", (BRANCH, *_RUN, *INTERVAL))
"""The columns of ``inspect.all_version_runs()``."""

_RUNS = FrameSchema("runs", _RUN)


def version_runs(source: TableSource, version: int) -> pl.DataFrame:
    """Return one row for each run of the row-version sequences of a version."""
    return sequence_rows(VERSION_RUNS, source, version, _stored_versions, read_row_versions, _runs)


def all_version_runs(source: TableSource) -> pl.DataFrame:
    """Return one row for each run of every sequence and each interval in which it was there."""
    return sequence_rows_of_all(
        ALL_VERSION_RUNS, source, _stored_versions, read_row_versions, _runs
    )


def _stored_versions(fragment: Fragment) -> Iterable[FragmentSequence]:
    return sequences_of(fragment, "created_at", "last_updated_at")


def _runs(sequence: FragmentSequence, versions: RowVersions) -> pl.DataFrame:
    """Return the runs of one sequence."""
    spans, runs = versions
    count = len(runs.counts)
    return _RUNS.build(
        {
            "fragment_id": [sequence.fragment_id] * count,
            "sequence": pl.Series([sequence.kind]).new_from_index(0, count),
            "position": np.arange(count),
            "offset": begins_of(runs.counts),
            "num_rows": runs.counts,
            "row_version": runs.versions,
            "storage": [sequence.stored.storage] * count,
            "span_encoding": [None] * count if spans is None else _encodings(spans),
        }
    )


def _encodings(spans: RowIdSequence) -> pl.Series:
    """Return the form of each segment."""
    pieces = [pl.Series(dtype=ENCODING)]
    for part in spans.parts:
        count = len(part.starts) if isinstance(part, Ranges) else 1
        name = "range" if isinstance(part, Ranges) else encoding_of(part)
        pieces.append(pl.Series([name], dtype=ENCODING).new_from_index(0, count))
    return pl.concat(pieces)
