"""Pause Python's cyclic garbage collector while many objects are made and none is garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector for a while.

    It would visit all objects again and again while their number grows. The many records of
    versions and fragments all stay alive, and none of them is in a cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
