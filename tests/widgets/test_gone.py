"""Views of a table that was dropped after they were made say that it is not there."""

import shutil
from typing import Any

import pytest

import lance_explorer as lx
from tests.synthetic import SyntheticTable

FIRST_QUESTIONS = {
    "TimeTravel": "history",
    "Overview": "story",
    "Changes": "history",
    "LineageGraph": "open",
    "SegmentEncodings": "history",
    "Indices": "history",
    "Disk": "history",
    "Log": "log",
}


@pytest.mark.parametrize("refresh", [False, True])
@pytest.mark.parametrize("name", FIRST_QUESTIONS)
def test_a_view_of_a_table_that_is_gone_says_so(tmp_path, name, refresh):
    class Listening(getattr(lx.widgets, name)):  # type: ignore[misc]
        """Keeps what it sends, since there is no browser."""

        def send(self, content, buffers=None):
            sent.append(content)

    written = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=3)
    sent: list[Any] = []
    widget = Listening(lx.open_table(written.path))
    shutil.rmtree(written.path)
    question = {
        "kind": FIRST_QUESTIONS[name],
        "seq": 1,
        "asker": "test",
        "arguments": {"refresh": refresh, **({"filters": {}} if name == "Log" else {})},
    }
    widget.receive(question)
    widget._worker.wait()
    [answer] = [message for message in sent if message["what"] in ("reply", "error")]
    assert (answer["what"], answer["content"]["title"]) == ("error", "Table not found")
    assert "no Lance table at" in answer["content"]["message"]
