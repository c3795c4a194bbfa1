"""What a history asks of earlier recordings of versions of the table."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.findings import Finding
from lance_explorer.history.history import History
from lance_explorer.history.listing import VersionFile, VersionListing
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.storage import Storage

__all__ = ["KeptCells", "Note", "Recorded", "is_long"]

Note = Callable[[VersionFile, bytes, bool], object]
"""Receives each manifest file that is read, and whether it is derived."""

KeptCells = tuple[pl.Series, NDArray[np.bool_]]
"""Values of a column, and which of them are known."""

_LONG_BYTES, _FEW_VERSIONS = 8 << 20, 20
_LONG_REMOTE_BYTES, _LONG_REQUESTS = 128 << 20, 200


class Recorded(Protocol):
    """Versions of a table, on any branch, that may no longer be kept."""

    def over(self, storage: Storage) -> Storage:
        """Return a storage with the recorded files, where ``storage`` no longer has them."""

    def joined(self, storage: Storage, branch: str | None, live: VersionListing) -> VersionListing:
        """Return the versions that are kept, and those recorded of the same table."""

    def history(self, storage: Storage, branch: str | None, listing: VersionListing) -> History:
        """Return what is known of these versions without reading them; the rest is read."""

    def noting(
        self, storage: Storage, branch: str | None, files: Sequence[VersionFile]
    ) -> AbstractContextManager[Note | None]:
        """Return a context in which manifests are read, and the receiver of each."""

    def findings(self, branch: str | None) -> list[Finding]:
        """Return problems of the recordings of a branch."""

    def digests(self) -> Mapping[tuple[str, str], Mapping[int, str]]:
        """Return digests of the columns of data files, by root and path of the files."""

    def kept_cells(
        self, branch: str | None, version: int, before: int, column: str, addresses: Uint64Array
    ) -> KeptCells | None:
        """Return the values of a column that were kept before a commit ended them.

        Parameters
        ----------
        branch : str or None
            The branch.
        version : int
            The version of the commit.
        before : int
            The version before it.
        column : str
            The column, as that calls it.
        addresses : ndarray of uint64
            Where the rows are in that.
        """


def is_long(storage: Storage, files: Sequence[VersionFile]) -> bool:
    """Tell whether reading versions may take so long that it should not be done twice.

    8 MiB on a disk take half a second if the versions are small, and no time if they are large:
    only reading them tells. The cache holds the differences of versions, so a few versions are not
    read faster from it. In an object store requests take time, too.
    """
    size = sum([file.size_bytes for file in files])
    if storage.in_flight > 1:
        return size >= _LONG_REMOTE_BYTES or len(files) >= _LONG_REQUESTS
    return size >= _LONG_BYTES and len(files) > _FEW_VERSIONS
