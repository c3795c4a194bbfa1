"""How values that are no columns of their own are put into text."""

import json
from typing import Any

from lance_explorer.shown import visible_json

__all__ = ["json_text"]


def json_text(value: Any) -> str:
    """Return a value as JSON in one line, of characters that can be seen."""
    return visible_json(json.dumps(value, ensure_ascii=False))
