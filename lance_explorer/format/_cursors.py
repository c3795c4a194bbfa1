"""Protobuf messages of one shape, many at once: a cursor in each, moved field by field.

All cursors look for the same field at the same time. A cursor moves over the field if its message
has it, and otherwise stays. So a walk over the fields in the order of writers reads the messages
that have this shape, and reports which of the others do not: those with an unknown field, with
fields out of order or repeated, with zeros written out, or with a number of too many bytes. Those
are left to a protobuf parser. A message of the shape has only one spelling.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = ["PADDING", "Cursors", "Numbers", "Spans", "read_varints"]

PADDING = 16
"""Bytes that must be readable after the last message."""

_ONE_BYTE = 0x80  # below this, a number is a single byte
_HIGH_BITS = np.uint64(0x8080808080808080)
_LOW_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)
_ONE = np.uint64(1)
_JOINS = (
    (np.uint64(1), np.uint64(0x007F007F007F007F), np.uint64(0x7F007F007F007F00)),
    (np.uint64(2), np.uint64(0x00003FFF00003FFF), np.uint64(0x3FFF00003FFF0000)),
    (np.uint64(4), np.uint64(0x000000000FFFFFFF), np.uint64(0x0FFFFFFF00000000)),
)
"""How the seven bits of each byte move together: by how much, which stay, and which move."""

_WORD_BYTES = 8
_LONGEST_SPAN = (1 << 56) - 1


class Numbers(NamedTuple):
    """A number of each message, 0 where it is not written, and where it is written."""

    values: Uint64Array
    written: NDArray[np.bool_]


class Spans(NamedTuple):
    """Where a field of each message begins and ends, empty where it is not written."""

    begins: Positions
    ends: Positions
    written: NDArray[np.bool_]


class Cursors:
    """A position in each of many messages, and whether the messages have the shape so far.

    Parameters
    ----------
    view : ndarray of uint8
        Bytes in which the messages are, and ``PADDING`` more behind the last.
    begins, ends : ndarray of int64
        Where each begins and ends.
    """

    def __init__(self, view: NDArray[np.uint8], begins: Positions, ends: Positions) -> None:
        self.view = view
        self.at = begins
        self.ends = ends
        self.good = np.ones(len(begins), dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.at)

    def only(self, places: Positions | NDArray[np.bool_]) -> "Cursors":
        """Return some of the cursors, which then move independently."""
        some = Cursors(self.view, self.at[places], self.ends[places])
        some.good = self.good[places]
        return some

    def are_at(self, tag: int) -> NDArray[np.bool_]:
        """Return which messages continue with a field."""
        written: NDArray[np.bool_] = (self.at < self.ends) & (self.view[self.at] == tag)
        return written

    def read_numbers(self, tag: int, largest: int, *, with_zero: bool = False) -> Numbers:
        """Read a number of up to ``largest``.

        A field with explicit presence may be zero, ``with_zero``; writers leave out other zeros.
        """
        written = self.are_at(tag)
        values = np.zeros(len(self), dtype=np.uint64)
        if not written.any():
            return Numbers(values, written)
        some = slice(None) if written.all() else np.flatnonzero(written)
        starts = self.at[some] + 1
        numbers, lengths = read_varints(self.view, starts)
        shortest = (lengths == 1) | (numbers >> (7 * (lengths - 1)).astype(np.uint64) != 0)
        long = np.flatnonzero(lengths > _WORD_BYTES)
        if len(long):
            numbers[long], lengths[long], shortest[long] = self._long(starts[long], numbers[long])
        behind = starts + lengths
        fits = shortest & (behind <= self.ends[some]) & (numbers <= np.uint64(largest))
        if not with_zero:
            fits &= numbers != 0
        values[some] = np.where(fits, numbers, np.uint64(0))
        self._move(some, behind, fits)
        return Numbers(values, written)

    def read_spans(self, tag: int, *, with_empty: bool = True) -> Spans:
        """Read a length-delimited field: text, bytes or a message.

        Writers leave out empty text and lists; other fields may be empty, ``with_empty``.
        """
        lengths, written = self.read_numbers(tag, _LONGEST_SPAN, with_zero=with_empty)
        begins, counts = self.at, lengths.astype(np.int64)
        fits = counts <= self.ends - begins
        self._move(slice(None), begins + counts, fits)
        return Spans(begins, np.where(fits, begins + counts, begins), written)

    def finish(self) -> NDArray[np.bool_]:
        """Return which messages have the shape up to their end."""
        good: NDArray[np.bool_] = self.good & (self.at == self.ends)
        return good

    def _move(self, some: Positions | slice, behind: Positions, fits: NDArray[np.bool_]) -> None:
        """Move some cursors; one whose field does not fit goes to its end and is marked bad."""
        if not fits.all():
            behind = np.where(fits, behind, self.ends[some])
            self.good[some] &= fits
        if isinstance(some, slice):
            self.at = behind
        else:
            self.at = self.at.copy()
            self.at[some] = behind

    def _long(
        self, starts: Positions, low: Uint64Array
    ) -> tuple[Uint64Array, Positions, NDArray[np.bool_]]:
        """Return numbers of nine or ten bytes, of which eight are in ``low``, as read_numbers."""
        ninth = self.view[starts + _WORD_BYTES].astype(np.uint64)
        tenth = self.view[starts + _WORD_BYTES + 1]
        is_ten: NDArray[np.bool_] = ninth >= _ONE_BYTE
        top = is_ten.astype(np.uint64) << np.uint64(63)
        values: Uint64Array = low | ((ninth & np.uint64(0x7F)) << np.uint64(56)) | top
        shortest: NDArray[np.bool_] = (is_ten & (tenth == 1)) | (~is_ten & (ninth != 0))
        return values, is_ten.astype(np.int64) + 9, shortest


def read_varints(view: NDArray[np.uint8], places: Positions) -> tuple[Uint64Array, Positions]:
    """Return the numbers at some positions, and how many bytes each takes.

    Of a number of more than eight bytes only these are read, and its length is 9.
    """
    first = view[places]
    if (first < _ONE_BYTE).all():
        return first.astype(np.uint64), np.ones(len(places), dtype=np.int64)
    words = np.ndarray((len(view) - _WORD_BYTES + 1,), "<u8", view, strides=(1,))[places]
    last_bits = ~words & _HIGH_BITS
    last_bit = last_bits & (np.uint64(0) - last_bits)
    below = last_bit - _ONE  # all bits if there is no last byte among the eight
    bits = words & (last_bit | below) & _LOW_BITS
    for shift, low, high in _JOINS:
        bits = (bits & low) | ((bits & high) >> shift)
    return bits, (np.bitwise_count(below).astype(np.int64) >> 3) + 1
