"""What was read, and what could not be read, while a question was answered."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock

__all__ = ["ReadSession", "ReadSessions"]

_LARGEST_KEPT, _MOST_KEPT = 1 << 20, 32 << 20


@dataclass(eq=False, slots=True)
class ReadSession:
    """A question that reads files of a table, from start to end.

    Attributes
    ----------
    missing : set of str
        Files that were not there, and versions of which values could not be read: perhaps somebody
        removes them just now.
    """

    missing: set[str] = field(default_factory=set)


class ReadSessions:
    """The questions that are being answered about one table.

    Other threads than the question's may read, so each session records everything that is missing
    while it lasts. At worst the table is checked once too often, never too rarely.

    What a question read of a store is kept until the last open question ends, or until versions are
    listed anew: files of metadata do not change, but another table may take the place of this one.
    """

    def __init__(self) -> None:
        self._open: list[ReadSession] = []
        self._read: OrderedDict[Hashable, bytes] = OrderedDict()
        self._num_bytes = 0
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["ReadSessions"], tuple[()]]:
        return ReadSessions, ()

    @contextmanager
    def begin(self) -> Iterator[ReadSession]:
        """Return a context manager that records what is missing."""
        session = ReadSession()
        self._open.append(session)
        try:
            yield session
        finally:
            self._open.remove(session)
            if not self._open:
                self.forget()

    def keep(self, part: Hashable, data: bytes) -> None:
        """Keep what was read, if a question is open and it is small."""
        if not self._open or len(data) > _LARGEST_KEPT:
            return
        with self._lock:
            self._num_bytes += len(data) - len(self._read.get(part, b""))
            self._read[part] = data
            while self._num_bytes > _MOST_KEPT:
                self._num_bytes -= len(self._read.popitem(last=False)[1])

    def kept(self, part: Hashable) -> bytes | None:
        """Return what was read; None if it is not kept."""
        with self._lock:
            if part in self._read:
                self._read.move_to_end(part)
            return self._read.get(part)

    def forget(self) -> None:
        """Keep nothing of what was read so far."""
        with self._lock:
            self._read.clear()
            self._num_bytes = 0

    def note(self, *missing: str) -> None:
        """Note what is missing."""
        for session in tuple(self._open):
            session.missing.update(missing)

    def take_back(self, name: str) -> None:
        """Remove a missing file from the record: a ledger has it."""
        for session in tuple(self._open):
            session.missing.discard(name)
