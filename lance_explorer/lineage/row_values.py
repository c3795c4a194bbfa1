"""The values of one row at each of its events."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.source import TableSource

__all__ = ["with_values"]


def with_values(source: TableSource, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the history of a row with its values, and which of them changed.

    Parameters
    ----------
    source : TableSource
        The branch.
    frame : polars.DataFrame
        What :func:`~lance_explorer.lineage.following.row_history` returns.

    Returns
    -------
    polars.DataFrame
        The same with ``values``, a struct of all columns that the table had at any of the events,
        and ``changed_columns``: those whose value is another than at the event before, where both
        are known. Columns that do not exist at an event are null there.
    """
    read = [_values(source, event) for event in frame.iter_rows(named=True)]
    found = [values for values in read if values is not None]
    changes = pl.Series([*_changes(read, frame["event"].to_list())], dtype=pl.List(pl.String()))
    if found:
        rows = pl.concat(_same_types(found), how="diagonal").to_struct()
    else:
        rows = pl.Series([], dtype=pl.Struct([]))
    place = iter(range(len(found)))
    places = pl.Series([None if values is None else next(place) for values in read])
    values = rows.gather(places.cast(pl.UInt32()))
    return frame.with_columns(values.alias("values"), changes.alias("changed_columns"))


def _values(source: TableSource, event: dict[str, Any]) -> pl.DataFrame | None:
    """Return the row as it is after an event, or was before it ended; None if that is gone."""
    from lance_explorer.values import read_rows

    on_branch = source.on_branch(event["branch"])
    kept = [file.version for file in on_branch.listing.versions]
    address, version = event["_rowaddr_after"], event["version"]
    if address is None:
        address = event["_rowaddr_before"]
        version = max([number for number in kept if number < version], default=None)
    if version not in kept:
        return None
    storage = on_branch.storage
    try:
        rows = read_rows(
            storage.uri,
            version,
            filter=f"_rowaddr = {address}",
            storage_options=storage.options,
        )
    except LanceExplorerError:
        return None
    return rows if len(rows) == 1 else None


def _same_types(rows: list[pl.DataFrame]) -> list[pl.DataFrame]:
    """Return frames in which a column has one type, which all the types that it had fit in."""
    names = {name for row in rows for name in row.columns}
    types = {
        name: pl.concat(
            [row.select(name).clear() for row in rows if name in row.columns],
            how="vertical_relaxed",
        ).schema[name]
        for name in names
    }
    return [row.cast({name: types[name] for name in row.columns}) for row in rows]


def _changes(read: list[pl.DataFrame | None], events: list[str]) -> Iterator[list[str] | None]:
    """Yield the columns that differ from the event before; None where either is not known."""
    before: pl.DataFrame | None = None
    for values, event in zip(read, events, strict=True):
        if values is None or before is None or event == RowEvent.CREATED.label:
            yield None
        else:
            yield [
                name
                for name in values.columns
                if name not in before.columns or before[name].to_list() != values[name].to_list()
            ]
        before = values
