"""What is on disk and who owns it; and the files of a version, by size."""

import threading

import numpy as np
import polars as pl
import traitlets
from numpy.typing import NDArray

from lance_explorer.answers.calls import call
from lance_explorer.checks.advice import disk_advice
from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding
from lance_explorer.frames.findings import findings_frame
from lance_explorer.inspect.catalogue import FRAMES
from lance_explorer.inspect.data_files import DATA_FILES
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.advice_data import advice_data
from lance_explorer.widgets.code_lines import arranged_code
from lance_explorer.widgets.disk_data import (
    disk_answer,
    forget_what_is_on_disk,
    on_disk,
    plans_answer,
)
from lance_explorer.widgets.file_data import history_data, no_advice_words, summary_data
from lance_explorer.widgets.messages.advice import Advice
from lance_explorer.widgets.messages.base import Wide
from lance_explorer.widgets.messages.disk import (
    DiskData,
    DiskUsage,
    FilesShown,
    FilesSummary,
    Plans,
)
from lance_explorer.widgets.messages.shared import Problem
from lance_explorer.widgets.row_sources import FrameRows
from lance_explorer.widgets.rows_view import RowsView
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.version_reading import VersionsView, wait_for_versions
from lance_explorer.widgets.view import Request, answers

__all__ = ["Disk"]

_COLUMNS = {
    "data_files": (
        "fragment_id",
        "size_bytes",
        "path",
        "fields",
        "format_version",
        "is_overlay",
        "num_tombstones",
        "root",
    ),
    "deletions": (
        "fragment_id",
        "file_bytes",
        "path",
        "file_type",
        "num_deleted_rows",
        "physical_rows",
        "fraction",
        "read_version",
        "problem",
    ),
    "indices": (
        "name",
        "size_bytes",
        "uuid",
        "num_files",
        "index_type",
        "fields",
        "num_fragments",
        "dataset_version",
        "created_at",
    ),
}
"""The frames of ``table.inspect`` that the table can show, with their columns."""

_Key = tuple[int | None, str]

_NO_FILES = pl.DataFrame(schema=DATA_FILES.polars_schema).select(_COLUMNS["data_files"])


