"""Values of rows whose files are gone: from later versions, or from a ledger.

A cell is unchanged until its row is written or ends, or its column is dropped or cast. Up to that
commit every version has it, wherever the row was moved; and a ledger may have kept what a commit
ended (:mod:`lance_explorer.ledger.kept_values`).
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import LanceExplorerError, StorageError
from lance_explorer.format.schema import Field, column_fields, is_blob
from lance_explorer.history.columns.identity import ColumnsAt, columns_at
from lance_explorer.history.columns.value_columns import blob_columns
from lance_explorer.history.events.address_identities import addresses_at, identities_at
from lance_explorer.history.events.doubtful_links import last_links_at
from lance_explorer.history.events.event_runs import RowEvent, RowEvents
from lance_explorer.history.events.follow_rows import RowsInStep, of_rows, trace
from lance_explorer.history.events.row_events import row_events
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.memories import notes
from lance_explorer.history.paths import Stop
from lance_explorer.history.value_files import (
    check_values,
    has_no_values,
    value_root,
    why_values_are_lost,
)
from lance_explorer.rowids.addresses import FRAGMENT_BITS
from lance_explorer.rowids.arrays import Uint64Array

__all__ = [
    "ENDS",
    "ended_columns",
    "known_at",
    "later_values",
    "position_to_read",
    "stored_values",
    "values_at",
]

ENDS = (
    RowEvent.RESTORED,
    RowEvent.OVERWRITTEN,
    RowEvent.DELETED,
    RowEvent.UPDATED,
    RowEvent.COLUMN_REWRITTEN,
)
"""The commit that ends the values of a row."""

_UNKNOWN = -1
"""Stands for the unknown position of an end."""

_MANY_ROWS = 256
_MOST_RUNS = 1 << 20
"""The most runs of events that are held, about 80 MB."""

_Part = tuple[NDArray[np.int64], pl.Series]
"""The rows of some values, and the values."""

_Cells = NDArray[np.bool_]
"""For each row and column, whether its value is known."""


def values_at(
    rows: StateRows,
    position: int,
    addresses: Uint64Array,
    identities: Uint64Array,
    names: Sequence[str],
    *,
    whole_blobs: bool = True,
) -> pl.DataFrame:
    """Return values of rows of a version, wherever they still exist.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    position : int
        The position of the version in ``rows.history``.
    addresses, identities : ndarray of uint64
        The addresses of the rows there, and who they are, or their row IDs.
    names : sequence of str
        The columns, as they are called there.
    whole_blobs : bool
        Whether to read blobs, and not what describes them.

    Raises
    ------
    LanceExplorerError
        If a value is lost, or may not be read.
    """
    try:
        return stored_values(rows, position, addresses, identities, names, whole_blobs=whole_blobs)
    except LanceExplorerError as error:
        with suppress(LanceExplorerError):  # problems of this version come first
            values, known = later_values(rows, position, addresses, names, whole_blobs=whole_blobs)
            if known.all():
                return values
        why = why_values_are_lost(rows.view, rows.history.records[position].version)
        if why is None:
            raise
        raise StorageError(why) from error


def known_at(
    rows: StateRows,
    position: int,
    addresses: Uint64Array,
    identities: Uint64Array,
    names: Sequence[str],
    *,
    whole_blobs: bool = True,
) -> tuple[pl.DataFrame, _Cells]:
    """Return the same without lost values, and whether each value is known."""
    known = np.zeros((len(addresses), len(names)), dtype=np.bool_)
    parts: dict[str, list[_Part]] = {name: [] for name in names}
    reader = _Later(rows, position, identities, whole_blobs=whole_blobs)
    every = np.arange(len(addresses))
    for some, values in reader.left_at(position, every, addresses, [*names]):
        for name in values.columns:
            known[some, names.index(name)] = True
            parts[name].append((some, values[name]))
    left = np.flatnonzero(~known.all(axis=1))
    if len(left):
        later, are_known = later_values(
            rows, position, addresses[left], names, whole_blobs=whole_blobs
        )
        known[left] |= are_known
        for place, name in enumerate(names):
            there = are_known[:, place]
            parts[name].append((left[there], later[name].filter(pl.Series(there))))
    columns = [_gathered(len(addresses), parts[name])[0].alias(name) for name in names]
    return pl.DataFrame(columns), known


def later_values(
    rows: StateRows,
    position: int,
    addresses: Uint64Array,
    names: Sequence[str],
    *,
    whole_blobs: bool = True,
) -> tuple[pl.DataFrame, _Cells]:
    """Return the values of rows in a version, from later ones or a ledger.

    Parameters
    ----------
    rows, position, addresses, names, whole_blobs
        As for :func:`values_at`.

    Returns
    -------
    values : polars.DataFrame
        The columns; null where a value is lost.
    known : ndarray of bool
        For each row and column, whether it is not lost.
    """
    if rows.view.whole is not rows.view:  # of which only the requested versions were read
        version = rows.history.records[position].version
        rows = state_rows(rows.view.whole)
        position = rows.history.position(version)
    identities, live = identities_at(rows, position, addresses)
    by_end = dict[int, list[str]]()
    for name in names:
        by_end.setdefault(_end_of_column(rows, position, name), []).append(name)
    columns, known = dict[str, pl.Series](), np.zeros((len(addresses), len(names)), dtype=np.bool_)
    for stop, some in by_end.items():
        ends, last = _ends(rows, position, addresses, identities, live, stop)
        cells = _Later(rows, position, identities, whole_blobs=whole_blobs).read(ends, last, some)
        for name, (values, is_known) in cells.items():
            columns[name], known[:, [*names].index(name)] = values, is_known
    return pl.DataFrame([columns[name].alias(name) for name in names]), known


def position_to_read(rows: StateRows, first: int, last: int) -> int:
    """Return the last of some positions whose manifest the table keeps; the last one if none."""
    for position in range(last, first - 1, -1):
        if not rows.history.records[position].file.is_recorded:
            return position
    return last


def ended_columns(rows: StateRows, position: int) -> list[str]:
    """Return the columns of the previous version that one lacks, or has with another type."""
    if not position:
        return []
    here = _kinds_at(rows, position)
    return [
        name
        for number, (name, kind) in _kinds_at(rows, position - 1).items()
        if number not in here or here[number][1] != kind
    ]


def _end_of_column(rows: StateRows, position: int, name: str) -> int:
    """Return the first position after one at which a column is missing or changed."""
    numbers = {own: number for number, (own, _) in _kinds_at(rows, position).items()}
    number = numbers[name]
    kind = _kinds_at(rows, position)[number][1]
    for later in range(position + 1, len(rows.history)):
        there = _kinds_at(rows, later)
        if number not in there or there[number][1] != kind:
            return later
    return len(rows.history)


_Kinds = dict[int, tuple[str, tuple[object, ...]]]

_known_kinds = notes(list[tuple[object, ColumnsAt, dict[tuple[int, int], _Kinds]]])


def _kinds_at(rows: StateRows, position: int) -> _Kinds:
    """Return the names and types of the columns of a version, by number."""
    known = _known_kinds(rows.view)
    if not known or known[0][0] is not rows.history:
        stops = [Stop(rows, place) for place in range(len(rows.history) - 1, -1, -1)]
        known[:] = [(rows.history, columns_at(stops), {})]
    _, numbered, kinds = known[0]
    stop = Stop(rows, position)
    key = id(stop.record.schema), id(numbered.of(stop))
    if key not in kinds:
        fields = column_fields(stop.record.schema)
        columns = numbered.columns(stop)
        kinds[key] = {columns[name]: (name, _kind(fields[name])) for name in columns}
    return kinds[key]


def _kind(fields: Sequence[Field]) -> tuple[object, ...]:
    """Return what a column's values depend on besides its name: its type, and nested names."""
    own = fields[0]
    inside = [(f.id, f.parent_id, f.name, f.logical_type, f.extension_name) for f in fields[1:]]
    return own.id, own.logical_type, own.extension_name, is_blob(own), *inside


