"""The row-ID index of a snapshot: Takes and returns Polars data; says why a row was not found."""

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from lance_explorer.arguments import row_number
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.history.live import LiveTable
from lance_explorer.history.reading.row_endings import row_not_found
from lance_explorer.history.reading.row_reader import RowReader
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.index import RowAddress, RowIdIndex
from lance_explorer.shown import described

__all__ = ["SnapshotRowIdIndex"]


class SnapshotRowIdIndex:
    """The row address of each live row of a version, by row ID; see :meth:`Snapshot.row_id_index`.

    Without stable row IDs the row ID of a row is its address; then :attr:`is_identity` is true.

    Examples
    --------
    >>> index = table.at(1).row_id_index()
    >>> index.locate(3), len(index), index.num_runs
    (RowAddress(fragment_id=0, offset=3), 4, 1)
    >>> index.locate_many([1, 77]).to_list()
    [1, None]
    >>> index.locate(77)
    Traceback (most recent call last):
    ...
    lance_explorer.errors.RowNotFoundError: row 77 did not exist by version 1: ...
    """

    def __init__(
        self, view: HistoryView, version: int, fragments: NDArray[np.uint64] | None = None
    ) -> None:
        self._view = view
        self._version = version
        manifest = view.version(version).records[0].manifest
        reader = RowReader(view, version)
        ids, whole = reader.whole_runs()
        if fragments is not None:  # as if there were no others
            ids &= {*fragments.tolist()}
            whole = whole.where(np.isin(fragments_of(whole.address), fragments))
        rest = reader.contents(ids, with_versions=False) if ids else ()
        self._index = RowIdIndex.of_fragments(
            [content.index_rows() for content in rest],
            whole,
            is_identity=not manifest.reader_feature_flags & STABLE_ROW_IDS,
        )

    @property
    def is_identity(self) -> bool:
        """Whether row IDs are row addresses, because the table has no stable row IDs."""
        return self._index.is_identity

    @property
    def num_runs(self) -> int:
        """Number of runs: consecutive row IDs at consecutive addresses."""
        return self._index.num_runs

    @property
    def nbytes(self) -> int:
        """Size in memory, in bytes."""
        return self._index.nbytes

    def locate(self, row_id: int) -> RowAddress:
        """Return where a row is.

        Raises
        ------
        RowNotFoundError
            If no live row has this ID. The message says that it was never assigned, or in which
            version and by which operation the row was removed, or that the versions that would tell
            are not kept.
        CorruptFileError
            If several live rows have this ID, which :meth:`Table.check_row_ids` reports, too.

        Examples
        --------
        >>> table.latest.row_id_index().locate(4)
        RowAddress(fragment_id=1, offset=0)
        """
        row_id = row_number(row_id)
        if row_id not in self._index:
            raise LiveTable(self._view).answer(
                lambda view: row_not_found(view, self._version, row_id)
            )
        return self._index.locate(row_id)

    def locate_many(self, row_ids: ArrayLike) -> pl.Series:
        """Return the row addresses of many rows as ``UInt64``, null where a row is not live.

        If several live rows have the same row ID (:meth:`Table.check_row_ids` reports that), the
        result is the address of one of them.

        Parameters
        ----------
        row_ids : array_like
            Row IDs in any order; they may repeat.

        Examples
        --------
        >>> table.latest.row_id_index().locate_many([4, 1]).to_list()
        [4294967296, None]
        """
        return _with_nulls("_rowaddr", *self._index.locate_many(row_ids))

    def ids_at(self, addresses: ArrayLike) -> pl.Series:
        """Return the row IDs at many row addresses as ``UInt64``, null where no live row is.

        Parameters
        ----------
        addresses : array_like
            Row addresses in any order: fragment ID << 32 | offset.

        Examples
        --------
        >>> table.latest.row_id_index().ids_at([1 << 32, 1]).to_list()
        [4, None]
        """
        return _with_nulls("_rowid", *self._index.ids_at(addresses))

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, row_id: int) -> bool:
        return row_id in self._index

    @described
    def __repr__(self) -> str:
        return f"{self._index!r} of version {self._version}"


def _with_nulls(name: str, numbers: np.ndarray, found: np.ndarray) -> pl.Series:
    series = pl.Series(name, numbers, dtype=pl.UInt64)
    return series if found.all() else series.set(pl.Series(~found), None)
