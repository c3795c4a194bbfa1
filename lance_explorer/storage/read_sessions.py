"""What could not be read while a question was answered."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["ReadSession", "ReadSessions"]


@dataclass(eq=False, slots=True)
class ReadSession:
    """A question that reads files of a table, from its begin to its end.

    Attributes
    ----------
    missing : set of str
        Files that were not there, and versions of which values could not be read: perhaps somebody
        removes them just now.
    """

    missing: set[str] = field(default_factory=set)


class ReadSessions:
    """The questions that are being answered about one table.

    Reads may happen in other threads than the question, so each session notes whatever is missing
    while it lasts. At worst that is a look too many at the table, never one too few.
    """

    def __init__(self) -> None:
        self._open: list[ReadSession] = []

    @contextmanager
    def begin(self) -> Iterator[ReadSession]:
        """Return a context that notes what is missing."""
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
        """Forget one of them: a ledger has it."""
        for session in tuple(self._open):
            session.missing.discard(name)
