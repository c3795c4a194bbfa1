"""A widget in a page of its own: served on loopback, to whoever has the address with its token."""

import asyncio
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from html import escape
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import uvicorn
from comm.base_comm import BaseComm
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from lance_explorer.widgets.page_messages import (
    QUESTION_SECONDS,
    STATIC,
    Hands,
    Message,
    heard,
    message,
)
from lance_explorer.widgets.view import View

__all__ = ["redirecting_page", "serve"]

_NOT_UNDERSTOOD = 1007
_TYPES = {"explorer.js": "text/javascript", "explorer.css": "text/css"}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self' data:; media-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="explorer.css?token={token}">
<script type="module" src="page.js?token={token}"></script>
</head>
<body class="lx-page"></body>
</html>
"""
_REDIRECT = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>lance-explorer</title>
</head>
<body><a href="{address}">Open the explorer</a></body>
</html>
"""
_SCRIPT = """import {{ openPage }} from "./explorer.js?token={token}";
openPage(document.body, new URL("socket?token={token}", location.href));
"""


_Started = Callable[[str], AbstractContextManager[object]]


class _Line(BaseComm):
    """The line of the widget to all pages that show it."""

    def __init__(self) -> None:
        self.pages: dict[Callable[[Message], None], None] = {}
        super().__init__(target_name="jupyter.widget")

    def publish_msg(
        self,
        msg_type: str,
        data: dict[str, Any] | None = None,
        metadata: dict[str, Any] | None = None,
        buffers: list[bytes] | None = None,
        **keys: Any,
    ) -> None:
        """Send a message to all pages; any thread may."""
        if msg_type == "comm_msg" and data:
            told = message(data, buffers or [])
            for send in [*self.pages]:
                send(told)


def serve(view: View, title: str, *, port: int = 0, started: _Started = nullcontext) -> None:
    """Serve a widget on loopback until Ctrl+C.

    Parameters
    ----------
    view : View
        The widget.
    title : str
        The title of the page.
    port : int
        The port; a free one by default.
    started : callable
        Is called with the address of the page, which has the token, when it can be opened; returns
        a context that lasts until the server ends.
    """
    token = secrets.token_urlsafe(24)
    listener = socket.create_server(("127.0.0.1", port))
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    application = _application(view, title, token, host, started)
    settings = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        timeout_graceful_shutdown=1,
    )
    try:
        uvicorn.Server(settings).run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn has ended well, and tells it once more
        pass
    finally:
        view.close()


@contextmanager
def redirecting_page(address: str) -> Iterator[Path]:
    """Return a file that leads a browser to an address, for as long as the context lasts.

    Only its owner can read it, and all users of a machine the command line of a browser: so this
    goes there, and not the address with its token.
    """
    with NamedTemporaryFile("w", prefix="lance-explorer-", suffix=".html") as file:
        file.write(_REDIRECT.format(address=escape(address)))
        file.flush()
        yield Path(file.name)


def _application(view: View, title: str, token: str, host: str, started: _Started) -> Starlette:
    line = _Line()
    view.comm = line
    hands = Hands()  # questions are heard in their order
    view.state.time_limit = QUESTION_SECONDS

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        view.begin()
        with started(f"http://{host}/?token={token}"):
            yield

    def is_allowed(connection: HTTPConnection) -> bool:
        """Tell whether somebody asks who has the token, and not by way of another site's name."""
        given = connection.query_params.get("token", "")
        origin = connection.headers.get("origin", f"http://{host}")
        is_ours = connection.headers.get("host") == host and origin == f"http://{host}"
        return is_ours and secrets.compare_digest(given.encode(), token.encode())

    def page(request: Request) -> Response:
        if not is_allowed(request):
            words = "Open the address that lance-explorer printed: it has a token."
            return PlainTextResponse(words, 403, headers=_HEADERS)
        name = request.path_params.get("name", "")
        if name in _TYPES:
            text, kind = (STATIC / name).read_text(encoding="utf-8"), _TYPES[name]
        elif name == "page.js":
            text, kind = _SCRIPT.format(token=token), "text/javascript"
        else:
            text, kind = _PAGE.format(title=escape(title), token=token), "text/html"
        return Response(text, media_type=kind, headers=_HEADERS)

    async def talk(page: WebSocket) -> None:
        if not is_allowed(page):
            await page.close(code=1008)
            return
        await page.accept()
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[Message] = asyncio.Queue()

        def send(told: Message) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, told)

        line.pages[send] = None
        send(message({"method": "update", "state": view.traits_to_share()}, []))
        sender = asyncio.create_task(_send_all(page, queue))
        try:
            while True:
                said = await page.receive()
                content = heard(said.get("text") or said.get("bytes"))
                if content is None:
                    if said["type"] == "websocket.receive":
                        await page.close(_NOT_UNDERSTOOD)
                    break
                await hands.hear(view, content)
        except (WebSocketDisconnect, RuntimeError):
            pass  # the page was closed, or the server ends
        finally:
            line.pages.pop(send, None)
            sender.cancel()

    routes = [Route("/", page), Route("/{name}", page), WebSocketRoute("/socket", talk)]
    return Starlette(routes=routes, lifespan=lifespan)


async def _send_all(page: WebSocket, queue: asyncio.Queue[Message]) -> None:
    """Send what is in the queue, one message after the other."""
    while True:
        text, buffers = await queue.get()
        await page.send_text(text)
        for buffer in buffers:
            await page.send_bytes(bytes(buffer))
