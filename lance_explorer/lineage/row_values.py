"""The values of one row at each of its events."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.columns.common_types import differ
from lance_explorer.history.columns.identity import ColumnsAt, columns_at
from lance_explorer.history.columns.value_columns import ValueColumns, types_if_known, value_columns
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.paths import Branch, Stop
from lance_explorer.history.values.later_values import values_at
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import done_in_order

__all__ = ["absent_columns", "values_of_rows", "with_values"]

_CREATED = RowEvent.CREATED.label

_READS_AT_ONCE = 16
"""The number of versions read at once where requests are slow; each takes several requests."""


def with_values(view: HistoryView, frame: pl.DataFrame, row_id: int) -> pl.DataFrame:
    """Return the history of a row with its values, and which of them changed.

    Parameters
    ----------
    view : HistoryView
        The branch.
    frame : polars.DataFrame
        What :func:`~lance_explorer.lineage.following.row_history` returns.
    row_id : int
        The row ID of the row; without stable row IDs its addresses are in the history.

    Returns
    -------
    polars.DataFrame
        The same with ``values``, a struct of all columns that the table had at any of the events,
        and ``changed_columns``: the columns whose value differs from the one at the event before,
        where both are known. A column that was only renamed did not change, nor did a new column
        that is null. Columns are named as in the latest version of the branch, or else in the last
        version that has them; a column that did not exist at an event is null there. One that had a
        type whose values the later one cannot hold exactly is two columns, as are two that had one
        name: the earlier one has a number after its name, as in ``tags@1``.
    """
    return values_of_rows(view, {row_id: frame})[row_id]


def values_of_rows(
    view: HistoryView, frames: Mapping[int, pl.DataFrame]
) -> dict[int, pl.DataFrame]:
    """Return what :func:`with_values` does of each row; each version is read once for all.

    Parameters
    ----------
    view : HistoryView
        The branch.
    frames : mapping of int to polars.DataFrame
        The histories of rows, by row ID.
    """
    places = {row_id: _places(view, frame) for row_id, frame in frames.items()}
    read = _read(view, places)
    return {row_id: _valued(view, frames[row_id], places[row_id], read) for row_id in frames}


def _valued(
    view: HistoryView,
    frame: pl.DataFrame,
    places: Sequence["_Place | None"],
    rows_read: Mapping["_PlaceName", pl.DataFrame | None],
) -> pl.DataFrame:
    """Return the history of a row with its values, of rows that were read."""
    read = [
        None if place is None or (row := rows_read[place.name]) is None else (place, row)
        for place in places
    ]
    stops, known = _stops(view, places), [one for one in read if one is not None]
    types = {place.name[:2]: row.schema for place, row in known}
    columns = value_columns(
        stops,
        lambda stop: types.get(_name(stop)) or types_if_known(stop),
    ).of(BranchVersion(place.view, place.version) for place, _ in known)
    frames = [columns.filled(row, place.view, place.version) for place, row in known]
    rows = pl.concat([columns.empty(), *frames]).to_struct()
    numbers = iter(range(len(frames)))
    at = pl.Series([None if one is None else next(numbers) for one in read], dtype=pl.UInt32())
    changes = [*_changes(read, frame["event"].to_list(), columns, columns_at(stops))]
    return frame.with_columns(
        rows.gather(at).alias("values"),
        pl.Series("changed_columns", changes, dtype=pl.List(pl.String())),
    )


def absent_columns(view: HistoryView, frame: pl.DataFrame) -> list[list[str]]:
    """Return for each event the columns of ``values`` that the table did not have then.

    They are null there, as are those of which nothing is known, but for another reason.

    Parameters
    ----------
    view : HistoryView
        The branch.
    frame : polars.DataFrame
        What :func:`with_values` returns.
    """
    places = _places(view, frame)
    columns = value_columns(_stops(view, places), types_if_known)
    there = [None if p is None else columns.names_in(p.view, p.version) for p in places]
    names = frame["values"].struct.fields
    return [[] if some is None else [name for name in names if name not in some] for some in there]


_PlaceName = tuple[str, int, int]


class _Place(NamedTuple):
    """Where an event says that a row is."""

    stop: Stop
    address: int

    @property
    def name(self) -> _PlaceName:
        """The key that identifies the place."""
        return *_name(self.stop), self.address

    @property
    def view(self) -> HistoryView:
        """The branch."""
        return self.stop.line.view

    @property
    def version(self) -> int:
        """The version."""
        return self.stop.record.version


def _places(view: HistoryView, events: pl.DataFrame) -> list[_Place | None]:
    return [_place(view, event) for event in events.iter_rows(named=True)]


def _place(view: HistoryView, event: dict[str, Any]) -> _Place | None:
    """Return where the row is after an event, or was before its end; None if that is lost."""
    on_branch = view.on_branch(event["branch"])
    kept = [file.version for file in on_branch.listing.versions]
    address, version = event["_rowaddr_after"], event["version"]
    if address is None:
        address = event["_rowaddr_before"]
        version = max([number for number in kept if number < version], default=None)
    if version not in kept:
        return None
    try:
        return _Place(_stop(on_branch, version), address)
    except LanceExplorerError:
        return None


def _stop(view: HistoryView, version: int) -> Stop:
    return Stop(Branch(view, view.history), view.history.position(version))


def _stops(view: HistoryView, places: Sequence[_Place | None]) -> list[Stop]:
    """Return the latest version of the branch, then the versions of the places, latest first."""
    latest = _stop(view, int(view.history.versions[-1]))
    stops = [latest, *[place.stop for place in reversed(places) if place is not None]]
    return [*{_name(stop): stop for stop in stops}.values()]


def _name(stop: Stop) -> tuple[str, int]:
    return stop.line.view.storage.uri, stop.record.version


def _read(
    view: HistoryView, places: Mapping[int, Sequence[_Place | None]]
) -> dict[_PlaceName, pl.DataFrame | None]:
    """Return the row at each place, or None where it cannot be read; each version is read once."""
    wanted = dict[tuple[str, int], dict[_PlaceName, tuple[_Place, int]]]()
    for row_id, of_row in places.items():
        for place in of_row:
            if place is not None:
                wanted.setdefault(_name(place.stop), {})[place.name] = place, row_id
    tasks = [(1, partial(_values, [*some.values()])) for some in wanted.values()]
    most = min(view.storage.in_flight, _READS_AT_ONCE)
    read = dict[_PlaceName, pl.DataFrame | None]()
    for rows in done_in_order(tasks, most, _READS_AT_ONCE):
        read.update(rows)
    return read


def _values(wanted: Sequence[tuple[_Place, int]]) -> dict[_PlaceName, pl.DataFrame | None]:
    """Return the rows at some places of one version; where all cannot be read, each that can."""
    first = wanted[0][0]
    rows, record = state_rows(first.view), first.stop.record
    try:
        read = values_at(
            rows,
            rows.history.position(record.version),
            np.array([place.address for place, _ in wanted], dtype=np.uint64),
            np.array([row_id for _, row_id in wanted], dtype=np.uint64),
            [field.name for field in record.schema if field.parent_id == NO_PARENT],
        )
    except LanceExplorerError:
        if len(wanted) == 1:
            first.view.values_missing(record.version)
            return {first.name: None}
        return {name: row for one in wanted for name, row in _values([one]).items()}
    return {place.name: read[number] for number, (place, _) in enumerate(wanted)}


def _changes(
    read: Sequence[tuple[_Place, pl.DataFrame] | None],
    events: Sequence[str],
    columns: ValueColumns,
    columns_there: ColumnsAt,
) -> Iterator[list[str] | None]:
    """Yield the columns that differ from the event before; None where either value is unknown."""
    nothing, before = pl.Series([None]), dict[int | None, pl.Series]()
    perhaps = {doubt.after: doubt.before for doubt in columns_there.doubts}
    for number, (known_row, event) in enumerate(zip(read, events, strict=True)):
        values = dict[int | None, pl.Series]()
        if known_row is not None:
            place, row = known_row
            shown = columns.names_in(place.view, place.version).items()
            numbers = columns_there.columns(place.stop)
            named = columns.named(row, place.view, place.version)
            values = {numbers[own]: named[name] for name, own in shown}
        if known_row is None or not number or read[number - 1] is None or event == _CREATED:
            yield None
        else:
            known = {n: before.get(n, before.get(perhaps.get(n), nothing)) for n in values}
            yield [value.name for n, value in values.items() if differ(known[n], value).item()]
        before = values
