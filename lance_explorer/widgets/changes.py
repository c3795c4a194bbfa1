"""Two versions on a time line, and what happened to each row between them."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from html import escape
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.answers.calls import call, literal
from lance_explorer.arguments import names
from lance_explorer.changes.diff_words import words_beside_rows
from lance_explorer.errors import InvalidArgumentError, LanceExplorerError
from lance_explorer.figures.inline import shares_key, shares_strip
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.version_refs import MAIN, VersionRef, resolve, version_number
from lance_explorer.shown import described, one_line
from lance_explorer.table import Table
from lance_explorer.values.child import time_limit
from lance_explorer.widgets.answer_view import section_view
from lance_explorer.widgets.changed_rows import ChangedRows
from lance_explorer.widgets.changed_values import WholeColumns, changed_values
from lance_explorer.widgets.code_lines import arranged_code
from lance_explorer.widgets.comparison import Comparison, compare
from lance_explorer.widgets.comparison_facts import (
    CLASS_COLORS,
    CLASSES,
    with_facts,
)
from lance_explorer.widgets.comparison_words import counts_in_words
from lance_explorer.widgets.messages.base import Wide
from lance_explorer.widgets.messages.changes import ChangedValues, ChangesData, SameContent
from lance_explorer.widgets.messages.changes import Comparison as ComparisonMessage
from lance_explorer.widgets.messages.shared import Busy, Failure, Found
from lance_explorer.widgets.row_sources import FrameRows
from lance_explorer.widgets.rows_view import RowsView
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.version_data import version_data
from lance_explorer.widgets.version_reading import VersionsView, wait_for_versions
from lance_explorer.widgets.view import FAILURES, Request, answers, failure_of
from lance_explorer.widgets.worker import Cancelled, Job

__all__ = ["Changes"]

_NO_KEYS = (
    "fixed_size_list",
    "struct",
    "list",
    "large_list",
    "blob",
    "float",
    "double",
    "halffloat",
)
"""Prefixes of the types of columns that cannot identify rows."""

_PAUSE = 0.05
"""Seconds to wait before versions are compared: only the last position of a handle counts."""

_MOST_BESIDE = 4
"""Pairs of versions whose other differences are kept."""


class _Wanted(NamedTuple):
    """The requested comparison."""

    begin: int
    end: int
    key: tuple[str, ...]


class Changes(VersionsView, RowsView):
    """Show how two versions differ: how many rows, in which columns, and which rows.

    Other differences, of schema, indices and configuration, are listed above the rows. Two handles
    on the time line choose the versions: drag them, or move the one in focus with the arrow keys,
    Page Up and Down, Home and End. The boxes take versions as :meth:`Table.at` does. Each changed
    row is a line with its values after the change: ``old → new`` in the cells that differ; a
    deleted row with its last values. A click on a class of changes or on a column shows only its
    rows. Values are read when they are shown; to count differing columns, at most 100,000 rows are
    compared, and at most 10,000,000 cells. Blobs are not shown. For versions of two branches, use
    :meth:`Table.diff`; if one is typed, by its tag or as ``dev@3``, the view shows the code for
    that.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    begin_version, end_version : int, str, date, datetime, tuple or Snapshot, optional
        The versions to compare first, as :meth:`Table.at` takes them; by default those of the state
        or, if it has none, the first kept version and the latest. 0 is the empty table.
    key : str or sequence of str
        Columns that identify a row: a deleted row and an inserted row with the same key are one
        updated row. For tables without stable row IDs.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version`` and ``compared_version``, either of
        which may be the later one, ``filter``, and ``row_id``, the selected row.

    Raises
    ------
    InvalidArgumentError
        If a version is on another branch.
    TypeError
        If an option does not exist.

    Examples
    --------
    >>> widget = lx.widgets.Changes(table, 1, 3)
    >>> widget.summary().select("inserted", "updated").row(0)
    (6, 1)
    >>> widget.frame()["_change_type"].to_list()[:3]
    ['update_postimage', 'insert', 'insert']
    """

    _module = "changes"
    takes_new_versions = True
    _news: ClassVar = {"compared": ComparisonMessage, "comparing": Busy}

    def __init__(
        self,
        table: Table,
        begin_version: VersionRef | None = None,
        end_version: VersionRef | None = None,
        *,
        key: str | Sequence[str] = (),
        state: ExplorerState | None = None,
    ) -> None:
        self._table = table_of(table)
        self._key = names("key", key)
        self._change: str | None = None
        self._column: str | None = None
        self._done: tuple[_Wanted, Comparison] | None = None
        self._problem: Failure | None = None
        self._shown: tuple[Comparison, str | None, str | None] | None = None
        self._whole_columns = WholeColumns(self._table)
        self._beside = lru_cache(_MOST_BESIDE)(partial(words_beside_rows, table._view))
        self._showing = threading.Lock()
        self._keeping = threading.Lock()
        super().__init__(FrameRows(pl.DataFrame()), state=state)
        self._choose(begin_version, end_version)
        self.on_state(self._compare, "version", "compared_version")
        self._compare()

    # -------------------------------------------------------------------- what is chosen

    @property
    def begin_version(self) -> int:
        """The earlier of the two versions; 0 is the empty table."""
        return self._wanted().begin

    @property
    def end_version(self) -> int:
        """The later of the two versions."""
        return self._wanted().end

    @property
    def key(self) -> tuple[str, ...]:
        """The columns that identify a row; none by default."""
        return self._key

    @key.setter
    def key(self, key: str | Sequence[str]) -> None:
        self._key = names("key", key)
        self._compare()

    @property
    def change(self) -> str | None:
        """The class of rows that are shown, such as ``"updated"``; None for all changed rows.

        Rows that only moved, or only got another column, are shown only if their class is chosen.
        """
        return self._change

    @change.setter
    def change(self, change: str | None) -> None:
        if change is not None and change not in CLASSES:
            raise InvalidArgumentError(f"expected one of {', '.join(CLASSES)}, not {change!r}")
        self._change = change
        self._compare()

    @property
    def column(self) -> str | None:
        """Show only rows in which this column differs; None for all rows."""
        return self._column

    @column.setter
    def column(self, column: str | None) -> None:
        if column is not None and column not in self._comparison().columns:
            raise InvalidArgumentError(f"neither version has a column {column!r} to compare")
        self._column = column
        self._compare()

    def summary(self) -> pl.DataFrame:
        """Return the counts, as ``table.changes(begin, end, key=key).summary()`` does."""
        return self._comparison().summary

    def columns(self) -> pl.DataFrame:
        """Return in how many updated rows each column differs: ``column`` and ``num_rows``.

        At most 100,000 rows and 10,000,000 cells are compared.

        Examples
        --------
        >>> lx.widgets.Changes(table, 1, 3).columns().columns
        ['column', 'num_rows']
        """
        counts = self._comparison().compare_cells(_listen_to_nobody).counts()
        return pl.DataFrame(
            {"column": [*counts], "num_rows": [*counts.values()]},
            schema={"column": pl.String, "num_rows": pl.UInt64},
        )

    def frame(self) -> pl.DataFrame:
        """Return all lines that are shown, values included, in the order of the sort.

        Updated rows have their values after the change. Columns are in the order of the table; the
        widget shows those first that differ.
        """
        comparison = self._comparison()
        rows = self._chosen_rows(comparison, _listen_to_nobody)
        return self._frame_of(rows).select(comparison.feed_columns)

    def code(self) -> str:
        """Return the code for the rows of :meth:`frame`, where ``table`` is the table.

        The code returns rows in the order of the changes unless they are sorted. With a column, it
        returns all rows in which that differs, whereas the view compares at most 100,000.

        Examples
        --------
        >>> lx.widgets.Changes(table, 1, 3).code().partition(".drop")[0]
        'table.changes(1, 3, images="both").to_polars()'
        """
        comparison = self._comparison()
        column = self._column if self._column in comparison.columns else None
        optional = {"column_added"} if column else {self._change} & {"moved", "column_added"}
        code = call(
            "table.changes",
            *comparison.wanted[:2],
            images="both",
            columns=comparison.columns if comparison.left_out else None,
            key=[*self._key] or None,
            include=[*optional] or None,
        )
        code += '.to_polars().drop("_commit_timestamp", "_rowaddr")'
        code += '.filter(pl.col("_change_type").ne_missing("update_preimage"))'
        if self._change is not None:
            code += f'.filter(pl.col("_event") == {literal(self._change)})'
        if column is not None:
            code += f'.filter(pl.col("changed_columns").list.contains(pl.lit({literal(column)})))'
        schema = comparison.rows(self._change).schema
        return arranged_code(code, schema, self.filter, self.sort)

    def compare_now(self, change: str | None = None, column: str | None = None) -> None:
        """Compare the chosen versions, and wait until their rows of a class or column are shown."""
        self._change, self._column = change, column
        self._worker.cancel()  # or it would wait for a handle to stand still
        with suppress(*FAILURES):
            self._comparison()  # its failure is found once more, and told
        self._work(Job("compare", lambda _: None))
        self.rest()

    def row_ids(self, count: int) -> list[int | None]:
        """Return the row IDs of the first lines; None for rows without one."""
        if not isinstance(self._source, ChangedRows):
            return []
        places = self._arrangement.positions_of(0, count)
        return self._source.row_ids(places.to_numpy().astype(np.int64))

    def static_html(self) -> str:
        """Return what a page without a kernel shows: the counts, and other differences."""
        name = escape(self._table._view.name)
        begin, end, _ = self._wanted()
        picture = ""
        beside = self._beside(begin, end)
        try:
            summary = self._comparison().summary.row(0, named=True)
        except FAILURES as error:
            words = failure_of(error).message
        else:
            words = counts_in_words(summary, has_others=bool(beside))
            picture = _static_picture({kind: summary[kind] or 0 for kind in CLASS_COLORS})
        text = f"<b>{name}</b>, version {begin:,} to {end:,}: {escape(words)}"
        others = "".join([f"<li>{escape(sentence)}</li>" for sentence in beside])
        return f"<p>{text}</p>{picture}" + (f"<ul>{others}</ul>" if others else "")

    @described
    def __repr__(self) -> str:
        begin, end, _ = self._wanted()
        return f"Changes(version {begin} to {end})"

    # --------------------------------------------------------------------------- private

    def _choose(self, begin: VersionRef | None, end: VersionRef | None) -> None:
        """Set the versions that were not chosen."""
        view, state = self._table._view, self.state
        if end is not None:
            state.version = version_number(view, end)
        elif state.version is None:
            state.version = view.latest_version
        if begin is not None:
            state.compared_version = version_number(view, begin, is_begin=True)
        elif state.compared_version is None:
            first = view.listing.versions[0].version
            state.compared_version = 0 if first == state.version == 1 else first

    def _wanted(self) -> _Wanted:
        latest = self._table._view.latest_version
        one, other = (
            latest if version is None else version
            for version in (self.state.version, self.state.compared_version)
        )
        return _Wanted(min(one, other), max(one, other), self._key)

    def _comparison(self) -> Comparison:
        """Return the requested comparison, made now unless it exists.

        Threads that ask for the same one at once get the first one, which keeps its cells.
        """
        wanted, done = self._wanted(), self._done
        if done is not None and done[0] == wanted:
            return done[1]
        made = compare(self._table._view, *wanted)
        with self._keeping:
            if self._done is None or self._done[0] != wanted:
                self._done = wanted, made
            return self._done[1]

    def _compare(self) -> None:
        """Compare in the background, and send results to the browser step by step."""
        self._worker.submit("compare", self._limited, self.state.time_limit, self._tell_late)

    def _limited(self, job: Job) -> None:
        with time_limit(self.state.time_limit):
            self._work(job)

    def _tell_late(self) -> None:
        self._tell_failure(self.took_too_long())

    def _tell_failure(self, error: BaseException) -> None:
        self._problem, self._shown = failure_of(error), None
        self.show_rows(FrameRows(pl.DataFrame()))
        self.tell("compared", self._about(None))

    def _work(self, job: Job) -> None:
        begin, end, _ = self._wanted()
        try:
            if self._done is None or self._done[0] != self._wanted():
                job.pause(_PAUSE)
                self.tell("comparing", Busy(f"comparing versions {begin:,} and {end:,}"))
            comparison = self._comparison()
            job.check()
            self._problem = None
            if not comparison.is_small:
                self._tell_found(comparison, job)
                if self._column is None:
                    self._show(comparison, job)
            comparison.compare_cells(partial(self._tell_progress, job))
            self._tell_found(comparison, job)
            self._show(comparison, job)
        except Cancelled:
            return
        except FAILURES as error:
            with self._showing:
                if not job.is_cancelled:
                    self._tell_failure(error)

    def _tell_progress(self, job: Job, done: int, total: int) -> None:
        job.check()
        if done:
            self.tell("comparing", Busy(f"comparing cells: {done:,} of {total:,} rows"))

    def _tell_found(self, comparison: Comparison, job: Job) -> None:
        """Send a result, unless a newer job has replaced this one."""
        with self._showing:
            job.check()
            self.tell("compared", self._about(comparison))

    def _show(self, comparison: Comparison, job: Job) -> None:
        """Show the chosen rows of a comparison, unless a newer job has replaced this one."""
        with self._showing:
            job.check()
            shown = comparison, self._change, self._column
            if self._shown != shown:
                self._shown = shown
                self.show_rows(self._chosen_rows(comparison, partial(self._tell_progress, job)))

    def _chosen_rows(self, comparison: Comparison, tell: Callable[[int, int], None]) -> ChangedRows:
        """Return the rows of a comparison that are of the chosen class and column."""
        column = self._column if self._column in comparison.columns else None
        if column is not None:
            comparison.compare_cells(tell)
        return comparison.rows(self._change, column)

    def _select(self, positions: NDArray[np.int64]) -> None:
        super()._select(positions)
        if len(positions) and isinstance(self._source, ChangedRows):
            [*chosen] = self._source.row_ids(positions[:2])
            if len(chosen) == 1:
                self.state.row_id = chosen.pop()

    def _about(self, comparison: Comparison | None) -> ComparisonMessage:
        """Return what the browser shows above the rows."""
        begin, end, key = self._wanted() if comparison is None else comparison.wanted
        about = ComparisonMessage(
            begin=str(begin),
            end=str(end),
            key=list(key),
            beside=self._beside(begin, end),
            change=self._change,
            column=self._column,
            problem=self._problem,
        )
        return (
            about
            if comparison is None
            else with_facts(about, comparison, has_row_ids=self._has_row_ids)
        )

    @property
    def _has_row_ids(self) -> bool:
        return self._table.latest.has_stable_row_ids

    def _key_columns(self) -> list[str]:
        """Return the columns that can identify rows."""
        fields = self._table._view.history.records[-1].schema
        return [
            field.name
            for field in fields
            if field.parent_id == NO_PARENT and not field.logical_type.startswith(_NO_KEYS)
        ]

    # --------------------------------------------------------------------------- answers

    @answers("history", in_background=True)
    def _history(self, request: Request, *, refresh: bool = False) -> ChangesData:
        if refresh:
            self._table.refresh()
            self._done = None
            self._beside.cache_clear()
            self._compare()
        wait_for_versions(self._table, request.progress)
        return version_data(
            self._table,
            ChangesData,
            has_row_ids=self._has_row_ids,
            key_columns=self._key_columns(),
        )

    @answers("comparison")
    def _compared(self, _: Request) -> ComparisonMessage:
        done = self._done
        is_there = done is not None and done[0] == self._wanted()
        return self._about(done[1] if done and is_there else None)

    @answers("find")
    def _find(self, _: Request, *, text: str, name: Literal["begin", "end"] = "end") -> Found:
        """Find the version that a text names; an error is part of the answer."""
        view, is_begin = self._table._view, name == "begin"
        try:
            resolved = resolve(view, text, is_begin=is_begin)
            if resolved.view.branch != view.branch:
                elsewhere = resolved.view.branch or MAIN, resolved.version
                return Found(problem=self._across_branches(elsewhere, is_begin=is_begin))
            if resolved.version != 0:
                view.file(resolved.version)
            return Found(version=str(resolved.version))
        except LanceExplorerError as error:
            return Found(problem=str(error))

    def _across_branches(self, elsewhere: tuple[str, int], *, is_begin: bool) -> str:
        """Return code that compares a version of another branch with the chosen one."""
        begin, end, _ = self._wanted()
        ends = (elsewhere, end) if is_begin else (begin, elsewhere)
        branch, version = elsewhere
        return (
            f"Version {version:,} of {one_line(branch)} is on another branch, and this view "
            "compares versions of one. For the rows that differ: "
            f"{call('table.diff', *ends)}.rows()"
        )

    @answers("same_content", in_background=True)
    def _same_content(self, request: Request, *, begin: Wide, end: Wide) -> SameContent:
        """Tell whether two versions hold the same values, by reading them."""
        request.progress(f"comparing all values of versions {begin:,} and {end:,}")
        compared = self._table.diff(begin, end).same_content()
        code = f"table.diff({begin}, {end}).same_content()"
        return SameContent(str(compared), compared.is_same, code)

    @answers("values", in_background=True)
    def _changed_values(self, request: Request) -> ChangedValues:
        """Return the values of changed columns before and after, for the compared rows."""
        comparison = self._comparison()
        cells = comparison.compare_cells(lambda done, total: request.check())
        begin, end, _ = comparison.wanted
        columns = changed_values(comparison, cells, request.check)
        whole = self._whole_columns.of(begin, end)
        shown = None if whole is None else section_view(whole)
        return ChangedValues(str(begin), str(end), columns, shown)

    @answers("narrow")
    def _narrow(self, _: Request, *, change: str | None, column: str | None) -> None:
        """Show only the rows of a class, or those in which a column differs."""
        self._change, self._column = change, column
        self._compare()

    @answers("key")
    def _change_key(self, _: Request, *, key: list[str]) -> None:
        self.key = tuple(key)


def _static_picture(rows: dict[str, int]) -> str:
    """Return the number of rows of each class as a static picture."""
    shown = {kind.replace("_", " "): number for kind, number in rows.items()}
    colors = dict(zip(shown, CLASS_COLORS.values(), strict=True))
    strip = shares_strip(shown, colors, "Changed rows by what happened to them")
    return f"<div>{strip}</div><div>{shares_key(shown, colors)}</div>"


def _listen_to_nobody(done: int, total: int) -> None:
    """Ignore progress."""
