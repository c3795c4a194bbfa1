"""A bar that shows how far reading is, should it take long."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

__all__ = ["with_progress"]

_T = TypeVar("_T")

_FEW = 100


def with_progress(items: Sequence[_T], what: str) -> Iterable[_T]:
    """Return items to go through; if they are many and take more than a second, with a bar.

    Examples
    --------
    >>> [*with_progress([1, 2], "Reading")]
    [1, 2]
    """
    if len(items) < _FEW:
        return items
    from tqdm.auto import tqdm

    return tqdm(items, what, unit=" files", delay=1.0, leave=False)
