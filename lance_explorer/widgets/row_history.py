"""The life of one row as a timeline, with its values at each event."""

import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
import polars as pl
import traitlets
from msgspec.structs import asdict
from numpy.typing import NDArray

from lance_explorer.answers.calls import call
from lance_explorer.errors import LanceExplorerError
from lance_explorer.figures.row_events import event_name
from lance_explorer.frames.followed import ROW_HISTORY
from lance_explorer.lineage.following import row_history
from lance_explorer.lineage.row_values import values_of_rows, with_values
from lance_explorer.rowids.addresses import RowAddress
from lance_explorer.shown import described
from lance_explorer.table import Table
from lance_explorer.widgets.code_lines import arranged_code
from lance_explorer.widgets.lineage_data import commits, event_facts
from lance_explorer.widgets.messages.lineage import (
    FollowedRow,
    PlacedEvent,
    RowAbout,
    RowValues,
)
from lance_explorer.widgets.messages.shared import Found
from lance_explorer.widgets.row_lookup import key_columns, row_named, row_numbers_of
from lance_explorer.widgets.row_sources import FrameRows
from lance_explorer.widgets.row_values_data import (
    absent_columns,
    event_values,
    events_code,
    events_table,
)
from lance_explorer.widgets.rows_view import RowsView
from lance_explorer.widgets.state import ExplorerState, table_of
from lance_explorer.widgets.view import IN_STATIC_PICTURE, Request, answers

__all__ = ["RowHistory"]

_MOST_VALUES = 200
"""The last events of a row, whose values are read."""

_MOST_EVENTS = 2_000

_Key = tuple[int, int]

_NO_EVENTS = pl.DataFrame(schema=ROW_HISTORY.polars_schema)


class RowHistory(RowsView):
    """Show what happened to one row in every version, and what its values were.

    Type a condition on the row, such as ``id = 42``, a row ID, or an address such as ``3:17`` (in
    version 5: ``3:17@5``); the arrows go to the next row. Events are coloured like the commits that
    they come from; arrow keys go from event to event. Below the timeline are the values of the row
    at the chosen event, with changes marked. A deleted row has its last values, as long as its
    files exist.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    row_id : int, optional
        The row to show first; without stable row IDs, its address.
    state : ExplorerState, optional
        The choices that it shares with other views: ``row_id``, ``version`` and ``filter``.

    Examples
    --------
    >>> widget = lx.widgets.RowHistory(table, 2)
    >>> widget.frame().select("version", "event", "offset", "city").rows()
    [(1, 'created', 2, 'city 0'), (3, 'updated', 0, 'city 0')]
    >>> widget.state.row_id
    2
    """

    _module = "row_history"

    height = traitlets.Int(8, min=1, max=100).tag(sync=True)
    """How many events are visible at once in the table, at most."""

    def __init__(
        self, table: Table, row_id: int | None = None, *, state: ExplorerState | None = None
    ) -> None:
        self._table = table_of(table)
        self._events: tuple[_Key, pl.DataFrame] | None = None
        self._with_values: tuple[_Key, pl.DataFrame, pl.Series] | None = None
        self._read_ahead: dict[_Key, tuple[pl.DataFrame, pl.DataFrame]] = {}
        self._numbers: tuple[int, NDArray[np.uint64]] | None = None
        self._shown: _Key | None = None
        self._showing = threading.Lock()
        super().__init__(FrameRows(_NO_EVENTS), state=state)
        if row_id is not None:
            self.state.row_id = row_id

    def frame(self) -> pl.DataFrame:
        """Return the events that match the filter, with a column for each value of the row.

        Raises
        ------
        RowNotFoundError
            If no kept version has, or had, the row.
        """
        with self._showing:
            self._show_values()
            rows = self._source
        return self._frame_of(rows)

    def code(self) -> str:
        """Return the code for :meth:`frame`, where ``table`` is the table.

        The code reads the values at all events, the view only those at the last 200.

        Examples
        --------
        >>> lx.widgets.RowHistory(table, 2).code().splitlines()[1]
        '    table.row(2).history(values=True)'
        """
        row_id = self.state.row_id
        if row_id is None:
            return "# no row is chosen"
        with self._showing:
            (events, _), schema = self._show_values(), self._source.schema
        code = events_code(call("table.row", row_id), events)
        return arranged_code(code, schema, self.filter, self.sort)

    def read_ahead(self, row_ids: Iterable[int]) -> None:
        """Read the values of rows that will be chosen: each version once, for all of them."""
        view, events = self._table._view, dict[int, pl.DataFrame]()
        for row_id in row_ids:
            with suppress(LanceExplorerError):  # told when the row is chosen
                events[row_id] = row_history(view, row_id)
        read = values_of_rows(view, {row: some.tail(_MOST_VALUES) for row, some in events.items()})
        self._read_ahead = {self._key(row): (events[row], frame) for row, frame in read.items()}

    def static_html(self) -> str:
        """Return the table as it shows itself where no kernel runs."""
        return self._table._html(last=IN_STATIC_PICTURE)

    @described
    def __repr__(self) -> str:
        return f"RowHistory(row {self.state.row_id})"

    # -------------------------------------------------------------------------- answers

    @answers("open")
    def _open(self, _: Request) -> RowAbout:
        return RowAbout(
            **asdict(commits(self._table.versions())),
            name=self._table._view.name,
            branch=self._table.branch,
            has_row_ids=self._table.latest.has_stable_row_ids,
            key=self._key_columns(),
        )

    @answers("find", in_background=True)
    def _find(self, request: Request, *, text: str) -> Found:
        """Choose the row that a text names; what is wrong with the text is part of the answer."""
        request.progress("looking for the row")
        try:
            row_id = row_named(self._table, text)
            self._events_of(row_id)
        except LanceExplorerError as error:
            return Found(problem=str(error))
        request.check()
        self.state.row_id = row_id
        return Found(row_id=str(row_id))

    @answers("step", in_background=True)
    def _step(self, request: Request, *, direction: int) -> Found:
        """Choose the next or the previous live row of the latest version."""
        request.progress("looking for the next row")
        version = self._table._view.latest_version
        if self._numbers is None or self._numbers[0] != version:
            self._numbers = version, row_numbers_of(self._table.latest)
        numbers = self._numbers[1]
        is_next = direction > 0
        now = self.state.row_id
        if now is None:
            place = 0 if is_next else len(numbers) - 1
        elif is_next:
            place = int(np.searchsorted(numbers, np.uint64(now), side="right"))
        else:
            place = int(np.searchsorted(numbers, np.uint64(now))) - 1
        if not 0 <= place < len(numbers):
            way = "later" if is_next else "earlier"
            return Found(problem=f"there is no {way} row in version {version}")
        self.state.row_id = int(numbers[place])
        return Found()

    @answers("row", in_background=True)
    def _row(self, request: Request) -> FollowedRow:
        """Return the events of the chosen row; an error is part of the answer."""
        row_id = self.state.row_id
        if row_id is None:
            return FollowedRow(None)
        request.progress(f"following row {row_id}")
        try:
            events = self._events_of(row_id)
        except LanceExplorerError as error:
            return FollowedRow(str(row_id), problem=str(error))
        shown = events.tail(_MOST_EVENTS)
        placed = [_place(event, row_id) for event in shown.iter_rows(named=True)]
        return FollowedRow(str(row_id), len(events), tuple(placed))

    @answers("values", in_background=True)
    def _values(self, request: Request) -> RowValues:
        """Return the values at each event, and show them in the table."""
        request.progress("reading values")
        try:
            with self._showing:
                events, absent = self._show_values()
        except LanceExplorerError as error:
            return RowValues(problem=str(error))
        if "values" not in events.columns:
            return RowValues()
        return RowValues(event_values(events.tail(_MOST_EVENTS), absent.tail(_MOST_EVENTS)))

    def _key_columns(self) -> list[str]:
        try:
            return key_columns(self._table)
        except LanceExplorerError:
            return []  # the latest version cannot be read: rows have their IDs

    # ------------------------------------------------------------------------------ data

    def _key(self, row_id: int) -> _Key:
        """Return the key of a row's history, which later versions may extend."""
        return row_id, self._table._view.latest_version

    def _events_of(self, row_id: int) -> pl.DataFrame:
        key, kept = self._key(row_id), self._events
        if kept is None or kept[0] != key:
            ahead = self._read_ahead.get(key)
            events = row_history(self._table._view, row_id) if ahead is None else ahead[0]
            self._events = kept = key, events
        return kept[1]

    def _show_values(self) -> tuple[pl.DataFrame, pl.Series]:
        """Read the values of the chosen row, if need be, and put them into the table.

        Return its events, and for each the columns that did not exist then.
        """
        row_id = self.state.row_id
        if row_id is None:
            if self._shown is not None:
                self._shown = None
                self.show_rows(FrameRows(_NO_EVENTS))
            return _NO_EVENTS, absent_columns(self._table._view, _NO_EVENTS)
        key = self._key(row_id)
        if self._with_values is None or self._with_values[0] != key:
            events = self._events_of(row_id)
            _, read = self._read_ahead.pop(key, (events, None))
            if read is None:
                read = with_values(self._table._view, events.tail(_MOST_VALUES), row_id)
            earlier = events.head(max(len(events) - _MOST_VALUES, 0))
            events = pl.concat([earlier, read], how="diagonal")
            self._with_values = key, events, absent_columns(self._table._view, events)
        _, events, absent = self._with_values
        if self._shown != key:
            self._shown = key
            self.show_rows(FrameRows(*events_table(events, absent)))
        return events, absent


