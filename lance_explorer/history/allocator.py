"""Large temporary buffers, without the system clearing the same memory for each."""

__all__ = ["keep_freed_memory"]

_MOST = 16 << 20
"""The GNU C library returns larger buffers in any case, beyond 32 MB."""


def keep_freed_memory(largest: int) -> None:
    """Keep the memory of freed buffers, up to a size in bytes, in the process.

    The C library returns each large buffer to the system, which clears it again for the next one,
    until it has freed one as large.
    """
    bytes(min(largest, _MOST))
