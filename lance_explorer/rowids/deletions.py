"""Deleted offsets as an array."""

import numpy as np
from numpy.typing import NDArray
from pyroaring import BitMap

__all__ = ["deleted_offsets"]


def deleted_offsets(deleted: BitMap) -> NDArray[np.uint32]:
    """Return the deleted offsets in ascending order."""
    return np.frombuffer(deleted.to_array(), dtype=np.uint32)
