"""Every error that lance_explorer raises on purpose.

The tree, grouped by what a handler would do::

    LanceExplorerError
    +-- NotFoundError (LookupError)
    |   +-- TableNotFoundError
    |   +-- VersionNotFoundError
    |   +-- FragmentNotFoundError
    |   +-- RowNotFoundError
    |   +-- RefNotFoundError
    +-- FormatError (ValueError)
    |   +-- CorruptFileError
    |   +-- UnsupportedFeatureError
    +-- InvalidArgumentError (ValueError)
    +-- StorageError (OSError)
    |   +-- UnreachableError
    +-- BudgetExceededError (RuntimeError)
    +-- MissingDependencyError (ImportError)

A message says what failed, where, what was expected and found, and what to do next.

Rules for all calls are stated here, once. The section ``Raises`` of a docstring names only what is
special to that call.

* No call returns half an answer: it returns all of it, or raises.
* A call that reads a table raises :class:`StorageError` if a file is missing or cannot be read,
  :class:`UnreachableError` if the storage cannot be reached or refuses; :class:`FormatError` if a
  file cannot be decoded: :class:`CorruptFileError` if it is damaged or contradicts itself,
  :class:`UnsupportedFeatureError` if it needs something that is not supported: an unknown reader
  flag, rows that depend on one, or files in a place that is not allowed (see ``allow_bases`` of
  :func:`~lance_explorer.open_table`).
* A call that reads a table raises :class:`TableNotFoundError` if there is none, or if the table was
  dropped, or replaced by another one, since it was opened.
* In a call about the whole history, a version that is cleaned up meanwhile counts as missing. So
  does a version whose manifest cannot be decoded; ``table.inspect.findings()`` lists it.
* A call on a table that was opened with ``max_bytes`` or ``max_requests`` raises
  :class:`BudgetExceededError` instead of reading more than that.
* If something that a call names does not exist, it raises the :class:`NotFoundError` of its kind:
  :class:`VersionNotFoundError` for a version that is not kept, or a time before all kept versions;
  :class:`RowNotFoundError` for a row ID, :class:`FragmentNotFoundError` for a fragment ID,
  :class:`RefNotFoundError` for the name of a tag or a branch.
* An argument of the wrong type or with an impossible value raises :class:`InvalidArgumentError`,
  which says what is expected. So does a column that the table does not have, and a filter or a key
  that does not fit the table.
"""

from typing import Self

from lance_explorer.shown import visible

__all__ = [
    "BudgetExceededError",
    "CorruptFileError",
    "FormatError",
    "FragmentNotFoundError",
    "InvalidArgumentError",
    "LanceExplorerError",
    "MissingDependencyError",
    "NotFoundError",
    "RefNotFoundError",
    "RowNotFoundError",
    "StorageError",
    "TableNotFoundError",
    "UnreachableError",
    "UnsupportedFeatureError",
    "VersionNotFoundError",
]


class LanceExplorerError(Exception):
    """Base of all errors of this package.

    Examples
    --------
    >>> try:
    ...     table.at(99)
    ... except lx.LanceExplorerError as error:
    ...     print(type(error).__name__)
    VersionNotFoundError
    """

    def __str__(self) -> str:
        return visible(super().__str__())  # it contains names and messages of a table


class NotFoundError(LanceExplorerError, LookupError):
    """The requested thing does not exist."""


class TableNotFoundError(NotFoundError):
    """There is no Lance table at the given place, or not the one that was opened."""


class VersionNotFoundError(NotFoundError):
    """The version never existed, was cleaned up, or is on another branch."""


class FragmentNotFoundError(NotFoundError):
    """The version does not have the fragment."""


class RowNotFoundError(NotFoundError):
    """The version does not have the row."""


class RefNotFoundError(NotFoundError):
    """No tag or branch has that name."""


class FormatError(LanceExplorerError, ValueError):
    """A file cannot be decoded.

    Parameters
    ----------
    message : str
        What was expected, and what was found.
    path : str, optional
        The file, from the root of the table.
    offset : int, optional
        The position in the file, in bytes.
    """

    def __init__(self, message: str, path: str | None = None, offset: int | None = None) -> None:
        super().__init__(message, path, offset)
        self.message = message
        self.path = path
        self.offset = offset

    def __str__(self) -> str:
        place = self.path or ""
        if self.offset is not None:
            place += f" at byte {self.offset}"
        return visible(f"{place.strip()}: {self.message}" if place else self.message)

    def located(self, path: str, start: int = 0) -> Self:
        """Return the same error with its file, in which the decoded bytes begin at ``start``.

        An error that already names a file is returned unchanged.
        """
        return self if self.path else self.shifted(start, path)

    def within(self, part: bytes, whole: bytes) -> Self:
        """Return the same error for a part of some bytes, with an offset relative to it."""
        return type(self)(self.message, self.path, max(whole.find(part), 0) + (self.offset or 0))

    def shifted(self, start: int, path: str | None = None) -> Self:
        """Return the same error for bytes that begin at ``start`` of others."""
        offset = None if self.offset is None else start + self.offset
        return type(self)(self.message, path or self.path, offset)


class CorruptFileError(FormatError):
    """A file is damaged, or contradicts itself."""


class UnsupportedFeatureError(FormatError):
    """A table uses a feature that this release of lance_explorer does not support."""


class InvalidArgumentError(LanceExplorerError, ValueError):
    """An argument is out of range, of the wrong kind, or contradicts another one."""


class StorageError(LanceExplorerError, OSError):
    """A file is missing, or cannot be read or written."""


class UnreachableError(StorageError):
    """The storage cannot be reached, or refuses: nothing is known about the file.

    So nothing is called damaged or lost because of it.
    """


class BudgetExceededError(LanceExplorerError, RuntimeError):
    """More would have to be read than ``max_bytes`` or ``max_requests`` of ``open_table`` allow."""


class MissingDependencyError(LanceExplorerError, ImportError):
    """An optional package is not installed."""
