"""Where a table of rows gets them: a frame, or a version whose values are read lazily.

A position is the number of a row in its source, from 0.
"""

from collections.abc import Sequence
from typing import Protocol

import polars as pl

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.snapshot import Snapshot
from lance_explorer.values import ROW_VERSIONS, SYSTEM_COLUMNS, take_rows

__all__ = ["FrameRows", "RowSource", "SnapshotRows"]


class RowSource(Protocol):
    """Rows in an order, of which any part can be had."""

    @property
    def schema(self) -> pl.Schema:
        """Names and types of the columns."""
        ...

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        ...

    def slice(self, start: int, stop: int) -> pl.DataFrame:
        """Return the rows from one position up to another, which is left out."""
        ...

    def take(self, positions: pl.Series) -> pl.DataFrame:
        """Return the rows at some positions, in that order."""
        ...

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return all values of some columns, to sort or filter by them."""
        ...

    def marks(self, positions: pl.Series) -> pl.DataFrame | None:
        """Return the marks of cells: columns of text with the names of those they mark, or None."""
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

    def slice(self, start: int, stop: int) -> pl.DataFrame:
        return self._frame.slice(start, stop - start)

    def take(self, positions: pl.Series) -> pl.DataFrame:
        return self._frame[positions]

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        return pl.DataFrame([self._frame.get_column(name) for name in columns])

    def marks(self, positions: pl.Series) -> pl.DataFrame | None:
        return None if self._marks is None else self._marks[positions]


class SnapshotRows:
    """The rows of one version with their values, read when they are looked at.

    Parameters
    ----------
    snapshot : Snapshot
        The version.
    columns : sequence of str, optional
        Columns to show, ``_rowid``, ``_rowaddr`` and row versions too; by default the first two of
        these and all others.
    """

    def __init__(self, snapshot: Snapshot, columns: Sequence[str] | None = None) -> None:
        known = snapshot.scan().collect_schema()
        values = [name for name in known if name not in {*SYSTEM_COLUMNS, *ROW_VERSIONS}]
        names = [*SYSTEM_COLUMNS, *values]
        wanted = names if columns is None else list(columns)
        if missing := [name for name in wanted if name not in known]:
            raise InvalidArgumentError(
                f"version {snapshot.version} has no column {missing[0]!r}; "
                f"it has {', '.join(known)}"
            )
        self._snapshot = snapshot
        self._schema = pl.Schema({name: known[name] for name in wanted})

    @property
    def schema(self) -> pl.Schema:
        return self._schema

    @property
    def num_rows(self) -> int:
        count = self._snapshot.num_rows
        assert count is not None  # known wherever rows can be read
        return count

    def slice(self, start: int, stop: int) -> pl.DataFrame:
        return self.take(pl.int_range(start, min(stop, self.num_rows), eager=True))

    def take(self, positions: pl.Series) -> pl.DataFrame:
        snapshot, storage = self._snapshot, self._snapshot.source.storage
        check_values(snapshot.source, snapshot.version)
        return take_rows(
            value_root(snapshot.source, snapshot.version),
            snapshot.version,
            positions,
            list(self._schema),
            storage.options,
        )

    def read(self, columns: Sequence[str]) -> pl.DataFrame:
        return self._snapshot.read(columns=columns)

    def marks(self, positions: pl.Series) -> pl.DataFrame | None:
        return None


def _check_marks(frame: pl.DataFrame, marks: pl.DataFrame) -> None:
    if marks.height != frame.height:
        raise InvalidArgumentError(f"{marks.height} rows of marks for {frame.height} rows")
    if unknown := [name for name in marks.columns if name not in frame.columns]:
        raise InvalidArgumentError(f"marks for the column {unknown[0]!r}, which the frame lacks")
