"""Text for bytes that should be text, and for nested values."""

import json
from typing import Any

from lance_explorer.shown import visible_json

__all__ = ["json_text", "text_of"]


def json_text(value: Any) -> str:
    """Return a value as JSON in one line of printable characters."""
    return visible_json(json.dumps(value, ensure_ascii=False))


def text_of(data: bytes) -> str:
    r"""Return bytes as text, with escapes for invalid UTF-8.

    Examples
    --------
    >>> text_of(b"blue"), text_of(b"\xff\x00")
    ('blue', '\\xff\x00')
    """
    return data.decode("utf-8", "backslashreplace")
