"""Calls as lines of Python, and as commands."""

import shlex
from collections.abc import Iterable

__all__ = ["call", "command", "literal", "options_lines"]


def call(function: str, *arguments: object, **options: object) -> str:
    """Return a call as code; options that are None are left out."""
    shown = [literal(argument) for argument in arguments]
    shown += [f"{name}={literal(value)}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join(shown)})"


def command(*words: object, **options: object) -> str:
    """Return a command line; a list becomes a repeated option, None is left out.

    Examples
    --------
    >>> print(command("revert", "my photos", 3, key=["id"], on_conflict=None))
    revert 'my photos' 3 --key id
    """
    shown = [*words]
    for name, value in options.items():
        several = value if isinstance(value, list) else [] if value is None else [value]
        for one in several:
            shown += [f"--{name.replace('_', '-')}", one]
    return shlex.join(map(str, shown))


def literal(value: object) -> str:
    """Return a text, number or boolean, or a list or tuple of these, as code.

    Examples
    --------
    >>> from lance_explorer.answers.calls import literal
    >>> print(literal(["it's", 'a "b"', 3]))
    ["it's", 'a "b"', 3]
    """
    if isinstance(value, list):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))})"
    text = repr(value)
    return f'"{text[1:-1]}"' if isinstance(value, str) and '"' not in text else text


def options_lines(options: Iterable[str] | None, arguments: list[str]) -> list[str]:
    """Add storage options to arguments, by name; return the line in which they are filled in.

    Keys and passwords are never in it.

    Examples
    --------
    >>> from lance_explorer.answers.calls import options_lines
    >>> arguments = ["uri"]
    >>> options_lines({"aws_region": "eu-1"}, arguments)
    ['storage_options = {"aws_region": ...}  # fill in what you opened it with']
    >>> arguments
    ['uri', 'storage_options=storage_options']
    """
    if not options:
        return []
    arguments.append("storage_options=storage_options")
    placeholders = ", ".join([f"{literal(name)}: ..." for name in sorted(options)])
    return [f"storage_options = {{{placeholders}}}  # fill in what you opened it with"]
