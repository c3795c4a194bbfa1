"""A widget in its own page, served on loopback to those who have its token."""

import asyncio
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from functools import partial
from html import escape
from pathlib import Path
from tempfile import NamedTemporaryFile

import uvicorn
from starlette.applications import Starlette
from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from lance_explorer.errors import LanceExplorerError
from lance_explorer.widgets.session import NOT_UNDERSTOOD, STATIC, Session, beside, failure
from lance_explorer.widgets.view import View

__all__ = ["redirecting_page", "serve"]

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


def serve(
    make: Callable[[], View], title: str, *, port: int = 0, started: _Started = nullcontext
) -> None:
    """Serve a widget on loopback until Ctrl+C.

    Parameters
    ----------
    make : callable
        Makes the widget: one for each page that is opened.
    title : str
        The title of the page.
    port : int
        The port; a free one by default.
    started : callable
        Is called with the address of the page, which has the token, when it can be opened; returns
        a context that lasts until the server ends, by Ctrl+C or by SIGTERM.
    """
    waiting = [Session(make)]
    token = secrets.token_urlsafe(24)
    listener = socket.create_server(("127.0.0.1", port))
    host = f"127.0.0.1:{listener.getsockname()[1]}"
    application = _application(make, waiting, title, token, host)
    settings = uvicorn.Config(
        application,
        log_level="warning",
        access_log=False,
        ws="websockets-sansio",
        timeout_graceful_shutdown=1,
    )
    try:  # who connects now waits for the server
        with _sigterm_as_exit(), started(f"http://{host}/?token={token}"):
            uvicorn.Server(settings).run(sockets=[listener])
    except KeyboardInterrupt:  # uvicorn has ended well, and tells it once more
        pass
    finally:
        for session in waiting:
            session.close()


@contextmanager
def _sigterm_as_exit() -> Iterator[None]:
    """Let SIGTERM end contexts, too; uvicorn does not if it arrives while the server starts."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def redirecting_page(address: str) -> Iterator[Path]:
    """Return a file that sends a browser to an address, as long as the context lasts.

    Only its owner can read it, while all users of a machine can read the command line of a browser:
    so the browser gets the file, not the address with its token.
    """
    with NamedTemporaryFile("w", prefix="lance-explorer-", suffix=".html") as file:
        file.write(_REDIRECT.format(address=escape(address)))
        file.flush()
        yield Path(file.name)


def _application(
    make: Callable[[], View], waiting: list[Session], title: str, token: str, host: str
) -> Starlette:
    """Return the application of the pages; views in ``waiting`` are for the first ones."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        waiting[0].view.begin()
        yield

    def is_allowed(connection: HTTPConnection) -> bool:
        """Tell whether a request has the token, and does not come from another site."""
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

        async def send(part: str | bytes) -> None:
            await (page.send_text(part) if isinstance(part, str) else page.send_bytes(part))

        try:
            session = waiting.pop() if waiting else await beside(partial(Session, make))
        except (LanceExplorerError, TimeoutError) as error:
            await send(failure(str(error) or "the table took too long to open"))
            await page.close()
            return
        showing = asyncio.create_task(session.show(send))
        try:
            while (said := await page.receive())["type"] == "websocket.receive":
                if not await session.hear(said.get("text") or said.get("bytes")):
                    await page.close(NOT_UNDERSTOOD)
                    break
        except (WebSocketDisconnect, RuntimeError):
            pass  # the page was closed, or the server ends
        finally:
            showing.cancel()
            asyncio.get_running_loop().run_in_executor(None, session.close)

    routes = [Route("/", page), Route("/{name}", page), WebSocketRoute("/socket", talk)]
    return Starlette(routes=routes, lifespan=lifespan)
