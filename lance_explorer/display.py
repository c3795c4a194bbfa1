"""The representations of tables and snapshots: a line of text, or an answer."""

import numpy as np
import polars as pl

from lance_explorer.answers import Answer, Section
from lance_explorer.errors import LanceExplorerError, TableNotFoundError
from lance_explorer.figures.inline import (
    commits_key,
    fragments_key,
    fragments_strip,
    history_strip,
)
from lance_explorer.figures.labels import size
from lance_explorer.format.flags import flag_names, unreadable_flags
from lance_explorer.format.refs import Tag
from lance_explorer.frames.counts import nullable
from lance_explorer.frames.known_from import recorded_words
from lance_explorer.frames.sizes import counted
from lance_explorer.history.fragment_counts import totals
from lance_explorer.history.history import UNKNOWN_COUNT, History
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.view import HistoryView
from lance_explorer.shown import one_line

__all__ = [
    "branch_words",
    "gone_text",
    "snapshot_answer",
    "snapshot_text",
    "table_answer",
    "table_facts",
    "table_name",
    "table_text",
    "tag_words",
]

_ONLY_RECORDED = "known from the ledger"
_FROM_LEDGER = "the ledger alone"
_SHOWN_VERSIONS = 10
_SHOWN_FIELDS = 20
_SHOWN_ITEMS = 10
_LONGEST_NAME = 40
_LONGEST_FACT = 1000


def table_text(view: HistoryView) -> str:
    """Return one line about a table, from its latest manifest alone."""
    kept = view.listing.versions
    versions = f"{counted(len(kept), 'version')} ({kept[0].version} to {kept[-1].version})"
    try:
        latest = _summary(view.version(view.latest_version))
    except LanceExplorerError as error:
        latest = one_line(f"cannot be read: {error}", _LONGEST_FACT)
    words = [f"{versions}, latest {latest}", recorded_words(view)]
    return f"Table {table_name(view)}: {'; '.join(filter(None, words))}"


def gone_text(view: HistoryView, error: TableNotFoundError) -> str:
    """Return one line about a table that no longer exists."""
    return f"Table {table_name(view)}: {one_line(str(error), _LONGEST_FACT)}"


def snapshot_text(view: HistoryView, snapshot: History) -> str:
    """Return one line about a version."""
    record = snapshot.records[0]
    by = f" by {record.operation}" if record.operation else ""
    only = f"; {_ONLY_RECORDED}" if record.version in view.recorded_versions else ""
    return f"Snapshot {table_name(view)} version {record.version}{by}, {_summary(snapshot)}{only}"


def table_facts(view: HistoryView) -> dict[str, str]:
    """Return the facts about a table from its latest version and its refs."""
    try:
        latest_version = view.found(view.latest_version)
        latest, common = _summary(*latest_version), _common_facts(*latest_version)
    except LanceExplorerError as error:
        latest, common = f"cannot be read: {error}", {}
    kept, recorded = view.listing.versions, recorded_words(view)
    return {
        "location": view.storage.uri,
        "versions": f"{len(kept):,} kept, {kept[0].version} to {kept[-1].version}"
        if not recorded
        else f"{len(kept):,}, {kept[0].version} to {kept[-1].version}; {recorded}",
        "latest": latest,
        "tags": _listed(tag_words(view)),
        "branches": _listed(branch_words(view)),
        **common,
    }


def tag_words(view: HistoryView) -> list[str]:
    """Return all tags of a table, each with its version, on any branch.

    Examples
    --------
    >>> tag_words(table._view)
    ['clean (version 4)']
    """
    return [
        *[
            f"{one_line(tag.name, _LONGEST_NAME)} ({_tagged(view, tag)})"
            for tag in view.refs.tags.values()
        ],
        *_unreadable(view, "tag"),
    ]


def branch_words(view: HistoryView) -> list[str]:
    """Return the names of all branches of a table, except the main branch."""
    names = [one_line(name, _LONGEST_NAME) for name in view.refs.branches]
    return [*names, *_unreadable(view, "branch")]


def _unreadable(view: HistoryView, kind: str) -> list[str]:
    refs = [ref for ref in view.refs.unreadable if ref.kind == kind and ref.name]
    return [f"{one_line(ref.name or '', _LONGEST_NAME)} (cannot be read)" for ref in refs]


def _tagged(view: HistoryView, tag: Tag) -> str:
    if tag.version >= FIRST_DETACHED:
        return f"detached version {tag.version}"
    if tag.branch == view.branch:
        return f"version {tag.version}"
    branch = "the main branch" if tag.branch is None else one_line(tag.branch, _LONGEST_NAME)
    return f"version {tag.version} of {branch}"