def _ends(
    rows: StateRows,
    position: int,
    addresses: Uint64Array,
    identities: Uint64Array,
    live: NDArray[np.bool_],
    stop: int,
) -> tuple[NDArray[np.int64], Uint64Array]:
    """Return the commits that ended the values of rows, up to ``stop``, and last addresses.

    Parameters
    ----------
    position : int
        The version in which the rows are as asked for.
    addresses, identities, live
        Where they are, who they are, and whether a row lives there.
    stop : int
        The position up to which they are followed.
    """
    ends, last = np.where(live, stop, _UNKNOWN), addresses.copy()
    wanted, place = np.unique(identities[live], return_inverse=True)
    owner = np.flatnonzero(live)[np.argsort(place, kind="stable")]  # each row lives at one address
    waiting = len(owner)
    for traced in _traced(rows, wanted, range(position + 1, stop)):
        event, is_unclear = traced.events.event[traced.run], traced.events.is_uncertain[traced.run]
        some = owner[traced.row]
        is_open = (ends[some] == stop) & (traced.before != NO_ADDRESS)
        is_end = np.isin(event, ENDS)
        is_moved = event == RowEvent.MOVED
        ended = some[is_open & is_end]
        ends[ended] = traced.events.step.position
        unclear = some[is_open & is_moved & is_unclear]
        ends[unclear] = _UNKNOWN
        stays = is_open & ~is_end & (traced.after != NO_ADDRESS)
        last[some[stays]] = traced.after[stays]
        waiting -= len(ended) + len(unclear)
        if waiting <= 0:
            break
    return _without_others(rows, position, identities, ends), last


