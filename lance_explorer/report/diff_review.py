"""The differences between two versions, for a review."""

from collections.abc import Iterator, Sequence

import polars as pl
from propcache.api import cached_property

from lance_explorer.answers import Section, lines
from lance_explorer.answers.calls import call
from lance_explorer.arguments import names
from lance_explorer.changes.diff import Diff
from lance_explorer.changes.diff_commits import COMMITS_BETWEEN
from lance_explorer.changes.diff_config import CONFIG_DIFF
from lance_explorer.changes.diff_layout import INDEX_DIFF
from lance_explorer.changes.diff_schema import SCHEMA_DIFF
from lance_explorer.changes.three_way import check_columns
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.event_runs import NET_EVENTS, RowEvent
from lance_explorer.inspect.naming_columns import naming_columns
from lance_explorer.report.changed_rows import (
    MOST_ROWS_READ,
    TOO_MANY,
    ChangedRows,
    readable_columns,
    value_blocks,
)
from lance_explorer.report.parts import Block, sentence, table_of
from lance_explorer.report.review import Review

__all__ = ["diff_review"]

_MOST_PARTS = 200
_CHANGED = (RowEvent.INSERTED, RowEvent.DELETED, RowEvent.UPDATED, RowEvent.COLUMN_REWRITTEN)
_OLD = "\0before"
"""A suffix that no column name has."""


def diff_review(diff: Diff, end: BranchVersion, key: str | Sequence[str] | None) -> Review:
    """Return the differences between two versions, part by part.

    Parameters
    ----------
    diff : Diff
        What differs.
    end : BranchVersion
        The second version.
    key : str, sequence of str or None
        Columns by which rows are matched; None: by what they are.
    """
    keys = () if key is None else names("key", key)
    check_columns(end, keys)
    rows = _Rows(diff, end, keys)
    before, after = map(_named, (diff.before, diff.after))
    ends = [place if place[0] else place[1] for place in (diff.before, diff.after)]
    return Review(
        f"{end.view.name}: {before} to {after}",
        {
            "Summary": rows.summary,
            "Commits": lambda: _commits(diff),
            "Rows": rows.blocks,
            "Schema": lambda: _part(diff.schema(), SCHEMA_DIFF),
            "Indices": lambda: _part(diff.indices(), INDEX_DIFF),
            "Config": lambda: _part(diff.config(), CONFIG_DIFF),
        },
        f'{call("table.diff", *ends)}.report("review.html")',
    )


