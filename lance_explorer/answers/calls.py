"""Calls as lines of Python, and as commands."""

import shlex

__all__ = ["call", "command", "literal"]


def call(function: str, *arguments: object, **options: object) -> str:
    """Return a call as code; options that are None are left out."""
    shown = [literal(argument) for argument in arguments]
    shown += [f"{name}={literal(value)}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join(shown)})"


def command(*words: object, **options: object) -> str:
    """Return a command line; a list is an option that is repeated, None one that is left out.

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
