"""Sources of rows: a frame, or a version whose values are read lazily.

A position is the number of a row in its source, from 0.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from lance_explorer.errors import InvalidArgumentError, UnsupportedFeatureError
from lance_explorer.format.flags import STABLE_ROW_IDS, unreadable_flags
from lance_explorer.format.schema import Field, is_blob
from lance_explorer.frames.counts import known
from lance_explorer.history.fragment_counts import totals
from lance_explorer.history.memories import notes
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.values import (
    ROW_VERSIONS,
    SYSTEM_COLUMNS,
    read_rows,
    row_batches,
    row_schema,
    take_rows,
)
from lance_explorer.values.opening import to_polars

__all__ = ["MOST_BYTES_KEPT", "FrameRows", "RowSource", "VersionRows", "begin_within"]

MOST_BYTES_KEPT = 32 << 20
"""Bytes of values that a source keeps: heads and cells, classes and columns show the same rows."""


class RowSource(Protocol):
    """Rows in an order, any part of which can be read."""

    @property
    def schema(self) -> pl.Schema:
        """Names and types of the columns."""
        ...

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        ...

    @property
    def is_in_memory(self) -> bool:
        """Whether no row has to be read."""
        ...

    def first_columns(self, most: int) -> list[str]:
        """Return the columns to show first, up to a maximum."""
        ...

    def slice(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows from one position up to another, which is left out.

        A source that reads its rows reads only the requested columns.
        """
        ...

    def take(self, positions: pl.Series, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the rows at some positions, in that order."""
        ...

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return all values of some columns, to sort by them."""
        ...

    def parts(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """Yield the values in batches, to filter by them."""
        ...

    def marks(
        self, positions: pl.Series, columns: Sequence[str] | None = None
    ) -> pl.DataFrame | None:
        """Return the marks of cells: columns of text with the names of those they mark, or None."""
        ...

    def earlier(self, positions: pl.Series, columns: Sequence[str]) -> pl.DataFrame | None:
        """Return the values of changed cells before the change, or None; others are null."""
        ...


class FrameRows:
    """The rows of a Polars frame.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows.
    marks : polars.DataFrame, optional
        As many rows, and some columns of the frame as text: how a cell is marked, null for not.
        Marks are ``changed``, ``added``, ``removed``, ``quiet``, ``absent`` (the version has no
        such column) and the kinds of commits.
    """

    def __init__(self, frame: pl.DataFrame, marks: pl.DataFrame | None = None) -> None:
        if marks is not None:
            _check_marks(frame, marks)
        self._frame = frame
        self._marks = marks

    @property
    def schema(self) -> pl.Schema:
        return self._frame.schema

    @property
    def num_rows(self) -> int:
        return self._frame.height

    @property
    def is_in_memory(self) -> bool:
        return True

    def first_columns(self, most: int) -> list[str]:
        return self._frame.columns[:most]

    def slice(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        return _chosen(self._frame, columns).slice(start, stop - start)

    def take(self, positions: pl.Series, columns: Sequence[str] | None = None) -> pl.DataFrame:
        return _chosen(self._frame, columns)[positions] if columns != [] else pl.DataFrame()

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        return _chosen(self._frame, columns)

    def parts(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        yield self.read(columns)

    def marks(
        self, positions: pl.Series, columns: Sequence[str] | None = None
    ) -> pl.DataFrame | None:
        if self._marks is None:
            return None
        asked = None if columns is None else [n for n in columns if n in self._marks.columns]
        return _chosen(self._marks, asked)[positions]

    def earlier(self, positions: pl.Series, columns: Sequence[str]) -> pl.DataFrame | None:
        return None


class VersionRows:
    """The rows of one version with their values, read when they come into view.

    Parameters
    ----------
    view : HistoryView
        The branch.
    version : int
        The version.
    columns : sequence of str, optional
        Columns to show, ``_rowid``, ``_rowaddr`` and row versions too; by default all values, then
        the first two of these.

    Raises
    ------
    UnsupportedFeatureError
        If the version has an unknown feature, or a file lies where the table may not lead.
    """

    def __init__(
        self, view: HistoryView, version: int, columns: Sequence[str] | None = None
    ) -> None:
        history, position = view.found(version)
        record = history.records[position]
        all_flags = record.manifest.reader_feature_flags
        if flags := unreadable_flags(all_flags):
            raise UnsupportedFeatureError(
                f"rows of version {version} cannot be read: unknown feature {', '.join(flags)}"
            )
        check_values(view, version)
        self.has_row_ids = bool(all_flags & STABLE_ROW_IDS)
        self._view, self._version = view, version
        self._root, self._options = value_root(view, version), view.storage.options
        self._last: tuple[NDArray[np.int64], pl.DataFrame] | None = None
        values = self._types(record.schema)
        types = pl.Schema({**values, **SYSTEM_COLUMNS, **ROW_VERSIONS})
        wanted = [*values, *SYSTEM_COLUMNS] if columns is None else list(columns)
        if missing := [name for name in wanted if name not in types]:
            raise InvalidArgumentError(
                f"version {version} has no column {missing[0]!r}; it has {', '.join(types)}"
            )
        self._schema = pl.Schema({name: types[name] for name in wanted})
        count = known(totals(history, history.live_rows))[position]
        self._num_rows = self.read(["_rowaddr"]).height if count is None else count

    def _types(self, schema: tuple[Field, ...]) -> pl.Schema:
        """Return the types of all columns; versions with one schema have the same.

        Except blobs: their description depends on the format of the data files.
        """
        last = _last_types(self._view)
        for described, types in tuple(last):
            if described is schema:
                return types
        types = row_schema(self._root, self._version, self._options)
        if not any(map(is_blob, schema)):
            last[:] = [(schema, types)]
        return types

    @property
    def version(self) -> int:
        """The version."""
        return self._version

    @property
    def schema(self) -> pl.Schema:
        return self._schema

    @property
    def num_rows(self) -> int:
        return self._num_rows

    @property
    def is_in_memory(self) -> bool:
        return False

    def first_columns(self, most: int) -> list[str]:
        last = [name for name in SYSTEM_COLUMNS if name in self._schema]
        values = [name for name in self._schema if name not in last]
        return [*values[: most - len(last)], *last]

    def slice(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
        stop = min(stop, self._num_rows)
        return self.take(pl.int_range(start, max(start, stop), eager=True), columns)

    def take(self, positions: pl.Series, columns: Sequence[str] | None = None) -> pl.DataFrame:
        check_values(self._view, self._version)
        names = list(self._schema) if columns is None else list(columns)
        if not names or not len(positions):
            return pl.DataFrame(schema={name: self._schema[name] for name in names})
        asked, last = positions.to_numpy().astype(np.int64), self._last
        if last is not None and {*names} <= {*last[1].columns}:  # last: threads replace it
            begin = begin_within(last[0], asked)
            if begin is not None:
                return _chosen(last[1].slice(begin, len(asked)), names)
        rows = take_rows(self._root, self._version, positions, names, self._options)
        if rows.estimated_size() <= MOST_BYTES_KEPT:
            self._last = asked, rows
        return rows

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        check_values(self._view, self._version)
        rows = read_rows(self._root, self._version, columns, storage_options=self._options)
        return _chosen(rows, columns)

    def parts(self, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        check_values(self._view, self._version)
        batches = row_batches(
            self._root, self._version, None, columns, storage_options=self._options
        )
        for batch in batches:
            yield _chosen(to_polars(pa.Table.from_batches([batch])), columns)

    def marks(
        self, positions: pl.Series, columns: Sequence[str] | None = None
    ) -> pl.DataFrame | None:
        return None

    def earlier(self, positions: pl.Series, columns: Sequence[str]) -> pl.DataFrame | None:
        return None


def begin_within(kept: NDArray[np.int64], asked: NDArray[np.int64]) -> int | None:
    """Return where some positions follow each other among others; None if they do not.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.widgets.row_sources import begin_within
    >>> begin_within(np.array([2, 3, 5, 8]), np.array([3, 5]))
    1
    """
    place = np.flatnonzero(kept == asked[0]) if len(asked) else np.zeros(1, np.int64)
    begin = int(place[0]) if len(place) else 0
    return begin if np.array_equal(kept[begin : begin + len(asked)], asked) else None


def _chosen(frame: pl.DataFrame, columns: Sequence[str] | None) -> pl.DataFrame:
    """Return some columns of a frame; their names are not patterns."""
    if columns is None:
        return frame
    return pl.DataFrame([frame.get_column(name) for name in columns])


def _check_marks(frame: pl.DataFrame, marks: pl.DataFrame) -> None:
    if marks.height != frame.height:
        raise InvalidArgumentError(f"{marks.height} rows of marks for {frame.height} rows")
    if unknown := [name for name in marks.columns if name not in frame.columns]:
        raise InvalidArgumentError(f"marks for the column {unknown[0]!r}, which the frame lacks")


_last_types = notes(list[tuple[tuple[Field, ...], pl.Schema]], are_carried=True)
"""A list of the last schema with the types of its columns; empty if there is none."""
