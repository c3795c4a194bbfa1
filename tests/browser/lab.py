"""A real JupyterLab on loopback, and a page of Chromium in it: what the browser tests drive.

Nothing here waits for a time to pass: a helper returns when what it stands for has happened, or
fails after ``PATIENCE`` seconds.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

if TYPE_CHECKING:
    from tests.browser.places import Notebook7

__all__ = [
    "OPTIONS",
    "PATIENCE",
    "Lab",
    "NotebookPage",
    "Place",
    "chromium",
    "lab_server",
    "open_view",
    "server",
]

ROOT = Path(__file__).resolve().parents[2]
FOR_JUPYTER = ROOT / "lance_explorer" / "jupyter"
"""Where that lies which the wheel puts into the folders of Jupyter."""

PATIENCE = 120
SCREENSHOTS = os.environ.get("LANCE_EXPLORER_SCREENSHOTS")
"""Folder for pictures of what the tests see; none are taken without it."""

SWITCHES = [
    *"--disable-gpu --disable-quic --no-first-run --disable-background-networking".split(),
    *"--disable-component-update --disable-sync".split(),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing leaves the machine
]

OPTIONS = """
    --no-browser --allow-root --ServerApp.ip=127.0.0.1 --ServerApp.port=0
    --IdentityProvider.token= --ServerApp.disable_check_xsrf=True
    --LabApp.expose_app_in_browser=True --JupyterNotebookApp.expose_app_in_browser=True
""".split()

OVERRIDES = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}


WITHOUT = {"disabledExtensions": {"@jupyterlab/debugger-extension": True}}
"""The debugger complains when a kernel ends before it has looked at it."""


@contextmanager
def lab_server(folder: Path) -> Iterator[str]:
    """Run JupyterLab over ``folder / "notebooks"``; give its address."""
    settings = folder / "settings"
    settings.mkdir()
    (settings / "overrides.json").write_text(json.dumps(OVERRIDES))
    (folder / "config_dir" / "labconfig").mkdir(parents=True)
    (folder / "config_dir" / "labconfig" / "page_config.json").write_text(json.dumps(WITHOUT))
    with server(folder, "jupyter", "lab", *OPTIONS, f"--LabApp.app_settings_dir={settings}") as at:
        yield at


@contextmanager
def server(folder: Path, *command: str) -> Iterator[str]:
    """Run a module that serves ``folder / "notebooks"``, with no settings but those in ``folder``.

    Gives its address.
    """
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    places = ["CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"]
    environment = {
        **os.environ,
        **{f"JUPYTER_{place}": str(folder / place.lower()) for place in places},
        "JUPYTER_PATH": str(FOR_JUPYTER / "share"),
        "JUPYTER_CONFIG_PATH": str(FOR_JUPYTER / "etc"),
        "IPYTHONDIR": str(folder / "ipython"),
        "LANCE_EXPLORER_SAMPLES": os.environ.get("LANCE_EXPLORER_SAMPLES", str(folder / "samples")),
        "LANCE_EXPLORER_SPARK_ROWS": "20000",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(ROOT),
    }
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=notebooks,
        env=environment,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr
    log = process.stderr
    reading = threading.Thread(target=log.readlines, daemon=True)  # or the pipe fills up
    try:
        address = address_in(log)
        reading.start()
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE)
        if reading.is_alive():
            reading.join()
        log.close()


def address_in(log: Iterable[str]) -> str:
    """Read the log of a server up to where it names its address."""
    lines = []
    for line in log:
        lines.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    raise RuntimeError("the server did not start:\n" + "".join(lines))


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the Chromium of this machine."""
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=SWITCHES,
            ignore_default_args=["--hide-scrollbars"],
            chromium_sandbox=False,
        )
        yield browser
        browser.close()


