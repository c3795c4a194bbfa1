"""How the row IDs of a table are stored, what they cost, and what they could cost."""

import threading
from functools import lru_cache
from html import escape
from typing import NamedTuple

import polars as pl

from lance_explorer.answers.calls import call
from lance_explorer.checks.advice import NOTHING_TO_DO
from lance_explorer.errors import LanceExplorerError
from lance_explorer.figures.encoding_rows import SPILLED
from lance_explorer.figures.encoding_words import encoding_words
from lance_explorer.figures.inline import shares_key, shares_strip
from lance_explorer.figures.palette import ENCODING_COLORS, MUTED, PART_COLORS
from lance_explorer.findings import Finding
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.frames.findings import findings_frame
from lance_explorer.frames.sizes import byte_size, percent
from lance_explorer.inspect.health import health_findings
from lance_explorer.inspect.manifest_health import LARGE_SAVING, SAVING_SHARE
from lance_explorer.inspect.row_id_encodings import ROW_ID_ENCODINGS
from lance_explorer.inspect.row_id_segments import ROW_ID_SEGMENTS
from lance_explorer.inspect.version_runs import VERSION_RUNS
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.advice_data import advice_data, advice_sentences
from lance_explorer.widgets.code_lines import arranged_code
from lance_explorer.widgets.messages.advice import Advice
from lance_explorer.widgets.messages.base import Wide
from lance_explorer.widgets.messages.encodings import (
    EncodingsData,
    EncodingStatistics,
    EncodingsVersion,
    Growth,
    SegmentMode,
)
from lance_explorer.widgets.messages.shared import Problem
from lance_explorer.widgets.row_sources import FrameRows
from lance_explorer.widgets.rows_view import RowsView
from lance_explorer.widgets.segment_facts import ages, encoding_statistics, growth
from lance_explorer.widgets.segment_picture import segment_picture
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.version_data import version_data
from lance_explorer.widgets.version_reading import VersionsView, wait_for_versions
from lance_explorer.widgets.view import Request, View, answers

__all__ = ["SegmentEncodings"]

_MOST_CHOICES = 500
_MOST_STATIC_BYTES = 4_000_000
_KEPT_VERSIONS = 2
_NO_ADVICE = (
    f"{NOTHING_TO_DO}: better encodings would save less than {byte_size(LARGE_SAVING)}, or "
    f"less than {percent(SAVING_SHARE)}."
)
_COLORS = {**ENCODING_COLORS, SPILLED: MUTED}


class _Read(NamedTuple):
    """The data of one version."""

    segments: pl.DataFrame
    encodings: pl.DataFrame
    runs: pl.DataFrame

    def of(self, fragment_id: int | None) -> "_Read":
        """Return the rows of one fragment; all if none is chosen or the version lacks it."""
        chosen = [frame.filter(pl.col("fragment_id").is_in([fragment_id])) for frame in self]
        return _Read(*chosen) if len(chosen[0]) else self


_NOTHING = _Read(
    *[
        schema.polars_schema.to_frame()
        for schema in (ROW_ID_SEGMENTS, ROW_ID_ENCODINGS, VERSION_RUNS)
    ]
)


