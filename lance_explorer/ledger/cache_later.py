"""Writing the cache after the answer, by a thread that gives way to others.

While other threads work, this one uses a fortieth of the time. It writes pieces, each of which can
be read without the others. When the process ends, the thread writes for one more second at most;
the next process that reads the table writes the rest.
"""

import atexit
import fcntl
import os
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time, thread_time
from typing import NamedTuple

from lance_explorer.ledger.places import make_folder
from lance_explorer.panics import panics_as_errors

__all__ = ["Unwritten", "finish_writing", "write_later"]

_SECONDS_AT_EXIT = 0.8
_SECONDS_TO_END = 0.2
"""Seconds for which the thread works when the process ends, before its last piece."""

_FIRST_REST = 1.0
"""Seconds before the thread starts, for the answer."""

_STRETCH = 0.005
"""Seconds of work between two checks whether other threads work."""

_REST, _LONGEST_REST = 39, 0.5
"""How many times as long as it worked it rests then, and for how many seconds at most."""

_AT_REST = 0.1
"""The largest share of the time at which other threads count as idle."""


class Unwritten(NamedTuple):
    """A history that was read from a disk, to be kept.

    Attributes
    ----------
    folder : Path
        The folder of the table in the cache.
    uri : str
        Root of the table.
    root : str
        Root of the branch.
    branch : str or None
        The branch.
    """

    folder: Path
    uri: str
    root: str
    branch: str | None


class _Writer:
    """The thread of this process, with its queue."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Drop the queue and the thread, as in a process that was forked."""
        self._waiting = deque[Unwritten]()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._hurry = threading.Event()
        self._deadline: float | None = None

    def add(self, history: Unwritten) -> None:
        with self._changed:
            self._waiting.append(history)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="lx-cache", daemon=True)
                self._thread.start()

    def finish(self, seconds: float | None) -> None:
        """Write without rest, for a limited number of seconds, and wait for that."""
        with self._changed:
            thread = self._thread
            self._deadline = None if seconds is None else perf_counter() + seconds
            self._hurry.set()
        if thread is not None:
            thread.join(None if seconds is None else seconds + _SECONDS_TO_END)
        if thread is None or not thread.is_alive():
            self._hurry.clear()
            self._deadline = None

    def _run(self) -> None:
        self._hurry.wait(_FIRST_REST)
        pace = _Pace(self._hurry)

        def continues() -> bool:
            pace.keep()
            return not self._is_late()

        while True:
            with self._changed:
                if not self._waiting or self._is_late():
                    self._waiting.clear()
                    self._thread = None
                    return
                history = self._waiting.popleft()
            with suppress(Exception), panics_as_errors():  # without the cache, answers are the same
                _write_alone(history, continues)

    def _is_late(self) -> bool:
        return self._deadline is not None and perf_counter() > self._deadline


class _Pace:
    """Makes the thread rest while other threads work."""

    def __init__(self, hurry: threading.Event) -> None:
        self._hurry = hurry
        self._begin()

    def _begin(self) -> None:
        self._since = perf_counter(), process_time(), thread_time()

    def keep(self) -> None:
        """Rest after a period of work, if other threads worked during it."""
        since = self._since
        own = thread_time() - since[2]
        if own < _STRETCH:
            return
        others = process_time() - since[1] - own
        if others > _AT_REST * (perf_counter() - since[0]):
            self._hurry.wait(min(own * _REST, _LONGEST_REST))
        self._begin()


def _write_alone(history: Unwritten, continues: Callable[[], bool]) -> None:
    """Write a history unless another process does."""
    make_folder(history.folder, 0o700)
    handle = os.open(history.folder / ".writing", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        from lance_explorer.ledger.cache_writing import write_history

        write_history(history, continues)
    finally:
        os.close(handle)


_WRITER = _Writer()


def write_later(history: Unwritten) -> None:
    """Write a history in idle time."""
    _WRITER.add(history)


def finish_writing(seconds: float | None = None) -> None:
    """Write the queue now, for a limited number of seconds, or all of it."""
    _WRITER.finish(seconds)


def _end() -> None:
    with suppress(KeyboardInterrupt):
        finish_writing(_SECONDS_AT_EXIT)


atexit.register(_end)
os.register_at_fork(after_in_child=_WRITER.begin)
