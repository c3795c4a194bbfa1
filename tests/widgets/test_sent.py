"""What the browser's half is compared with is what Python sends today: each kind of message."""

import pytest

from tests.widgets.sent import WRITTEN, Recorder, kinds, questions, record


@pytest.fixture(scope="module")
def recorder() -> Recorder:
    return record()


@pytest.mark.slow
def test_what_the_browser_reads_is_not_stale(recorder):
    assert WRITTEN.read_text(encoding="utf-8") == recorder.text(), (
        "run python -m tests.widgets.sent"
    )


@pytest.mark.slow
def test_there_is_a_record_of_each_kind_of_message(recorder):
    assert kinds() <= recorder.seen


@pytest.mark.slow
def test_there_is_a_record_of_each_question_and_of_all_news(recorder):
    assert questions() <= recorder.lines.keys()
