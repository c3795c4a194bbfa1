"""The explorer in marimo, which has no widget manager of Jupyter."""

import os
import signal
import subprocess
import sys
import time
from socket import socket

import pytest
from playwright.sync_api import expect

from tests.browser.lab import PATIENCE, ROOT, open_view

pytestmark = pytest.mark.browser

NOTEBOOK = """
import marimo
app = marimo.App()

@app.cell
def _():
    import lance_explorer as lx
    lx.open_table({path!r}).explore("time_travel")
    return
"""


def until_served(port: int, process: subprocess.Popen[str]) -> None:
    """Wait until somebody listens: marimo prints its address before that."""
    deadline = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < deadline:
        with socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise RuntimeError("marimo did not start")


@pytest.fixture
def address(photos_path, tmp_path):
    """Run a notebook of marimo over the sample; give its address."""
    (tmp_path / "notebook.py").write_text(NOTEBOOK.format(path=str(photos_path)))
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--headless", "--no-token", "--host=127.0.0.1", f"--port={port}"]
    process = subprocess.Popen(
        [sys.executable, "-m", "marimo", "run", "notebook.py", *options],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        until_served(port, process)
        yield f"http://127.0.0.1:{port}/"
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)


def test_the_explorer_goes_from_view_to_view(browser, address):
    context = browser.new_context(viewport={"width": 1300, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    expect.set_options(timeout=1000 * PATIENCE)
    page.goto(address)
    strip = page.locator(".lx-time-travel .lx-strip")
    expect(strip).to_have_attribute("data-drawn", "45")
    strip.press("Home")
    expect(page.locator(".lx-version-heading h3")).to_have_text("Version 1")
    for name in ("overview", "log", "changes", "row", "lineage", "encodings", "indices", "disk"):
        open_view(page, name)
    expect(page.locator(".lx-disk-view[data-version='1']")).to_be_visible()
    expect(page.locator(".lx-error")).to_have_count(0)
    context.close()
