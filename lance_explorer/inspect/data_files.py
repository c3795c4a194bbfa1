"""Data files: of one version, or of any version."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from lance_explorer.format.fragments import TOMBSTONE, DataFile, Fragment
from lance_explorer.format.manifest import LEGACY_FORMAT
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    FIELD_ID,
    ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals, merge_intervals
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.field_names import field_names, names_of
from lance_explorer.inspect.intervals import interval_columns

__all__ = ["ALL_DATA_FILES", "DATA_FILES", "all_data_files", "data_files"]

_FILE = (
    Column("fragment_id", ID, "fragment that the file belongs to"),
    Column("path", TEXT, "path below the data folder of its root, as stored"),
    Column("is_overlay", pl.Boolean(), "whether it is an overlay: new values for some of the rows"),
    Column(
        "field_ids",
        pl.List(FIELD_ID),
        "IDs of the fields in the file; negative numbers are markers",
    ),
    Column(
        "fields",
        pl.List(TEXT),
        "paths of these; null: dropped from the schema, <tombstone>: replaced by a later file",
    ),
    Column(
        "column_indices",
        pl.List(FIELD_ID),
        "for each field, the number of its column in the file; [] in legacy files",
    ),
    Column("format_version", TEXT, "data file version, such as 2.1; legacy is the oldest"),
    Column("size_bytes", BYTES, "size of the file", nullable=True, unit="bytes"),
    Column(
        "base_id",
        ID,
        "ID of the base path that the file is below; null: the table's own root",
        nullable=True,
    ),
    Column("root", TEXT, "path of that base path", nullable=True),
    Column("num_tombstones", COUNT, "number of fields that a later file replaced"),
)

DATA_FILES = FrameSchema("data_files", (VERSION, BRANCH, *_FILE))
"""The columns of ``inspect.data_files()``."""

ALL_DATA_FILES = FrameSchema("all_data_files", (BRANCH, *_FILE, *INTERVAL))
"""The columns of ``inspect.all_data_files()``; ``fields`` and ``root`` as the first version of the
interval has them."""


@dataclass(frozen=True, slots=True)
class _OwnedFile:
    """A data file as its fragment has it."""

    fragment_id: int
    file: DataFile
    is_overlay: bool


def data_files(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each data file of a version, by fragment in the order of a scan."""
    history = view.version(version)
    states = [history.states[key] for key in history.intervals.keys.tolist()]
    files = [file for state in states for file in _owned_files(state)]
    constant = {"version": [version] * len(files), "branch": [view.branch] * len(files)}
    return DATA_FILES.build({**constant, **_file_columns(history, files, [0] * len(files))})


def all_data_files(view: HistoryView) -> pl.DataFrame:
    """Return one row for each state of a data file and each interval of it.

    A file is in another state when more of its fields have been replaced.
    """
    history = view.history
    distinct, intervals = _file_intervals(history)
    files = [distinct[key] for key in intervals.keys.tolist()]
    return ALL_DATA_FILES.build(
        {
            "branch": [view.branch] * len(files),
            **_file_columns(history, files, intervals.first.tolist()),
            **interval_columns(history, intervals),
        }
    )


def _owned_files(fragment: Fragment) -> Iterator[_OwnedFile]:
    for file in fragment.files:
        yield _OwnedFile(fragment.id, file, is_overlay=False)
    for overlay in fragment.overlays:
        yield _OwnedFile(fragment.id, overlay.data_file, is_overlay=True)


def _file_intervals(history: History) -> tuple[list[_OwnedFile], Intervals]:
    """Return the distinct files, and their intervals: those of the fragment states, merged."""
    numbers: dict[_OwnedFile, int] = {}
    by_state = [
        [numbers.setdefault(file, len(numbers)) for file in _owned_files(state)]
        for state in history.states
    ]
    of_states = history.intervals
    keys = [by_state[state] for state in of_states.keys.tolist()]
    counts = [len(files) for files in keys]
    intervals = merge_intervals(
        np.array([key for files in keys for key in files], dtype=np.int64),
        np.repeat(of_states.first, counts),
        np.repeat(of_states.last, counts),
    )
    return list(numbers), intervals


def _file_columns(
    history: History, files: Sequence[_OwnedFile], positions: list[int]
) -> dict[str, Any]:
    names = field_names(history)
    roots = [{base.id: base.path for base in r.manifest.base_paths} for r in history.records]
    stored = [owned.file for owned in files]
    return {
        "fragment_id": [owned.fragment_id for owned in files],
        "path": [file.path for file in stored],
        "is_overlay": [owned.is_overlay for owned in files],
        "field_ids": [file.fields for file in stored],
        "fields": [
            names_of(file.fields, names[position])
            for file, position in zip(stored, positions, strict=True)
        ],
        "column_indices": [file.column_indices for file in stored],
        "format_version": [_format_version(file) for file in stored],
        "size_bytes": [file.size_bytes for file in stored],
        "base_id": [file.base_id for file in stored],
        "root": [
            None if file.base_id is None else roots[position].get(file.base_id)
            for file, position in zip(stored, positions, strict=True)
        ],
        "num_tombstones": [file.fields.count(TOMBSTONE) for file in stored],
    }


def _format_version(file: DataFile) -> str:
    return f"{file.major_version}.{file.minor_version}" if file.major_version else LEGACY_FORMAT
