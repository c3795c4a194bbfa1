"""What a widget and a page of its own say to each other over a WebSocket.

It is what a notebook would send and get: a text of JSON, followed by as many binary messages as it
says there are buffers.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from comm.base_comm import BaseComm

__all__ = ["STATIC", "Message", "failure", "hear", "heard", "message"]

STATIC = files("lance_explorer.widgets") / "static"
"""The script and the style of all widgets."""

Message = tuple[str, list[bytes]]
"""A text, and the buffers that follow it."""


def message(data: Mapping[str, Any], buffers: list[bytes]) -> Message:
    """Return what a page is sent for a message of the widget protocol."""
    known = {key: data[key] for key in ("method", "state", "content") if key in data}
    return json.dumps({**known, "num_buffers": len(buffers)}), buffers


def failure(why: str) -> Message:
    """Return what a page is sent if there is no widget to show."""
    return message({"method": "failure", "content": why}, [])


def heard(said: str | bytes | None) -> dict[str, Any] | None:
    r"""Return what a page said; None if it is nothing that a page of ours says.

    Whoever lets an error of this reach a server lets it log the request, with its token.

    Examples
    --------
    >>> heard('{"kind": "open"}'), heard("{"), heard(b"\xff"), heard("[1]"), heard(None)
    ({'kind': 'open'}, None, None, None, None)
    """
    try:
        content = json.loads(said or "")
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def hear(line: BaseComm, content: Mapping[str, Any]) -> None:
    """Hand a message of a page to the widget whose line this is."""
    data = {"method": "custom", "content": content}
    line.handle_msg({"content": {"data": data}, "buffers": []})