class Disk(VersionsView, RowsView):
    """Show what is on disk and who owns it, and the files of a version.

    First all versions: how much the table takes, why and since when, with what a cleanup and a
    compaction would make of it. Then the files of the chosen version: their sizes by kind, how many
    are smaller than what a compaction aims at, which fragments hold deleted rows; and what the
    manifests of all versions consist of. A click on a row of the table, or on a fragment, chooses
    the fragment; a click on a bar of sizes filters the table.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version``, ``fragment_id`` and ``filter``.

    Examples
    --------
    >>> widget = lx.widgets.Disk(table)
    >>> widget.state.version = 2
    >>> widget.frame().select("fragment_id", "fields").rows()
    [(0, ['id', 'city', 'mood']), (1, ['id', 'city', 'mood'])]
    >>> widget.filter = "fragment_id = 1"
    >>> widget.frame().height
    1
    """

    _module = "disk"

    height = traitlets.Int(10, min=1, max=100).tag(sync=True)
    """How many files are visible at once in the table, at most."""

    kind = traitlets.Enum([*_COLUMNS], "data_files").tag(sync=True)
    """Which files are in the table: ``data_files``, ``deletions`` or ``indices``."""

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        self._table = table_of(table)
        self._showing = threading.Lock()
        self._rows: tuple[_Key, FrameRows] | None = None
        super().__init__(FrameRows(_NO_FILES), state=state)
        if self.state.version is None:
            self.state.version = table._view.latest_version
        self.on_state(self._select_fragment, "fragment_id")

    @property
    def advice(self) -> pl.DataFrame:
        """What to do about the files of the chosen version, warnings first.

        These are the rows of ``table.inspect.health()`` with the topic ``files``; for the latest
        version also what ``table.check()`` finds in the folder of the table.
        """
        return findings_frame(self._findings(self.state.version))

    def frame(self) -> pl.DataFrame:
        """Return the files in the table that match the filter, in its order."""
        return self._frame_of(self._show_files())

    def code(self) -> str:
        """Return the code for :meth:`frame`, where ``table`` is the table."""
        columns = _COLUMNS[self.kind]
        code = call(f"table.inspect.{self.kind}", version=self.state.version)
        schema = pl.Schema({name: FRAMES[self.kind].polars_schema[name] for name in columns})
        sorts = [sort for sort in self.sort if sort.column in schema]
        return arranged_code(f"{code}{call('.select', *columns)}", schema, self.filter, sorts)

    @described
    def __repr__(self) -> str:
        return f"Disk(version {self.state.version}, {self.kind})"

    # -------------------------------------------------------------------------- answers

    @answers("history", in_background=True)
    def _history(self, request: Request, *, refresh: bool = False) -> DiskData:
        """Return which parts manifests consist of in all versions."""
        if refresh:
            self._table.refresh()
            forget_what_is_on_disk(self._table)
        wait_for_versions(self._table, request.progress)
        return history_data(self._table)

    @answers("summary", in_background=True)
    def _summary(self, request: Request, *, version: Wide | None) -> FilesSummary | Problem:
        """Return the files of one version in numbers; an error is part of the answer."""
        version = self._table._view.latest_version if version is None else version
        request.progress(f"reading the files of version {version:,}")
        try:
            return summary_data(self._table, version, request.check)
        except LanceExplorerError as error:
            return Problem(str(error))

    @answers("disk", in_background=True)
    def _disk(self, request: Request) -> DiskUsage | Problem:
        """Return what is on disk."""
        return disk_answer(self._table, request)

    @answers("plans", in_background=True)
    def _plans(self, request: Request) -> Plans:
        """Return what a cleanup and a compaction would do."""
        return plans_answer(self._table, request)

    @answers("advice", in_background=True)
    def _advise(self, request: Request, *, version: Wide | None) -> Advice:
        """Return what to do about the files of a version; an error is part of the answer."""
        view = self._table._view
        version = view.latest_version if version is None else version
        request.progress(f"checking version {version:,}")
        try:
            nothing = no_advice_words(view.version(version))
        except LanceExplorerError as error:
            problem = f"Version {version:,} could not be checked: {error}"
            return advice_data((), "", problem)
        return advice_data(self._findings(version), nothing)

    def _findings(self, version: int | None) -> list[Finding]:
        view = self._table._view
        asked = view.latest_version if version is None else version
        return disk_advice(view, asked, lambda _: on_disk(self._table))

    @answers("kind")
    def _choose_kind(self, _: Request, *, of: str) -> None:
        """Put other files into the table; the browser then requests them."""
        self.kind = of

    @answers("files", in_background=True)
    def _files(self, request: Request) -> FilesShown:
        """Put the files of the chosen version into the table."""
        request.progress("reading the list of files")
        try:
            self._show_files()
        except LanceExplorerError as error:
            return FilesShown(str(error))
        return FilesShown()

    # ------------------------------------------------------------------------------ data

    def _show_files(self) -> FrameRows:
        """Read the requested files, if need be, and put them into the table."""
        with self._showing:
            key = self.state.version, self.kind
            if self._rows is None or self._rows[0] != key:
                files = getattr(self._table.inspect, self.kind)(version=self.state.version)
                rows = FrameRows(files.select(_COLUMNS[self.kind]))
                self._rows = key, rows
                self.show_rows(rows)
                self._select_fragment()
            return self._rows[1]

    def _select(self, positions: NDArray[np.int64]) -> None:
        """Select rows, and their fragment if they have one."""
        super()._select(positions)
        chosen = self.selected_rows()
        if "fragment_id" in chosen.columns and chosen["fragment_id"].n_unique() == 1:
            self.state.fragment_id = chosen["fragment_id"][0]

    def _select_fragment(self) -> None:
        """Select the rows of the chosen fragment, unless one is already selected."""
        fragment_id = self.state.fragment_id
        if fragment_id is None or "fragment_id" not in self._source.schema:
            return
        owners = self._source.read(["fragment_id"])["fragment_id"]
        of_fragment = (owners == fragment_id).arg_true().to_numpy().astype(np.int64)
        if len(of_fragment) and not np.isin(of_fragment, self._selected).any():
            super()._select(of_fragment)
