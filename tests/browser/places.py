"""Where else notebooks are opened: Notebook 7 and Voila."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import socket

from playwright.sync_api import Locator

from tests.browser.lab import OPTIONS, NotebookPage, Place, server

__all__ = ["Notebook7", "Voila", "notebook7_server", "voila_server"]

NOT_FOR_VOILA = ["@jupyter-notebook/lab-extension"]
"""Extensions of JupyterLab that Voila would load, and cannot."""


@contextmanager
def notebook7_server(folder: Path) -> Iterator[str]:
    """Run Notebook 7 over ``folder / "notebooks"``; give its address."""
    with server(folder, "jupyter", "notebook", *OPTIONS) as address:
        yield address


@contextmanager
def voila_server(folder: Path) -> Iterator[str]:
    """Run Voila over ``folder / "notebooks"``; give its address."""
    with socket() as free:  # Voila does not say which port it was given
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--Voila.ip=127.0.0.1", f"--port={port}"]
    options += [f"--VoilaConfiguration.extension_denylist={name}" for name in NOT_FOR_VOILA]
    with server(folder, "voila", *options) as address:
        yield address


class Notebook7(Place):
    """Notebook 7 in a page, which has one notebook."""

    def open(self, path: str) -> NotebookPage:
        """Open a notebook and wait for its kernel."""
        self.page.goto(f"{self.address}/notebooks/{path}")
        self.page.wait_for_function(
            """() => {
                const app = window.jupyterapp;
                const session = app?.shell.currentWidget?.context?.sessionContext?.session;
                return session?.kernel?.status === "idle"
                    && app.commands.isEnabled("notebook:run-all-cells");
            }"""
        )
        return NotebookPage(self, path)

    def show(self, path: str) -> Locator:
        """Open a notebook and run it; return its outputs."""
        notebook = self.open(path)
        notebook.run_all()
        failures = notebook.failures()
        assert failures == [], failures
        return self.page.locator(".jp-Notebook")


class Voila(Place):
    """Voila in a page: the outputs of one notebook."""

    def show(self, path: str) -> Locator:
        """Open a notebook, which runs it; return its outputs."""
        self.page.goto(f"{self.address}/voila/render/{path}")
        return self.page.locator("body")
