"""What a widget and a page of its own say to each other over a WebSocket.

It is what a notebook would send and get: a text of JSON, followed by as many binary messages as it
says there are buffers.
"""

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any, TypeVar, cast

from comm.base_comm import BaseComm

from lance_explorer.widgets.view import View

__all__ = ["QUESTION_SECONDS", "STATIC", "Hands", "Message", "failure", "hear", "heard", "message"]

_T = TypeVar("_T")

STATIC = files("lance_explorer.widgets") / "static"
"""The script and the style of all widgets."""

QUESTION_SECONDS = 60.0
"""A question of a page takes no longer: others ask the same server."""

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


class Hands:
    """Does one thing after the other, beside the loop of a server.

    What takes longer than ``seconds`` is left behind in its thread, which may never end.
    """

    def __init__(self, seconds: float = QUESTION_SECONDS) -> None:
        self._seconds = seconds
        self._turn = asyncio.Lock()

    async def hear(self, view: View, content: Mapping[str, Any]) -> None:
        """Hand a message of a page to a widget; if that takes too long, say so."""
        try:
            await self.do(lambda: hear(view.comm, content))
        except TimeoutError:
            view.answer_late(content)

    async def do(self, work: Callable[[], _T]) -> _T:
        """Return what some work returns.

        Raises
        ------
        TimeoutError
            If it takes too long.
        """
        async with self._turn:
            loop = asyncio.get_running_loop()
            done: asyncio.Future[_T] = loop.create_future()

            def finish(found: _T | None, error: BaseException | None) -> None:
                if done.done():
                    return
                if error is not None:
                    done.set_exception(error)
                else:
                    done.set_result(cast(_T, found))

            def run() -> None:
                found, failure = None, None
                try:
                    found = work()
                except Exception as error:  # noqa: BLE001 - whoever waits raises it
                    failure = error
                with suppress(RuntimeError):  # the loop is closed
                    loop.call_soon_threadsafe(finish, found, failure)

            threading.Thread(target=run, name="lx-page", daemon=True).start()
            async with asyncio.timeout(self._seconds):
                return await done
