"""All versions of a table, read once for all of its views, with progress."""

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from lance_explorer.history.memories import notes
from lance_explorer.history.progress import showing_progress
from lance_explorer.inspect.commit_words import describe_commits
from lance_explorer.table import Table
from lance_explorer.widgets.messages.base import Wide
from lance_explorer.widgets.messages.versions import Words
from lance_explorer.widgets.version_data import version_data
from lance_explorer.widgets.view import FAILURES, IN_STATIC_PICTURE, Request, View, answers

__all__ = ["PART_OF_WORDS", "VersionsView", "wait_for_versions", "wait_if_reading"]

PART_OF_WORDS = 500
"""The most versions whose words the browser asks for at once; in ``commit_words.ts``, too."""

_LOOK_EVERY = 0.1
"""Seconds between two reports of progress."""

_BEGINNING = threading.Lock()


class _Reading:
    """The versions of one listing, which a thread reads."""

    def __init__(self, table: Table) -> None:
        count = len(table._view.listing.versions)
        self.progress: tuple[str, float | None] = f"Reading {count:,} versions", None
        self.done = threading.Event()
        self._table = table
        threading.Thread(target=self._read, name="lx-versions", daemon=True).start()

    def _read(self) -> None:
        # What fails fails again for whoever asks, and is reported there.
        try:
            with suppress(*FAILURES), showing_progress(self._note):
                version_data(self._table)
        finally:
            self.done.set()

    def _note(self, what: str, fraction: float | None) -> None:
        self.progress = what, fraction


class VersionsView(View):
    """A view that shows all versions, and what the commit of each did."""

    _module = ""
    _table: Table

    def begin(self) -> None:
        """Begin to read the versions: the browser will ask for them soon."""
        _reading(self._table)

    def static_html(self) -> str:
        """Return the table as it shows itself where no kernel runs."""
        return self._table._html(last=IN_STATIC_PICTURE)

    @answers("words", in_background=True)
    def _words(self, _: Request, *, first: Wide, last: Wide) -> Words:
        """Return what the commits from one version to another did, by version."""
        kept = self._table.versions()["version"]
        some = slice(kept.search_sorted(first, "left"), kept.search_sorted(last, "right"))
        words = describe_commits(self._table._view, some)
        return Words(dict(zip(map(str, kept[some]), words, strict=True)))


def wait_for_versions(table: Table, tell: Callable[[str, float | None], Any]) -> None:
    """Return when all versions are read.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    tell : callable
        Gets the progress in words and, if known, as a part of 1; what it raises
        ends the waiting.
    """
    reading = _reading(table)
    while not reading.done.wait(_LOOK_EVERY):
        tell(*reading.progress)


def wait_if_reading(table: Table) -> None:
    """Return when nobody is reading the versions: less urgent work must not delay that."""
    for reading in _readings(table._view):
        reading.done.wait()


def _reading(table: Table) -> _Reading:
    with _BEGINNING:
        readings = _readings(table._view)
        if not readings:
            readings.append(_Reading(table))
        return readings[0]


_readings = notes(list[_Reading])
"""A list of the one reading of a view; empty until it begins."""
