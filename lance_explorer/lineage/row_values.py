"""The values of one row at each of its events."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import polars as pl

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.source import TableSource

__all__ = ["with_values"]

_NO_FIELD = -1


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
        are known. A column that was only renamed did not change, nor did one that came as null.
        Columns that do not exist at an event are null there.
    """
    read = [_values(source, event) for event in frame.iter_rows(named=True)]
    found = [row.values for row in read if row is not None]
    changes = pl.Series([*_changes(read, frame["event"].to_list())], dtype=pl.List(pl.String()))
    if found:
        rows = pl.concat(_same_types(found), how="diagonal").to_struct()
    else:
        rows = pl.Series([], dtype=pl.Struct([]))
    place = iter(range(len(found)))
    places = pl.Series([None if row is None else next(place) for row in read])
    values = rows.gather(places.cast(pl.UInt32()))
    return frame.with_columns(values.alias("values"), changes.alias("changed_columns"))


class _Row(NamedTuple):
    """A row of a version: its values, and the field IDs of its columns."""

    values: pl.DataFrame
    fields: Mapping[str, int]

    def changed_since(self, earlier: "_Row") -> Iterator[str]:
        """Yield the columns with another value than in an earlier version."""
        old_names = {id_: name for name, id_ in earlier.fields.items()}
        for name in self.values.columns:
            old_name = old_names.get(self.fields.get(name, _NO_FIELD), name)  # a cast has a new ID
            known = old_name in earlier.values.columns
            old = earlier.values[old_name].to_list() if known else [None]
            if old != self.values[name].to_list():
                yield name


def _values(source: TableSource, event: dict[str, Any]) -> _Row | None:
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
        schema = on_branch.history.records[on_branch.history.position(version)].schema
        rows = read_rows(
            storage.uri,
            version,
            filter=f"_rowaddr = {address}",
            storage_options=storage.options,
            whole_blobs=True,
        )
    except LanceExplorerError:
        return None
    if len(rows) != 1:
        return None
    return _Row(rows, {field.name: field.id for field in schema if field.parent_id == NO_PARENT})


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


def _changes(read: list[_Row | None], events: list[str]) -> Iterator[list[str] | None]:
    """Yield the columns that differ from the event before; None where either is not known."""
    before: _Row | None = None
    for row, event in zip(read, events, strict=True):
        if row is None or before is None or event == RowEvent.CREATED.label:
            yield None
        else:
            yield [*row.changed_since(before)]
        before = row
