"""Large buffers that come and go, without the system clearing the same memory again each time."""

__all__ = ["keep_freed_memory"]

_MOST = 16 << 20
"""The GNU C library gives still larger buffers back in any case, beyond 32 MB."""


def keep_freed_memory(largest: int) -> None:
    """Keep the memory of freed buffers, up to a size in bytes, in the process.

    The C library gives each large buffer back to the system, which then has to clear it again for
    the next one, until it has seen one as large freed.
    """
    bytes(min(largest, _MOST))
