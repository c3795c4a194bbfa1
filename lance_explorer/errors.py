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
    +-- MissingDependencyError (ImportError)

A message says what failed, where, what was expected against what was found, and what to do next.

What holds for all calls is stated here, once. The section ``Raises`` of a docstring names only what
is special to that call.

* What was asked for is never half answered: a call returns all of it, or raises.
* A call that reads a table raises :class:`StorageError` if a file is missing or cannot be read, or
  if the storage cannot be reached or refuses; :class:`FormatError` if a file cannot be understood:
  :class:`CorruptFileError` if it is damaged or claims what cannot be,
  :class:`UnsupportedFeatureError` if it needs something that is not read here, such as a reader
  flag that is not known, rows that therefore cannot be told, or files where the table may not lead
  (see ``allow_bases`` of :func:`~lance_explorer.open_table`).
* A call that reads a table raises :class:`TableNotFoundError` if there is none, or if the table is
  gone or another one has taken its place since it was opened.
* To a call about the whole history, a version that is removed meanwhile counts as removed before.
  So does one whose manifest cannot be understood, which ``table.inspect.findings()`` has.
* What is named has to be there, or the call raises the :class:`NotFoundError` of its kind:
  :class:`VersionNotFoundError` for a version that is not kept, or a time before all kept ones;
  :class:`RowNotFoundError` for a row ID, :class:`FragmentNotFoundError` for a fragment ID,
  :class:`RefNotFoundError` for the name of a tag or a branch.
* A value of the wrong type, or one that cannot be meant, is an :class:`InvalidArgumentError`, which
  says what is expected. So is a column that the table does not have, and a filter or a key that
  does not fit the table.
"""

from typing import Self

from lance_explorer.shown import visible

__all__ = [
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
        return visible(super().__str__())  # names and messages of a table are part of it


class NotFoundError(LanceExplorerError, LookupError):
    """What was asked for is not there."""


class TableNotFoundError(NotFoundError):
    """No Lance table stands at the given place, or another one than was opened."""


class VersionNotFoundError(NotFoundError):
    """The version never was, was cleaned away, or belongs to another branch."""


class FragmentNotFoundError(NotFoundError):
    """No such fragment in that version."""


class RowNotFoundError(NotFoundError):
    """No such row in that version."""


class RefNotFoundError(NotFoundError):
    """No tag or branch has that name."""


class FormatError(LanceExplorerError, ValueError):
    """A file cannot be understood.

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
        """Return the same error naming its file, in which what was decoded begins at ``start``.

        One that names a file already stays as it is.
        """
        return self if self.path else self.shifted(start, path)

    def within(self, part: bytes, whole: bytes) -> Self:
        """Return the same error of a part of some bytes, its place counted from their start."""
        return type(self)(self.message, self.path, max(whole.find(part), 0) + (self.offset or 0))

    def shifted(self, start: int, path: str | None = None) -> Self:
        """Return the same error, of bytes that begin at ``start`` of others."""
        offset = None if self.offset is None else start + self.offset
        return type(self)(self.message, path or self.path, offset)


class CorruptFileError(FormatError):
    """A file is damaged, or claims what cannot be."""


class UnsupportedFeatureError(FormatError):
    """A table uses a feature that this version of lance_explorer does not read."""


class InvalidArgumentError(LanceExplorerError, ValueError):
    """An argument is out of range, of the wrong kind, or contradicts another one."""


class StorageError(LanceExplorerError, OSError):
    """The storage refused or failed."""


class MissingDependencyError(LanceExplorerError, ImportError):
    """An optional package is not installed."""
