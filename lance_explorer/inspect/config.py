"""Configuration and metadata: keys and values of one version, or of any version."""

from typing import Any

import polars as pl

from lance_explorer.frames.columns import (
    BRANCH,
    FIELD_ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.config_entries import (
    CONFIG_MAP,
    ConfigEntries,
    config_entries,
    has_same_entries,
)
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.intervals import intervals_of
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.intervals import interval_columns

__all__ = ["ALL_CONFIG", "CONFIG", "all_config", "config"]

_ENTRY = (
    Column("map", CONFIG_MAP, "map of the manifest that contains the entry"),
    Column("field_id", FIELD_ID, "ID of the field, if the entry is field metadata", nullable=True),
    Column("field", TEXT, "path of that field", nullable=True),
    Column("key", TEXT, "key of the entry"),
    Column("value", TEXT, "value of the entry; bytes that are not UTF-8 as escapes"),
)

CONFIG = FrameSchema("config", (VERSION, BRANCH, *_ENTRY))
"""The columns of ``inspect.config()``."""

ALL_CONFIG = FrameSchema("all_config", (BRANCH, *_ENTRY, *INTERVAL))
"""The columns of ``inspect.all_config()``."""


def config(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each entry of a version, by map, field and key."""
    [entries] = _entries_by_position(view.version(version))
    constant = {"version": [version] * len(entries), "branch": [view.branch] * len(entries)}
    return CONFIG.build({**constant, **_entry_columns(entries)})


def all_config(view: HistoryView) -> pl.DataFrame:
    """Return one row for each entry of any version and each interval of it."""
    history = view.history
    distinct, intervals = intervals_of(_entries_by_position(history))
    entries = tuple([distinct[key] for key in intervals.keys.tolist()])
    return ALL_CONFIG.build(
        {
            "branch": [view.branch] * len(entries),
            **_entry_columns(entries),
            **interval_columns(history, intervals),
        }
    )


def _entries_by_position(history: History) -> list[ConfigEntries]:
    """Return the entries of each record; equal neighbours share them."""
    by_position: list[ConfigEntries] = []
    before: VersionRecord | None = None
    for record in history.records:
        if before is None or not has_same_entries(before, record):
            entries = config_entries(record)
        by_position.append(entries)
        before = record
    return by_position


def _entry_columns(entries: ConfigEntries) -> dict[str, Any]:
    names = ("map", "field_id", "field", "key", "value")
    return {name: [getattr(entry, name) for entry in entries] for name in names}
