"""What could not be read while a question was answered."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["ReadSession", "ReadSessions"]


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
    """

    def __init__(self) -> None:
        self._open: list[ReadSession] = []

    @contextmanager
    def begin(self) -> Iterator[ReadSession]:
        """Return a context manager that records what is missing."""
        session = ReadSession()
        self._open.append(session)
        try:
            yield session
        finally:
            self._open.remove(session)

    def note(self, *missing: str) -> None:
        """Note what is missing."""
        for session in tuple(self._open):
            session.missing.update(missing)

    def take_back(self, name: str) -> None:
        """Remove a missing file from the record: a ledger has it."""
        for session in tuple(self._open):
            session.missing.discard(name)