class SegmentEncodings(VersionsView, RowsView):
    """Show the row-ID segments of a version: as pictures, in words, and as a table.

    The first picture shows the bytes per row ID over versions, and since when the rows exist;
    choose a version there with the arrow keys, Page Up and Down, Home and End. The second picture
    has a row for each fragment, with its segments in the colours of their encodings, and their
    bytes; choose a fragment there with the arrow keys.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version``, ``fragment_id`` and ``filter``.

    Examples
    --------
    >>> widget = lx.widgets.SegmentEncodings(table)
    >>> widget.state.version = 2
    >>> widget.frame()["encoding"].to_list()
    ['range', 'range']
    >>> widget.selection
    {'version': 2, 'fragment_id': None}
    """

    _module = "segment_encodings"

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        self._table = table_of(table)
        self._read = lru_cache(_KEPT_VERSIONS)(self._read_version)
        self._rows_of = lru_cache(_KEPT_VERSIONS)(self._make_rows)
        self._showing = threading.Lock()
        super().__init__(FrameRows(_NOTHING.segments), state=state)
        if self.state.version is None:
            self.state.version = table._view.latest_version

    @property  # type: ignore[misc]  # what is chosen, not rows of the table
    def selection(self) -> dict[str, int | None]:  # type: ignore[override]
        """What is chosen: ``version``, and ``fragment_id``, None for all fragments."""
        return {"version": self.state.version, "fragment_id": self.state.fragment_id}

    @property
    def advice(self) -> pl.DataFrame:
        """What to do about the row IDs of the chosen version.

        These are the rows of ``table.inspect.health()`` with the topic ``row_ids``.
        """
        return findings_frame(self._findings())

    def _findings(self) -> list[Finding]:
        return health_findings(self._table._view, self._version_shown, "row_ids")

    @property
    def words(self) -> list[str]:
        """Sentences of :func:`lance_explorer.figures.encoding_words` for the shown rows."""
        try:
            read = self._read(self._version_shown).of(self.state.fragment_id)
        except LanceExplorerError:
            read = _NOTHING
        return encoding_words(read.segments, read.encodings)

    def frame(self) -> pl.DataFrame:
        """Return the segments that are shown, as ``table.inspect.row_id_segments()`` does.

        Those of the chosen fragment, or of all if none is chosen or the version does not have it. A
        version that cannot be read has no rows.
        """
        try:
            rows = self._rows_of(self._version_shown, self.state.fragment_id)
        except LanceExplorerError:
            rows = FrameRows(_NOTHING.segments)
        return self._frame_of(rows)

    def code(self) -> str:
        """Return the line of Python that gives :meth:`frame`.

        Examples
        --------
        >>> widget = lx.widgets.SegmentEncodings(table)
        >>> widget.state.fragment_id = 2
        >>> widget.code()
        'table.inspect.row_id_segments(version=7).filter(fragment_id=2)'
        """
        version, fragment_id = self._version_shown, self.state.fragment_id
        code = call("table.inspect.row_id_segments", version=version)
        try:
            read = self._read(version)
        except LanceExplorerError:
            read = _NOTHING
        if read.of(fragment_id) is not read:
            code += f".filter(fragment_id={fragment_id})"
        return arranged_code(code, read.segments.schema, self.filter, self.sort)

    def static_html(self) -> str:
        """Return what a page without a kernel shows: bytes by encoding, advice, and words.

        Left out if reading them might take long.
        """
        version = self._version_shown
        try:
            sizes = self._table.inspect.fragments(version)["row_ids_bytes"]
            if int(sizes.sum() or 0) > _MOST_STATIC_BYTES:
                return View.static_html(self)
            segments = self._read(version).of(self.state.fragment_id).segments
            words = [*advice_sentences(self._findings(), _NO_ADVICE), *self.words]
            picture = _static_picture(encoding_statistics(segments))
        except LanceExplorerError as error:
            words, picture = [str(error)], ""
        items = "".join([f"<li>{escape(sentence)}</li>" for sentence in words])
        return f"{picture}<ul>{items}</ul>"

    @described
    def __repr__(self) -> str:
        return f"SegmentEncodings(version {self._version_shown})"

    # ---------------------------------------------------------------------------- data

    @property
    def _version_shown(self) -> int:
        version = self.state.version
        return self._table._view.latest_version if version is None else version

    @property
    def _has_row_ids(self) -> bool:
        """Whether any readable version has stable row IDs; True if none is readable."""
        records = self._table._view.history.records
        flags = [record.manifest.reader_feature_flags for record in records]
        return not flags or any(each & STABLE_ROW_IDS for each in flags)

    def _read_version(self, version: int) -> _Read:
        inspect = self._table.inspect
        return _Read(
            inspect.row_id_segments(version),
            inspect.row_id_encodings(version),
            inspect.version_runs(version),
        )

    def _make_rows(self, version: int, fragment_id: int | None) -> FrameRows:
        return FrameRows(self._read(version).of(fragment_id).segments)

    def _show(self, rows: FrameRows, request: Request) -> None:
        """Show other rows in the table, unless a newer question replaced this one."""
        with self._showing:
            request.check()
            if self._source is not rows:
                self.show_rows(rows)

    # -------------------------------------------------------------------------- answers

    @answers("history", in_background=True)
    def _history(self, request: Request, *, refresh: bool = False) -> EncodingsData:
        if refresh:
            self._table.refresh()
        wait_for_versions(self._table, request.progress)
        return version_data(
            self._table,
            EncodingsData,
            has_row_ids=self._has_row_ids,
            colors=_COLORS,
            growth_color=PART_COLORS["row IDs"],
        )

    @answers("growth", in_background=True)
    def _growth(self, request: Request) -> Growth | Problem:
        """Return the cost of row IDs in all versions; an error is part of the answer."""
        request.progress("reading the row IDs of all versions")
        try:
            return growth(self._table)
        except LanceExplorerError as error:
            return Problem(str(error))

    @answers("advice", in_background=True)
    def _advise(self, request: Request, *, version: Wide) -> Advice:
        """Return what to do about the row IDs of a version; an error is part of the answer."""
        request.progress(f"checking version {version:,}")
        try:
            return advice_data(health_findings(self._table._view, version, "row_ids"), _NO_ADVICE)
        except LanceExplorerError as error:
            problem = f"Version {version:,} could not be checked: {error}"
            return advice_data((), "", problem)

    @answers("version", in_background=True)
    def _version(
        self, request: Request, *, version: Wide, fragment: Wide | None, mode: SegmentMode
    ) -> EncodingsVersion | Problem:
        """Return the data of a version and a fragment, and show its rows."""
        request.progress(f"reading the row IDs of version {version:,}")
        try:
            read = self._read(version)
            request.check()
            rows = self._rows_of(version, fragment)
        except LanceExplorerError as error:
            self._show(FrameRows(_NOTHING.segments), request)
            return Problem(str(error))
        self._show(rows, request)
        shown = read.of(fragment)
        request.progress(f"drawing {len(read.segments):,} segments")
        picture = segment_picture(read.segments, read.encodings, mode)
        request.check()
        return EncodingsVersion(
            words=encoding_words(shown.segments, shown.encodings),
            statistics=encoding_statistics(shown.segments),
            choices=_choices(read.encodings, fragment),
            num_fragments=len(read.encodings),
            mode=mode,
            segments=picture,
            one=None if shown is read else segment_picture(shown.segments, shown.encodings, mode),
            ages=ages(shown.runs, self._table._view.history.versions),
        )


def _static_picture(statistics: list[EncodingStatistics]) -> str:
    """Return the bytes of each encoding as a picture for where no script runs."""
    sizes = {row.encoding: int(row.bytes or 0) for row in statistics}
    picture = shares_strip(sizes, _COLORS, "Bytes of row IDs by encoding")
    if not picture:
        return ""
    return (
        f"<div>{picture}</div><div>Bytes of row IDs by encoding: {shares_key(sizes, _COLORS)}</div>"
    )


def _choices(encodings: pl.DataFrame, chosen: int | None) -> list[str]:
    """Return the fragments to choose from, those that would save most first."""
    ordered = encodings.sort("saving_bytes", descending=True, nulls_last=True, maintain_order=True)
    shown = ordered["fragment_id"].head(_MOST_CHOICES).to_list()
    if chosen is not None and chosen not in shown and chosen in ordered["fragment_id"]:
        shown.append(chosen)
    return [str(fragment_id) for fragment_id in shown]
