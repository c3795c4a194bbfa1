"""Settings of indices: how each was built, one row for each setting."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from lance_explorer.errors import FormatError
from lance_explorer.format.index_details import index_details, index_type
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.frames.columns import BRANCH, TEXT, VERSION, Column, FrameSchema
from lance_explorer.frames.text import json_text
from lance_explorer.history.view import HistoryView

__all__ = ["INDEX_SETTINGS", "index_settings"]

INDEX_SETTINGS = FrameSchema(
    "index_settings",
    (
        VERSION,
        BRANCH,
        Column("name", TEXT, "name of the index; its segments share it"),
        Column("uuid", TEXT, "UUID of the segment"),
        Column("index_type", TEXT, "index type, such as IVF_PQ; unknown if the writer stored none"),
        Column("setting", TEXT, "name of the setting, with the names of those that it is in"),
        Column("value", TEXT, "its value; lists as JSON", nullable=True),
    ),
)
"""The columns of ``inspect.index_settings()``."""


def index_settings(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each setting of each index segment of a version, in their order."""
    rows: list[tuple[str, str, str, str, str | None]] = []
    for segment in view.version(version).records[0].indices:
        if segment.name in SYSTEM_INDICES:
            continue
        try:
            settings = index_details(segment)
        except FormatError:
            continue  # ``inspect.indices()`` reports their damage; their details are null
        if "num_bytes" in settings and "type_url" in settings:
            continue  # not understood
        for name, value in _flat(settings):
            rows.append((segment.name, segment.uuid, index_type(segment), name, value))
    names = ("name", "uuid", "index_type", "setting", "value")
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    return INDEX_SETTINGS.build(
        {
            "version": [version] * len(rows),
            "branch": [view.branch] * len(rows),
            **dict(zip(names, columns, strict=True)),
        }
    )


def _flat(settings: dict[str, Any], within: str = "") -> Iterator[tuple[str, str | None]]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{within}{name}.")
        else:
            is_text = isinstance(value, str)
            yield within + name, value if value is None or is_text else json_text(value)
