"""Fragments: of one version, or of any version."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.format.fragment_columns import SequenceStorage
from lance_explorer.format.fragments import DeletionFileType
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.counts import nullable
from lance_explorer.history.history import History
from lance_explorer.history.lives import fragment_lives
from lance_explorer.history.states import States
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.intervals import interval_columns

__all__ = ["ALL_FRAGMENTS", "FRAGMENTS", "all_fragments", "deletion_file_type", "fragments"]

_STATE = (
    Column("fragment_id", ID, "fragment ID"),
    Column("num_rows", COUNT, "live rows", nullable=True),
    Column("physical_rows", COUNT, "rows including deleted ones", nullable=True),
    Column("num_deleted_rows", COUNT, "deleted rows, masked by the deletion file", nullable=True),
    Column("num_data_files", COUNT, "number of data files, including overlays"),
    Column("data_bytes", BYTES, "size of the data files", nullable=True, unit="bytes"),
    Column("num_overlays", COUNT, "number of overlays"),
    Column("deletion_file", TEXT, "path of the deletion file below its root", nullable=True),
    Column("deletion_file_type", TEXT, "arrow_array or bitmap", nullable=True),
    Column(
        "row_ids_storage",
        TEXT,
        "where the row-ID sequence is: inline, external or spilled",
        nullable=True,
    ),
    Column("row_ids_bytes", BYTES, "inline bytes of the row-ID sequence", unit="bytes"),
    Column(
        "versions_storage",
        TEXT,
        "where the row-version sequences are: inline, external or spilled",
        nullable=True,
    ),
    Column("versions_bytes", BYTES, "inline bytes of both row-version sequences", unit="bytes"),
)

FRAGMENTS = FrameSchema("fragments", (VERSION, BRANCH, *_STATE))
"""The columns of ``inspect.fragments()``."""

ALL_FRAGMENTS = FrameSchema(
    "all_fragments",
    (
        Column("state_id", ID, "number of the state; intervals of the same state share it"),
        BRANCH,
        *_STATE,
        *INTERVAL,
        Column(
            "created_in",
            ID,
            "version that created the fragment; null if unknown",
            nullable=True,
        ),
    ),
)
"""The columns of ``inspect.all_fragments()``."""


def fragments(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each fragment of a version, in the order of a scan."""
    history = view.version(version)
    states = history.intervals.keys
    constant = {"version": [version] * len(states), "branch": [view.branch] * len(states)}
    return FRAGMENTS.build({**constant, **_state_columns(history, states)})


def all_fragments(view: HistoryView) -> pl.DataFrame:
    """Return one row for each state of a fragment and each interval of it."""
    history = view.history
    intervals = history.intervals
    states = intervals.keys
    lives = fragment_lives(history)
    begins = lives.first[lives.of_interval]
    created_in = pl.Series(history.versions[begins])
    is_known = pl.Series(history.begins_exactly[begins])
    return ALL_FRAGMENTS.build(
        {
            "state_id": states,
            "branch": [view.branch] * len(states),
            **_state_columns(history, states),
            **interval_columns(history, intervals),
            "created_in": created_in.set(~is_known, None),
        }
    )


def _state_columns(history: History, keys: NDArray[np.int64]) -> dict[str, Any]:
    states = history.states
    return {
        "fragment_id": states.ids[keys],
        "num_rows": nullable(history.live_rows[keys]),
        "physical_rows": nullable(states.physical_rows[keys]),
        "num_deleted_rows": nullable(history.num_deleted_rows[keys]),
        "num_data_files": states.num_files[keys],
        "data_bytes": nullable(states.data_bytes[keys]),
        "num_overlays": states.num_overlays[keys],
        **_deletion_columns(states, keys),
        "row_ids_storage": _storage(states.row_id_storage[keys]),
        "row_ids_bytes": states.row_id_bytes[keys],
        "versions_storage": _storage(states.row_version_storage[keys]),
        "versions_bytes": states.row_version_bytes[keys],
    }


def _deletion_columns(states: States, keys: NDArray[np.int64]) -> dict[str, Any]:
    paths: list[str | None] = [None] * len(keys)
    types: list[str | None] = [None] * len(keys)
    for place in np.flatnonzero(states.deletion_types[keys] >= 0).tolist():
        state = states[keys[place]]
        if state.deletion_file is not None:
            paths[place] = state.deletion_file.path(state.id)
            types[place] = deletion_file_type(state.deletion_file.file_type)
    return {"deletion_file": paths, "deletion_file_type": types}


def deletion_file_type(file_type: int) -> str:
    """Return the name of a type of deletion files."""
    try:
        return DeletionFileType(file_type).name.lower()
    except ValueError:
        return f"unknown_{file_type}"


def _storage(storage: NDArray[np.uint8]) -> pl.Series:
    names = pl.Series([None, *[each.name.lower() for each in SequenceStorage if each]])
    return names.gather(pl.Series(storage.astype(np.uint32)))
