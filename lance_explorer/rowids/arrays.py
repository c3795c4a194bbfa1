"""Arrays of unsigned 64-bit numbers in the forms that sequences use (docs/FORMAT.md 3.1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "MAX_U64",
    "EncodedU64Array",
    "Positions",
    "Uint64Array",
    "Width",
    "aranges",
    "begins_of",
    "concatenated",
]

Uint64Array = NDArray[np.uint64]
Positions = NDArray[np.int64]
Width = Literal[2, 4, 8]

MAX_U64 = (1 << 64) - 1

_DTYPES: dict[Width, np.dtype[np.unsignedinteger]] = {
    2: np.dtype("<u2"),
    4: np.dtype("<u4"),
    8: np.dtype("<u8"),
}


@dataclass(frozen=True, slots=True)
class EncodedU64Array:
    """Numbers as offsets above a base, or as they are.

    Parameters
    ----------
    base : int
        What to add to every offset; 0 where the numbers are stored whole.
    width : {2, 4, 8}
        The bytes of an offset; 8 means that the numbers are stored whole.
    data : bytes
        The offsets, little endian.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.arrays import EncodedU64Array
    >>> array = EncodedU64Array.of(np.array([70_000, 5, 9], dtype=np.uint64))
    >>> array.base, array.width, array.offsets.tolist(), array.values().tolist()
    (5, 4, [69995, 0, 4], [70000, 5, 9])
    """

    base: int
    width: Width
    data: bytes

    @classmethod
    def of(cls, values: Uint64Array) -> Self:
        """Encode numbers in the narrowest width, as the writer does."""
        if not len(values):
            return cls(0, 8, b"")
        base = values.min()
        spread = int(values.max()) - int(base)
        if spread > 0xFFFF_FFFF:
            return cls(0, 8, values.astype(_DTYPES[8]).tobytes())
        width: Width = 2 if spread <= 0xFFFF else 4
        return cls(int(base), width, (values - base).astype(_DTYPES[width]).tobytes())

    def __len__(self) -> int:
        return len(self.data) // self.width

    @property
    def offsets(self) -> NDArray[np.unsignedinteger]:
        """The stored numbers, without the base: a view of the bytes."""
        return np.frombuffer(self.data, dtype=_DTYPES[self.width])

    def values(self) -> Uint64Array:
        """Return all numbers."""
        values: Uint64Array = np.add(self.offsets, np.uint64(self.base), dtype=np.uint64)
        return values

    def at(self, positions: Positions) -> Uint64Array:
        """Return the numbers at some positions."""
        values: Uint64Array = np.add(self.offsets[positions], np.uint64(self.base), dtype=np.uint64)
        return values

    @staticmethod
    def joined_values(arrays: Iterable["EncodedU64Array"]) -> Uint64Array:
        """Return the numbers of several arrays, one after the other."""
        pieces = list[Uint64Array]()
        for width, group in groupby(arrays, key=lambda array: array.width):
            some = list(group)
            data = b"".join([array.data for array in some])
            bases = np.array([array.base for array in some], dtype=np.uint64)
            values = np.repeat(bases, [len(array.data) // width for array in some])
            values += np.frombuffer(data, dtype=_DTYPES[width])
            pieces.append(values)
        return concatenated(pieces)

    def slice(self, start: int, stop: int) -> Self:
        """Return the numbers from position ``start`` to ``stop``, with the same base and width."""
        return type(self)(self.base, self.width, self.data[start * self.width : stop * self.width])


def concatenated(arrays: Sequence[Uint64Array]) -> Uint64Array:
    """Return the concatenation of arrays; a single array is not copied."""
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate([np.empty(0, dtype=np.uint64), *arrays])


def begins_of(counts: Positions) -> Positions:
    """Return where each of several pieces begins after joining them, given their lengths."""
    return np.cumsum(counts) - counts


def aranges(firsts: Positions, counts: Positions) -> Positions:
    """Return so many consecutive numbers from each start, one group after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.rowids.arrays import aranges
    >>> aranges(np.array([7, 0]), np.array([2, 3])).tolist()
    [7, 8, 0, 1, 2]
    """
    return np.arange(counts.sum()) + np.repeat(firsts - begins_of(counts), counts)
