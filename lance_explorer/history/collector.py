"""Pause Python's cyclic garbage collector while many objects are made and none is garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the collector for a while.

    It visits all objects repeatedly while their number grows; records of versions and fragments are
    many, all of them stay, and none is in a cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