class _Rows:
    """The rows that differ, read once for all parts."""

    def __init__(self, diff: Diff, end: BranchVersion, key: Sequence[str]) -> None:
        self._diff, self._key = diff, tuple(key)
        [self._end] = end.view.version(end.version).records
        self._names = tuple(naming_columns(self._end))

    def summary(self) -> Iterator[Block]:
        yield Section("versions", "", self._diff.answer.rows("versions"))
        yield sentence(self._words)
        if self._left_out:
            yield Section("left_out", "Left out", lines(self._left_out))
        if self._changed is not None:
            yield from self._changed.counts()

    def blocks(self) -> Iterator[Block]:
        yield from value_blocks(self._changed, "No row differs.")

    @cached_property
    def _counts(self) -> dict[str, int | None]:
        counts = self._diff.summary().row(0, named=True)
        return {event.label: counts[event.label] for event in NET_EVENTS}

    @property
    def _words(self) -> str:
        parts = [f"{n:,} {name.replace('_', ' ')}" for name, n in self._counts.items() if n]
        unknown = [name.replace("_", " ") for name, n in self._counts.items() if n is None]
        parts += [f"unknown how many {', '.join(unknown)}"] if unknown else []
        words = f"Rows: {', '.join(parts) or 'none'}."
        if self._key and self._changed is not None:
            by_key = self._changed.change.value_counts(sort=True).rows()
            counts = ", ".join([f"{count:,} {change}" for change, count in by_key]) or "none"
            words += f" Matched by {', '.join([f'`{one}`' for one in self._key])}: {counts}."
        return words

    @cached_property
    def _left_out(self) -> list[str]:
        if self._changed is None:
            return [TOO_MANY.format("changed", "diff")]
        words = [*self._columns[1]]
        if self._changed.num_same:
            rows = counted(self._changed.num_same, "row")
            words.append(f"{rows} written again with the same values.")
        words += [f"{rows:,} rows that only {did}." for rows, did in self._quiet() if rows]
        words += [one["statement"] for one in self._diff.findings().to_dicts()]
        return words

    def _quiet(self) -> list[tuple[int | None, str]]:
        return [
            (self._counts[RowEvent.MOVED.label], "moved to other files"),
            (self._counts[RowEvent.COLUMN_ADDED.label], "got or lost a column"),
        ]

    @cached_property
    def _columns(self) -> tuple[list[str], list[str]]:
        num_rows = sum([self._counts[event.label] or 0 for event in _CHANGED])
        return readable_columns(self._end.schema, num_rows, (*self._key, *self._names))

    @cached_property
    def _changed(self) -> ChangedRows | None:
        counts = [self._counts[event.label] for event in _CHANGED]
        if sum([count or 0 for count in counts]) > MOST_ROWS_READ:
            return None
        columns, _ = self._columns
        lines = self._diff.rows(images="both", columns=columns, key=self._key or None)
        return _paired(lines, self._key or self._names)


def _paired(lines: pl.DataFrame, key: tuple[str, ...]) -> ChangedRows:
    """Return the lines of a diff with both images, one row for each."""
    values = lines.columns[lines.columns.index("changed_columns") + 1 :]
    kind, place = pl.col("_change_type"), ["_rowaddr_before", "_rowaddr_after"]
    old = lines.filter(kind == "update_preimage").select(*place, *values)
    new = lines.filter(kind == "update_postimage")
    pairs = new.join(
        old, on=place, how="left", suffix=_OLD, nulls_equal=True, maintain_order="left"
    )
    came, went = lines.filter(kind == "insert"), lines.filter(kind == "delete")
    images = lines.select(values)
    kinds = ["updated"] * len(pairs) + ["inserted"] * len(came) + ["deleted"] * len(went)
    old_values = pairs.select([pl.col(f"{name}{_OLD}").alias(name) for name in values])
    return ChangedRows(
        pl.Series(kinds, dtype=pl.String),
        pl.concat([part["_rowid"] for part in (pairs, came, went)]),
        pl.concat([old_values, images.clear(len(came)), went.select(values)]),
        pl.concat([pairs.select(values), came.select(values), images.clear(len(went))]),
        pl.concat([part["changed_columns"] for part in (pairs, came, went)]),
        tuple([name for name in key if name in values]),
    )


def _part(frame: pl.DataFrame, schema: FrameSchema) -> Iterator[Block]:
    if frame.is_empty():
        yield sentence("Nothing differs.")
        return
    some = [column.name for column in frame if column.null_count() < len(frame)]
    shown = frame.select(some).head(_MOST_PARTS)
    yield table_of(shown, f"{len(shown):,} of {len(frame):,}", schema)


def _commits(diff: Diff) -> Iterator[Block]:
    commits = diff.commits()
    if commits.is_empty():
        yield sentence("No commit lies between both.")
        return
    known = [column.name for column in commits if column.null_count() < len(commits)]
    same = ["known_from", *(["side"] if commits["side"].n_unique() == 1 else [])]
    shown = commits.select(known).drop(same).head(_MOST_PARTS)
    yield table_of(shown, f"{len(shown):,} of {len(commits):,} commits", COMMITS_BETWEEN)


def _named(place: tuple[str | None, int]) -> str:
    branch, version = place
    return f"{branch}@{version}" if branch else f"version {version}"
