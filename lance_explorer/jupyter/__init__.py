"""The server side of opening the explorer from JupyterLab's file browser.

``etc`` and ``share`` are what the wheel puts into the folders of Jupyter: the first lets a Jupyter
server load this module, the second is an extension of JupyterLab (``frontend/src/lab.ts``).
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

__all__ = list[str]()


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    """Tell a Jupyter server what to load."""
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: "ServerApp") -> None:
    """Let a Jupyter server speak for explorers."""
    from lance_explorer.jupyter.handlers import add_handlers

    add_handlers(server.web_app)
