"""Single files in the format of data files that hold metadata."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lance_explorer.values.gate import reads_values
from lance_explorer.values.opening import StorageOptions, failing, file_reader

__all__ = ["read_hidden_column", "read_row_map"]

_LABEL = "label"
"""The only column of a row map."""


@reads_values()
def read_hidden_column(
    path: str, column: str, storage_options: StorageOptions = None
) -> NDArray[np.uint64]:
    """Read a spilled sequence: one value for each physical row of a fragment.

    Parameters
    ----------
    path : str
        The data file.
    column : str
        Name of the column, such as ``_rowid``.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store.

    Raises
    ------
    StorageError
        If the file has no such column.
    """
    with failing(f"{path}: the column {column} cannot be read", storage_options):
        values: NDArray[np.uint64] = _column(path, column, storage_options).to_numpy()
    return values


@reads_values()
def read_row_map(path: str, storage_options: StorageOptions = None) -> NDArray[np.int64]:
    """Read the map file of a stable partition: the new fragment of each old row.

    Parameters
    ----------
    path : str
        The map file.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store.

    Returns
    -------
    ndarray of int64
        For each physical row of the old fragments, in their order, the position of its new
        fragment; -1 for a row that was dropped.

    Raises
    ------
    StorageError
        If the file is not a map file.
    """
    with failing(f"{path}: the row map cannot be read", storage_options):
        labels = _column(path, _LABEL, storage_options)
        positions: NDArray[np.int64] = labels.cast(pa.int64()).fill_null(-1).to_numpy()
    return positions


def _column(path: str, name: str, storage_options: StorageOptions) -> pa.ChunkedArray:
    return file_reader(path, storage_options, [name]).read_all().to_table().column(0)
