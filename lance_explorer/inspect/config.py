"""Configuration and metadata: keys and values of one version, or all that there ever were."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from lance_explorer.format.schema import Field, field_paths
from lance_explorer.frames.columns import (
    BRANCH,
    FIELD_ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.intervals import intervals_of
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.intervals import interval_columns
from lance_explorer.inspect.text import text_of

__all__ = ["ALL_CONFIG", "CONFIG", "all_config", "config"]

_MAP = pl.Enum(["config", "table_metadata", "schema_metadata", "field_metadata"])

_ENTRY = (
    Column("map", _MAP, "which of the maps of a manifest the entry is in"),
    Column("field_id", FIELD_ID, "field that the metadata is of", nullable=True),
    Column("field", TEXT, "path of that field", nullable=True),
    Column("key", TEXT, "key"),
    Column("value", TEXT, "value; bytes that are no UTF-8 as escapes"),
)

CONFIG = FrameSchema("config", (VERSION, BRANCH, *_ENTRY))
"""The columns of ``inspect.config()``."""

ALL_CONFIG = FrameSchema("all_config", (BRANCH, *_ENTRY, *INTERVAL))
"""The columns of ``inspect.all_config()``."""


@dataclass(frozen=True, slots=True)
class _Entry:
    map: str
    field_id: int | None
    field: str | None
    key: str
    value: str


_Entries = tuple[_Entry, ...]


def config(source: TableSource, version: int) -> pl.DataFrame:
    """Return one row for each entry of a version, by map, field and key."""
    [entries] = _entries_by_position(source.version(version))
    constant = {"version": [version] * len(entries), "branch": [source.branch] * len(entries)}
    return CONFIG.build({**constant, **_entry_columns(entries)})


def all_config(source: TableSource) -> pl.DataFrame:
    """Return one row for each entry that there ever was and each interval in which it was there."""
    history = source.history
    distinct, intervals = intervals_of(_entries_by_position(history))
    entries = [distinct[key] for key in intervals.keys.tolist()]
    return ALL_CONFIG.build(
        {
            "branch": [source.branch] * len(entries),
            **_entry_columns(entries),
            **interval_columns(history, intervals),
        }
    )


def _entries_by_position(history: History) -> list[_Entries]:
    """Return the entries of each record; neighbours with the same ones share them."""
    by_position: list[_Entries] = []
    before: VersionRecord | None = None
    for record in history.records:
        if before is None or not _has_same_entries(before, record):
            entries = (*_of_table(record), *_of_fields(record.schema))
        by_position.append(entries)
        before = record
    return by_position


def _has_same_entries(before: VersionRecord, after: VersionRecord) -> bool:
    old, new = before.manifest, after.manifest
    return (
        before.schema is after.schema
        and old.config == new.config
        and old.table_metadata == new.table_metadata
        and old.schema_metadata == new.schema_metadata
    )


def _of_table(record: VersionRecord) -> list[_Entry]:
    manifest = record.manifest
    return [
        *[_Entry("config", None, None, *pair) for pair in manifest.config],
        *[_Entry("table_metadata", None, None, *pair) for pair in manifest.table_metadata],
        *[
            _Entry("schema_metadata", None, None, key, text_of(value))
            for key, value in manifest.schema_metadata
        ],
    ]


def _of_fields(schema: tuple[Field, ...]) -> list[_Entry]:
    paths = field_paths(schema)
    return [
        _Entry("field_metadata", field.id, paths[field.id], key, text_of(value))
        for field in schema
        for key, value in field.metadata
    ]


def _entry_columns(entries: Sequence[_Entry]) -> dict[str, Any]:
    names = ("map", "field_id", "field", "key", "value")
    return {name: [getattr(entry, name) for entry in entries] for name in names}
