"""Following a table that is written to: what is new, when to look again, and the notice.

A look lists the versions of the branch, its tags and its branches; it reads none of them.
"""

import threading
import time
from bisect import bisect_right
from dataclasses import dataclass

from lance_explorer.errors import LanceExplorerError, TableNotFoundError
from lance_explorer.frames.sizes import counted
from lance_explorer.history.refs import BRANCHES_FOLDER, TAGS_FOLDER
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import FileInfo
from lance_explorer.table import Table
from lance_explorer.widgets.messages.explorer import Live

__all__ = [
    "Following",
    "News",
    "Pace",
    "cleaned_up_words",
    "failure_words",
    "listed_refs",
    "new_words",
    "news_of",
]

Refs = tuple[tuple[FileInfo, ...], ...]
"""The files of tags, and those of branches."""

_REPLACED = "Another table is in its place now"
_SHARE = 20
_LONGEST_MESSAGE = 200


@dataclass(frozen=True, slots=True)
class News:
    """Changes of a branch since its versions were listed.

    Attributes
    ----------
    is_any : bool
        Whether anything changed; detached versions count, too.
    added, removed : tuple of int
        The versions that are new, and those that were cleaned up.
    is_replaced : bool
        Whether another table is in its place: it was dropped and recreated.
    """

    is_any: bool = False
    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    is_replaced: bool = False


class Pace:
    """How long to wait before the next look, in seconds.

    Looking takes at most a twentieth of the time, so a slow store, and a long history, are looked
    at less often; after a failure the wait doubles.
    """

    shortest = 4.0
    longest = 600.0

    def __init__(self) -> None:
        self.wait = self.shortest

    def took(self, seconds: float) -> None:
        """Record how long a look took, including reading."""
        self.wait = min(max(seconds * _SHARE, self.shortest), self.longest)

    def failed(self) -> None:
        """Record that a look failed."""
        self.wait = min(max(self.wait, self.shortest) * 2, self.longest)


def news_of(view: HistoryView) -> News:
    """List the versions of a branch again, and return which are new and which are gone.

    Raises
    ------
    TableNotFoundError
        If there is no table any more.

    Examples
    --------
    >>> news_of(table._view).is_any
    False
    """
    before, after = view.listing, view.refreshed().listing
    if (before.versions, before.detached) == (after.versions, after.detached):
        return News()
    is_same = not {*before.versions}.isdisjoint(after.versions)
    if not is_same and after.versions[0].version <= before.versions[-1].version:
        return News(is_any=True, is_replaced=True)
    old = {file.version for file in before.versions}
    now = {file.version for file in after.versions}
    return News(True, tuple(sorted(now - old)), tuple(sorted(old - now)))


def listed_refs(view: HistoryView) -> Refs:
    """Return the files of tags and branches as they are listed now."""
    listed = [view.main_storage.list_files(folder) for folder in (TAGS_FOLDER, BRANCHES_FOLDER)]
    return tuple([tuple(sorted(files)) for files in listed])


class Following:
    """What is known of new versions of a table, and the notice about them.

    Parameters
    ----------
    view : HistoryView
        The branch as it is shown first.
    is_on : bool
        Whether new versions are looked for.
    """

    def __init__(self, view: HistoryView, is_on: bool) -> None:
        self.is_on = is_on
        self.pace = Pace()
        self._looking = threading.Lock()
        self.begin(view)

    def begin(self, view: HistoryView) -> None:
        """Start again, with another branch, or the table that replaced this one."""
        self.is_replaced = False
        self._seen = view.latest_version
        self._removed: tuple[int, ...] = ()
        self._problem = ""
        self._refs: Refs | None = None

    def look(self, table: Table) -> bool:
        """Look once; refresh the table if anything is new, and return whether there are new refs.

        A table that replaced another one is recognised.
        """
        with self._looking:
            begun = time.monotonic()
            try:
                refs, news = listed_refs(table._view), news_of(table._view)
                has_new_refs = self._refs not in (None, refs)
                if (news.is_any or has_new_refs) and not news.is_replaced:
                    table.refresh()
                    table.versions()  # read here, so that views need not wait for it
            except LanceExplorerError as error:
                self.pace.failed()
                self._problem = failure_words(error)
                return False
            self.pace.took(time.monotonic() - begun)
            self._problem, self._refs, self.is_replaced = "", refs, news.is_replaced
            if news.removed:
                self._removed = news.removed
            return has_new_refs

    def message(self, view: HistoryView, chosen: int | None) -> Live:
        """Return what the browser shows while ``chosen`` is the visible version."""
        latest = view.latest_version
        if chosen is not None and chosen >= latest:
            self._seen = latest
        listed = view.listing.versions
        count = len(listed) - bisect_right(listed, self._seen, key=lambda file: file.version)
        return Live(
            is_on=self.is_on,
            wait=self.wait_ms,
            news=_REPLACED if self.is_replaced else new_words(count, self._seen, chosen),
            latest=str(latest),
            note=self._problem or cleaned_up_words(self._removed, chosen),
        )

    @property
    def wait_ms(self) -> int:
        """How long to wait before the next look, in milliseconds."""
        return round(self.pace.wait * 1000)


def new_words(count: int, seen: int, chosen: int | None) -> str:
    """Return the notice about new versions; "" if there are none.

    Parameters
    ----------
    count : int
        How many there are.
    seen : int
        The version that was the latest before.
    chosen : int or None
        The version that is shown.

    Examples
    --------
    >>> new_words(3, 45, 12)
    '3 new versions'
    >>> new_words(1, 45, 45)
    '1 new version: 45 is no longer the latest'
    """
    if not count:
        return ""
    words = counted(count, "new version")
    return f"{words}: {seen:,} is no longer the latest" if chosen == seen else words


def cleaned_up_words(removed: tuple[int, ...], chosen: int | None) -> str:
    """Return the notice about removed versions; "" if there are none.

    Examples
    --------
    >>> cleaned_up_words((1, 2, 3), 9)
    '3 versions were cleaned up, 1 to 3.'
    >>> cleaned_up_words((4,), 4)
    'Version 4 was cleaned up: what you see of it was read before.'
    """
    if not removed:
        return ""
    if chosen in removed:
        rest = len(removed) - 1
        beside = f", and {counted(rest, 'other')}" if rest else ""
        return f"Version {chosen:,} was cleaned up{beside}: what you see of it was read before."
    if len(removed) == 1:
        return f"Version {removed[0]:,} was cleaned up."
    return f"{counted(len(removed), 'version')} were cleaned up, {removed[0]:,} to {removed[-1]:,}."


def failure_words(error: Exception) -> str:
    """Return why new versions are not seen."""
    message = str(error)
    short = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]}…"
    if isinstance(error, TableNotFoundError):
        return f"The table is not there any more: {short}"
    return f"New versions are not seen at the moment: {short}"
