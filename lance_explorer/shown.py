"""How objects and texts are shown to people: never with an error, never with a trick."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

__all__ = ["described", "one_line", "visible", "visible_json"]

_LONGEST_LINE = 100
_LAYOUT = {"\n", "\t"}


def visible(text: str) -> str:
    r"""Return a text with invisible characters spelled out; line breaks stay.

    A terminal takes some characters for commands, and others reverse the order of a text.

    Examples
    --------
    >>> visible("\x1b[31mred\u202e")
    '\\x1b[31mred\\u202e'
    """
    if text.isprintable():
        return text
    return "".join([c if c.isprintable() or c in _LAYOUT else repr(c)[1:-1] for c in text])


def one_line(text: str, longest: int | None = _LONGEST_LINE) -> str:
    r"""Return text on one line, of bounded length, with invisible characters spelled out.

    Examples
    --------
    >>> one_line("\x1b[31mred\n", longest=20)
    '\\x1b[31mred\\n'
    """
    head = text if longest is None else text[: longest + 1]
    shown = "".join([c if c.isprintable() else repr(c)[1:-1] for c in head])
    return shown if longest is None or len(shown) <= longest else f"{shown[:longest]}..."


def visible_json(text: str) -> str:
    r"""Return JSON with invisible characters as JSON escapes, which mean the same.

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
    """Let a ``__repr__`` show its own failure, for example of a half-made object.

    Whatever prints an error also prints the objects around it, and must not raise another error.

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
        except Exception as error:  # noqa: BLE001 - it must not hide the error that is being shown
            return f"<{type(self).__name__} that cannot be shown: {type(error).__name__}>"

    return describe_or_tell
