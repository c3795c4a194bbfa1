"""Find rows by their values, live and deleted ones, in all kept versions, newest first."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from lance_explorer.answers import Answer, Answering, Section
from lance_explorer.answers.calls import call
from lance_explorer.arguments import names, whole_number
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.documented import documented
from lance_explorer.frames.findings import FINDINGS, findings_frame
from lance_explorer.frames.sizes import byte_size
from lance_explorer.history.live import LiveTable
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.found_rows import FOUND, found_frame
from lance_explorer.lineage.found_words import ends_words
from lance_explorer.lineage.shown_columns import ShownColumns
from lance_explorer.lineage.value_search import (
    Question,
    ValueSearch,
    begin_search,
    newest,
    search_on,
    sightings,
    with_values,
)

__all__ = ["DEFAULT_BYTES", "DEFAULT_LIMIT", "Found", "find"]

DEFAULT_BYTES = 256 << 20
DEFAULT_LIMIT = 100

_FEW_BRANCHES = 3
_LIVES = ("first_version", "last_version", "is_live", "ended_as", "ended_version", "ended_at")
_WHO = ("predicate", "message", "author", "job", "run")


def find(
    view: HistoryView,
    where: str,
    deleted: bool = True,
    columns: str | Sequence[str] | None = None,
    limit: int = DEFAULT_LIMIT,
    max_bytes: int = DEFAULT_BYTES,
) -> "Found":
    """Return the rows with some values: see :meth:`lance_explorer.table.Table.find`."""
    if not where.strip():
        raise InvalidArgumentError("where is a filter such as 'id = 42', or a word, and not empty")
    wanted = None if columns is None else names("columns", columns)
    question = Question(where.strip(), deleted, wanted)
    limit = whole_number("limit", limit, least=1)
    return _searched(view, question, limit, whole_number("max_bytes", max_bytes))


def _searched(view: HistoryView, question: Question, limit: int, max_bytes: int) -> "Found":
    search = begin_search(view, question)
    search_on(search, limit, max_bytes)
    return Found(search, question, limit, max_bytes)


class Found(Answering):
    """Rows that were found by their values, newest first, and how far the search went.

    Made by :meth:`~lance_explorer.table.Table.find`.

    Attributes
    ----------
    where : str
        What was asked for.
    answer : Answer
        The rows and what happened to them; ``go_on()`` searches further.
    """

    def __init__(self, search: ValueSearch, question: Question, limit: int, max_bytes: int) -> None:
        self._search = search
        self._question = question
        self._limit = limit
        self._max_bytes = max_bytes
        self.where = question.where
        self._frame: pl.DataFrame | None = None

    @property
    def is_complete(self) -> bool:
        """Whether everything was searched, and all found rows are returned."""
        search = self._search
        return not search.waiting and len(search.found) <= self._limit and not self._lost

    @property
    def num_rows(self) -> int:
        """How many rows were found so far, including those above the limit."""
        return len(self._search.found)

    @property
    def bytes_read(self) -> int:
        """How many bytes were read to find them, without those of returned values."""
        return self._search.bytes_read

    @property
    def searched_from(self) -> int | None:
        """The first completely searched version, as all later ones are; None if none was."""
        search = self._search
        if search.searched_from >= search.positions.stop:
            return None
        return search.rows.history.records[search.searched_from].version

    @property
    def sentence(self) -> str:
        """What was found, and how far the search went.

        Examples
        --------
        >>> table.find("id = 2").sentence
        '1 row found in versions 1 to 7.'
        """
        search = self._search
        count = "no row" if not self.num_rows else f"{self.num_rows:,} row"
        begin = f"{count}{'' if self.num_rows < 2 else 's'} found"
        if self.searched_from is None:
            return f"{begin}: nothing was searched yet."
        last = search.rows.history.records[search.positions.stop - 1].version
        first = self.searched_from
        which = f"version {last}" if first == last else f"versions {first} to {last}"
        parts = [f"{begin} in {which}{self._with_indices}"]
        if not self.num_rows and (others := _other_branches(search.rows.view)):
            parts.append(others)
        if self.num_rows > self._limit:
            parts.append(f"the newest {self._limit:,} are told")
        if search.waiting:
            parts.append(f"{byte_size(search.bytes_read)} were read, and earlier versions were not")
        if search.findings:
            parts.append("findings() says what was left out")
        return f"{'; '.join(parts)}."

    @property
    def answer(self) -> Answer:
        """The rows, newest first, and what happened to them."""
        rows = self.to_polars()
        values = tuple(rows.columns[len(FOUND.names) :])
        shown = rows.select("_rowid", *_LIVES, *_WHO, *values)
        totals = {
            "num_rows": self.num_rows,
            "is_complete": self.is_complete,
            "bytes_read": self.bytes_read,
        }
        return Answer(
            f"{self.sentence}{ends_words(rows, self.num_rows)}",
            (
                Section("totals", None, totals),
                Section("rows", "Rows", rows, shown=shown, values=values, schema=FOUND),
            ),
            f"{call('table.find', self.where)}.to_polars()",
            findings=tuple(self._search.findings),
        )

    def to_polars(self) -> pl.DataFrame:
        """Return the rows, newest first, each once for each of its values.

        Returns
        -------
        polars.DataFrame
            The columns of :data:`~lance_explorer.lineage.found_rows.FOUND`, then those of the
            values, named as in the latest version, or in the last one that has them; a name that is
            taken gets an underscore. Blobs are described, not read. One that had a type whose
            values the later one cannot hold exactly is two columns, as are two that had one name:
            the earlier one has a number after its name, as in ``tags@1``.

        Examples
        --------
        >>> found = table.find("id = 2").to_polars()
        >>> found.select("first_version", "last_version", "ended_as", "predicate", "city").rows()
        [(1, 3, 'deleted', 'id = 2', 'city 2')]
        """
        if self._frame is None:
            self._frame = LiveTable(self._search.rows.view).answer(self._framed)
        return self._frame

    @documented(FINDINGS)
    def findings(self) -> pl.DataFrame:
        """Return what could not be searched: versions that the filter does not fit, lost values.

        Examples
        --------
        >>> table.find("score = 1").findings()["statement"].to_list()
        ['versions 1 to 6 are not searched: they have no column that the filter names']
        """
        return findings_frame(self._search.findings)

    def go_on(self, limit: int = DEFAULT_LIMIT, max_bytes: int = DEFAULT_BYTES) -> "Found":
        """Continue the search, and return all that was found until then.

        Parameters
        ----------
        limit : int, default 100
            How many rows more.
        max_bytes : int, default 256 MiB
            How many bytes more to read.

        Examples
        --------
        >>> found = table.find("id > 0", limit=2)
        >>> len(found.to_polars()), len(found.go_on().to_polars())
        (2, 10)
        """
        most = self._limit + whole_number("limit", limit, least=1)
        more = whole_number("max_bytes", max_bytes)
        known = self._search.rows.view

        def searched(view: HistoryView) -> Found:
            if view is not known:
                return _searched(view, self._question, most, self.bytes_read + more)
            old = self._search
            search = replace(
                old,
                waiting=[*old.waiting],
                findings=[*old.findings],
                hits=[*old.hits],
                found=set(old.found),
            )
            search_on(search, most, self.bytes_read + more)
            return Found(search, self._question, most, self.bytes_read + more)

        return LiveTable(known).answer(searched)

    @property
    def _with_indices(self) -> str:
        """The indices that were asked, in words."""
        names = self._search.answered.names if self._search.answered else ()
        which = "index" if len(names) == 1 else "indices"
        return f" with the {which} {' and '.join(map(repr, names))}" if names else ""

    @property
    def _lost(self) -> bool:
        return any(finding.code == "values_lost" for finding in self._search.findings)

    def _framed(self, view: HistoryView) -> pl.DataFrame:
        if view is not self._search.rows.view:  # files are gone that existed: search again
            more = _searched(view, self._question, self._limit, self._max_bytes)
            self._search = more._search
        search = self._search
        shown = ShownColumns(search.rows, search.positions, self._question.columns)
        seen = newest(sightings(search, shown), self._limit)
        seen, values = with_values(search, seen, shown)
        return found_frame(search.rows, seen, values, search.searched_from)

    @property
    def _subject(self) -> str:
        return repr(self.where)


def _other_branches(view: HistoryView) -> str:
    """Say which branches a search did not cover; "" if there are no others."""
    others = [name for name in ("main", *view.refs.branches) if name != (view.branch or "main")]
    if len(others) > _FEW_BRANCHES:
        return f"{len(others)} other branches were not searched"
    words = "branch {} was" if len(others) == 1 else "branches {} were"
    return f"{words.format(', '.join(others))} not searched" if others else ""
