"""Explorers of tables, and of folders of tables, in the folder of a Jupyter server.

Each has its own WebSocket.

Everybody who may read the files of the server may open them; the protocol is that of
``lance-explorer open``.
"""

import asyncio
from contextlib import suppress
from functools import partial
from os.path import realpath
from pathlib import Path

from jupyter_core.paths import is_hidden
from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import FileFindHandler, JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import ApiPath, to_os_path, url_path_join
from tornado.web import Application, HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from lance_explorer.database import open_database
from lance_explorer.errors import LanceExplorerError, TableNotFoundError
from lance_explorer.history.discovery import is_table
from lance_explorer.table import open_table
from lance_explorer.widgets.database import DatabaseExplorer
from lance_explorer.widgets.explorer import Explorer
from lance_explorer.widgets.session import NOT_UNDERSTOOD, STATIC, Session, beside, failure

__all__ = ["add_handlers"]


def add_handlers(application: Application) -> None:
    """Add the handlers for explorers in JupyterLab to a Jupyter server."""
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
    """One explorer: it is made on request of a page, and closed with the page."""

    auth_resource = "contents"

    def set_default_headers(self) -> None:
        """Set no headers: a WebSocket has no use for those of pages."""

    @ws_authenticated
    async def get(self) -> None:
        """Open the connection if the user may read files."""
        is_allowed = self.authorizer.is_authorized(self, self.current_user, "read", "contents")
        if not await ensure_async(is_allowed):
            raise HTTPError(403)
        await super().get()

    async def open(self) -> None:
        """Make the explorer, and send the page its state."""
        super().open()
        self._session: Session | None = None
        try:
            self._session = await beside(partial(_session, self._path()))
        except (LanceExplorerError, TimeoutError) as error:
            self.write_message(failure(str(error) or "the table took too long to open"))
            self.close()
            return
        if self.ws_connection is None:  # closed meanwhile
            self._session.close()
            return
        self._showing = asyncio.create_task(self._session.show(self._send))

    async def on_message(self, text: str | bytes) -> None:
        """Hand a question on."""
        if self._session is not None and not await self._session.hear(text):
            self.close(NOT_UNDERSTOOD)

    def on_close(self) -> None:
        """Close the explorer."""
        if self._session is not None:
            self._showing.cancel()
            asyncio.get_running_loop().run_in_executor(None, self._session.close)

    def _path(self) -> Path:
        """Return the requested folder, if the server shows it.

        Jupyter shows the target of links that lead out of its folder; nothing is opened there.
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

    async def _send(self, part: str | bytes) -> None:
        with suppress(WebSocketClosedError):  # the page is already closed
            await self.write_message(part, binary=isinstance(part, bytes))


def _session(path: Path) -> Session:
    """Make the explorer of a table, or of a folder of tables."""
    if is_table(str(path)) or not path.is_dir():
        return Session(partial(Explorer, open_table(path, values_apart=True)))
    return Session(partial(DatabaseExplorer, open_database(path)))
