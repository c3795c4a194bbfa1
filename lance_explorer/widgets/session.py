"""A view and the pages that show it, with any transport.

Messages are those of a notebook: a JSON text, followed by as many binary messages as it announces
buffers.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from typing import Any, TypeVar, cast

import msgspec

from lance_explorer.widgets.messages.base import PageMessage, PageMethod
from lance_explorer.widgets.parts import parts_of
from lance_explorer.widgets.view import View

__all__ = ["NOT_UNDERSTOOD", "STATIC", "Session", "beside", "failure"]

_T = TypeVar("_T")

STATIC = files("lance_explorer.widgets") / "static"
"""The script and the style of all widgets."""

NOT_UNDERSTOOD = 1007
"""The code that closes a WebSocket whose messages are not from our page."""

_QUESTION_SECONDS = 60.0
"""The most seconds for a question of a page: others use the same server."""

_Parts = list[str | bytes]


class Session:
    """A view, and the pages that show it.

    Parameters
    ----------
    make : callable
        Makes the view.
    seconds : float
        How long a question may take. A question that takes longer is abandoned in its thread, which
        may never end.
    """

    def __init__(self, make: Callable[[], View], seconds: float = _QUESTION_SECONDS) -> None:
        self._pages: dict[Callable[[_Parts], None], None] = {}
        self._seconds = seconds
        self._turn = asyncio.Lock()
        with parts_of(self._send):
            self.view = make()
        self.view.state.time_limit = seconds

    async def show(self, send: Callable[[str | bytes], Awaitable[object]]) -> None:
        """Send a page the state and all messages of the view, until this is cancelled."""
        loop, waiting = asyncio.get_running_loop(), asyncio.Queue[_Parts]()

        def put(parts: _Parts) -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(waiting.put_nowait, parts)

        self._pages[put] = None
        try:
            put(_message("update", state=self.view.traits_to_share()))
            while True:
                for part in await waiting.get():
                    await send(part)
        finally:
            del self._pages[put]

    async def hear(self, said: str | bytes | None) -> bool:
        """Pass a message of a page to the view; return False if it is not one of ours.

        Questions are handled in their order. If one takes too long, the answer says so.
        """
        content = _heard(said)
        if content is None:
            return False
        question = self.view.understood(content)
        if question is not None:
            try:
                async with self._turn:
                    await beside(lambda: self.view.answer_question(question), self._seconds)
            except TimeoutError:
                self.view.answer_late(question)
        return True

    def close(self) -> None:
        """Close the view."""
        self.view.close()

    def _send(self, data: Mapping[str, Any], buffers: list[bytes]) -> None:
        """Send a message of the widget protocol to all pages; any thread may."""
        fields = {key: data[key] for key in ("state", "content") if key in data}
        parts = _message(data["method"], buffers, **fields)
        for put in [*self._pages]:
            put(parts)


def failure(why: str) -> str:
    """Return the messages for a page if there is no view to show."""
    return cast(str, _message("failure", content=why)[0])


async def beside(work: Callable[[], _T], seconds: float = _QUESTION_SECONDS) -> _T:
    """Return the result of work that runs beside the loop of a server.

    Raises
    ------
    TimeoutError
        If it takes too long.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def finish(result: _T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(cast(_T, result))

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - whoever waits raises it
            failure = error
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(finish, result, failure)

    threading.Thread(target=run, name="lx-page", daemon=True).start()
    async with asyncio.timeout(seconds):
        return await done


def _message(method: PageMethod, buffers: list[bytes] | None = None, **said: Any) -> _Parts:
    """Return a message of the widget protocol as it is sent: a text, and the buffers."""
    whole = [bytes(buffer) for buffer in buffers or []]
    header = PageMessage(method, num_buffers=len(whole), **said)
    return [msgspec.json.encode(header).decode(), *whole]


def _heard(said: str | bytes | None) -> dict[str, Any] | None:
    r"""Return a message of a page; None if it is not from a page of ours.

    If an error of this reached a server, the server would log the request, with its token.

    Examples
    --------
    >>> _heard('{"kind": "open"}'), _heard("{"), _heard(b"\xff"), _heard("[1]"), _heard(None)
    ({'kind': 'open'}, None, None, None, None)
    """
    try:
        return msgspec.json.decode(said or "", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
