"""How objects and texts show where a person sees them: never with an error, never with a trick."""

from collections.abc import Callable
from functools import wraps
from typing import Any

__all__ = ["described"]


def described(describe: Callable[[Any], str]) -> Callable[[Any], str]:
    """Let a ``__repr__`` tell what it fails with, as of an object that is only half made.

    Whoever shows an error shows the objects around it, and must not get another error from them.

    Examples
    --------
    >>> class Whole:
    ...     @described
    ...     def __repr__(self) -> str:
    ...         return f"Whole({self.name})"
    >>> Whole()
    <Whole that cannot be shown: AttributeError>
    """

    @wraps(describe)
    def describe_or_tell(self: Any) -> str:
        try:
            return describe(self)
        except Exception as error:  # noqa: BLE001 - it must not hide the one that is being shown
            return f"<{type(self).__name__} that cannot be shown: {type(error).__name__}>"

    return describe_or_tell
