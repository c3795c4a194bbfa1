"""The indices of a table: what they cover, since when, and what to do about them."""

from html import escape
from typing import ClassVar, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.answers.calls import call, literal
from lance_explorer.errors import InvalidArgumentError, LanceExplorerError
from lance_explorer.figures.labels import plural
from lance_explorer.figures.palette import COVERAGE_COLORS
from lance_explorer.findings import Finding
from lance_explorer.frames.findings import findings_frame
from lance_explorer.inspect.all_index_coverage import ALL_INDEX_COVERAGE
from lance_explorer.inspect.health import health_findings
from lance_explorer.inspect.index_lives import index_lives, index_names
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.advice_data import advice_sentences
from lance_explorer.widgets.arrays import floats
from lance_explorer.widgets.index_facts import index_facts
from lance_explorer.widgets.messages.base import Float64Array, Int32Array, Wide
from lance_explorer.widgets.messages.indices import (
    Coverage,
    IndexLives,
    IndexName,
    IndicesData,
    VersionIndices,
)
from lance_explorer.widgets.messages.shared import Problem
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.version_data import version_data
from lance_explorer.widgets.version_reading import VersionsView, wait_for_versions
from lance_explorer.widgets.view import Request, answers

__all__ = ["Indices"]

_MOST_STATIC_FRAGMENTS = 1_000
_Line = Float64Array | Int32Array