_events = notes(dict[int, RowEvents])
"""What happened in versions, by position, for code that asks for many rows often."""


def _traced(rows: StateRows, wanted: Uint64Array, positions: range) -> Iterator[RowsInStep]:
    """Yield what happened to rows, version by version, where anything did."""
    if len(wanted) < _MANY_ROWS:
        yield from trace(rows, wanted, positions)
        return
    known = _events(rows.view)
    changed = rows.history.changed_positions
    there = changed[(changed >= positions.start) & (changed < positions.stop)].tolist()
    rows.load_steps([position for position in there if position not in known])
    for position in there:
        events = known.get(position)
        if events is None:
            events = known[position] = row_events(rows.view, position)
            while len(known) > 1 and sum(map(len, [*known.values()])) > _MOST_RUNS:
                known.pop(next(iter(known)), None)
        if len((some := of_rows(events, wanted)).row):
            yield some


def _without_others(
    rows: StateRows, position: int, identities: Uint64Array, ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the ends, unknown for rows that may be others before them."""
    if rows.doubtful_links:
        own = last_links_at(rows, position, identities)
        for end in np.unique(ends[ends > position]).tolist():
            some = np.flatnonzero(ends == end)
            others = last_links_at(rows, end - 1, identities[some]) != own[some]
            ends[some[others]] = _UNKNOWN
    return ends


class _Later:
    """Reads cells of a version from later ones."""

    def __init__(
        self, rows: StateRows, position: int, identities: Uint64Array, *, whole_blobs: bool
    ) -> None:
        self._rows = rows
        self._position = position
        self._identities = identities
        self._whole_blobs = whole_blobs

    def read(
        self, ends: NDArray[np.int64], last: Uint64Array, names: Sequence[str]
    ) -> dict[str, tuple[pl.Series, NDArray[np.bool_]]]:
        """Return columns, and which of their values are known.

        Parameters
        ----------
        ends : ndarray of int64
            The position of the commit that ended each row.
        last : ndarray of uint64
            Where each row was before it.
        names : sequence of str
            The columns, as they are called in the version that is asked for.
        """
        parts: dict[str, list[_Part]] = {name: [] for name in names}
        for end in np.unique(ends[ends > self._position]).tolist():
            some = np.flatnonzero(ends == end)
            own = self._names_at(end - 1, names)
            left = np.zeros(len(some), dtype=np.bool_)
            missing = list[str]()
            for name, there in own.items():
                kept = self._kept(end, there, last[some])
                is_known = np.zeros(len(some), dtype=np.bool_) if kept is None else kept[1]
                if kept is not None:
                    parts[name].append((some[is_known], kept[0].filter(pl.Series(is_known))))
                if not is_known.all():
                    left |= ~is_known
                    missing.append(name)
            position = position_to_read(self._rows, self._position + 1, end - 1)
            if not missing or position <= self._position or has_no_values(self._rows.view):
                continue
            some, addresses = some[left], last[some[left]]
            if position != end - 1:
                addresses, live = addresses_at(self._rows, position, self._identities[some])
                some, addresses = some[live], addresses[live]
            asked = self._names_at(position, missing)
            for rows, values in self.left_at(position, some, addresses, [*asked.values()]):
                for name, there in asked.items():
                    if there in values.columns:
                        parts[name].append((rows, values[there]))
        return {name: _gathered(len(ends), pieces) for name, pieces in parts.items()}

    def _names_at(self, position: int, names: Sequence[str]) -> dict[str, str]:
        """Return the names of columns in a later version."""
        own = {name: number for number, (name, _) in _kinds_at(self._rows, self._position).items()}
        there = _kinds_at(self._rows, position)
        return {name: there[own[name]][0] for name in names}

    def _kept(
        self, end: int, name: str, addresses: Uint64Array
    ) -> tuple[pl.Series, NDArray[np.bool_]] | None:
        """Return the values of a column that a ledger kept before a commit."""
        rows = self._rows
        recorded = rows.view.recorded
        if recorded is None or end == len(rows.history):
            return None
        if not self._whole_blobs and name in blob_columns(rows.history.records[end - 1].schema):
            return None
        before, version = (record.version for record in rows.history.records[end - 1 : end + 1])
        return recorded.kept_cells(rows.view.branch, version, before, name, addresses)

    def left_at(
        self, position: int, some: NDArray[np.int64], addresses: Uint64Array, names: list[str]
    ) -> Iterator[tuple[NDArray[np.int64], pl.DataFrame]]:
        """Yield readable columns of rows of a version, with their rows."""
        if not len(some):
            return
        asked = self._rows, position, addresses, self._identities[some], names
        try:
            yield some, stored_values(*asked, whole_blobs=self._whole_blobs)
            return
        except LanceExplorerError:
            fragments = addresses >> np.uint64(FRAGMENT_BITS)
            several = np.unique(fragments).tolist()
        if len(several) > 1:
            for one in several:
                here = fragments == one
                yield from self.left_at(position, some[here], addresses[here], names)
        elif len(names) > 1:
            for name in names:
                yield from self.left_at(position, some, addresses, [name])


def _gathered(num_rows: int, parts: Sequence[_Part]) -> tuple[pl.Series, NDArray[np.bool_]]:
    """Return values in the order of rows, null where missing, and where they exist."""
    known, place = np.zeros(num_rows, dtype=np.bool_), np.zeros(num_rows, dtype=np.int64)
    count, series = 0, list[pl.Series]()
    for rows, values in parts:
        again = ~known[rows]  # several sources may have one
        known[rows] = True
        place[rows[again]] = count + np.flatnonzero(again)
        count += len(values)
        series.append(values)
    if not series:
        return pl.Series([None] * num_rows, dtype=pl.Null), known
    joined = pl.concat([values.alias("") for values in series])
    return joined.gather(pl.Series(place).set(pl.Series(~known), None)), known


def stored_values(
    rows: StateRows,
    position: int,
    addresses: Uint64Array,
    identities: Uint64Array,
    names: Sequence[str],
    *,
    whole_blobs: bool = True,
) -> pl.DataFrame:
    """Return values of rows from the files of their version, in the form of :func:`values_at`."""
    from lance_explorer.values import read_rows_at

    view, version = rows.view, rows.history.records[position].version
    return read_rows_at(
        value_root(view, version),
        version,
        addresses,
        rows.lance_ids_at(position, rows.row_ids(identities), addresses),
        [*names],
        view.storage.options,
        check_values(view, version, some_rows=True),
        whole_blobs=whole_blobs,
    )
