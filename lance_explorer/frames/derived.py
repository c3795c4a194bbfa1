"""Columns and tables that LanceDB derived from others (docs/FORMAT.md 16)."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import polars as pl

from lance_explorer.format.schema import Field, field_paths
from lance_explorer.frames.columns import (
    BRANCH,
    COUNT,
    FIELD_ID,
    ID,
    TEXT,
    TIME,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.text import text_of
from lance_explorer.history.history import VersionRecord
from lance_explorer.storage import leads_elsewhere

__all__ = ["DERIVATIONS", "Derivation", "derivations", "signature_files", "view_source"]

_EXPRESSION = "computed_column.expression"
_KIND = "computed_column.kind"
_INPUTS = "computed_column.inputs"
_DEFINITION_VERSION = "computed_refresh.definition_version"
_REFRESHED_VERSION = "computed_refresh.recorded_at_version"
_SIGNATURE = "computed_refresh.source_signature"
_SIDECAR = "sidecar:"
_VIEW = "mv.definition"
_VIEW_SOURCE_VERSION = "mv.source_version"
_VIEW_SOURCE_TIME = "mv.source_version_ts"
_VIEW_REFRESHED = "mv.refreshed_at_ms"

_SOURCE = re.compile(r"\bFROM\s+([^\s,;()]+)", re.IGNORECASE)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 1 << 63
_MILLISECONDS, _NANOSECONDS = 1000, 1_000_000_000


DERIVATIONS = FrameSchema(
    "derivations",
    (
        VERSION,
        BRANCH,
        Column("kind", pl.Enum(["computed_column", "materialized_view"]), "what was derived"),
        Column("field_id", FIELD_ID, "ID of the column; null: the whole table", nullable=True),
        Column("column", TEXT, "path of the column; null: the whole table", nullable=True),
        Column("language", TEXT, "what the expression is written in, such as sql"),
        Column("expression", TEXT, "what it is computed by"),
        Column("inputs", pl.List(TEXT), "columns, or the table, that it is computed from"),
        Column("definition_version", TEXT, "what tells this definition from others", nullable=True),
        Column(
            "defined_since",
            ID,
            "first kept version, of those without a break, that has it with this expression",
        ),
        Column(
            "refreshed_version",
            ID,
            "version that it was last computed from, of a view that of its source; null: never",
            nullable=True,
        ),
        Column("refreshed_at", TIME, "when a view was computed", nullable=True),
        Column(
            "num_rows_to_refresh",
            COUNT,
            "rows that were written since; of a view those of its source that came, went or were "
            "updated, whether it takes them or not; null: not known",
            nullable=True,
        ),
    ),
)
"""The columns of ``table.derivations()``."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """A column, or a whole table if that is a view, and its sources.

    Attributes
    ----------
    field_id : int, optional
        The column; None for a view.
    column : str, optional
        Its path.
    language : str
        In what ``expression`` is written, such as ``sql``.
    expression : str
        What it is computed by.
    inputs : tuple of str
        The columns, or the table, that it is computed from.
    definition_version : str, optional
        What tells one definition from another.
    refreshed_version : int, optional
        The version whose values it was last computed from: of the same table, or of a view's
        source. None if it never was.
    refreshed_at : datetime, optional
        When a view was.
    source_time : datetime, optional
        When the version of its source was committed that a view was computed from.
    """

    field_id: int | None
    column: str | None
    language: str
    expression: str
    inputs: tuple[str, ...]
    definition_version: str | None
    refreshed_version: int | None
    refreshed_at: datetime | None
    source_time: datetime | None = None


def derivations(record: VersionRecord) -> tuple[Derivation, ...]:
    """Return the derived parts of a version: computed columns in schema order, a view."""
    paths = field_paths(record.schema)
    columns = [_column(field, paths[field.id]) for field in record.schema]
    metadata = {key: text_of(value) for key, value in record.manifest.schema_metadata}
    return (*[one for one in columns if one is not None], *_view(metadata))


def view_source(view_uri: str, one: Derivation) -> str | None:
    """Return the root of the source table of a view: one of that name beside it."""
    if one.column is not None or len(one.inputs) != 1 or leads_elsewhere(one.inputs[0]):
        return None
    return f"{view_uri.rpartition('/')[0]}/{one.inputs[0]}.lance"


def signature_files(field: Field) -> list[str]:
    """Return the names of files that record the inputs of a column, without ending."""
    return [
        text.removeprefix(_SIDECAR)
        for key, text in [(key, text_of(value)) for key, value in field.metadata]
        if key == _SIGNATURE and text.startswith(_SIDECAR) and text[len(_SIDECAR) :].isalnum()
    ]


def _column(field: Field, path: str) -> Derivation | None:
    metadata = {key: text_of(value) for key, value in field.metadata}
    if _EXPRESSION not in metadata:
        return None
    return Derivation(
        field_id=field.id,
        column=path,
        language=metadata.get(_KIND, "sql"),
        expression=metadata[_EXPRESSION],
        inputs=_texts(metadata.get(_INPUTS, "[]")),
        definition_version=metadata.get(_DEFINITION_VERSION),
        refreshed_version=_number(metadata.get(_REFRESHED_VERSION)),
        refreshed_at=None,
    )


def _view(metadata: dict[str, str]) -> list[Derivation]:
    if _VIEW not in metadata:
        return []
    definition = _json(metadata[_VIEW])
    content = definition if isinstance(definition, dict) else {}
    query = content.get("query")
    milliseconds = _number(metadata.get(_VIEW_REFRESHED))
    return [
        Derivation(
            field_id=None,
            column=None,
            language="sql" if isinstance(query, str) else str(content.get("kind", "unknown")),
            expression=query if isinstance(query, str) else metadata[_VIEW],
            inputs=tuple(_SOURCE.findall(query)[:1]) if isinstance(query, str) else (),
            definition_version=str(content["format"]) if "format" in content else None,
            refreshed_version=_number(metadata.get(_VIEW_SOURCE_VERSION)),
            refreshed_at=_time(milliseconds, _MILLISECONDS),
            source_time=_time(_number(metadata.get(_VIEW_SOURCE_TIME)), _NANOSECONDS),
        )
    ]


def _texts(text: str) -> tuple[str, ...]:
    content = _json(text)
    return (
        tuple([one for one in content if isinstance(one, str)]) if isinstance(content, list) else ()
    )


def _json(text: str) -> object:
    try:
        content: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content


def _number(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > len(str(_LARGEST)):
        return None
    return min(int(text), _LARGEST)


def _time(since: int | None, in_a_second: int) -> datetime | None:
    try:
        microseconds = None if since is None else since * 1_000_000 // in_a_second
        return None if microseconds is None else _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None
