"""How values that are no columns of their own are put into text."""

import json
from typing import Any

__all__ = ["json_text"]


def json_text(value: Any) -> str:
    """Return a value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False)
