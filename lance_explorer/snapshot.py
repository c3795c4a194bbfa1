"""One version of a table, as a user holds it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.arguments import names, of_kind, text, whole_number
from lance_explorer.errors import UnsupportedFeatureError
from lance_explorer.format.flags import STABLE_ROW_IDS, flag_names, unreadable_flags
from lance_explorer.format.schema import Field
from lance_explorer.format.transactions import Transaction
from lance_explorer.frames.counts import known
from lance_explorer.frames.documented import documented
from lance_explorer.history.fragment_counts import totals
from lance_explorer.history.live import LiveTable
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fields import fields
from lance_explorer.inspect.rows import ROWS, rows
from lance_explorer.inspect.snapshot_frames import SnapshotInspect
from lance_explorer.row_index import SnapshotRowIdIndex
from lance_explorer.shown import described

if TYPE_CHECKING:
    import pyarrow as pa

    from lance_explorer.profiles import Profile

__all__ = ["Snapshot"]

_T = TypeVar("_T")


class Snapshot:
    """One version of a table, which never changes.

    One version of a table, which never changes.

    Examples
    --------
    >>> snapshot = table.at(4)
    >>> snapshot.version, snapshot.branch, snapshot.operation
    (4, None, 'Delete')
    >>> snapshot.num_rows, snapshot.num_deleted_rows, snapshot.num_fragments
    (9, 2, 3)
    >>> snapshot.feature_flags, snapshot.has_stable_row_ids
    (('deletion_files', 'stable_row_ids'), True)
    >>> snapshot.schema.names, [field.id for field in snapshot.fields]
    (['id', 'city', 'mood'], [0, 1, 2])
    >>> len(snapshot.inspect.fragments())
    3
    >>> snapshot.transaction.operation.predicate, snapshot.timestamp.tzname()
    ('id = 2', 'UTC')
    """

    def __init__(self, view: HistoryView, version: int) -> None:
        self._view = of_kind("view", view, HistoryView, "passed in by a Table")
        self._history = view.version(whole_number("version", version, most=2**64 - 1))
        self._record = self._history.records[0]

    @property
    def version(self) -> int:
        """The version number."""
        return self._record.version

    @property
    def branch(self) -> str | None:
        """The branch of the version; None for the main branch."""
        return self._view.branch

    @property
    def timestamp(self) -> datetime | None:
        """When the version was committed, in UTC; None if the manifest does not say."""
        return self._record.manifest.timestamp

    @property
    def operation(self) -> str | None:
        """The operation by its Lance name; None if the transaction is lost."""
        name = self._record.operation
        return None if name is None else name.value

    @property
    def transaction(self) -> Transaction | None:
        """What the commit did; None if the transaction is lost."""
        return self._answer(lambda view: view.transaction(self._record))

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of the schema with their IDs, nested ones after their parents."""
        return self._record.schema

    @cached_property
    def schema(self) -> "pa.Schema":
        """The columns and their Arrow types, as in pylance."""
        from lance_explorer.values import arrow_schema

        options = self._view.storage.options
        return self._answer(
            lambda view: arrow_schema(value_root(view, self.version), self.version, options)
        )

    @cached_property
    def inspect(self) -> SnapshotInspect:
        """The metadata frames of this version: those of ``table.inspect``, for this version."""
        return SnapshotInspect(
            f"{self._view.uri} version {self.version}",
            lambda build: self._answer(lambda view: build(view, self.version)),
        )

    @property
    def num_rows(self) -> int | None:
        """Number of live rows; None if it is not stored, or a reader flag is unknown."""
        return self._total(self._history.live_rows)

    @property
    def num_deleted_rows(self) -> int | None:
        """Number of rows that deletion files mask; None as for :attr:`num_rows`."""
        return self._total(self._history.num_deleted_rows)

    @property
    def num_fragments(self) -> int:
        """Number of fragments."""
        return len(self._history.intervals)

    @property
    def feature_flags(self) -> tuple[str, ...]:
        """Names of the features that a reader must support."""
        return flag_names(self._record.manifest.reader_feature_flags)

    @property
    def has_stable_row_ids(self) -> bool:
        """Whether rows keep their ID when they move."""
        return bool(self._record.manifest.reader_feature_flags & STABLE_ROW_IDS)

    def read(
        self,
        columns: Sequence[str] | None = None,
        filter: str | None = None,
        limit: int | None = None,
    ) -> pl.DataFrame:
        """Read rows of exactly this version through pylance, in scan order.

        Values of extension types such as JSON come in their storage type, such as text; decimals of
        more than 128 bits come as text.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns to read, including ``_rowid`` and ``_rowaddr``; by default all but those two.
        filter : str, optional
            Which rows to read, as an SQL expression.
        limit : int, optional
            The maximal number of rows.

        Raises
        ------
        UnsupportedFeatureError
            If a file is in a location that is not allowed; see ``allow_bases`` of
            :func:`open_table`.

        Examples
        --------
        >>> len(table.at(1).read(limit=2))
        2
        """
        wanted = None if columns is None else names("columns", columns)
        predicate = None if filter is None else text("filter", filter)
        most = None if limit is None else whole_number("limit", limit)
        self._check_readable()
        check_values(self._view, self.version)
        from lance_explorer.values import read_rows

        options = self._view.storage.options
        return self._answer(
            lambda view: read_rows(
                value_root(view, self.version),
                self.version,
                wanted,
                predicate,
                most,
                storage_options=options,
            )
        )

    def head(self, num_rows: int = 10) -> pl.DataFrame:
        """Read the first rows of a scan: the same as :meth:`read` with a ``limit``.

        Parameters
        ----------
        num_rows : int, default 10
            The maximal number of rows.

        Examples
        --------
        >>> table.at(1).head(2)["id"].to_list()
        [1, 2]
        """
        return self.read(limit=whole_number("num_rows", num_rows))

    @documented(ROWS)
    def row_ids(self, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """Return the row ID and row address of each live row, in scan order, from metadata alone.

        Parameters
        ----------
        columns : sequence of str, optional
            Columns whose values are read as well, through pylance; none by default. A column with
            the name of a frame column gets an underscore, as in ``created_at_source_``.

        Raises
        ------
        UnsupportedFeatureError
            If a file is in a place that is not allowed; see ``allow_bases`` of :func:`open_table`.

        Examples
        --------
        >>> table.at(1).row_ids().select("_rowid", "_rowaddr").head(2).rows()
        [(0, 0), (1, 1)]
        """
        wanted = None if columns is None else names("columns", columns)
        return self._answer(lambda view: rows(view, self.version, wanted))

    def row_id_index(self) -> SnapshotRowIdIndex:
        """Return an index from the row ID to the row address of each live row, from metadata alone.

        Examples
        --------
        >>> table.at(1).row_id_index().locate(1)
        RowAddress(fragment_id=0, offset=1)
        """
        return self._answer(lambda view: SnapshotRowIdIndex(view, self.version))

    def scan(self) -> pl.LazyFrame:
        """Return all rows with their system columns, as a LazyFrame that reads on ``collect``.

        Raises
        ------
        UnsupportedFeatureError
            If a file is in a place that is not allowed; see ``allow_bases`` of :func:`open_table`.

        Examples
        --------
        >>> table.at(1).scan().filter(pl.col("id") > 3).select("id", "_rowid").collect().rows()
        [(4, 3)]
        """
        self._check_readable()
        check_values(self._view, self.version)
        from lance_explorer.values import scan_rows

        options = self._view.storage.options
        return self._answer(
            lambda view: scan_rows(value_root(view, self.version), self.version, options)
        )

    def profile(self, columns: str | Sequence[str] | None = None) -> "Profile":
        """Return the values of the columns of this version: see :meth:`Table.profile`.

        Parameters
        ----------
        columns : str or sequence of str, optional
            Which columns; all by default.

        Examples
        --------
        >>> table.at(1).profile("id").to_polars().select("num_rows", "min", "max", "mean").rows()
        [(4, '1', '4', 2.5)]
        """
        from lance_explorer.profiles import profile

        return self._answer(lambda view: profile(view, columns, [self.version]))

    def _answer(self, build: Callable[[HistoryView], _T]) -> _T:
        def if_kept(view: HistoryView) -> _T:
            view.file(self.version)
            return build(view)

        return LiveTable(self._view).answer(if_kept)

    def _total(self, of_state: NDArray[np.int64]) -> int | None:
        if unreadable_flags(self._record.manifest.reader_feature_flags):
            return None
        return known(totals(self._history, of_state))[0]

    def _check_readable(self) -> None:
        flags = unreadable_flags(self._record.manifest.reader_feature_flags)
        if flags:
            raise UnsupportedFeatureError(
                f"rows of version {self.version} cannot be read: unknown feature {', '.join(flags)}"
            )

    @described
    def __repr__(self) -> str:
        from lance_explorer.display import snapshot_text

        return snapshot_text(self._view, self._history)

    def _repr_html_(self) -> str:
        from lance_explorer.display import snapshot_answer

        shown = snapshot_answer(self._view, self._history, fields(self._view, self.version))
        return shown.html()
