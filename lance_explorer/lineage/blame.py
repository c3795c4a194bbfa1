"""Blame: for each cell of some rows the commit that last changed it, and the earlier value.

Metadata show what happened to the rows; comparing their values shows which cells changed. They are
compared newest first, and a row is done as soon as all of its cells are explained.
"""

from collections.abc import Sequence

import polars as pl

from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.answers.calls import call
from lance_explorer.arguments import names, whole_number
from lance_explorer.errors import InvalidArgumentError, LanceExplorerError
from lance_explorer.format.schema import NO_PARENT, is_blob
from lance_explorer.frames.commit_facts import COMMIT_FACTS
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.events.address_identities import identities_at
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.identity.version_positions import position_of
from lance_explorer.history.live import LiveTable
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.values.later_values import values_at
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.blame_frame import BLAME, blame_frame
from lance_explorer.lineage.blamed_cells import Cells
from lance_explorer.lineage.cell_search import CellSearch, Question, newest_first
from lance_explorer.lineage.event_frame import EventColumns
from lance_explorer.lineage.following import followed_events
from lance_explorer.lineage.matching_at import matching_in
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage import check_not_forked

__all__ = ["DEFAULT_ROWS", "Blame", "blame", "blamed_rows"]

DEFAULT_ROWS = 10_000

_SHOWN = (
    "version",
    "event",
    "author",
    "job",
    "_rowid",
    "column",
    "before",
    "value",
    "timestamp",
    "branch",
    "predicate",
    "message",
    "run",
)
"""Columns for people: the commit first, which is the answer."""


def blame(
    view: HistoryView,
    where: str | None = None,
    columns: str | Sequence[str] | None = None,
    version: int | None = None,
    limit: int = DEFAULT_ROWS,
) -> "Blame":
    """Return who changed each cell last: see :meth:`lance_explorer.table.Table.blame`."""
    number = view.latest_version if version is None else version
    limit = whole_number("limit", limit, least=1)
    wanted = None if columns is None else names("columns", columns)
    question = _question(view, where, wanted, number)
    frame, is_complete = _blamed(view, question, 0, limit)
    return Blame(view, question, frame, limit, is_complete=is_complete)


class Blame(Answering):
    """For each cell of some rows, the commit that last changed it, and the earlier value.

    Made by :meth:`~lance_explorer.table.Table.blame`.

    Attributes
    ----------
    is_complete : bool
        Whether these are all rows that match.
    answer : Answer
        The cells, each with the commit that last changed it; ``go_on()`` continues with more rows.
    """

    def __init__(
        self,
        view: HistoryView,
        question: Question,
        frame: pl.DataFrame,
        num_rows: int,
        *,
        is_complete: bool,
    ) -> None:
        self._view = view
        self._question = question
        self._frame = frame
        self._num_rows = num_rows
        self.is_complete = is_complete

    @property
    def num_rows(self) -> int:
        """How many rows were examined."""
        return len(self._frame) // max(len(self._question.columns), 1)

    @property
    def sentence(self) -> str:
        """How many cells were examined, and how many commits last changed any of them.

        Examples
        --------
        >>> table.blame("id = 3").sentence
        '3 cells of 1 row in version 7, last changed by 1 commit.'
        """
        rows, cells = self.num_rows, len(self._frame)
        commits = self._frame.select("branch", "version").n_unique()
        sentence = (
            f"{cells:,} cell{'' if cells == 1 else 's'} of {rows:,} row{'' if rows == 1 else 's'} "
            f"in version {self._question.version}, last changed by {commits:,} "
            f"commit{'' if commits == 1 else 's'}."
        )
        return sentence if self.is_complete else f"{sentence} There are more rows."

    @property
    def answer(self) -> Answer:
        """The cells, each with the commit that last changed it."""
        question, values = self._question, ("value", "before")
        totals = {"num_rows": self.num_rows, "is_complete": self.is_complete}
        given = {} if question.where is None else {"where": question.where}
        return Answer(
            self.sentence,
            (
                Section("totals", None, totals),
                Section(
                    "cells",
                    "",
                    self._frame,
                    shown=self._frame.select(_SHOWN).drop("_rowid" if self.num_rows == 1 else []),
                    values=values,
                    schema=BLAME,
                ),
            ),
            f"{call('table.blame', **given, version=question.version)}.to_polars()",
        )

    def to_polars(self) -> pl.DataFrame:
        """Return the cells, one row each: the rows in the order of a scan, then the columns.

        Returns
        -------
        polars.DataFrame
            The columns of :data:`~lance_explorer.lineage.blame_frame.BLAME`.

        Examples
        --------
        >>> cells = table.blame("id = 3", columns=["id", "city"]).to_polars()
        >>> cells.select("column", "value", "version", "operation").rows()
        [('id', '3', 1, 'Overwrite'), ('city', 'city 0', 1, 'Overwrite')]
        """
        return self._frame

    def commits(self) -> pl.DataFrame:
        """Return the commits that last changed any cell, newest first, one row each.

        Returns
        -------
        polars.DataFrame
            ``branch``, ``version``, ``timestamp``, ``operation``, ``predicate``, ``message``,
            ``author``, ``job`` and ``run`` as in :meth:`to_polars`; ``num_cells``, how many cells;
            ``columns``, of which columns.

        Examples
        --------
        >>> table.blame("id < 4").commits().select("version", "num_cells").rows()
        [(1, 6)]
        """
        check_not_forked()
        facts = [column.name for column in COMMIT_FACTS if column.name != "properties"]
        keys = ["branch", "version", "timestamp", "operation", *facts]
        totals = self._frame.group_by(keys).agg(
            num_cells=pl.len().cast(pl.Int64), columns=pl.col("column").unique().sort()
        )
        return totals.sort("timestamp", "version", descending=True, nulls_last=True)

    def go_on(self, limit: int = DEFAULT_ROWS) -> "Blame":
        """Continue with more rows, and return all that was found until then.

        Parameters
        ----------
        limit : int, default 10000
            How many rows more.

        Examples
        --------
        >>> part = table.blame(limit=2)
        >>> part.num_rows, part.go_on().num_rows
        (2, 9)
        """
        limit = whole_number("limit", limit, least=1)
        if self.is_complete:
            return self
        frame, is_complete = LiveTable(self._view).answer(
            lambda view: _blamed(view, self._question, self._num_rows, limit)
        )
        return Blame(
            self._view,
            self._question,
            pl.concat([self._frame, frame]),
            self._num_rows + limit,
            is_complete=is_complete,
        )


