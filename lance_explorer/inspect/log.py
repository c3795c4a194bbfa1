"""The log: one line a commit, newest first, of one branch or of all, each branch in a lane."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import NotFoundError
from lance_explorer.format.column_operations import DataOverlay, DataReplacement
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Update
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    ID,
    KIND,
    KNOWN_FROM,
    TEXT,
    TIME,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.commit_facts import COMMIT_FACTS, facts_of_commit
from lance_explorer.history.ancestors import parent_of
from lance_explorer.history.collector import collector_paused
from lance_explorer.history.progress import with_progress
from lance_explorer.history.version_refs import MAIN, VersionRef, time_of
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.commit_words import Commit, commit_words, commits
from lance_explorer.inspect.versions import VERSIONS

__all__ = ["LOG", "filter_log", "log"]

_COUNTS = (
    "rows_added",
    "rows_updated",
    "rows_deleted",
    "rows_overwritten",
    "rows_restored",
    "rows_moved",
    "rows_column_rewritten",
    "rows_column_added",
    "num_rows",
    "num_fragments",
    "data_bytes",
    "manifest_bytes",
)

_CHANGED = ("rows_updated", "rows_overwritten", "rows_restored", "rows_column_rewritten")
"""Counts of existing rows whose values changed."""

LOG = FrameSchema(
    "log",
    (
        BRANCH,
        VERSION,
        Column("lane", COUNT, "where its branch is drawn in this log: 0 is the main branch"),
        Column("parent_branch", TEXT, "branch of the parent; null: the main one", nullable=True),
        Column(
            "parent_version",
            ID,
            "last kept version before it, of a branch's first one that of the fork; null: none",
            nullable=True,
        ),
        Column("versions_lost", COUNT, "versions between it and the parent that are not kept"),
        Column("timestamp", TIME, "time of the commit", nullable=True),
        Column(
            "operation",
            TEXT,
            "operation as Lance names it; null if its transaction is lost",
            nullable=True,
        ),
        Column("kind", KIND, "kind of commit"),
        Column("words", TEXT, "what the commit did, in a sentence"),
        *COMMIT_FACTS,
        Column(
            "columns",
            TEXT,
            "columns that it wrote, added, renamed, cast or dropped, joined by commas; null: it "
            "wrote whole rows, or what it wrote is not known",
            nullable=True,
        ),
        Column(
            "changes_values",
            pl.Boolean(),
            "whether it changed values of rows that were there: updated, overwrote or restored "
            "rows, or rewrote a column; null: not known",
            nullable=True,
        ),
        *[column for column in VERSIONS.columns if column.name in _COUNTS],
        Column(
            "data_bytes_change",
            BYTES,
            "size of the data files, less that of the version before",
            nullable=True,
            unit="bytes",
        ),
        Column("tags", TEXT, "tags on the version, joined by commas"),
        Column("branches_here", TEXT, "branches that were created from it, joined by commas"),
        Column("is_latest", pl.Boolean(), "whether it is the latest version of its branch"),
        Column("writer", TEXT, "library that wrote the version", nullable=True),
        Column("writer_version", TEXT, "version of that library", nullable=True),
        KNOWN_FROM,
    ),
)
"""The columns of ``table.log()``."""

_NO_VALUES = frozenset(
    {
        OperationName.DELETE,
        OperationName.REWRITE,
        OperationName.RESERVE_FRAGMENTS,
        OperationName.CREATE_INDEX,
        OperationName.UPDATE_CONFIG,
        OperationName.UPDATE_BASES,
        OperationName.UPDATE_MEM_WAL_STATE,
        OperationName.CLONE,
        OperationName.PROJECT,
        OperationName.MERGE,
    }
)
"""Operations that only write values of fields that they add."""

_TEXTS = (
    *("words", "operation", "kind", "branch", "columns", "tags", "branches_here"),
    *[column.name for column in COMMIT_FACTS],
)
_COMMA = ", "


@dataclass(frozen=True, slots=True)
class _Line:
    """The commits of one branch, and where it left its parent."""

    view: HistoryView
    commits: list[Commit]
    fork: tuple[str | None, int] | None


@collector_paused()
def log(
    view: HistoryView,
    limit: int | None = None,
    since: VersionRef | None = None,
    until: VersionRef | None = None,
    operation: Sequence[str] = (),
    text: str | None = None,
    column: str | None = None,
    *,
    all_branches: bool = True,
) -> pl.DataFrame:
    """Return one row for each commit, newest first: see :meth:`lance_explorer.table.Table.log`."""
    filters = since, until, operation, text, column
    is_plain = since is None and until is None and text is None and column is None and not operation
    last = limit + 1 if limit is not None and is_plain else None
    lines = [*_lines(view, last, all_branches)]
    frame = filter_log(view, _framed(view, lines), *filters)
    return frame if limit is None else frame.head(limit)


def filter_log(
    view: HistoryView,
    frame: pl.DataFrame,
    since: VersionRef | None = None,
    until: VersionRef | None = None,
    operation: Sequence[str] = (),
    text: str | None = None,
    column: str | None = None,
) -> pl.DataFrame:
    """Return the commits of a log that :meth:`lance_explorer.table.Table.log` gives for filters."""
    if since is not None:
        frame = frame.filter(pl.col("timestamp") >= time_of(view, since, is_begin=True))
    if until is not None:
        frame = frame.filter(pl.col("timestamp") <= time_of(view, until))
    if operation:
        wanted = [name.casefold() for name in operation]
        said = [pl.col(name).cast(TEXT).str.to_lowercase() for name in ("operation", "kind")]
        is_wanted = [one.is_in(wanted).fill_null(False) for one in said]
        frame = frame.filter(pl.any_horizontal(is_wanted))
    if text is not None:
        frame = frame.filter(_has_text(text))
    if column is not None:
        names = pl.format("{}{}{}", pl.lit(_COMMA), "columns", pl.lit(_COMMA))
        is_there = names.str.contains(f"{_COMMA}{column}{_COMMA}", literal=True)
        frame = frame.filter(pl.col("columns").is_null() | is_there)
    return frame


def _lines(view: HistoryView, last: int | None, all_branches: bool) -> Iterator[_Line]:
    """Yield the branches, each after its parent."""
    names = [None, *view.refs.branches] if all_branches else [view.branch]
    waiting = list[_Line]()
    for name in names:
        try:
            on_branch = view.on_branch(name)
            waiting.append(_Line(on_branch, commits(on_branch, last), _fork(on_branch)))
        except NotFoundError:
            if name == view.branch:
                raise  # others may be dropped while they are read
    done = set[str | None]()
    there = {line.view.branch for line in waiting}
    while waiting:
        for line in waiting:
            if line.fork is None or line.fork[0] in done or line.fork[0] not in there:
                break
        waiting.remove(line)
        done.add(line.view.branch)
        yield line


def _fork(view: HistoryView) -> tuple[str | None, int] | None:
    place = parent_of(view)
    return None if place is None else (place.view.branch, place.version)


def _framed(view: HistoryView, lines: Sequence[_Line]) -> pl.DataFrame:
    """Return the commits of all branches as a frame, newest first, parents after children."""
    every = [(line, commit) for line in lines for commit in line.commits]
    order = _newest_first(lines)
    lanes = _lanes(lines, order)
    forks = dict[tuple[str | None, int], list[str]]()
    for name, branch in sorted(view.refs.branches.items()):
        forks.setdefault((branch.parent_branch, branch.parent_version), []).append(name)
    tags = dict[tuple[str | None, int], list[str]]()
    for name, tag in sorted(view.refs.tags.items()):
        tags.setdefault((tag.branch, tag.version), []).append(name)
    parents = [parent for line in lines for parent in _parents(line)]
    facts = [facts_of_commit(commit.record, commit.operation) for _, commit in every]
    places = [(line.view.branch, commit.record.version) for line, commit in every]
    counts = [commit.counts for _, commit in every]

    def column(name: str) -> list[object]:
        return [row[name] for row in counts]

    frame = LOG.build(
        {
            "branch": [branch for branch, _ in places],
            "version": [version for _, version in places],
            "lane": [lanes[branch] for branch, _ in places],
            "parent_branch": [parent[0] for parent in parents],
            "parent_version": [parent[1] for parent in parents],
            "versions_lost": [parent[2] for parent in parents],
            **{name: column(name) for name in ("timestamp", "operation", "kind")},
            "words": [
                commit_words(commit)
                for _, commit in with_progress(every, "Describing commits", "versions")
            ],
            **{part.name: [getattr(fact, part.name) for fact in facts] for part in COMMIT_FACTS},
            "columns": [_joined(_columns(commit)) for _, commit in every],
            "changes_values": [_changes_values(row) for row in counts],
            **{part.name: column(part.name) for part in VERSIONS.columns if part.name in _COUNTS},
            "data_bytes_change": [change for line in lines for change in _growth(line)],
            "tags": [_joined(tags.get(place, [])) for place in places],
            "branches_here": [_joined(forks.get(place, [])) for place in places],
            "is_latest": [
                commit.record.version == line.view.latest_version for line, commit in every
            ],
            **{name: column(name) for name in ("writer", "writer_version", "known_from")},
        }
    )
    return frame[order]


def _newest_first(lines: Sequence[_Line]) -> NDArray[np.int64]:
    """Return the order of the commits, branch by branch, from the newest.

    No commit comes before one that was made on it, whatever its clock says: its time counts as at
    least that of the previous one.
    """
    times, depths = list[NDArray[np.int64]](), list[NDArray[np.int64]]()
    known = dict[tuple[str | None, int], tuple[int, int]]()
    for line in lines:
        start, depth = known.get(line.fork, (0, 0)) if line.fork else (0, 0)
        commit_times = [_microseconds(commit.record.manifest.timestamp) for commit in line.commits]
        made = np.maximum.accumulate(np.array([start, *commit_times], dtype=np.int64))[1:]
        deep = np.arange(len(commit_times), dtype=np.int64) + depth + 1
        for commit, one, number in zip(line.commits, made.tolist(), deep.tolist(), strict=True):
            known[line.view.branch, commit.record.version] = one, number
        times.append(made)
        depths.append(deep)
    nothing = np.empty(0, dtype=np.int64)
    return np.lexsort((np.concatenate([nothing, *depths]), np.concatenate([nothing, *times])))[::-1]


def _microseconds(time: datetime | None) -> int:
    return 0 if time is None else int(time.timestamp() * 1_000_000)


def _lanes(lines: Sequence[_Line], order: NDArray[np.int64]) -> Mapping[str | None, int]:
    """Return the lane of each branch: the first free one from its last commit to its fork.

    The main branch has lane 0 to itself.
    """
    row = np.empty(len(order), dtype=np.int64)
    row[order] = np.arange(len(order))
    rows = dict[tuple[str | None, int], int]()
    spans = dict[str | None, tuple[int, int]]()
    begin = 0
    for line in lines:
        own = row[begin : begin + len(line.commits)]
        begin += len(line.commits)
        for commit, place in zip(line.commits, own.tolist(), strict=True):
            rows[line.view.branch, commit.record.version] = place
        bottom = rows.get(line.fork, len(order)) if line.fork else len(order)
        spans[line.view.branch] = (int(own.min(initial=bottom)), bottom)
    lanes: dict[str | None, int] = {None: 0}
    free_from = list[int]()
    for name, (top, bottom) in sorted(spans.items(), key=lambda item: item[1]):
        if name is None:
            continue
        lane = next((n for n, below in enumerate(free_from) if below <= top), len(free_from))
        free_from[lane : lane + 1] = [bottom]
        lanes[name] = lane + 1
    return lanes


def _parents(line: _Line) -> Iterator[tuple[str | None, int | None, int]]:
    """Yield for each commit of a branch its parent, and how many versions between are lost."""
    kept = [file.version for file in line.view.listing.versions]
    before = dict(zip(kept[1:], kept[:-1], strict=True))
    for commit in line.commits:
        version = commit.record.version
        if version in before:
            yield line.view.branch, before[version], version - before[version] - 1
        elif line.fork is not None:
            yield *line.fork, max(version - line.fork[1] - 1, 0)
        elif commit.record.operation == OperationName.CLONE:
            yield None, None, 0
        else:
            yield None, None, version - 1


def _growth(line: _Line) -> Iterator[int | None]:
    before: Commit | None = None
    for commit in line.commits:
        now = commit.counts["data_bytes"]
        then = before.counts["data_bytes"] if before is not None else None
        if commit.record.version == 1 and commit.record.operation != OperationName.CLONE:
            then = 0
        yield None if now is None or then is None else now - then
        before = commit


def _columns(commit: Commit) -> list[str] | None:
    """Return which columns a commit wrote or changed; None for whole rows, or if unknown."""
    names = dict.fromkeys(
        [
            str(row["path"]).split(".")[0]
            for change in commit.fields
            for row in (change.before, change.after)
            if row is not None
        ]
    )
    operation = commit.operation
    if isinstance(operation, Update | DataReplacement | DataOverlay):
        written = operation.writes().fields
        if not written:
            return None
        names |= dict.fromkeys(_top_names(commit, written))
    else:
        adds_rows = commit.record.operation == OperationName.MERGE and commit.counts["rows_added"]
        if adds_rows or commit.record.operation not in _NO_VALUES:
            return None
    return [*names]


def _changes_values(counts: Mapping[str, object]) -> bool | None:
    """Tell whether a commit changed values of existing rows; None if unknown."""
    changed = [counts[name] for name in _CHANGED]
    if any(changed):
        return True
    return None if None in changed else False


def _joined(names: Sequence[str] | None) -> str | None:
    return None if names is None else _COMMA.join(names)


def _top_names(commit: Commit, ids: frozenset[int]) -> Iterator[str]:
    """Yield the columns of some fields."""
    by_id = {field.id: field for field in commit.record.schema}
    for id_ in sorted(ids & by_id.keys()):
        field = by_id[id_]
        while field.parent_id != NO_PARENT and field.parent_id in by_id:
            field = by_id[field.parent_id]
        yield field.name


def _has_text(text: str) -> pl.Expr:
    wanted = text.casefold()
    texts = [pl.col(name).cast(TEXT) for name in _TEXTS]
    branch = pl.col("branch").fill_null(MAIN)
    return pl.any_horizontal(
        [
            one.str.to_lowercase().str.contains(wanted, literal=True).fill_null(False)
            for one in (*texts, branch)
        ]
    )
