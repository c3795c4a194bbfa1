"""Entries of configuration and metadata that differ between two versions."""

import polars as pl

from lance_explorer.frames.columns import TEXT, Column, FrameSchema
from lance_explorer.frames.config_entries import CONFIG_MAP, config_entries
from lance_explorer.history.history import VersionRecord

__all__ = ["CONFIG_DIFF", "config_diff"]

CONFIG_DIFF = FrameSchema(
    "config_diff",
    (
        Column("change", pl.Enum(["added", "removed", "changed"]), "how the entry differs"),
        Column("map", CONFIG_MAP, "map of the manifest that contains the entry"),
        Column("field", TEXT, "path of the field, if the entry is field metadata", nullable=True),
        Column("key", TEXT, "key of the entry"),
        Column("value_before", TEXT, "value in the first version", nullable=True),
        Column("value_after", TEXT, "value in the second version", nullable=True),
    ),
)
"""The columns of ``Diff.config()``."""


def config_diff(before: VersionRecord, after: VersionRecord) -> pl.DataFrame:
    """Return one row for each entry that differs, by map, field and key."""
    old, new = (
        {(entry.map, entry.field, entry.key): entry.value for entry in config_entries(record)}
        for record in (before, after)
    )
    maps = CONFIG_MAP.categories.to_list()
    keys = sorted(
        [key for key in old.keys() | new.keys() if old.get(key) != new.get(key)],
        key=lambda key: (maps.index(key[0]), key[1] or "", key[2]),
    )
    return CONFIG_DIFF.build(
        {
            "change": [
                "added" if key not in old else "removed" if key not in new else "changed"
                for key in keys
            ],
            "map": [key[0] for key in keys],
            "field": [key[1] for key in keys],
            "key": [key[2] for key in keys],
            "value_before": [old.get(key) for key in keys],
            "value_after": [new.get(key) for key in keys],
        }
    )