def table_answer(view: HistoryView, versions: pl.DataFrame, last: int | None = None) -> Answer:
    """Return a table's facts and its latest versions.

    ``versions`` may be only the ``last`` so many, which are in the picture then.
    """
    shown = _story(versions.tail(_SHOWN_VERSIONS).reverse())
    count, in_picture = len(versions), ""
    if last is not None and last < len(view.listing.versions):
        count, in_picture = len(view.listing.versions), f"; the picture shows the latest {last:,}"
    title = f"The latest {len(shown):,} of {counted(count, 'version')}{in_picture}"
    return Answer(
        f"Table {table_name(view)}",
        (
            Section("history", "", lambda: history_strip(versions)),
            Section("kinds", "", lambda: commits_key(versions)),
            Section("facts", "", table_facts(view)),
            Section("versions", title, versions, shown=shown),
        ),
    )


def snapshot_answer(view: HistoryView, snapshot: History, fields: pl.DataFrame) -> Answer:
    """Return the facts and the schema of a version."""
    record = snapshot.records[0]
    header = record.transaction and record.transaction.header
    facts = {
        "location": view.storage.uri,
        "operation": record.operation or "unknown",
        "message": header.message if header and header.message else "none",
        "content": _summary(snapshot),
        **({"known from": _FROM_LEDGER} if record.version in view.recorded_versions else {}),
        **_common_facts(snapshot),
    }
    shown = fields.head(_SHOWN_FIELDS).select("field_id", "path", "logical_type", "nullable")
    title = f"{len(shown):,} of {counted(len(fields), 'field')}"
    fragments = _fragments(snapshot)
    return Answer(
        f"Version {record.version} of {table_name(view)}",
        (
            Section("fragments", "", lambda: fragments_strip(fragments)),
            Section("key", "", lambda: fragments_key(fragments)),
            Section("facts", "", facts),
            Section("fields", title, fields, shown=shown),
        ),
    )


def _fragments(snapshot: History) -> pl.DataFrame:
    """Return the rows of each fragment, null where they are unknown."""
    states = snapshot.intervals.keys
    is_readable = not unreadable_flags(snapshot.records[0].manifest.reader_feature_flags)
    known = {
        "physical_rows": snapshot.states.physical_rows[states],
        "num_deleted_rows": snapshot.num_deleted_rows[states],
    }
    unknown = np.full(len(states), UNKNOWN_COUNT)
    return pl.DataFrame(
        {name: nullable(counts if is_readable else unknown) for name, counts in known.items()}
    )


def _common_facts(history: History, position: int = 0) -> dict[str, str]:
    manifest = history.records[position].manifest
    facts = {
        "writer": f"{manifest.writer.library} {manifest.writer}" if manifest.writer else "unknown",
        "data format": manifest.data_format,
        "reader flags": _listed(list(flag_names(manifest.reader_feature_flags))),
    }
    unreadable = unreadable_flags(manifest.reader_feature_flags)
    if unreadable:
        facts["not readable"] = f"rows, because of {_listed(list(unreadable))}"
    return facts


def _summary(history: History, position: int = 0) -> str:
    """Return time, rows, fragments and bytes of a version, in words."""
    record = history.records[position]
    time = record.manifest.timestamp
    rows = int(totals(history, history.live_rows)[position])
    if unreadable_flags(record.manifest.reader_feature_flags):
        rows = UNKNOWN_COUNT
    num_bytes = int(totals(history, history.states.data_bytes)[position])
    parts = [
        f"{time:%Y-%m-%d %H:%M:%S} UTC" if time else "at an unknown time",
        f"{counted(rows, 'row') if rows >= 0 else 'unknown rows'} in "
        + counted(len(history.intervals.at(position)), "fragment"),
        size(num_bytes) if num_bytes >= 0 else "unknown size",
    ]
    return ", ".join(parts)


def _story(versions: pl.DataFrame) -> pl.DataFrame:
    is_mixed = (versions["known_from"] != "live").any()
    return versions.select(
        "version",
        "timestamp",
        "operation",
        "num_rows",
        "num_fragments",
        "data_bytes",
        "tags",
        "message",
        *(["known_from"] if is_mixed else []),
    )


def _listed(items: list[str]) -> str:
    shown = ", ".join(items[:_SHOWN_ITEMS]) or "none"
    if len(items) <= _SHOWN_ITEMS:
        return shown
    return f"{shown} and {len(items) - _SHOWN_ITEMS} more"


def table_name(view: HistoryView) -> str:
    """Return the last part of a table's location, and its branch."""
    name = one_line(view.name)
    return f"{name} (branch {one_line(view.branch)})" if view.branch else name
