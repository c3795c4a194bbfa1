"""Runs of rows that differ between two versions, as columns."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.file_changes import InPlace
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array
from lance_explorer.rowids.offsets import cut_at

__all__ = ["NO_ADDRESS", "RowRuns"]

NO_ADDRESS = np.uint64(MAX_U64)
"""Stands for the address of a row that is not there."""


@dataclass(frozen=True, slots=True, eq=False)
class RowRuns:
    """Runs of rows that differ between two versions, in no particular order.

    Attributes
    ----------
    identity : ndarray of uint64
        The first identity of each run: a row ID, or an address of birth. Those of a run follow one
        another, and so do its addresses.
    before, after : ndarray of uint64
        The addresses of the first row in both versions; NO_ADDRESS where it is not live.
    length : ndarray of uint64
        How many rows the run has.
    updated_before, updated_after : ndarray of uint64
        The versions that last wrote the rows as they were, and as they are; NO_VERSION where
        nothing tells, where the row is not live, and where both are the same sequence. Not looked
        up for removed rows.
    created : ndarray of uint64
        The versions that created the added rows; NO_VERSION for others, and where nothing
        tells.
    in_place : ndarray of uint8
        The InPlace of rows that stayed where they were.
    """

    identity: Uint64Array
    before: Uint64Array
    after: Uint64Array
    length: Uint64Array
    updated_before: Uint64Array
    updated_after: Uint64Array
    created: Uint64Array
    in_place: NDArray[np.uint8]

    @classmethod
    def of(
        cls,
        identity: Uint64Array,
        before: Uint64Array | np.uint64,
        after: Uint64Array | np.uint64,
        length: Uint64Array,
        in_place: int = InPlace.SAME,
    ) -> "RowRuns":
        """Return runs of which no row versions are known."""
        count = len(identity)
        unknown = np.full(count, NO_VERSION, dtype=np.uint64)
        return cls(
            identity,
            np.broadcast_to(before, count),
            np.broadcast_to(after, count),
            length,
            unknown,
            unknown,
            unknown,
            np.full(count, in_place, dtype=np.uint8),
        )

    @classmethod
    def concatenated(cls, several: Iterable["RowRuns"]) -> "RowRuns":
        """Return the runs of all, one after the other."""
        some = [runs for runs in several if len(runs)]
        if len(some) == 1:
            return some[0]
        empty = np.empty(0, dtype=np.uint64)
        some = some or [cls.of(empty, empty, empty, empty)]
        return cls(*[np.concatenate([getattr(runs, name) for runs in some]) for name in _names()])

    def __len__(self) -> int:
        return len(self.identity)

    @property
    def num_rows(self) -> int:
        """How many rows there are in all runs."""
        return int(self.length.sum(dtype=np.uint64))

    @property
    def was_live(self) -> NDArray[np.bool_]:
        """Which runs are of rows that were live before."""
        live: NDArray[np.bool_] = self.before != NO_ADDRESS
        return live

    @property
    def is_live(self) -> NDArray[np.bool_]:
        """Which runs are of rows that are live after."""
        live: NDArray[np.bool_] = self.after != NO_ADDRESS
        return live

    def where(self, chosen: NDArray[np.bool_] | Positions) -> "RowRuns":
        """Return some of the runs."""
        return RowRuns(*[getattr(self, name)[chosen] for name in _names()])

    def cut(self, along: Uint64Array, borders: Uint64Array) -> "RowRuns":
        """Return runs cut where sorted borders lie inside.

        ``along`` is the column of the runs that the borders are about.
        """
        owner, shift, length = cut_at(along, self.length, borders)
        if len(owner) == len(self):
            return self
        pieces = self.where(owner)
        return replace(
            pieces,
            identity=pieces.identity + shift,
            before=np.where(pieces.was_live, pieces.before + shift, NO_ADDRESS),
            after=np.where(pieces.is_live, pieces.after + shift, NO_ADDRESS),
            length=length,
        )


def _names() -> list[str]:
    return [field.name for field in fields(RowRuns)]
