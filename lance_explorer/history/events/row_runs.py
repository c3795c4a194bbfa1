"""Runs of rows in two versions, as columns."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lance_explorer.history.file_changes import InPlace
from lance_explorer.history.identity.row_origins import NO_VERSION
from lance_explorer.rowids.arrays import MAX_U64, Positions, Uint64Array
from lance_explorer.rowids.offsets import cut_at

__all__ = ["NO_ADDRESS", "Columns", "PlacedRuns", "RowRuns", "shifted"]

NO_ADDRESS = np.uint64(MAX_U64)
"""Stands for the address of a missing row."""


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A record of arrays of equal length: an entry for each run, or row.

    Other fields are those of the first record when several are joined.
    """

    @classmethod
    def empty(cls) -> Self:
        """Return no entries."""
        raise NotImplementedError

    @classmethod
    def concatenated(cls, several: Iterable[Self]) -> Self:
        """Return the entries of all, concatenated."""
        every = list(several)
        some = [columns for columns in every if len(columns)] or every[:1] or [cls.empty()]
        if len(some) == 1:
            return some[0]
        values = zip(*[columns._values() for columns in some], strict=True)
        return cls(*[np.concatenate(v) if isinstance(v[0], np.ndarray) else v[0] for v in values])

    def __len__(self) -> int:
        raise NotImplementedError

    def where(self, chosen: NDArray[np.bool_] | Positions | slice) -> Self:
        """Return some of the entries."""
        values = self._values()
        return type(self)(*[v[chosen] if isinstance(v, np.ndarray) else v for v in values])

    def _values(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]


@dataclass(frozen=True, slots=True, eq=False)
class PlacedRuns(Columns):
    """Runs of rows with their places in two versions, in no particular order.

    Attributes
    ----------
    identity : ndarray of uint64
        The first identity of each run: a row ID, or an address of birth. Those of a run follow one
        another, and so do its addresses.
    before, after : ndarray of uint64
        The addresses of the first row in both versions; NO_ADDRESS where it is not live.
    length : ndarray of uint64
        How many rows the run has.
    """

    identity: Uint64Array
    before: Uint64Array
    after: Uint64Array
    length: Uint64Array

    def __len__(self) -> int:
        return len(self.length)

    @property
    def num_rows(self) -> int:
        """How many rows there are in all runs."""
        return int(self.length.sum(dtype=np.uint64))

    @property
    def was_live(self) -> NDArray[np.bool_]:
        """Which runs were live before."""
        live: NDArray[np.bool_] = self.before != NO_ADDRESS
        return live

    @property
    def is_live(self) -> NDArray[np.bool_]:
        """Which runs are live after."""
        live: NDArray[np.bool_] = self.after != NO_ADDRESS
        return live

    def pieces(self, owner: Positions, shift: Uint64Array, length: Uint64Array) -> Self:
        """Return pieces of runs: for each the run, where in it the piece begins, its length."""
        runs = self.where(owner)
        return replace(
            runs,
            identity=runs.identity + shift,
            before=shifted(runs.before, shift),
            after=shifted(runs.after, shift),
            length=length,
        )

    def rows(self) -> Self:
        """Return the same with a run for each row."""
        if (self.length == 1).all():
            return self
        owner = np.repeat(np.arange(len(self)), self.length.astype(np.int64))
        begins = np.cumsum(self.length) - self.length
        shift = np.arange(len(owner), dtype=np.uint64) - begins[owner]
        return self.pieces(owner, shift, np.ones(len(owner), dtype=np.uint64))


@dataclass(frozen=True, slots=True, eq=False)
class RowRuns(PlacedRuns):
    """Runs of rows that differ between two versions.

    Attributes
    ----------
    updated_before, updated_after : ndarray of uint64
        The versions that last wrote the rows as they were, and as they are; NO_VERSION if unknown,
        where the row is not live, and where both are the same sequence. Not looked up for removed
        rows.
    created : ndarray of uint64
        The versions that created the added rows; NO_VERSION for others, and where nothing
        tells.
    in_place : ndarray of uint8
        The InPlace of rows that stayed where they were.
    """

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
        """Return runs without known row versions."""
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
    def empty(cls) -> "RowRuns":
        """Return no runs."""
        nothing = np.empty(0, dtype=np.uint64)
        return cls.of(nothing, nothing, nothing, nothing)

    def cut(self, along: Uint64Array, borders: Uint64Array) -> "RowRuns":
        """Return runs split at sorted borders.

        ``along`` is the column of the runs that the borders are about.
        """
        owner, shift, length = cut_at(along, self.length, borders)
        if len(owner) == len(self):
            return self
        return self.pieces(owner, shift, length)


def shifted(addresses: Uint64Array, shift: Uint64Array) -> Uint64Array:
    """Return addresses plus an offset; NO_ADDRESS is unchanged."""
    return np.where(addresses == NO_ADDRESS, NO_ADDRESS, addresses + shift)
