"""A line to the browser that keeps what is sent over it."""

import json
from copy import deepcopy
from typing import Any

import comm
import numpy as np
import pytest
from comm.base_comm import BaseComm

from lance_explorer.widgets import parts
from lance_explorer.widgets.messages.base import ARRAYS
from lance_explorer.widgets.view import View


class RecordedComm(BaseComm):
    """Keeps the messages of one widget."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.messages: list[tuple[dict[str, Any], list[bytes]]] = []
        super().__init__(*arguments, **options)

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: list[bytes] | None = None,
        **keys: Any,
    ) -> None:
        if data and data.get("method") == "custom":
            self.messages.append((json.loads(json.dumps(data["content"])), buffers or []))


class RecordedLine(parts.PartLine):
    """Keeps the messages of a part, and hands them on."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.messages: list[tuple[dict[str, Any], list[bytes]]] = []
        super().__init__(*arguments, **options)

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: list[bytes] | None = None,
        **keys: Any,
    ) -> None:
        if data and data.get("method") == "custom":
            self.messages.append((json.loads(json.dumps(data["content"])), buffers or []))
        super().publish_msg(msg_type, data, metadata, buffers, **keys)


@pytest.fixture(autouse=True)
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep what all widgets send."""
    monkeypatch.setattr(comm, "create_comm", RecordedComm)
    monkeypatch.setattr(parts, "PartLine", RecordedLine)


def unpacked(message: dict[str, Any], buffers: list[bytes]) -> dict[str, Any]:
    """Return a message with its arrays in their places, as ``unpackArrays`` puts them there."""
    dtypes = {name: dtype for dtype, name in ARRAYS.items()}
    whole = deepcopy({name: value for name, value in message.items() if name != "arrays"})
    for place, buffer in zip(message.get("arrays", ()), buffers, strict=True):
        holder = whole["content"]
        for part in place["path"][:-1]:
            holder = holder[part]
        holder[place["path"][-1]] = np.frombuffer(buffer, dtypes[place["type"]])
    return whole


class Browser:
    """Asks a view what a browser asks, and reads what it answers."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.seq = 0

    def ask(self, kind: str, **arguments: Any) -> dict[str, Any]:
        """Ask when nothing is done in the background; return the answer when that is so again."""
        assert self.view._worker.wait(60)
        self.seq += 1
        message = {"kind": kind, "seq": self.seq, "asker": "test", "arguments": arguments}
        self.view.comm.handle_msg(
            {"content": {"data": {"method": "custom", "content": message}}, "buffers": []}
        )
        assert self.view._worker.wait(60)
        answers = [message for message in self.messages() if message[0].get("seq") == self.seq]
        return unpacked(*answers[-1])

    def messages(self) -> list[tuple[dict[str, Any], list[bytes]]]:
        """Return all that the view has sent."""
        messages: list[tuple[dict[str, Any], list[bytes]]] = self.view.comm.messages
        return messages

    def news(self, kind: str) -> list[dict[str, Any]]:
        """Return what the view told unasked."""
        sent = [content for content, _ in self.messages() if content["what"] == "news"]
        return [content["content"] for content in sent if content["kind"] == kind]


@pytest.fixture
def browse() -> type[Browser]:
    """Look at a view as a browser does."""
    return Browser
