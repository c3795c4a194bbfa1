"""How objects and texts show where a person sees them: never with an error, never with a trick."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

__all__ = ["described", "one_line", "visible", "visible_json"]

_LONGEST_LINE = 100
_LAYOUT = {"\n", "\t"}


def visible(text: str) -> str:
    r"""Return a text with what cannot be seen spelled out; lines stay lines.

    A terminal takes some characters for commands, and others turn the order of a text around.

    Examples
    --------
    >>> visible("\x1b[31mred\u202e")
    '\\x1b[31mred\\u202e'
    """
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() or c in _LAYOUT else repr(c)[1:-1] for c in text])


def one_line(text: str, longest: int | None = _LONGEST_LINE) -> str:
    r"""Return text in one line, of bounded length, with what cannot be seen spelled out.

    Examples
    --------
    >>> one_line("\x1b[31mred\n", longest=20)
    '\\x1b[31mred\\n'
    """
    head = text if longest is None else text[: longest + 1]
    shown = "".join([c if c.isprintable() else repr(c)[1:-1] for c in head])
    return shown if longest is None or len(shown) <= longest else f"{shown[:longest]}..."


def visible_json(text: str) -> str:
    r"""Return JSON with what cannot be seen as escapes of JSON, which mean the same.

    Examples
    --------
    >>> visible_json('"\u202ered"')
    '"\\u202ered"'
    """
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() or c in _LAYOUT else _escaped(c) for c in text])


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1] if character > "\x7f" else f"\\u{ord(character):04x}"


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
            return visible(describe(self))
        except Exception as error:  # noqa: BLE001 - it must not hide the one that is being shown
            return f"<{type(self).__name__} that cannot be shown: {type(error).__name__}>"

    return describe_or_tell
