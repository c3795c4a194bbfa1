"""The entries of the maps of a manifest: config, metadata of table and fields; and clustering."""

import json
from dataclasses import asdict, dataclass

import polars as pl

from lance_explorer.format.schema import Field, field_paths
from lance_explorer.frames.text import text_of
from lance_explorer.history.history import VersionRecord
from lance_explorer.shown import visible_json

__all__ = ["CONFIG_MAP", "ConfigEntries", "ConfigEntry", "config_entries", "has_same_entries"]

CONFIG_MAP = pl.Enum(
    ["config", "table_metadata", "schema_metadata", "field_metadata", "clustering"]
)
"""The maps; ``clustering`` is not one in the manifest, and has the JSON of each by its ID."""


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One entry; ``field`` is the path of its field, None for the whole table."""

    map: str
    field_id: int | None
    field: str | None
    key: str
    value: str


ConfigEntries = tuple[ConfigEntry, ...]


def config_entries(record: VersionRecord) -> ConfigEntries:
    """Return the entries of a version, by map, field and key."""
    return (*_of_table(record), *_of_fields(record.schema))


def has_same_entries(before: VersionRecord, after: VersionRecord) -> bool:
    """Whether two versions have the same entries and, as neighbours do, the same schema."""
    old, new = before.manifest, after.manifest
    return (
        before.schema is after.schema
        and old.config == new.config
        and old.table_metadata == new.table_metadata
        and old.schema_metadata == new.schema_metadata
        and old.clustering == new.clustering
    )


def _of_table(record: VersionRecord) -> list[ConfigEntry]:
    manifest = record.manifest
    return [
        *[ConfigEntry("config", None, None, *pair) for pair in manifest.config],
        *[ConfigEntry("table_metadata", None, None, *pair) for pair in manifest.table_metadata],
        *[
            ConfigEntry("schema_metadata", None, None, key, text_of(value))
            for key, value in manifest.schema_metadata
        ],
        *[
            ConfigEntry(
                "clustering", None, None, str(one.id), visible_json(json.dumps(asdict(one)))
            )
            for one in manifest.clustering
        ],
    ]


def _of_fields(schema: tuple[Field, ...]) -> list[ConfigEntry]:
    paths = field_paths(schema)
    return [
        ConfigEntry("field_metadata", field.id, paths[field.id], key, text_of(value))
        for field in schema
        for key, value in field.metadata
    ]
