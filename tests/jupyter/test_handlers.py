"""Which tables a Jupyter server opens, and what it logs: a real one, without JupyterLab."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import lance
import pyarrow as pa
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

ROOT = Path(__file__).parents[2]
PATIENCE = 120
TOKEN = "a-token-that-nobody-guesses"
OPTIONS = """
    --no-browser --allow-root --ServerApp.ip=127.0.0.1 --ServerApp.port=0
    --ServerApp.jpserver_extensions=lance_explorer.jupyter=True
""".split()


class Server:
    """A running server: its folder, its address, and what it logged."""

    def __init__(self, folder: Path, port: int, log: Path) -> None:
        self.folder, self.port, self.log = folder, port, log

    def ask(self, path: str) -> ClientConnection:
        """Ask for the explorer of a folder."""
        query = f"path={quote(path)}&token={TOKEN}"
        return connect(
            f"ws://127.0.0.1:{self.port}/lance-explorer/socket?{query}",
            origin=Origin(f"http://127.0.0.1:{self.port}"),
            max_size=None,
        )

    def told(self, path: str) -> dict[str, Any]:
        """Return what it says first."""
        with self.ask(path) as page:
            found: dict[str, Any] = json.loads(page.recv(PATIENCE))
        return found


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Server]:
    shown, log = folder / "shown", folder / "log"
    shown.mkdir()
    places = ["CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "JUPYTER_TOKEN": TOKEN}
    environment |= {f"JUPYTER_{place}": str(folder / place.lower()) for place in places}
    with log.open("w") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "server", *OPTIONS, *options],
            cwd=shown,
            env=environment,
            stderr=file,
            stdout=subprocess.DEVNULL,
        )
    try:
        found = None
        while found is None and process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.1)
            found = re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text())
        assert found, log.read_text()
        yield Server(shown, int(found[1]), log)
    finally:
        process.terminate()
        process.wait(PATIENCE)


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("jupyter")
    with serving(folder) as running:
        for name in ("shown/t.lance", "shown/.hidden/t.lance", "outside/t.lance"):
            lance.write_dataset(pa.table({"id": [1]}), folder / name)
        (running.folder / "inner.lance").symlink_to("t.lance")
        (running.folder / "linked").symlink_to(folder / "outside")
        (running.folder / "linked.lance").symlink_to(folder / "outside" / "t.lance")
        (running.folder / "to_hidden.lance").symlink_to(".hidden/t.lance")
        yield running


@pytest.mark.slow
@pytest.mark.parametrize("path", ["t.lance", "inner.lance"])
def test_a_table_in_the_folder_of_the_server_is_opened(server, path):
    assert server.told(path)["state"]["shows"] == "explorer"


@pytest.mark.slow
@pytest.mark.parametrize("path", [".hidden/t.lance", "to_hidden.lance"])
def test_a_table_in_a_hidden_folder_is_not_opened(server, path):
    told = server.told(path)
    assert (told["method"], "hidden" in told["content"]) == ("failure", True)


@pytest.mark.parametrize("path", ["linked/t.lance", "linked.lance", "../outside/t.lance"])
def test_a_link_that_leads_out_of_the_folder_is_not_followed(server, path):
    told = server.told(path)
    assert (told["method"], "not below the folder" in told["content"]) == ("failure", True)


@pytest.mark.slow
def test_a_server_that_shows_hidden_files_opens_them(tmp_path):
    with serving(tmp_path, "--ContentsManager.allow_hidden=True") as running:
        lance.write_dataset(pa.table({"id": [1]}), running.folder / ".hidden" / "t.lance")
        assert running.told(".hidden/t.lance")["state"]["shows"] == "explorer"


@pytest.mark.slow
def test_what_no_page_says_is_not_logged_with_the_token(server):
    for said in ("{", "[1]", b"\xff", "[" * 100_000, '{"kind": 5}'):
        with server.ask("t.lance") as page:
            page.recv(PATIENCE)
            page.send(said)
            if said != '{"kind": 5}':
                with pytest.raises(ConnectionClosed):
                    list(page)
    assert server.told("t.lance")["state"]["shows"] == "explorer"
    lines = server.log.read_text().splitlines()
    assert [line for line in lines if TOKEN in line and "lance-explorer/socket" in line] == []
    assert not any("Traceback" in line for line in lines)
