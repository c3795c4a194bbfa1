"""Calls as lines of Python."""

__all__ = ["call", "literal"]


def call(function: str, *arguments: object, **options: object) -> str:
    """Return a call as code; options that are None are left out."""
    shown = [literal(argument) for argument in arguments]
    shown += [f"{name}={literal(value)}" for name, value in options.items() if value is not None]
    return f"{function}({', '.join(shown)})"


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
