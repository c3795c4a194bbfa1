"""How many rows changed, and how."""

from collections.abc import Iterable

import numpy as np
import polars as pl

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.counting import counted
from lance_explorer.changes.frame import COMMIT_SUMMARY, NET_SUMMARY
from lance_explorer.changes.steps import ChangeStep, VersionRange
from lance_explorer.frames.known_from import known_from
from lance_explorer.history.events.event_runs import COMMIT_EVENTS, NET_EVENTS, RowEvent
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import UNKNOWN_COUNT
from lance_explorer.history.paths import EMPTY, path_between

__all__ = ["commit_summary", "net_summary", "num_rows_of", "quick_summary"]

_Doubts = dict[str, list[int] | list[str | None]]

_NOT_SINCE = (RowEvent.DELETED, RowEvent.MOVED, RowEvent.UNCHANGED)
"""What row versions do not show about a version that is not kept."""


def net_summary(versions: VersionRange, runs: ChangeRuns) -> pl.DataFrame:
    """Return the counts of net changes: one row."""
    counts = {change: runs.count(change) for change in NET_EVENTS}
    return _net_summary(versions, counts, _doubts([runs]))


def quick_summary(versions: VersionRange) -> pl.DataFrame | None:
    """Return the same from counts alone; None if counts do not suffice."""
    if not versions.begin_is_kept:
        return None
    counts = counted(versions.rows, versions.begin, versions.end)
    if counts is None:
        return None
    evidence = Evidence.DERIVED.label if any(counts.values()) else None
    return _net_summary(versions, counts, {"uncertain": [0], "evidence": [evidence]})


def _net_summary(
    versions: VersionRange, known: dict[RowEvent, int], doubts: _Doubts
) -> pl.DataFrame:
    counts: dict[RowEvent, int | None] = {change: known.get(change, 0) for change in NET_EVENTS}
    changed = sum([count for change, count in known.items() if change != RowEvent.DELETED])
    counts[RowEvent.UNCHANGED] = num_rows_of(versions) - changed
    if not versions.begin_is_kept:
        counts |= dict.fromkeys(_NOT_SINCE)
    return NET_SUMMARY.build(
        {
            "begin_version": [versions.begin_version],
            "end_version": [versions.end_version],
            **{change.label: [count] for change, count in counts.items()},
            **doubts,
            "versions_lost": [_lost_between(versions)],
        }
    )


def commit_summary(versions: VersionRange, steps: Iterable[ChangeStep]) -> pl.DataFrame:
    """Return the counts of each commit that changed rows: one row each, oldest first."""
    commits = [*steps]
    records = versions.rows.history.records
    kept = {record.version: record for record in records}
    here = [kept.get(step.version) for step in commits]
    num_lost = versions.rows.history.num_lost_before
    return COMMIT_SUMMARY.build(
        {
            "version": [step.version or None for step in commits],
            "timestamp": [record and record.manifest.timestamp for record in here],
            "operation": [record and record.operation for record in here],
            **{
                change.label: [step.runs.count(change) for step in commits]
                for change in COMMIT_EVENTS
            },
            **_doubts([step.runs for step in commits]),
            "versions_lost": [
                int(num_lost[step.after]) if step.runs.count(RowEvent.LOST) else 0
                for step in commits
            ],
            "known_from": known_from(
                versions.rows.view, [step.version or None for step in commits]
            ),
        }
    )


def _doubts(several: list[ChangeRuns]) -> _Doubts:
    rows = [runs.where(runs.change != RowEvent.LOST) for runs in several]
    return {
        "uncertain": [int(runs.length[runs.is_uncertain].sum(dtype=np.uint64)) for runs in rows],
        "evidence": [
            Evidence(int(runs.evidence.max())).label if len(runs) else None for runs in several
        ],
    }


def num_rows_of(versions: VersionRange) -> int:
    """Return how many rows the later version has."""
    if versions.end == EMPTY:
        return 0
    history = versions.rows.history
    states = np.array(history.states_at(versions.end), dtype=np.int64)
    known = history.live_rows[states]
    others = states[known == UNKNOWN_COUNT].tolist()  # their deletion files tell
    versions.rows.load_deleted(others)
    return int(known[known != UNKNOWN_COUNT].sum()) + sum(map(versions.rows.num_live, others))


def _lost_between(versions: VersionRange) -> int:
    """Return how many versions between the two are lost."""
    if not versions.begin_is_kept:
        between = versions.rows.history.versions
        kept = (between > versions.begin_version) & (between <= versions.end_version)
        return versions.end_version - versions.begin_version - int(kept.sum())
    path = path_between(versions.rows.history, versions.begin, versions.end)
    return int(versions.rows.history.num_lost_before[[*path.steps]].sum())
