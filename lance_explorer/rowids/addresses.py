"""Row addresses: the fragment in the upper 32 bits, the offset in the lower ones."""

from typing import NamedTuple

import numpy as np

from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["FRAGMENT_BITS", "RowAddress", "first_address", "fragments_of"]

FRAGMENT_BITS = 32
"""A row address is the fragment ID, shifted left by this many bits, plus the offset."""

_OFFSETS = (1 << FRAGMENT_BITS) - 1


class RowAddress(NamedTuple):
    """The place of a row: a fragment, and an offset in it that also counts deleted rows.

    Examples
    --------
    >>> from lance_explorer.rowids.addresses import RowAddress
    >>> RowAddress.of(12884901905), int(RowAddress(3, 17))
    (RowAddress(fragment_id=3, offset=17), 12884901905)
    """

    fragment_id: int
    offset: int

    @classmethod
    def of(cls, address: int) -> "RowAddress":
        """Return the place for a row address."""
        return cls(address >> FRAGMENT_BITS, address & _OFFSETS)

    def __int__(self) -> int:
        return self.fragment_id << FRAGMENT_BITS | self.offset


def first_address(fragment_id: int) -> int:
    """Return the row address of the first row of a fragment."""
    return fragment_id << FRAGMENT_BITS


def fragments_of(addresses: Uint64Array) -> Uint64Array:
    """Return the fragment of each row address."""
    return addresses >> np.uint64(FRAGMENT_BITS)
