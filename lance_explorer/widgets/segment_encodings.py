"""How the row IDs of a table are stored, what they cost, and what they could cost."""

import json
from functools import cached_property
from html import escape
from typing import Any

import ipywidgets
import plotly.graph_objects as go
import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.figures import encoding_advice, encoding_bytes, encoding_growth, row_ages
from lance_explorer.inspect.row_id_encodings import ROW_ID_ENCODINGS
from lance_explorer.inspect.row_id_segments import ROW_ID_SEGMENTS
from lance_explorer.table import Table
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.row_sources import FrameRows
from lance_explorer.widgets.state import ExplorerState

__all__ = ["SegmentEncodings"]

_MOST_CHOICES = 500
_PLOTLY = "application/vnd.plotly.v1+json"
_PICTURES = ("Bytes by fragment", "Growth over versions", "Age of rows")


class SegmentEncodings(ipywidgets.VBox):
    """The row-ID segments of a version: as pictures, as advice in words, and as a table.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    state : ExplorerState, optional
        The choices that it shares with other views: ``version`` and ``fragment_id``.

    Examples
    --------
    >>> widget = lx.widgets.SegmentEncodings(table)
    >>> widget.state.version = 2
    >>> widget.frame()["encoding"].to_list()
    ['range', 'range']
    >>> widget.selection
    {'version': 2, 'fragment_id': None}
    """

    def __init__(self, table: Table, *, state: ExplorerState | None = None) -> None:
        self.state = state or ExplorerState()
        self._table = table
        self._kept = table.versions()
        self._is_showing = False
        if self.state.version is None:
            self.state.version = table.source.latest_version
        self._read()
        self._version = ipywidgets.SelectionSlider(
            description="version",
            options=self._kept["version"].to_list() or [self.state.version],
            continuous_update=False,
        )
        self._fragment = ipywidgets.Dropdown(description="fragment")
        self._picture = ipywidgets.ToggleButtons(options=_PICTURES, style={"button_width": "auto"})
        self._words = ipywidgets.HTML()
        self._drawn = ipywidgets.Output()
        self._rows = FrameTable(self.frame())
        controls = ipywidgets.HBox([self._version, self._fragment])
        super().__init__([controls, self._words, self._picture, self._drawn, self._rows])
        self._show()
        self._version.observe(self._choose, "value")
        self._fragment.observe(self._choose, "value")
        self._picture.observe(lambda _: self._draw(), "value")
        self.state.observe(lambda _: self._change(), ["version", "fragment_id"])

    @property
    def selection(self) -> dict[str, int | None]:
        """What is chosen: ``version``, and ``fragment_id``, None for all fragments."""
        return {"version": self.state.version, "fragment_id": self.state.fragment_id}

    @property
    def advice(self) -> list[str]:
        """What :func:`lance_explorer.figures.encoding_advice` says about what is shown."""
        return encoding_advice(self.frame(), self._of_fragment(self._encodings))

    def frame(self) -> pl.DataFrame:
        """Return the segments that are shown, as ``table.inspect.row_id_segments()`` does."""
        return self._of_fragment(self._segments)

    def _read(self) -> None:
        """Read the version that is chosen; what goes wrong is shown instead of words."""
        self._failure = ""
        try:
            self._segments = self._table.inspect.row_id_segments(self.state.version)
            self._encodings = self._table.inspect.row_id_encodings(self.state.version)
        except LanceExplorerError as error:
            self._segments, self._encodings = [
                schema.polars_schema.to_frame() for schema in (ROW_ID_SEGMENTS, ROW_ID_ENCODINGS)
            ]
            self._failure = str(error)
        self._read_version = self.state.version

    def _of_fragment(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the chosen fragment; all if none is chosen or the version lacks it."""
        chosen = frame.filter(pl.col("fragment_id").is_in([self.state.fragment_id]))
        return chosen if len(chosen) else frame

    def _choose(self, _: object) -> None:
        """Take over what was chosen in the controls."""
        if self._is_showing:
            return
        with self.state.hold_trait_notifications():
            self.state.version = self._version.value
            self.state.fragment_id = self._fragment.value

    def _change(self) -> None:
        if self.state.version != self._read_version:
            self._read()
        self._rows.show_rows(FrameRows(self.frame()))
        self._show()

    def _show(self) -> None:
        """Bring the controls, the words and the picture up to date."""
        self._is_showing = True
        if self.state.version in self._version.options:
            self._version.value = self.state.version
        choices = self._choices()
        ids = [fragment for _, fragment in choices]
        self._fragment.options = choices
        self._fragment.value = self.state.fragment_id if self.state.fragment_id in ids else None
        self._is_showing = False
        self._words.value = _as_html([self._failure] if self._failure else self.advice)
        self._draw()

    def _choices(self) -> list[tuple[str, int | None]]:
        """Return the fragments to choose from, those that would save most first."""
        ids = self._encodings.sort("saving_bytes", descending=True, nulls_last=True)["fragment_id"]
        shown = ids.head(_MOST_CHOICES).to_list()
        chosen = self.state.fragment_id
        if chosen is not None and chosen not in shown and chosen in ids:
            shown.append(chosen)
        cut = "" if len(shown) == len(ids) else f" ({len(shown):,} of {len(ids):,} to choose from)"
        return [(f"all{cut}", None), *((f"{fragment:,}", fragment) for fragment in shown)]

    def _draw(self) -> None:
        try:
            figure = self._figure()
        except LanceExplorerError as error:
            self._drawn.outputs = ({"output_type": "stream", "name": "stderr", "text": str(error)},)
            return
        data = {_PLOTLY: json.loads(figure.to_json())}
        self._drawn.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)

    def _figure(self) -> go.Figure:
        match self._picture.value:
            case "Growth over versions":
                return self._growth
            case "Age of rows":
                runs = self._of_fragment(self._table.inspect.version_runs(self.state.version))
                return row_ages(runs, self._kept)
        return encoding_bytes(self.frame(), self._of_fragment(self._encodings))

    def __repr__(self) -> str:
        return f"SegmentEncodings(version {self.state.version}, {len(self.frame()):,} segments)"

    @cached_property
    def _growth(self) -> go.Figure:
        """The picture over all versions, the same for each of them."""
        inspect = self._table.inspect
        return encoding_growth(inspect.row_id_totals(), inspect.all_row_id_encodings())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Add the words for where no kernel runs, such as nbconvert and GitHub."""
        bundle: dict[str, Any] = super()._repr_mimebundle_(**options)
        return {**bundle, "text/html": self._words.value}


def _as_html(sentences: list[str]) -> str:
    items = "".join([f"<li>{escape(sentence)}</li>" for sentence in sentences])
    return f"<ul>{items}</ul>"