def _question(
    view: HistoryView, where: str | None, columns: Sequence[str] | None, version: int
) -> Question:
    history, position = view.found(version)
    schema = history.records[position].schema
    tops = {field.name: field for field in schema if field.parent_id == NO_PARENT}
    if columns is None:
        names = tuple([name for name, one in tops.items() if not is_blob(one)])
        return Question(where, names, version, whole_blobs=False)
    for name in columns:
        if name not in tops:
            raise InvalidArgumentError(
                f"version {version} has no column {name!r}; there are: {', '.join(tops)}"
            )
    return Question(where, tuple(dict.fromkeys(columns)), version, whole_blobs=True)


def _blamed(
    view: HistoryView, question: Question, offset: int, limit: int
) -> tuple[pl.DataFrame, bool]:
    """Return the cells of some of the rows, and whether these are the last ones."""
    rows = _matching(view, question, offset, limit + 1)
    return blamed_rows(view, question, rows.head(limit)), len(rows) <= limit


def blamed_rows(view: HistoryView, question: Question, matching: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of rows given by ``_rowid`` and ``_rowaddr``."""
    rows = state_rows(view)
    position = position_of(rows, question.version)
    addresses = matching["_rowaddr"].to_numpy()
    row_ids = matching["_rowid"].to_numpy()
    identities, live = identities_at(rows, position, addresses)
    cells = _current(rows, position, question, addresses, identities)
    parts, steps = followed_events(rows, identities, live, range(position + 1), position)
    events = newest_first(EventColumns.concatenated(parts))
    search = CellSearch(
        BranchVersion(view, question.version), question, steps, events, row_ids, cells
    )
    search.run()
    return blame_frame(search, matching)


def _matching(view: HistoryView, question: Question, offset: int, limit: int) -> pl.DataFrame:
    """Return row IDs and addresses of rows that match."""
    from lance_explorer.values import read_rows

    try:
        check_values(view, question.version)
        return read_rows(
            value_root(view, question.version),
            question.version,
            ["_rowid", "_rowaddr"],
            question.where,
            limit,
            offset,
            view.storage.options,
        )
    except InvalidArgumentError:
        raise
    except LanceExplorerError:
        rows = state_rows(view)
        addresses = matching_in(rows, position_of(rows, question.version), question.where)
        return addresses.slice(offset, limit)


def _current(
    rows: StateRows,
    position: int,
    question: Question,
    addresses: Uint64Array,
    identities: Uint64Array,
) -> dict[str, Cells]:
    """Return the cells with their current values."""
    if not len(addresses):
        return {name: Cells.of(pl.Series([], dtype=pl.Null)) for name in question.columns}
    blobs = question.whole_blobs
    values = values_at(rows, position, addresses, identities, question.columns, whole_blobs=blobs)
    return {name: Cells.of(values[name]) for name in question.columns}
