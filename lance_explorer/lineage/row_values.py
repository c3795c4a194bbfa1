"""The values of one row at each of its events."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.ancestors import Place, ancestry
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.fields_of_both import fields_of_both
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.source import TableSource
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.lineage.same_types import same_types
from lance_explorer.storage import done_in_order

__all__ = ["with_values"]

_NO_FIELD = -1

_READS_AT_ONCE = 16
"""How many versions are read at a time where requests take long; pylance makes several for each."""


def with_values(source: TableSource, frame: pl.DataFrame, row_id: int) -> pl.DataFrame:
    """Return the history of a row with its values, and which of them changed.

    Parameters
    ----------
    source : TableSource
        The branch.
    frame : polars.DataFrame
        What :func:`~lance_explorer.lineage.following.row_history` returns.
    row_id : int
        The row ID of the row; without stable row IDs its addresses are in the history.

    Returns
    -------
    polars.DataFrame
        The same with ``values``, a struct of all columns that the table had at any of the events,
        and ``changed_columns``: those whose value is another than at the event before, where both
        are known. A column that was only renamed did not change, nor did one that came as null.
        Columns that do not exist at an event are null there. One that had another type in an
        earlier version, with which the later one has none in common, is two columns: the earlier
        one has the version after its name, as in ``tags@3``.
    """
    read = _read(source, [_place(source, event) for event in frame.iter_rows(named=True)], row_id)
    found = [row for row in read if row is not None]
    changes = pl.Series([*_changes(read, frame["event"].to_list())], dtype=pl.List(pl.String()))
    if found:
        parts = same_types([(row.version, row.values) for row in found])
        rows = pl.concat(parts, how="diagonal").to_struct()
    else:
        rows = pl.Series([], dtype=pl.Struct([]))
    place = iter(range(len(found)))
    places = pl.Series([None if row is None else next(place) for row in read])
    values = rows.gather(places.cast(pl.UInt32()))
    return frame.with_columns(values.alias("values"), changes.alias("changed_columns"))


class _Row(NamedTuple):
    """A row of a version: its values, and the field IDs of its columns."""

    place: Place
    values: pl.DataFrame
    fields: Mapping[str, int]

    @property
    def version(self) -> int:
        """The version."""
        return self.place.version

    def changed_since(self, earlier: "_Row") -> Iterator[str]:
        """Yield the columns with another value than in an earlier version.

        Raises
        ------
        LanceExplorerError
            If it cannot be told which column is which.
        """
        old_names = {id_: name for name, id_ in earlier.fields.items()}
        if self.fields != earlier.fields:
            kept = fields_of_both(ancestry(earlier.place, self.place))
            if kept is not None:
                old_names = {kept[id_]: name for id_, name in old_names.items() if id_ in kept}
        for name in self.values.columns:
            old_name = old_names.get(self.fields.get(name, _NO_FIELD), name)  # a cast has a new ID
            known = old_name in earlier.values.columns
            old = earlier.values[old_name].to_list() if known else [None]
            if old != self.values[name].to_list():
                yield name


class _Place(NamedTuple):
    """Where a row is as an event tells of it."""

    source: TableSource
    record: VersionRecord
    address: int
    check_blob: Callable[[int, str], None]

    @property
    def name(self) -> tuple[str, int, int]:
        """What tells the place from others."""
        return self.source.storage.uri, self.record.version, self.address


def _place(source: TableSource, event: dict[str, Any]) -> _Place | None:
    """Return where the row is after an event, or was before it ended; None if that is gone."""
    on_branch = source.on_branch(event["branch"])
    kept = [file.version for file in on_branch.listing.versions]
    address, version = event["_rowaddr_after"], event["version"]
    if address is None:
        address = event["_rowaddr_before"]
        version = max([number for number in kept if number < version], default=None)
    if version not in kept:
        return None
    try:
        record = on_branch.history.records[on_branch.history.position(version)]
        check_blob = check_values(on_branch, version, some_rows=True)
    except LanceExplorerError:
        return None
    return _Place(on_branch, record, address, check_blob)


def _read(source: TableSource, places: list[_Place | None], row_id: int) -> list[_Row | None]:
    """Return the row at some places, of which each is read once; None where it cannot be read."""
    known = {place.name: place for place in places if place is not None}
    tasks = [(1, partial(_values, place, row_id)) for place in known.values()]
    most = min(source.storage.in_flight, _READS_AT_ONCE)
    found = dict(zip(known, done_in_order(tasks, most, _READS_AT_ONCE), strict=True))
    return [None if place is None else found[place.name] for place in places]


def _values(place: _Place, row_id: int) -> _Row | None:
    from lance_explorer.values import read_rows_at

    source, record, address, check_blob = place
    storage = source.storage
    fields = {field.name: field.id for field in record.schema if field.parent_id == NO_PARENT}
    is_stable = record.manifest.reader_feature_flags & STABLE_ROW_IDS
    try:
        row = read_rows_at(
            value_root(source, record.version),
            record.version,
            np.array([address], dtype=np.uint64),
            np.array([row_id if is_stable else address], dtype=np.uint64),
            [*fields],
            storage.options,
            check_blob,
        )
    except LanceExplorerError:
        storage.io.missing += 1  # what pylance reads is not counted
        return None
    return _Row(Place(source, record.version), row, fields)


def _told_changes(before: _Row, row: _Row) -> list[str] | None:
    try:
        return [*row.changed_since(before)]
    except LanceExplorerError:
        return None


def _changes(read: list[_Row | None], events: list[str]) -> Iterator[list[str] | None]:
    """Yield the columns that differ from the event before; None where either is not known."""
    before: _Row | None = None
    for row, event in zip(read, events, strict=True):
        if row is None or before is None or event == RowEvent.CREATED.label:
            yield None
        else:
            yield _told_changes(before, row)
        before = row
