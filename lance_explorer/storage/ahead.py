"""Reads files ahead that will be needed soon."""

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TypeVar

from lance_explorer.storage.base import FilePart, Storage

__all__ = ["UNKNOWN_BYTES", "ReadAhead", "done_in_order", "has_room", "reading_ahead"]

_T = TypeVar("_T")

UNKNOWN_BYTES = 1 << 20
"""The assumed size of a file whose size is unknown."""

_BYTES_IN_FLIGHT = 64 << 20


def has_room(sizes: Collection[int], most: int) -> bool:
    """Tell whether one more file may be read beside those of some sizes; one alone always may."""
    return not sizes or (len(sizes) < most and sum(sizes) < _BYTES_IN_FLIGHT)


@contextmanager
def reading_ahead(parts: Iterable[tuple[Storage, FilePart]]) -> Iterator[None]:
    """Return a context manager: files below several roots will be needed, best in this order."""
    by_root: dict[Storage, list[FilePart]] = defaultdict(list)
    for root, part in parts:
        by_root[root].append(part)
    with ExitStack() as contexts:
        for root, of_root in by_root.items():
            contexts.enter_context(root.reading_ahead(of_root))
        yield


def done_in_order(
    tasks: Iterable[tuple[int, Callable[[], _T]]], most: int, most_size: int
) -> Iterator[_T]:
    """Yield the results of tasks in order; several run at once if ``most`` is above one.

    Parameters
    ----------
    tasks : iterable of tuple
        Of each task a size, and what does it.
    most : int
        How many are under way, or wait to be taken, at a time. One is done by the caller itself.
    most_size : int
        No further one is begun while those have this size together.
    """
    if most == 1:
        for _, task in tasks:
            yield task()
        return
    rest, waiting, sizes = iter(tasks), deque[Future[_T]](), deque[int]()
    threads = ThreadPoolExecutor(most, "lance_explorer-tasks")
    try:
        while True:
            while (not sizes or (len(sizes) < most and sum(sizes) < most_size)) and (
                one := next(rest, None)
            ):
                sizes.append(one[0])
                waiting.append(threads.submit(one[1]))
            if not waiting:
                return
            yield waiting.popleft().result()
            sizes.popleft()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)


class ReadAhead:
    """Parts of files; at most ``most`` of them are being read or wait to be taken.

    It is fewer if they are so large that they would fill memory.

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
        """Return a part once; None if it was not started, and so never will be."""
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
