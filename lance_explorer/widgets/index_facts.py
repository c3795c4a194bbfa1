"""The indices of one version: facts about each, the reuse history, and advice."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import polars as pl

from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.history.history import History
from lance_explorer.inspect.health import health_findings
from lance_explorer.inspect.index_summary import index_summary
from lance_explorer.table import Table
from lance_explorer.widgets.advice_data import advice_data
from lance_explorer.widgets.index_words import no_advice_words
from lance_explorer.widgets.messages.indices import IndexFacts, ReuseEntry, VersionIndices

__all__ = ["index_facts"]

_MOST_INDICES = 200
_MOST_ENTRIES = 50
_MOST_TEXT = 500


def index_facts(table: Table, version: int) -> VersionIndices:
    """Return the indices of a version, the entries of its reuse history, and what to do about them.

    Numbers are decimal strings, None where they are unknown.
    """
    summary = index_summary(table._view, version)
    reuse = table.inspect.fragment_reuse(version)
    births = _births(table._view.history, version)
    entries = [_index(row, births[row["name"]]) for row in summary.iter_rows(named=True)]
    fields = table.inspect.fields(version)
    columns = fields.filter(pl.col("parent_id").is_null())["name"].to_list()
    return VersionIndices(
        indices=entries[:_MOST_INDICES],
        num_indices=len(entries),
        advice=advice_data(
            health_findings(table._view, version, "indices"), no_advice_words(summary, columns)
        ),
        reuse=[_reuse_entry(row) for row in reuse.head(_MOST_ENTRIES).iter_rows(named=True)],
        num_reuse_entries=len(reuse),
        reuse_bytes=str(reuse["history_bytes"][0]) if len(reuse) else None,
    )


class _Birth(NamedTuple):
    """The versions in which an index was created, and last rebuilt.

    ``is_exact`` tells if the version before is kept, so that it was created there, not earlier.
    """

    created: int
    is_exact: bool
    rebuilt: int


def _births(history: History, version: int) -> Mapping[str, _Birth]:
    """Return the origin of each index of a version."""
    position = history.position(version)
    now = history.records[position].indices
    uuids: dict[str, set[str]] = {}
    for segment in now:
        if segment.name not in SYSTEM_INDICES:
            uuids.setdefault(segment.name, set()).add(segment.uuid)
    added, rebuilt = dict.fromkeys(uuids, position), dict.fromkeys(uuids, position)
    open_names, open_uuids = set(uuids), set(uuids)
    known: object = now
    for before in range(position - 1, -1, -1):
        indices = history.records[before].indices
        if indices is not known:
            known = indices
            then: dict[str, set[str]] = {}
            for segment in indices:
                then.setdefault(segment.name, set()).add(segment.uuid)
            open_names &= then.keys()
            open_uuids = {name for name in open_uuids if uuids[name] <= then.get(name, set())}
        if not open_names:
            break
        added.update(dict.fromkeys(open_names, before))
        rebuilt.update(dict.fromkeys(open_uuids, before))
    return {
        name: _Birth(
            history.records[added[name]].version,
            bool(history.begins_exactly[added[name]]),
            history.records[rebuilt[name]].version,
        )
        for name in uuids
    }


def _index(row: Mapping[str, Any], birth: _Birth) -> IndexFacts:
    return IndexFacts(
        name=row["name"],
        type=_text(row["index_type"]),
        fields=[_text(field or "a dropped field") for field in row["fields"]],
        created=str(birth.created),
        is_exact=birth.is_exact,
        rebuilt=str(birth.rebuilt),
        num_segments=str(row["num_segments"]),
        num_fragments_covered=_number(row["num_fragments_covered"]),
        num_fragments_to_scan=_number(row["num_fragments_to_scan"]),
        num_fragments_removed=_number(row["num_fragments_removed"]),
        num_rows_answered=_number(row["num_rows_answered"]),
        num_rows_to_scan=_number(row["num_rows_to_scan"]),
        num_stale_entries=_number(row["num_stale_entries"]),
        size_bytes=_number(row["size_bytes"]),
    )


def _reuse_entry(row: Mapping[str, Any]) -> ReuseEntry:
    behind, caught_up = row["indices_behind"], row["indices_caught_up"]
    return ReuseEntry(
        kind=row["kind"].replace("_", " "),
        dataset_version=_number(row["dataset_version"]),
        num_old=len(row["old_fragment_ids"]),
        num_new=len(row["new_fragment_ids"]),
        rows_moved=_number(row["rows_moved"]),
        caught_up=None if caught_up is None else [_text(name) for name in caught_up],
        behind=None if behind is None else [_text(name) for name in behind],
    )


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)


def _text(text: str) -> str:
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}..."
