"""Indices: segments of one version, or of any version."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import polars as pl
from pyroaring import BitMap

from lance_explorer.errors import FormatError
from lance_explorer.format.index_details import index_details, index_type
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    FIELD_ID,
    ID,
    INTERVAL,
    TEXT,
    TIME,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.text import json_text
from lance_explorer.history.history import History
from lance_explorer.history.intervals import intervals_of
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.field_names import field_names, names_of
from lance_explorer.inspect.intervals import interval_columns

__all__ = ["ALL_INDICES", "INDICES", "all_indices", "covered_fragments", "indices"]

_MAX_FRAGMENTS = 1 << 22  # a few bytes of a Roaring bitmap can claim 2^32

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_INDEX = (
    Column("name", TEXT, "name of the index; its segments share it"),
    Column("uuid", TEXT, "UUID of the segment, and name of its folder"),
    Column("index_type", TEXT, "index type, such as BTREE; unknown if the writer stored none"),
    Column("field_ids", pl.List(FIELD_ID), "IDs of the indexed fields; [] for a system index"),
    Column("fields", pl.List(TEXT), "paths of these fields; null: dropped from the schema"),
    Column(
        "covering_fields",
        pl.List(TEXT),
        "paths of fields whose values the segment stores besides; null: dropped from the schema",
    ),
    Column("dataset_version", ID, "version that the segment was built from"),
    Column(
        "num_fragments", COUNT, "number of covered fragments, including removed ones", nullable=True
    ),
    Column(
        "fragment_ids",
        pl.List(ID),
        "IDs of the covered fragments, including removed ones",
        nullable=True,
    ),
    Column("created_at", TIME, "time when the segment was built", nullable=True),
    Column("index_version", COUNT, "version of the index type's format", nullable=True),
    Column("num_files", COUNT, "number of files; null if they are not listed", nullable=True),
    Column("size_bytes", BYTES, "size of the files", nullable=True, unit="bytes"),
    Column(
        "base_id",
        ID,
        "ID of the base path that it is below; null: the table's own root",
        nullable=True,
    ),
    Column("is_system", pl.Boolean(), "whether it is one of Lance's internal indices"),
    Column(
        "details", TEXT, "settings of the index as a JSON object; null if damaged", nullable=True
    ),
    Column("metadata", TEXT, "further metadata as a JSON object", nullable=True),
    Column("clustering_id", ID, "ID of the clustering of its rows", nullable=True),
)

INDICES = FrameSchema("indices", (VERSION, BRANCH, *_INDEX))
"""The columns of ``inspect.indices()``."""

ALL_INDICES = FrameSchema("all_indices", (BRANCH, *_INDEX, *INTERVAL))
"""The columns of ``inspect.all_indices()``; ``fields`` as in the first version of the interval."""


def indices(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each index segment of a version, in the order of the manifest."""
    history = view.version(version)
    segments = history.records[0].indices
    constant = {"version": [version] * len(segments), "branch": [view.branch] * len(segments)}
    return INDICES.build({**constant, **_index_columns(history, segments, [0] * len(segments))})


def all_indices(view: HistoryView) -> pl.DataFrame:
    """Return one row for each state of an index segment and each interval of it.

    A segment changes its state when it covers other fragments.
    """
    history = view.history
    distinct, intervals = intervals_of([record.indices for record in history.records])
    segments = [distinct[key] for key in intervals.keys.tolist()]
    return ALL_INDICES.build(
        {
            "branch": [view.branch] * len(segments),
            **_index_columns(history, segments, intervals.first.tolist()),
            **interval_columns(history, intervals),
        }
    )


def covered_fragments(segment: IndexMetadata) -> BitMap | None:
    """Return the covered fragments, None if they are not known or the bitmap is damaged."""
    try:
        fragments = segment.fragment_ids()
    except FormatError:
        return None
    return None if fragments is None or len(fragments) > _MAX_FRAGMENTS else fragments


def _index_columns(
    history: History, segments: Sequence[IndexMetadata], positions: list[int]
) -> dict[str, Any]:
    names = field_names(history)
    covered = [covered_fragments(segment) for segment in segments]
    return {
        "name": [segment.name for segment in segments],
        "uuid": [segment.uuid for segment in segments],
        "index_type": [index_type(segment) for segment in segments],
        "field_ids": [segment.fields for segment in segments],
        "fields": [
            names_of(segment.fields, names[position])
            for segment, position in zip(segments, positions, strict=True)
        ],
        "covering_fields": [
            names_of(segment.covering_fields, names[position])
            for segment, position in zip(segments, positions, strict=True)
        ],
        "dataset_version": [segment.dataset_version for segment in segments],
        "num_fragments": [None if c is None else len(c) for c in covered],
        "fragment_ids": [None if c is None else pl.Series(c.to_array()) for c in covered],
        "created_at": [_time(segment.created_at_ms) for segment in segments],
        "index_version": [segment.index_version for segment in segments],
        "num_files": [len(segment.files) or None for segment in segments],
        "size_bytes": [_size(segment) for segment in segments],
        "base_id": [segment.base_id for segment in segments],
        "is_system": [segment.name in SYSTEM_INDICES for segment in segments],
        "details": [_details(segment) for segment in segments],
        "metadata": [
            json_text(dict(segment.metadata)) if segment.metadata else None for segment in segments
        ],
        "clustering_id": [segment.clustering_id for segment in segments],
    }


def _time(milliseconds: int | None) -> datetime | None:
    try:
        return None if milliseconds is None else _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None


def _size(segment: IndexMetadata) -> int | None:
    sizes = [file.size_bytes for file in segment.files]
    return sum(size for size in sizes if size is not None) if sizes and None not in sizes else None


def _details(segment: IndexMetadata) -> str | None:
    try:
        return json_text(index_details(segment))
    except FormatError:
        return None
