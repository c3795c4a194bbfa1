"""What people give: numbers of rows."""

from operator import index
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.rowids.arrays import MAX_U64, Uint64Array

__all__ = ["row_number", "row_numbers"]


def row_number(value: SupportsIndex) -> int:
    """Return a row ID or an address as a number."""
    try:
        number = -1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = -1
    if 0 <= number <= MAX_U64:
        return number
    raise InvalidArgumentError(
        f"a row ID, or an address, is a whole number from 0 to 2^64 - 1, not {value!r}"
    )


def row_numbers(values: ArrayLike, what: str) -> Uint64Array:
    """Return row IDs or addresses as an array."""
    try:
        array = np.asarray(values)
        whole = array.ndim == 1 and (array.dtype.kind in "ui" or not array.size)
        if whole and not (array.dtype.kind == "i" and (array < 0).any()):
            return array.astype(np.uint64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidArgumentError(f"{what} are whole numbers from 0 to 2^64 - 1")