class Place:
    """A page where notebooks are opened; it remembers what was complained of, and asked for.

    Attributes
    ----------
    errors : list of str
        What the page complained of.
    outside : list of str
        The addresses that it asked for and that are not of its server.
    """

    def __init__(self, page: Page, address: str, folder: Path) -> None:
        self.page = page
        self.address = address
        self.folder = folder
        self.errors: list[str] = []
        self.outside: list[str] = []
        page.set_default_timeout(PATIENCE * 1000)
        page.on("console", self._listen)
        page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        page.on("request", lambda request: self._watch(request.url))
        page.on("websocket", lambda socket: self._watch(socket.url))

    def write(self, name: str, *cells: str) -> str:
        """Write a notebook with these cells of code; return its path on the server."""
        notebook = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        return self.add(f"{name}.ipynb", notebook)

    def add(self, path: str, notebook: nbformat.NotebookNode) -> str:
        """Put a notebook on the server."""
        nbformat.write(notebook, self.folder / "notebooks" / path)
        return path

    def _listen(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(f"{message.text} ({message.location.get('url', '')[:100]})")

    def _watch(self, url: str) -> None:
        place = url.replace("ws:", "http:", 1)
        if not place.startswith((self.address, "data:", "blob:")):
            self.outside.append(url[:200])


class Lab(Place):
    """JupyterLab in a page."""

    def __init__(self, page: Page, address: str, folder: Path) -> None:
        super().__init__(page, address, folder)
        page.goto(f"{address}/lab?reset")
        page.wait_for_function("() => window.jupyterapp?.shell.isEmpty('main') === false")
        page.evaluate("async () => { await jupyterapp.restored; jupyterapp.shell.collapseLeft(); }")

    def command(self, name: str, **arguments: object) -> None:
        """Run a command of JupyterLab."""
        self.page.evaluate(
            "async ([name, args]) => { await window.jupyterapp.commands.execute(name, args); }",
            [name, arguments],
        )

    def set_theme(self, theme: str) -> None:
        """Change to "light" or "dark"."""
        if self.page.evaluate("document.body.dataset.jpThemeLight") == json.dumps(theme == "light"):
            return
        self.command("apputils:change-theme", theme=f"JupyterLab {theme.capitalize()}")
        is_light = json.dumps(json.dumps(theme == "light"))
        self.page.wait_for_function(
            f"""() => document.body.dataset.jpThemeLight === {is_light}
                && !document.getElementById("jupyterlab-splash")"""
        )

    def set_width(self, width: int, height: int = 1000) -> None:
        """Change the size of the page, in pixels, and wait until all is drawn anew."""
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_function(
            """(width) => {
                const shown = window.jupyterapp.shell.currentWidget?.node ?? document.body;
                const { right } = shown.getBoundingClientRect();
                return innerWidth === width && width - 100 < right && right <= width;
            }""",
            arg=width,
        )
        self.next_frames()

    def expect_to_fit(
        self, part: Locator, name: str, height: int = 1000, widths: tuple[int, int] = (1400, 700)
    ) -> None:
        """Wait until nothing of a part is cut off: wide and light, then narrow and dark."""
        for theme, width in zip(("light", "dark"), widths, strict=True):
            self.set_width(width, height)
            self.set_theme(theme)
            self.page.wait_for_function(
                "(part) => part.scrollWidth <= part.clientWidth", arg=part.element_handle()
            )
            screenshot(f"{name}_{theme}_{width}", part)

    def next_frames(self) -> None:
        """Wait until what has changed its size is drawn: a frame to notice, another to draw."""
        self.page.evaluate(
            """async () => {
                for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
            }"""
        )

    def open(self, path: str) -> "NotebookPage":
        """Open a notebook and wait for its kernel."""
        self.command("docmanager:open", path=path, factory="Notebook")
        self.page.wait_for_function(
            """path => {
                const panel = window.jupyterapp.shell.currentWidget;
                const kernel = panel?.context?.sessionContext?.session?.kernel;
                return panel?.context?.path === path && kernel?.status === "idle";
            }""",
            arg=path,
        )
        return NotebookPage(self, path)

    def close(self, paths: list[str]) -> None:
        """Close notebooks without saving; their kernels end side by side, which takes a while.

        JupyterLab activates a notebook when it has scrolled to a cell that was run, and complains
        if it is gone by then. So one that closes is not activated any more.
        """
        self.page.evaluate(
            """async (paths) => {
                const opened = [...window.jupyterapp.shell.widgets("main")];
                const panels = opened.filter((panel) => paths.includes(panel.context?.path));
                await Promise.all(panels.map((panel) => panel.context.sessionContext.shutdown()));
                for (const panel of panels) {
                    panel.content.activate = () => {};
                    panel.context.model.dirty = false;
                    panel.close();
                }
            }""",
            paths,
        )


class NotebookPage:
    """The notebook that is open in the lab, or alone on a page of Notebook 7."""

    def __init__(self, lab: "Lab | Notebook7", path: str) -> None:
        self.lab = lab
        self.page = lab.page
        self.path = path

    def show(self) -> None:
        """Bring the notebook to the front."""
        self.lab.open(self.path)

    def run_cells(self, *cells: str) -> None:
        """Bring the notebook to the front, put these cells in place of all it has, and run them."""
        self.show()
        self.page.evaluate(
            """(cells) => {
                const { sharedModel } = window.jupyterapp.shell.currentWidget.content.model;
                const code = { cell_type: "code", execution_count: null };
                sharedModel.transact(() => {
                    sharedModel.deleteCellRange(0, sharedModel.cells.length);
                    sharedModel.insertCells(0, cells.map(
                        (source) => ({ ...code, source, metadata: {}, outputs: [] })));
                });
            }""",
            cells,
        )
        self.run_all()
        assert self.failures() == []

    def run_all(self) -> None:
        """Run all cells, and wait until the last of them has ended."""
        self.page.evaluate(
            """async () => {
                const { commands, shell } = window.jupyterapp;
                await commands.execute("notebook:run-all-cells");
                await shell.currentWidget.context.sessionContext.session.kernel.requestExecute(
                    { code: "" }).done;
            }"""
        )

    def failures(self) -> list[str]:
        """Return the errors that cells of the notebook have ended with."""
        found: list[str] = self.page.evaluate(
            """() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
                .flatMap((cell) => cell.type === "code" ? cell.outputs.toJSON() : [])
                .filter((output) => output.output_type === "error")
                .map((output) => `${output.ename}: ${output.evalue}`)"""
        )
        return found

    def value(self, expression: str) -> Any:
        """Return the value of a Python expression in the kernel; plain values only."""
        reply: dict[str, Any] = self.page.evaluate(
            """async (expression) => {
                const { session } = window.jupyterapp.shell.currentWidget.context.sessionContext;
                const asked = { code: "", silent: true, user_expressions: { asked: expression } };
                const reply = await session.kernel.requestExecute(asked).done;
                return reply.content.user_expressions.asked;
            }""",
            expression,
        )
        assert reply["status"] == "ok", reply
        return ast.literal_eval(reply["data"]["text/plain"])

    def wait_for(self, condition: str) -> None:
        """Wait until a Python expression is true in the kernel."""
        said = self.page.evaluate(
            """async ([expression, patience]) => {
                const { session } = window.jupyterapp.shell.currentWidget.context.sessionContext;
                const asked = { code: "", silent: true, user_expressions: { asked: expression } };
                for (const end = Date.now() + patience; ; ) {
                    const reply = await session.kernel.requestExecute(asked).done;
                    const { status, data, evalue } = reply.content.user_expressions.asked;
                    const said = status === "error" ? evalue : data["text/plain"];
                    if (said === "True" || Date.now() > end) return said;
                    await new Promise((resolve) => setTimeout(resolve, 50));
                }
            }""",
            [f"bool({condition})", PATIENCE * 1000],
        )
        assert said == "True", f"{condition}: {said}"

    def run(self, code: str) -> None:
        """Run code in the kernel, outside of the cells."""
        status = self.page.evaluate(
            """async (code) => {
                const { session } = window.jupyterapp.shell.currentWidget.context.sessionContext;
                return (await session.kernel.requestExecute({ code }).done).content;
            }""",
            code,
        )
        assert status["status"] == "ok", status

    def widgets(self, css: str = ".lx") -> Locator:
        """Return our widgets in the notebook."""
        return self.page.locator(f".jp-Notebook:visible {css}")

    def screenshot(self, name: str, of: Locator | None = None) -> None:
        """Take a picture, if somebody wants to look at it."""
        screenshot(name, of or self.page)


def open_view(page: Page, name: str) -> None:
    """Show a view of the explorer, which may be behind Advanced."""
    tab = page.locator(f".lx-explorer-tab[data-view={name}]")
    if not tab.count():
        page.get_by_role("button", name="Advanced").click()
    tab.click()
    expect(page.locator(f".lx-explorer[data-view={name}]")).to_be_visible()


def screenshot(name: str, of: Locator | Page) -> None:
    """Take a picture, if somebody wants to look at it."""
    if SCREENSHOTS:
        of.screenshot(path=Path(SCREENSHOTS) / f"{name}.png")
