"""``lance-explorer open`` as a browser, and as somebody who should not be there, sees it."""

import json
import os
import signal
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from tests.damage import make_killer
from tests.serving import PATIENCE, end, opened
from tests.synthetic import SyntheticTable


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    path = tmp_path_factory.mktemp("serving") / "two & <three>.lance"
    with opened(SyntheticTable(path).append().append().path, "--view", "time_travel") as (at, _):
        yield at


def get(address: str, path: str, **headers: str) -> tuple[int, dict[str, str], str]:
    """Return the status, the headers and the text of an answer."""
    place = urlsplit(address)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, text


def line(address: str, token: str | None = None, origin: str | None = None) -> ClientConnection:
    """Open the line of a page."""
    place = urlsplit(address)
    query = place.query if token is None else f"token={token}"
    ours: Any = origin or f"http://{place.netloc}"
    return connect(f"ws://{place.netloc}/socket?{query}", origin=ours, max_size=None)


def test_the_page_names_the_table_and_asks_for_nothing_from_elsewhere(address):
    status, headers, text = get(address, f"/?{urlsplit(address).query}")
    assert (status, headers["referrer-policy"]) == (200, "no-referrer")
    assert "<title>two &amp; &lt;three&gt;.lance</title>" in text
    assert "//" not in text.replace("<!doctype html>", "")
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    "path", ["/", "/page.js", "/explorer.js", "/?token=wrong", "/?token=%C3%A9"]
)
def test_nobody_gets_anything_without_the_token(address, path):
    assert get(address, path)[::2] == (
        403,
        "Open the address that lance-explorer printed: it has a token.",
    )


def test_another_name_for_this_machine_is_refused(address):
    query = urlsplit(address).query
    assert get(address, f"/?{query}", Host="evil.example")[0] == 403
    assert get(address, f"/?{query}", Origin="http://evil.example")[0] == 403


@pytest.mark.parametrize(("token", "origin"), [("wrong", None), (None, "http://evil.example")])
def test_nobody_else_may_speak(address, token, origin):
    with pytest.raises((InvalidStatus, ConnectionClosed)), line(address, token, origin) as page:
        page.recv(timeout=PATIENCE)


def test_a_page_gets_what_it_shows_and_what_it_asks_for(address):
    with line(address) as page:
        first = json.loads(page.recv(timeout=PATIENCE))
        assert first["state"]["shows"] == "explorer"
        [part] = first["state"]["parts"].values()
        assert (part["shows"], first["state"]["shared"]["version"]) == ("time_travel", "2")
        page.send(
            json.dumps({"kind": "history", "seq": 1, "asker": "me", "part": [part["number"]]})
        )
        answer = json.loads(page.recv(timeout=PATIENCE))
        while answer.get("content", {}).get("what") != "reply":
            answer = json.loads(page.recv(timeout=PATIENCE))
        assert answer["content"]["content"]["operations"] == ["Overwrite", "Append"]
        buffers = [page.recv(timeout=PATIENCE) for _ in range(answer["num_buffers"])]
        assert buffers[0] == (1).to_bytes(8, "little") + (2).to_bytes(8, "little")


def answer_of(page: ClientConnection, question: dict[str, Any]) -> dict[str, Any]:
    """Ask a question over the line of a page; return its answer, of whatever kind."""
    page.send(json.dumps({"asker": "me", **question}))
    while True:
        text = page.recv(timeout=PATIENCE)
        content = json.loads(text).get("content", {}) if isinstance(text, str) else {}
        is_answer = content.get("what") in ("reply", "error")
        if is_answer and content.get("seq") == question["seq"]:
            return content


def test_the_server_goes_on_when_a_data_file_ends_the_process_that_reads_it(tmp_path):
    path = make_killer(tmp_path / "killer.lance")
    with opened(path, "--view", "time_travel") as (address, process), line(address) as page:
        first = json.loads(page.recv(timeout=PATIENCE))
        [part] = first["state"]["parts"].values()
        for seq in (1, 2):
            told = answer_of(page, {"kind": "search", "seq": seq, "arguments": {"text": "id = 5"}})
            assert "what was left out" in told["content"]["answer"]["sentence"]
        asked = {"kind": "history", "seq": 3, "part": [part["number"]]}
        assert answer_of(page, asked)["what"] == "reply"
        assert process.poll() is None


NOT_UNDERSTOOD: list[str | bytes] = ["{", "[1]", "null", b"\xff", b"{", "[" * 100_000]


def test_what_no_page_says_is_not_logged_with_the_token(tmp_path):
    path = SyntheticTable(tmp_path / "t.lance").append().path
    with opened(path) as (address, process):
        for said in NOT_UNDERSTOOD:
            with line(address) as page:
                page.recv(timeout=PATIENCE)
                page.send(said)
                with pytest.raises(ConnectionClosed) as closed:
                    page.recv(timeout=PATIENCE)
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 1007
        with line(address) as page:
            page.recv(timeout=PATIENCE)
            page.send('{"kind": 5}')
        with line(address) as page:
            page.recv(timeout=PATIENCE)
        code, printed = end(process)
    assert urlsplit(address).query.removeprefix("token=") not in printed
    assert code == 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_browser_is_given_a_file_that_only_its_owner_can_read(tmp_path, how):
    path = SyntheticTable(tmp_path / "t.lance").append().path
    given = tmp_path / "given"
    os.mkfifo(given)
    browser = tmp_path / "browser"
    browser.write_text(
        '#!/bin/sh\nfile="${1#file://}"\n'
        f'{{ echo "$1"; stat -c %a "$file"; cat "$file"; }} > {given}\n'
    )
    browser.chmod(0o700)
    with opened(path, browser=f"{browser} %s &") as (address, process):
        command_line, mode, page = given.read_text().split("\n", 2)
        assert mode == "600"
        assert urlsplit(address).query.removeprefix("token=") not in command_line
        assert f"url={address}" in page
        process.send_signal(how)
        process.wait(PATIENCE)
    assert not Path(command_line.removeprefix("file://")).exists()


@pytest.mark.slow
def test_ctrl_c_ends_it_also_while_a_page_is_open(tmp_path):
    path = SyntheticTable(tmp_path / "t.lance").append().path
    with opened(path) as (address, process), line(address) as page:
        page.recv(timeout=PATIENCE)
        assert end(process) == (0, "")
