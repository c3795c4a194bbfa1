"""URIs that pylance will read, and what has to be done first."""

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FileUri", "Opened", "ValueUri"]


@dataclass(frozen=True, slots=True)
class Opened:
    """Which fragments a read opens.

    Attributes
    ----------
    fragment_ids : collection of int or None
        Their IDs; None for all.
    positions : ndarray of int64 or None
        Or those that have these rows, numbered in the order of a scan.
    by_row_id : bool
        Whether rows are looked up by their row IDs, for which pylance reads the deletion files of
        all fragments if row IDs are stable.
    by_filter : bool
        Whether a filter names row IDs, for which pylance reads the sequences of all fragments.
    """

    fragment_ids: Collection[int] | None = None
    positions: NDArray[np.int64] | None = None
    by_row_id: bool = False
    by_filter: bool = False


class FileUri(str):
    """A file that pylance will read.

    Parameters
    ----------
    uri : str
        The file.
    is_apart : bool
        Whether another process is to read it.
    """

    is_apart = False

    def __new__(cls, uri: str, *, is_apart: bool = False) -> "FileUri":
        """Return the URI."""
        made = super().__new__(cls, uri)
        made.is_apart = is_apart
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)  # another process that reads it does so there


class ValueUri(str):
    """The root of a table, from which pylance will read values of one version.

    Parameters
    ----------
    uri : str
        The root.
    manifest : bytes, optional
        The manifest message of the version, if there is no file of it.
    is_apart : bool
        Whether another process is to read the values.
    decode : callable, optional
        Decodes what a read will open, and raises FormatError if that cannot be decoded.
    """

    manifest: bytes | None
    is_apart: bool
    decode: Callable[[Opened], None] | None

    def __new__(
        cls,
        uri: str,
        manifest: bytes | None = None,
        *,
        is_apart: bool = False,
        decode: Callable[[Opened], None] | None = None,
    ) -> "ValueUri":
        """Return the root."""
        root = super().__new__(cls, uri)
        root.manifest, root.is_apart, root.decode = manifest, is_apart, decode
        return root

    def __reduce__(self) -> tuple[type["ValueUri"], tuple[str, bytes | None]]:
        return ValueUri, (str(self), self.manifest)  # decoded before it went to a process