_DOUBTS = {
    "created": "This row is new, or an updated older one: the commit does not record which row "
    "replaced which.",
    "deleted": "This row was deleted, or was updated and is now at another address: the commit "
    "does not record which row replaced which.",
    "column rewritten": "A column was rewritten, possibly with unchanged values: see the values "
    "below.",
    "moved": "Versions in between are lost, and one of them may have updated the row as well.",
}

_IN_DOUBT = (
    "Versions in between are lost. Counts and order alone link the rows before and after them: "
    "this may be another row."
)

_LOST = {
    "created": "Versions in between are lost, and the table has no stable row IDs: this row is "
    "new, or an older one that was moved or updated.",
    "deleted": "Versions in between are lost, and the table has no stable row IDs: this row was "
    "deleted, or it is now at another address.",
}


def _doubt(event: Mapping[str, Any]) -> str | None:
    """Return why an event may be a different one; None if it is certain."""
    if not event["is_uncertain"]:
        return None
    name = event_name(event["event"])
    if event["evidence"] == "inferred":
        return _IN_DOUBT
    return (_LOST if event["evidence"] == "lost" else {}).get(name, _DOUBTS.get(name))


def _place(event: Mapping[str, Any], row_id: int) -> PlacedEvent:
    """Return an event for the timeline, with the fragment and offset at which it is drawn."""
    after, before = event["_rowaddr_after"], event["_rowaddr_before"]
    place = RowAddress.of(before if after is None else after)
    return PlacedEvent(
        **asdict(event_facts(event, row_id)),
        name=event_name(event["event"]),
        fragment_id=str(place.fragment_id),
        offset=str(place.offset),
        doubt=_doubt(event),
        who=event["author"] or event["job"],
        message=event["message"],
    )
