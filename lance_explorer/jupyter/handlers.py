"""Explorers of tables in the folder of a Jupyter server, each over a WebSocket of its own.

Who may read the files of the server may open them; it speaks as ``lance-explorer open`` does.
"""

from collections.abc import Callable
from functools import partial
from os.path import realpath
from pathlib import Path

from jupyter_core.paths import is_hidden
from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import FileFindHandler, JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ApiPath, to_os_path, url_path_join
from tornado.ioloop import IOLoop
from tornado.web import Application, HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from lance_explorer.errors import LanceExplorerError, TableNotFoundError
from lance_explorer.table import open_table
from lance_explorer.widgets.explorer import Explorer
from lance_explorer.widgets.page_messages import (
    QUESTION_SECONDS,
    STATIC,
    Hands,
    Message,
    failure,
    heard,
    message,
)
from lance_explorer.widgets.parts import PartLine, parts_of

__all__ = ["add_handlers"]

_NOT_UNDERSTOOD = 1007


def add_handlers(application: Application) -> None:
    """Add what an explorer in JupyterLab asks for to a Jupyter server."""
    base = application.settings["base_url"]
    static = {"path": [str(STATIC)], "no_cache_paths": ["/"]}
    application.add_handlers(
        ".*$",
        [
            (url_path_join(base, "lance-explorer", "socket"), _Socket),
            (url_path_join(base, "lance-explorer", "static", "(.*)"), FileFindHandler, static),
        ],
    )


class _Socket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """One explorer: it is made when a page asks for it, and closed with the page."""

    auth_resource = "contents"

    def set_default_headers(self) -> None:
        """Set none: a WebSocket has no use for those of pages."""

    @ws_authenticated
    async def get(self) -> None:
        """Begin to speak to who may read files."""
        is_allowed = self.authorizer.is_authorized(self, self.current_user, "read", "contents")
        if not await ensure_async(is_allowed):
            raise HTTPError(403)
        await super().get()

    async def open(self) -> None:
        """Make the explorer, and tell the page what it shows."""
        super().open()
        self._loop = IOLoop.current()
        self._explorer: Explorer | None = None
        self._has_begun = False
        self._hands = Hands()  # questions in their order
        try:
            make = partial(_made, self._path(), self._send_soon)
            self._explorer = await self._hands.do(make)
        except (LanceExplorerError, TimeoutError) as error:
            self._send(failure(str(error) or "the table took too long to open"))
            self.close()
            return
        if self.ws_connection is None:  # closed meanwhile
            self._explorer.close()
            return
        self._has_begun = True  # what was said before is in these traits
        self._send(message({"method": "update", "state": self._explorer.traits_to_share()}, []))

    async def on_message(self, text: str | bytes) -> None:
        """Hand a question on."""
        content = heard(text)
        if content is None:
            self.close(_NOT_UNDERSTOOD)
        elif self._explorer is not None:
            await self._hands.hear(self._explorer, content)

    def on_close(self) -> None:
        """Close the explorer."""
        if self._explorer is not None:
            self._loop.run_in_executor(None, self._explorer.close)

    def _path(self) -> Path:
        """Return the folder that was asked for, if the server shows it.

        Of links that lead out of its folder Jupyter shows what is there; nothing is opened there.
        """
        root = getattr(self.contents_manager, "root_dir", None)
        if root is None:
            raise TableNotFoundError("the files of this server are not in a folder of its machine")
        top = Path(root).absolute()
        path = Path(to_os_path(ApiPath(self.get_argument("path")), str(top)))
        real, real_top = Path(realpath(path)), Path(realpath(top))
        is_below = path.is_relative_to(top) and real.is_relative_to(real_top)
        if ".." in path.parts or not is_below:
            raise TableNotFoundError("this is not below the folder of the server")
        shows_hidden = getattr(self.contents_manager, "allow_hidden", False)
        if not shows_hidden and (is_hidden(path, top) or is_hidden(real, real_top)):
            raise TableNotFoundError("this is in a hidden folder, which the server does not show")
        return path

    def _send_soon(self, told: Message) -> None:
        """Send a message; any thread may."""
        self._loop.add_callback(self._send_if_begun, told)

    def _send_if_begun(self, told: Message) -> None:
        if self._has_begun:
            self._send(told)

    def _send(self, told: Message) -> None:
        text, buffers = told
        try:
            self.write_message(text)
            for buffer in buffers:
                self.write_message(bytes(buffer), binary=True)
        except WebSocketClosedError:
            pass  # there is nobody to tell any more


def _made(path: Path, send: Callable[[Message], None]) -> Explorer:
    """Make the explorer of a table, which speaks over a function."""
    table = open_table(path, values_apart=True)
    with parts_of(lambda data, buffers: send(message(data, buffers))):
        explorer = Explorer(table)
    assert isinstance(explorer.comm, PartLine)
    explorer.state.time_limit = QUESTION_SECONDS
    return explorer
