"""What people give: numbers of rows."""

import numpy as np
from numpy.typing import ArrayLike

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["row_numbers"]


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
