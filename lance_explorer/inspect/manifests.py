"""Manifest files: the size of each, and of its parts."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    KNOWN_FROM,
    TEXT,
    TIME,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.fragment_counts import totals
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.listing import VersionFile
from lance_explorer.history.view import HistoryView

__all__ = ["MANIFESTS", "manifests", "naming"]

_V2_DIGITS = 20


def _bytes(name: str, meaning: str) -> Column:
    return Column(name, BYTES, meaning, unit="bytes")


MANIFESTS = FrameSchema(
    "manifests",
    (
        VERSION,
        Column("timestamp", TIME, "time of the commit", nullable=True),
        BRANCH,
        Column("path", TEXT, "path of the manifest file below the root of the branch"),
        Column(
            "naming",
            pl.Enum(["V1", "V2"]),
            "scheme of manifest file names; V2 names sort latest first",
        ),
        Column("modified", TIME, "modification time of the file in storage"),
        _bytes("manifest_bytes", "size of the file: the sum of the following columns"),
        _bytes("schema_bytes", "size of the schema"),
        _bytes("fragments_bytes", "size of the fragments without their sequences"),
        _bytes("row_ids_bytes", "size of the row-ID sequences"),
        _bytes(
            "row_versions_bytes", "size of the sequences of created-at and last-updated versions"
        ),
        _bytes("index_section_bytes", "size of the index section"),
        _bytes("transaction_bytes", "size of the inlined transaction, if it can be decoded"),
        _bytes("rest_bytes", "size of config, metadata, lengths, footer and everything else"),
        KNOWN_FROM,
    ),
)
"""The columns of ``inspect.manifests()``. A part that a manifest does not have is 0 bytes."""


def manifests(view: HistoryView) -> pl.DataFrame:
    """Return one row for each kept version of the branch, oldest first."""
    history = view.history
    records = history.records
    parts = _parts(history)
    whole = _array([record.file.size_bytes for record in records])
    return MANIFESTS.build(
        {
            "version": history.versions,
            "timestamp": [record.manifest.timestamp for record in records],
            "branch": [view.branch] * len(records),
            "path": [record.file.path for record in records],
            "naming": [naming(record.file) for record in records],
            "modified": _times([record.file.modified_ns for record in records]),
            "manifest_bytes": whole,
            **parts,
            "rest_bytes": whole - sum(parts.values()),
            "known_from": known_from(view, history.versions),
        }
    )


def _parts(history: History) -> dict[str, NDArray[np.int64]]:
    records = history.records
    states = history.states
    row_ids, versions = [
        totals(history, of_state) for of_state in (states.row_id_bytes, states.row_version_bytes)
    ]
    fragments = _array([record.fragment_bytes for record in records])
    return {
        "schema_bytes": _array([record.schema_bytes for record in records]),
        "fragments_bytes": fragments - row_ids - versions,
        "row_ids_bytes": row_ids,
        "row_versions_bytes": versions,
        "index_section_bytes": _array([record.index_section_bytes for record in records]),
        "transaction_bytes": _array([_inlined_bytes(record) for record in records]),
    }


def _inlined_bytes(record: VersionRecord) -> int:
    stored = record.transaction
    return stored.num_bytes if stored is not None and stored.source == "manifest" else 0


def naming(file: VersionFile) -> str:
    """Return the scheme of a manifest's name, ``"V1"`` or ``"V2"``."""
    name = file.path.rpartition("/")[2].partition(".")[0]
    return "V2" if len(name) == _V2_DIGITS else "V1"


def _times(nanoseconds: list[int]) -> pl.Series:
    times = pl.Series(nanoseconds, dtype=pl.Int64).cast(pl.Datetime("ns", "UTC"))
    return times.dt.cast_time_unit("us")


def _array(values: list[int]) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)
