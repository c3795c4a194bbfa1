"""Panics of Rust libraries, which ``except Exception`` does not catch."""

from collections.abc import Iterator
from contextlib import contextmanager

from lance_explorer.errors import LanceExplorerError

__all__ = ["is_panic", "panics_as_errors"]

_MOST_PANIC = 300
"""The number of characters that are shown of a panic's message."""


def is_panic(error: BaseException) -> bool:
    """Tell whether an error is a panic of a Rust library.

    Each of these libraries has its own exception class for it, which no module exports, and which
    ``except Exception`` does not catch.
    """
    return type(error).__name__ == "PanicException" and not isinstance(error, Exception)


@contextmanager
def panics_as_errors() -> Iterator[None]:
    """Return a context manager that turns a panic into an error of ours."""
    panic = None
    try:
        yield
    except BaseException as error:
        if not is_panic(error):
            raise
        panic = LanceExplorerError(
            f"a library panicked: {str(error)[:_MOST_PANIC]}; a damaged table can make it do that: "
            "table.check() looks for damage"
        )
    if panic is not None:  # outside, so that it has no context, whose frames may hold credentials
        raise panic
