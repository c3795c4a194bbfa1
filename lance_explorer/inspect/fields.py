"""Fields: of the schema of one version, or of any version."""

import json
import re
from typing import Any

import polars as pl

from lance_explorer.format.schema import NO_PARENT, Field
from lance_explorer.frames.columns import (
    BRANCH,
    COUNT,
    FIELD_ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.text import json_text, text_of
from lance_explorer.history.columns.lives import kept_fields
from lance_explorer.history.intervals import intervals_of
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.field_steps import FieldState, FieldSteps, field_states
from lance_explorer.inspect.intervals import interval_columns

__all__ = ["ALL_FIELDS", "FIELDS", "all_fields", "fields"]

_ENCODING = "lance-encoding:"
_EXTENSION_NAME = "ARROW:extension:name"
_NUMBER_OR_BOOLEAN = re.compile(r"-?(0|[1-9]\d{0,17})(\.\d{1,18})?|true|false")

_FIELD = (
    Column("field_id", FIELD_ID, "field ID; an ID can be reused after its field was dropped"),
    Column("path", TEXT, "path: names from the top level down, joined by dots"),
    Column("name", TEXT, "last part of the path"),
    Column(
        "parent_id",
        FIELD_ID,
        "ID of the field that contains it; null at the top level",
        nullable=True,
    ),
    Column("logical_type", TEXT, "type as Lance writes it"),
    Column("nullable", pl.Boolean(), "whether values may be null"),
    Column("extension_name", TEXT, "Arrow extension type", nullable=True),
    Column("primary_key_position", COUNT, "position in the unenforced primary key", nullable=True),
    Column("clustering_key_position", COUNT, "position in the clustering key", nullable=True),
    Column("metadata", TEXT, "metadata of the field as a JSON object"),
    Column(
        "encoding",
        TEXT,
        "its metadata keys lance-encoding:... as a JSON object, without that prefix",
    ),
)

FIELDS = FrameSchema("fields", (VERSION, BRANCH, *_FIELD))
"""The columns of ``inspect.fields()``."""

_BEGAN_AS = pl.Enum(["added", "renamed", "cast", "altered", "inherited", "unknown"])
_ENDED_AS = pl.Enum(["dropped", "renamed", "cast", "altered", "unknown"])

ALL_FIELDS = FrameSchema(
    "all_fields",
    (
        BRANCH,
        *_FIELD,
        *INTERVAL,
        Column(
            "began_as",
            _BEGAN_AS,
            "how the state began; inherited: from the branched or cloned table; "
            "unknown: the version before is not kept",
        ),
        Column(
            "ended_as",
            _ENDED_AS,
            "how the state ended; null: it is current; unknown: the version after is not kept",
            nullable=True,
        ),
    ),
)
"""The columns of ``inspect.all_fields()``."""


def fields(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each field of a version, depth first."""
    [states] = field_states(view.version(version))
    constant = {"version": [version] * len(states), "branch": [view.branch] * len(states)}
    return FIELDS.build({**constant, **_field_columns(list(states))})


def all_fields(view: HistoryView) -> pl.DataFrame:
    """Return one row for each state of a field and each interval of it.

    A renamed, cast or otherwise altered field is in another state; a cast gives it another ID.
    """
    history = view.history
    by_position = field_states(history)
    steps = FieldSteps(history, by_position, lambda after: kept_fields(history, after - 1, after))
    distinct, intervals = intervals_of(by_position)
    states = [distinct[key] for key in intervals.keys.tolist()]
    first, last = intervals.first.tolist(), intervals.last.tolist()
    return ALL_FIELDS.build(
        {
            "branch": [view.branch] * len(states),
            **_field_columns(states),
            **interval_columns(history, intervals),
            "began_as": [steps.began_as(*pair) for pair in zip(states, first, strict=True)],
            "ended_as": [steps.ended_as(*pair) for pair in zip(states, last, strict=True)],
        }
    )


def _field_columns(states: list[FieldState]) -> dict[str, Any]:
    fields = [state.field for state in states]
    metadata = [{key: text_of(value) for key, value in field.metadata} for field in fields]
    return {
        "field_id": [field.id for field in fields],
        "path": [state.path for state in states],
        "name": [field.name for field in fields],
        "parent_id": [None if f.parent_id == NO_PARENT else f.parent_id for f in fields],
        "logical_type": [field.logical_type for field in fields],
        "nullable": [field.nullable for field in fields],
        "extension_name": [
            _extension_name(field, pairs) for field, pairs in zip(fields, metadata, strict=True)
        ],
        "primary_key_position": [field.primary_key_position for field in fields],
        "clustering_key_position": [field.clustering_key_position for field in fields],
        "metadata": [json_text(pairs) for pairs in metadata],
        "encoding": [json_text(_encoding(pairs)) for pairs in metadata],
    }


def _extension_name(field: Field, metadata: dict[str, str]) -> str | None:
    return metadata.get(_EXTENSION_NAME) or field.extension_name or None


def _encoding(metadata: dict[str, str]) -> dict[str, Any]:
    return {
        key.removeprefix(_ENCODING): _parsed(value)
        for key, value in metadata.items()
        if key.startswith(_ENCODING)
    }


def _parsed(value: str) -> Any:
    """Return a number or boolean, or the text itself."""
    return json.loads(value) if _NUMBER_OR_BOOLEAN.fullmatch(value) else value
