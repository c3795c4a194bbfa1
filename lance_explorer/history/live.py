"""A branch that others commit to, clean up and drop while it is read.

Lance removes the files of old versions before their manifests. So a file that is missing may be
damage, or a version that somebody cleans away just now; which of both, the versions that are listed
afterwards tell.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from lance_explorer.errors import (
    InvalidArgumentError,
    LanceExplorerError,
    VersionNotFoundError,
)
from lance_explorer.history.source import TableSource
from lance_explorer.panics import panics_as_errors
from lance_explorer.storage import check_not_forked

__all__ = ["LiveTable", "unbroken"]

_T = TypeVar("_T")


class LiveTable:
    """A branch as it was when somebody last looked.

    Parameters
    ----------
    source : TableSource
        What is known of it.
    """

    def __init__(self, source: TableSource) -> None:
        self.source = source

    def refresh(self, last_version: int | None = None) -> None:
        """Look again. Versions after ``last_version``, if it is given, are as if not there."""
        self.source = self.source.refreshed(last_version)

    def answer(self, build: Callable[[TableSource], _T]) -> _T:
        """Return what ``build`` makes of the branch; made again if versions vanish that it reads.

        Those are left out then, here and from now on, as if they had been removed before.

        Raises
        ------
        TableNotFoundError
            If the table is gone, or another one stands in its place.
        LanceExplorerError
            If this process was forked from one that had used Polars or pylance.
        """
        check_not_forked()
        while True:
            source = self.source
            try:
                with _watched(source):
                    return build(source)
            except _VanishedError as error:
                if self.source is source:  # nobody else has looked meanwhile
                    self.source = error.later


class _VanishedError(VersionNotFoundError):
    """Versions were removed while they were read; ``later`` is the branch without them."""

    def __init__(self, later: TableSource) -> None:
        super().__init__(
            "versions were removed while they were read; refresh() the table and try again"
        )
        self.later = later


@contextmanager
def unbroken(source: TableSource) -> Iterator[None]:
    """Return a context in which nothing is missing because it was removed meanwhile.

    Raises
    ------
    VersionNotFoundError
        If something was missing or failed, and versions were removed since they were listed.
    TableNotFoundError
        If the table is gone, or another one stands in its place.
    """
    try:
        with _watched(source):
            yield
    except _VanishedError as error:
        raise VersionNotFoundError(str(error)) from error


@contextmanager
def _watched(source: TableSource) -> Iterator[None]:
    missing = source.storage.io.missing
    try:
        with panics_as_errors():
            yield
    except InvalidArgumentError:
        raise
    except LanceExplorerError as error:
        later = source.without_vanished()
        if later is None:
            raise
        raise _VanishedError(later) from error
    if source.storage.io.missing == missing:
        source.expect_there()
    elif (later := source.without_vanished()) is not None:
        raise _VanishedError(later)
