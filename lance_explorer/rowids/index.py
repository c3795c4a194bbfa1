"""The row-ID index of a version: from row ID to address, and back."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pyroaring import BitMap

from lance_explorer.arguments import row_numbers
from lance_explorer.errors import CorruptFileError, RowNotFoundError
from lance_explorer.rowids.addresses import RowAddress, first_address, fragments_of
from lance_explorer.rowids.arrays import MAX_U64, Uint64Array
from lance_explorer.rowids.blocks import RunsAndBlocks
from lance_explorer.rowids.building import FragmentRows, live_rows
from lance_explorer.rowids.id_map import IdMap, ids_at
from lance_explorer.rowids.runs import RunColumns
from lance_explorer.rowids.segments import Range
from lance_explorer.rowids.sequence import RowIdSequence
from lance_explorer.shown import described

__all__ = ["FragmentRows", "RowAddress", "RowIdIndex", "address_rows"]


@dataclass(frozen=True, slots=True, repr=False)
class RowIdIndex:
    """The live rows of a version by row ID.

    A row ID that an update left behind in an old fragment is deleted there, and found at its new
    address. Without stable row IDs the row ID of a row is its address: ``is_identity``.

    Parameters
    ----------
    id_map : IdMap
        Row IDs and addresses.
    is_identity : bool
        Whether row IDs are addresses.
    hidden : RunColumns
        Rows that :meth:`locate_many` ignores, because another live row has the same row ID.

    Examples
    --------
    >>> from pyroaring import BitMap
    >>> from lance_explorer.rowids.index import FragmentRows, RowIdIndex
    >>> from lance_explorer.rowids.segments import Range
    >>> from lance_explorer.rowids.sequence import RowIdSequence
    >>> first = FragmentRows(0, RowIdSequence.of([Range(0, 1_000_000)]), BitMap([41, 42]))
    >>> second = FragmentRows(3, RowIdSequence.of([Range(42, 43)]))
    >>> index = RowIdIndex.of_fragments([first, second])
    >>> len(index), index.num_runs, index.locate(42), index.locate(43)
    (999999, 3, RowAddress(fragment_id=3, offset=0), RowAddress(fragment_id=0, offset=43))
    >>> 41 in index
    False
    >>> ids, found = index.ids_at([3 << 32, 41])
    >>> ids.tolist(), found.tolist()
    ([42, 0], [True, False])
    """

    id_map: IdMap
    is_identity: bool
    hidden: RunColumns

    @classmethod
    def of_fragments(
        cls,
        fragments: Iterable[FragmentRows],
        whole: RunColumns | None = None,
        *,
        is_identity: bool = False,
    ) -> "RowIdIndex":
        """Return the index of the live rows of fragments.

        Parameters
        ----------
        fragments : iterable of FragmentRows
            The fragments.
        whole : RunColumns, optional
            The rows of others, of which none is deleted, in the order of addresses.
        is_identity : bool
            Whether row IDs are addresses.

        Raises
        ------
        CorruptFileError
            If a row has the largest 64-bit number for its row ID, which none can have.
        """
        id_map, hidden = IdMap.of_parts(live_rows(fragments, whole))
        return cls(id_map, is_identity, hidden)

    def replaced(self, removed: Iterable[int], new: Iterable[FragmentRows]) -> "RowIdIndex":
        """Return the index of another version, which shares most fragments with this one.

        Parameters
        ----------
        removed : iterable of int
            IDs of fragments that the other version has not, or has in another state.
        new : iterable of FragmentRows
            Fragments that this version has not, or has in another state.
        """
        removed = set(removed)
        hidden = self.hidden.where(~np.isin(fragments_of(self.hidden.address), [*removed]))
        kept = [self.id_map.without_fragments(removed), RunsAndBlocks(hidden, [])]
        id_map, hidden = IdMap.of_parts(chain(kept, live_rows(new)))
        return RowIdIndex(id_map, self.is_identity, hidden)

    def __len__(self) -> int:
        return self.id_map.num_rows + self.hidden.num_rows

    @property
    def num_runs(self) -> int:
        """How many runs the rows form: consecutive row IDs at consecutive addresses."""
        return self.id_map.num_runs

    @property
    def nbytes(self) -> int:
        """The bytes in memory."""
        return self.id_map.nbytes

    @described
    def __repr__(self) -> str:
        kind = ", row IDs are addresses" if self.is_identity else ""
        return (
            f"RowIdIndex({len(self):,} rows in {self.num_runs:,} runs, {self.nbytes:,} bytes{kind})"
        )

    def __contains__(self, row_id: int) -> bool:
        return bool(self._addresses(row_id))

    def locate(self, row_id: int) -> RowAddress:
        """Return the address of a row ID.

        Raises
        ------
        RowNotFoundError
            If no live row has this ID.
        CorruptFileError
            If several live rows have it.
        """
        addresses = [RowAddress.of(address) for address in self._addresses(row_id)]
        if not addresses:
            raise RowNotFoundError(f"no live row has the ID {row_id}")
        if len(addresses) > 1:
            places = ", ".join(map(str, addresses))
            raise CorruptFileError(f"{len(addresses)} live rows have the ID {row_id}: {places}")
        return addresses[0]

    def locate_many(self, row_ids: ArrayLike) -> tuple[Uint64Array, NDArray[np.bool_]]:
        """Return the addresses of many row IDs; if several live rows have an ID, one of them.

        Parameters
        ----------
        row_ids : array_like
            Row IDs in any order; they may repeat.

        Returns
        -------
        addresses : ndarray of uint64
            For each row ID the address of its row; 0 where there is none.
        found : ndarray of bool
            For each row ID whether a live row has it.
        """
        return self.id_map.lookup(row_numbers(row_ids, "row IDs"))

    def ids_at(self, addresses: ArrayLike) -> tuple[Uint64Array, NDArray[np.bool_]]:
        """Return the row IDs at some addresses.

        Parameters
        ----------
        addresses : array_like
            Row addresses in any order: fragment ID << 32 | offset.

        Returns
        -------
        row_ids : ndarray of uint64
            For each address the row ID of its row; 0 where there is none.
        found : ndarray of bool
            For each address whether a live row is there.
        """
        wanted = row_numbers(addresses, "row addresses")
        row_ids, found = self.id_map.reverse_lookup(wanted)
        if len(self.hidden.start):
            more_ids, more = ids_at(self.hidden, wanted)
            row_ids, found = row_ids | more_ids, found | more
        return row_ids, found

    def duplicates(self) -> RunColumns:
        """Return rows whose row IDs another live row has too; there should be none."""
        return RunColumns.concatenated([self.hidden, self.id_map.repeated()]).in_order()

    def _addresses(self, row_id: int) -> list[int]:
        """Return the addresses of all live rows with a row ID, ascending."""
        if not 0 <= row_id <= MAX_U64:
            return []
        has_it = (self.hidden.start <= row_id) & (row_id < self.hidden.stop)
        hidden = self.hidden.where(has_it)
        more = hidden.address + (np.uint64(row_id) - hidden.start)
        return sorted([*self.id_map.every_address(row_id), *more.tolist()])


def address_rows(
    fragment_id: int, physical_rows: int, deleted: BitMap | None = None
) -> FragmentRows:
    """Return the rows of a fragment without row IDs: the ID of each row is its address."""
    start = first_address(fragment_id)
    return FragmentRows(
        fragment_id, RowIdSequence.of([Range(start, start + physical_rows)]), deleted
    )
