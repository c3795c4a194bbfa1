"""Findings about a table as a frame."""

import json
from collections.abc import Iterator
from typing import TypedDict

import numpy as np
import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding, Remedy, Subject, of_branch
from lance_explorer.frames.findings import findings_frame
from lance_explorer.history.history import History
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.rewrites.all_groups import rewrites
from lance_explorer.history.states import UNKNOWN_COUNT, num_row_ids
from lance_explorer.history.uncertain_commits import uncertain_commits
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.contradictions import contradictions, renumbered
from lance_explorer.storage import LocalStorage, is_link

__all__ = ["findings", "metadata_findings", "newest_missing"]

_HINT = "_versions/latest_version_hint.json"


def metadata_findings(view: HistoryView) -> list[Finding]:
    """Return the findings on manifests and their history, then on tags and branches."""
    history = view.history
    of_history = [
        *history.findings,
        *_opened_as(view),
        *_far_bases(view, history),
        *_uncounted(history),
        *_contradicted(history),
        *contradictions(view),
        *renumbered(view),
        *uncertain_commits(history),
        *rewrites(view).findings,
        *(newest_missing(view) if isinstance(view.storage.live, LocalStorage) else ()),
        *view.recorded_findings,
        *view.listing.findings,
    ]
    return [*of_branch(view.branch, of_history), *view.refs.findings]


def findings(view: HistoryView) -> pl.DataFrame:
    """Return one row for each of them."""
    return findings_frame(metadata_findings(view))


def _opened_as(view: HistoryView) -> Iterator[Finding]:
    """Yield a finding if the table was opened under a name that Lance treats as another place.

    Another spelling of the same path matters only if there are branches.
    """
    given, names = view.storage.bases.opened_as, view.refs.branch_names
    if given is None or not (names or is_link(given)):
        return
    yield Finding(
        "opened_through_link",
        f"{given} and {view.uri} are one table, and Lance treats the two names as two tables",
        subject=Subject(path=str(given)),
        remedy=Remedy(
            f"Write, branch and clean up under one name alone: lance.dataset({view.uri!r}). "
            "table.cleanup_preview() shows what a cleanup there breaks."
        ),
        is_mild=not names,
    )


def newest_missing(view: HistoryView) -> Iterator[Finding]:
    """Yield a finding if writers noted a later version than any existing manifest.

    On a store that is an extra request, which only a deep check makes.
    """
    if not view.listing.versions:
        return
    storage, latest = view.storage.live, view.listing.versions[-1].version
    try:
        number = json.loads(storage.get(_HINT))["version"]
    except (OSError, ValueError, KeyError, TypeError, LanceExplorerError):
        return  # it is only a hint, and old releases write none
    if not isinstance(number, int) or not latest < number < FIRST_DETACHED:
        return
    names = [f"_versions/{name}.manifest" for name in (FIRST_DETACHED * 2 - 1 - number, number)]
    if any(storage.find(name) for name in names):
        return  # it was committed since the listing
    yield Finding(
        "newest_manifest_missing",
        f"{_HINT} says that version {number} was committed, and its manifest {names[0]} is missing",
        subject=Subject("version", str(number), names[0]),
        versions=(number, number),
        consequence=f"Version {latest} is the latest that can be read.",
    )


def _far_bases(view: HistoryView, history: History) -> Iterator[Finding]:
    """Yield a finding for each base path that is not read, or worth knowing."""
    roots, seen = view.storage.bases, set[str]()
    for record in history.records:
        for base in record.manifest.base_paths:
            if base.path in seen:
                continue
            seen.add(base.path)
            match roots.access(base.path):
                case "far" | "unclear":
                    yield Finding(
                        "base_not_allowed",
                        f"base path {base.id}: {roots.why_not(base.path)}",
                        subject=Subject("base_path", str(base.id), base.path),
                        versions=(record.version, record.version),
                    )
                case "another_bucket":
                    yield Finding(
                        "base_in_another_bucket",
                        f"base path {base.id} is in another bucket or container than the table: "
                        f"{base.path}",
                        subject=Subject("base_path", str(base.id), base.path),
                        versions=(record.version, record.version),
                    )


def _uncounted(history: History) -> list[Finding]:
    """Return a finding for each deletion file with an unknown number of rows."""
    intervals = history.intervals
    unknown = np.flatnonzero(history.num_deleted_rows[intervals.keys] < 0)
    return [
        Finding(
            "deleted_rows_unknown",
            "the manifest does not say how many rows are deleted, and the deletion file is "
            "missing, damaged, or not allowed to be read",
            **_in_interval(history, place),
        )
        for place in unknown.tolist()
    ]


def _contradicted(history: History) -> Iterator[Finding]:
    """Yield a finding for each number of rows that other parts of manifests contradict.

    Row IDs, columns and short sequences show it; ``check_row_ids`` reads all of them.
    """
    intervals, states = history.intervals, history.states
    for place in np.flatnonzero(states.physical_rows[intervals.keys] < 0).tolist():
        state = states[intervals.keys[place]]
        if state.physical_rows is None:
            continue
        row_ids = num_row_ids(state)
        is_other = row_ids not in (UNKNOWN_COUNT, state.physical_rows)
        other = (
            f"and {row_ids:,} row IDs"
            if is_other
            else "and another version says another number of the same data file"
        )
        yield Finding(
            "rows_contradict_row_ids" if is_other else "rows_contradict_versions",
            f"the manifest says that the fragment has {state.physical_rows:,} rows, {other}",
            **_in_interval(history, place),
        )


class _Place(TypedDict):
    subject: Subject
    versions: tuple[int, int]


def _in_interval(history: History, place: int) -> _Place:
    """Return a state of a fragment, and the versions that have it."""
    intervals = history.intervals
    fragment_id = str(history.states[intervals.keys[place]].id)
    first, last = (int(history.versions[at[place]]) for at in (intervals.first, intervals.last))
    return {"subject": Subject("fragment", fragment_id), "versions": (first, last)}