class Indices(VersionsView):
    """Show what each index of a table covers, fragment by fragment, over all versions.

    The table above lists the indices of the chosen version; a click on one draws it. Versions run
    from left to right, fragments from top to bottom. Arrow keys move to the next version and the
    next fragment, Page Up and Down, Home and End further; a click chooses both. If there are more
    versions or fragments than pixels, colours mix.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version`` and ``fragment_id``.

    Examples
    --------
    >>> widget = lx.widgets.Indices(table)
    >>> widget.selection
    {'version': 7, 'fragment_id': None, 'index': 'id_idx'}
    >>> widget.frame().select("fragment_id", "is_covered").rows()
    [(0, True), (1, True), (2, True)]
    >>> widget.code()
    'table.inspect.index_coverage(version=7).filter(name="id_idx")'
    """

    _module = "indices"
    _news: ClassVar = {"index": IndexName}

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        super().__init__(state=state)
        self._table = table_of(table)
        self._index: str | None = None
        if self.state.version is None:
            self.state.version = table._view.latest_version

    @property
    def index(self) -> str | None:
        """The name of the index that is drawn; None if the table never had any."""
        names = index_names(self._table._view.history)
        return self._index if self._index in names else next(iter(names), None)

    @index.setter
    def index(self, name: str) -> None:
        names = index_names(self._table._view.history)
        if name not in names:
            known = ", ".join(names) or "none"
            raise InvalidArgumentError(f"there is no index {name!r}; there are: {known}")
        self._index = name
        self.tell("index", IndexName(name))

    @property
    def selection(self) -> dict[str, int | str | None]:
        """What is chosen: ``version``, ``fragment_id`` and the name of the ``index``."""
        state = self.state
        return {
            "version": state.version,
            "fragment_id": state.fragment_id,
            "index": self.index,
        }

    @property
    def advice(self) -> pl.DataFrame:
        """What to do about the indices of the chosen version, warnings first.

        These are the rows of ``table.inspect.health()`` with the topic ``indices``.
        """
        return findings_frame(self._findings())

    def frame(self) -> pl.DataFrame:
        """Return what the drawn index covers in the chosen version.

        One row for each fragment and segment, as from ``table.inspect.index_coverage()``.
        """
        coverage = self._table.inspect.index_coverage(self.state.version)
        index = self.index
        return coverage if index is None else coverage.filter(name=index)

    def code(self) -> str:
        """Return the line of Python that gives :meth:`frame`."""
        code = call("table.inspect.index_coverage", version=self.state.version)
        index = self.index
        return code if index is None else f"{code}.filter(name={literal(index)})"

    def static_html(self) -> str:
        """Return what a page without a kernel shows: the indices of the version, and advice.

        For a version with more than 1,000 fragments only the names, since reading coverage takes a
        while.
        """
        version = self.state.version
        try:
            words = self._static_words(version)
        except LanceExplorerError as error:
            words = [str(error)]
        items = "".join([f"<li>{escape(sentence)}</li>" for sentence in words])
        return f"<p>Indices of version {version:,}:</p><ul>{items}</ul>"

    @described
    def __repr__(self) -> str:
        return f"Indices(version {self.state.version}, index {self.index!r})"

    def _static_words(self, version: int | None) -> list[str]:
        segments = self._table.inspect.indices(version).filter(~pl.col("is_system"))
        names = segments.unique("name", maintain_order=True)
        words = [f"{name}: {kind}" for name, kind in names.select("name", "index_type").iter_rows()]
        if version is None or self._table.at(version).num_fragments > _MOST_STATIC_FRAGMENTS:
            return words
        facts = index_facts(self._table, version)
        covered = [
            f"{line}; {_rows(index.num_rows_answered)} found, "
            f"{_rows(index.num_rows_to_scan)} to scan"
            for line, index in zip(words, facts.indices, strict=False)
        ]
        return [
            *covered,
            *words[len(covered) :],
            *advice_sentences(self._findings(), facts.advice.nothing),
        ]

    def _findings(self) -> list[Finding]:
        version = self.state.version
        shown = self._table._view.latest_version if version is None else version
        return health_findings(self._table._view, shown, "indices")

    # -------------------------------------------------------------------------- answers

    @answers("history", in_background=True)
    def _history(self, request: Request, *, refresh: bool = False) -> IndicesData:
        """Return the versions, and how much each index covered in them."""
        if refresh:
            self._table.refresh()
        wait_for_versions(self._table, request.progress)
        names = index_names(self._table._view.history)
        request.progress("reading what the indices cover")
        coverage, problem = self._coverage_lines(names)
        return version_data(
            self._table,
            IndicesData,
            index_names=names,
            index=self.index,
            problem=problem,
            **coverage,
        )

    @answers("lives", in_background=True)
    def _lives(self, request: Request, *, index: str) -> IndexLives:
        """Return what an index covered of each fragment."""
        request.progress("reading which fragments the index covers")
        lives = index_lives(self._table._view, index, request.check)
        return IndexLives(
            index=index,
            coverages=get_args(Coverage),
            colors=COVERAGE_COLORS,
            fragments=lives.fragment_ids,
            slot=lives.slot,
            first=lives.first,
            last=lives.last,
            coverage=lives.coverage,
        )

    @answers("version", in_background=True)
    def _version(self, request: Request, *, version: Wide) -> VersionIndices | Problem:
        """Return the facts of one version; an error is part of the answer."""
        request.progress(f"reading the indices of version {version:,}")
        try:
            return index_facts(self._table, version)
        except LanceExplorerError as error:
            return Problem(str(error))

    @answers("choose")
    def _choose(self, _: Request, *, index: str) -> None:
        """Draw another index."""
        self._index = index

    def _coverage_lines(
        self, names: list[str]
    ) -> tuple[dict[str, Float64Array | Int32Array], str | None]:
        """Return how many rows each index answered, from version to version, or why not."""
        try:
            frame = self._table.inspect.all_index_coverage()
        except LanceExplorerError as error:
            nothing = ALL_INDEX_COVERAGE.polars_schema.to_frame()
            return _line_arrays(nothing, names, self._versions), str(error)
        return _line_arrays(frame, names, self._versions), None

    @property
    def _versions(self) -> NDArray[np.uint64]:
        return self._table._view.history.versions


def _rows(number: str | None) -> str:
    return "unknown rows" if number is None else plural(int(number), "row")


def _line_arrays(
    frame: pl.DataFrame, names: list[str], versions: NDArray[np.uint64]
) -> dict[str, _Line]:
    numbers = {name: number for number, name in enumerate(names)}
    return {
        "line_index": np.array([numbers[name] for name in frame["name"]], dtype=np.int32),
        **{
            f"line_{end}": np.searchsorted(versions, frame[f"{end}_version"]).astype(np.int32)
            for end in ("first", "last")
        },
        **{f"line_{what}": floats(frame[f"num_rows_{what}"]) for what in ("answered", "to_scan")},
    }
