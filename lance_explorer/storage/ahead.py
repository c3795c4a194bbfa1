"""Files that will be asked for soon, read while their turn has not come."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager

from lance_explorer.storage.base import FilePart, Storage

__all__ = ["UNKNOWN_BYTES", "ReadAhead", "has_room", "reading_ahead"]

UNKNOWN_BYTES = 1 << 20
"""What a file counts whose size nobody told."""

_BYTES_IN_FLIGHT = 64 << 20


def has_room(sizes: Collection[int], most: int) -> bool:
    """Tell whether one more may be read beside those of some sizes; one alone always may be."""
    return not sizes or (len(sizes) < most and sum(sizes) < _BYTES_IN_FLIGHT)


@contextmanager
def reading_ahead(parts: Iterable[tuple[Storage, FilePart]]) -> Iterator[None]:
    """Return a context in which files below several roots will be asked for, best in this order."""
    by_root: dict[Storage, list[FilePart]] = defaultdict(list)
    for root, part in parts:
        by_root[root].append(part)
    with ExitStack() as contexts:
        for root, of_root in by_root.items():
            contexts.enter_context(root.reading_ahead(of_root))
        yield


class ReadAhead:
    """Some parts of files, of which ``most`` are being read, or wait to be taken, at a time.

    It is fewer where they are so large that they would fill memory.

    Parameters
    ----------
    submit : callable
        Begins to read a part.
    parts : iterable of FilePart
        What will be taken, best in that order.
    most : int
        How many parts are begun before one is taken.
    """

    def __init__(
        self, submit: Callable[[FilePart], Future[bytes]], parts: Iterable[FilePart], most: int
    ) -> None:
        self._submit = submit
        self._most = most
        self._left = dict.fromkeys(parts)
        self._begun: dict[FilePart, Future[bytes]] = {}
        self._begin()

    def take(self, part: FilePart) -> Future[bytes] | None:
        """Return a part once; None if it was not begun, and so is not going to be."""
        self._left.pop(part, None)
        future = self._begun.pop(part, None)
        self._begin()
        return future

    def cancel(self) -> None:
        """Read nothing more."""
        self._left.clear()
        for future in self._begun.values():
            future.cancel()

    def _begin(self) -> None:
        sizes = [_size(part) for part in self._begun]
        while has_room(sizes, self._most) and (part := next(iter(self._left), None)) is not None:
            del self._left[part]
            self._begun[part] = self._submit(part)
            sizes.append(_size(part))


def _size(part: FilePart) -> int:
    return UNKNOWN_BYTES if part.length is None else part.length
