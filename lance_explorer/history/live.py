"""A branch that others write, clean up and drop while it is read.

Lance removes the files of old versions before their manifests. So a missing file may be damage, or
a version that is being cleaned up; a new listing of versions decides.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from lance_explorer.errors import (
    InvalidArgumentError,
    LanceExplorerError,
    VersionNotFoundError,
)
from lance_explorer.history.view import HistoryView
from lance_explorer.panics import panics_as_errors
from lance_explorer.storage import check_not_forked

__all__ = ["LiveTable", "live_table", "unbroken"]

_T = TypeVar("_T")


class LiveTable:
    """A branch as it was at the last look.

    Parameters
    ----------
    view : HistoryView
        What is known of it.
    """

    def __init__(self, view: HistoryView) -> None:
        self.view = view

    def refresh(self, last_version: int | None = None) -> None:
        """Look again. Versions after ``last_version`` are ignored."""
        self.view = self.view.refreshed(last_version)

    def answer(self, build: Callable[[HistoryView], _T]) -> _T:
        """Return the result of ``build``; repeated if versions that it reads vanish.

        Those are left out then, here and from now on, as if they had been removed before.

        Raises
        ------
        TableNotFoundError
            If the table is gone or was replaced.
        LanceExplorerError
            If this process was forked from one that had used Polars or pylance.
        """
        check_not_forked()
        while True:
            view = self.view
            try:
                with _watched(view):
                    return build(view)
            except _VanishedError as error:
                if self.view is view:  # no other thread has looked in the meantime
                    self.view = error.later


def live_table(table: object) -> LiveTable | None:
    """Return the live branch of a Table; None for anything else."""
    live = getattr(table, "_live", None)
    return live if isinstance(live, LiveTable) else None


class _VanishedError(VersionNotFoundError):
    """Versions were removed while they were read; ``later`` is the branch without them."""

    def __init__(self, later: HistoryView) -> None:
        super().__init__(
            "versions were removed while they were read; refresh() the table and try again"
        )
        self.later = later


@contextmanager
def unbroken(view: HistoryView) -> Iterator[None]:
    """Return a context in which removed files are not reported as missing.

    Raises
    ------
    VersionNotFoundError
        If something was missing or failed, and versions were removed since they were listed.
    TableNotFoundError
        If the table is gone, or another one replaced it.
    """
    try:
        with _watched(view):
            yield
    except _VanishedError as error:
        raise VersionNotFoundError(str(error)) from error


@contextmanager
def _watched(view: HistoryView) -> Iterator[None]:
    try:
        with view.storage.sessions.begin() as session, panics_as_errors():
            yield
    except InvalidArgumentError:
        raise
    except LanceExplorerError as error:
        later = view.without_vanished()
        if later is None:
            raise
        raise _VanishedError(later) from error
    if not session.missing:
        view.expect_there()
    elif (later := view.without_vanished()) is not None:
        raise _VanishedError(later)
