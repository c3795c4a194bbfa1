"""A progress bar for slow reading."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from lance_explorer.history.listing import VersionFile

__all__ = ["reading_versions", "showing_progress", "with_count", "with_progress"]

_T = TypeVar("_T")

_FEW = 100
_FEW_BYTES = 32 << 20

_COSTLY_BYTES = 256 << 20
_COSTLY_REQUESTS = 2_000
"""Larger requests to an object store are announced first."""

_TELL_EVERY = 0.2
"""Seconds between two reports of progress."""

_Show = Callable[[str, float | None], object]

_SHOW: ContextVar[_Show | None] = ContextVar("_SHOW", default=None)


@contextmanager
def showing_progress(show: _Show) -> Iterator[None]:
    """Report progress to a function instead of a bar: what is read, and the fraction.

    The fraction is None if the total is unknown.

    An error that it raises ends the reading.
    """
    token = _SHOW.set(show)
    try:
        yield
    finally:
        _SHOW.reset(token)


def with_progress(
    items: Sequence[_T], what: str, unit: str = "files", few: int = _FEW
) -> Iterable[_T]:
    """Return items to iterate over; with a bar if they are many and take more than a second.

    Examples
    --------
    >>> [*with_progress([1, 2], "Reading")]
    [1, 2]
    """
    if len(items) < few:
        return items
    if show := _SHOW.get():
        return _showing(items, what, [1] * len(items), show)
    from tqdm.auto import tqdm

    return tqdm(items, what, unit=f" {unit}", delay=1.0, leave=False)


def with_count(items: Iterable[_T], what: str, unit: str) -> Iterator[_T]:
    """Yield items whose number is unknown; the bar shows how many there were.

    Examples
    --------
    >>> [*with_count("ab", "Listing", "objects")]
    ['a', 'b']
    """
    show = _SHOW.get()
    if show is None:
        from tqdm.auto import tqdm

        yield from tqdm(items, what, unit=f" {unit}", delay=1.0, leave=False)
        return
    next_time = time.monotonic() + _TELL_EVERY
    for number, item in enumerate(items):
        if time.monotonic() >= next_time:
            show(f"{what} {number:,} {unit}", None)
            next_time = time.monotonic() + _TELL_EVERY
        yield item


def reading_versions(files: Sequence[VersionFile], *, is_remote: bool) -> Iterator[VersionFile]:
    """Yield files; if that takes long, a bar shows how many bytes of them were read."""
    size = sum([file.size_bytes for file in files])
    if len(files) < _FEW and size < _FEW_BYTES:
        yield from files
        return
    what = f"Reading {len(files):,} versions"
    costs = is_remote and (size > _COSTLY_BYTES or len(files) > _COSTLY_REQUESTS)
    if costs:
        what += f" from the object store, at most {size / 1e6:,.0f} MB"
    if show := _SHOW.get():
        yield from _showing(files, what, [file.size_bytes for file in files], show)
        return
    from tqdm.auto import tqdm

    delay = 0.0 if costs else 1.0
    with tqdm(total=size, desc=what, unit="B", unit_scale=True, delay=delay, leave=False) as bar:
        for file in files:
            yield file
            bar.update(file.size_bytes)


def _showing(items: Sequence[_T], what: str, sizes: Sequence[int], show: _Show) -> Iterator[_T]:
    """Yield items, and report progress now and then."""
    size, done, next_time = max(sum(sizes), 1), 0, time.monotonic() + _TELL_EVERY
    for item, its_size in zip(items, sizes, strict=True):
        if time.monotonic() >= next_time:
            show(what, done / size)
            next_time = time.monotonic() + _TELL_EVERY
        yield item
        done += its_size
