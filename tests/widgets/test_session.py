"""What a server does for pages, beside its loop."""

import asyncio
import json
import threading
from typing import Any

import pytest

from lance_explorer.widgets.messages.shared import Busy
from lance_explorer.widgets.session import Session, beside
from lance_explorer.widgets.view import Request, View, answers

PATIENCE = 60


class Slow(View):
    """A view with a question that never ends, until a test lets it."""

    _module = "slow"

    def __init__(self, go_on: threading.Event) -> None:
        super().__init__()
        self.go_on = go_on

    @answers("wait")
    def _wait(self, _: Request) -> None:
        self.go_on.wait(PATIENCE)

    @answers("wait_beside", in_background=True)
    def _wait_beside(self, _: Request) -> None:
        self.go_on.wait(PATIENCE)

    @answers("panic", in_background=True)
    def _panic(self, _: Request) -> None:
        raise type("PanicException", (BaseException,), {})("out of range")

    @answers("quick")
    def _quick(self, _: Request) -> Busy:
        return Busy("quick")


def test_work_that_never_ends_holds_up_no_other():
    go_on = threading.Event()

    async def work() -> None:
        with pytest.raises(TimeoutError):
            await beside(lambda: go_on.wait(PATIENCE), 0.05)
        assert await beside(lambda: 7, PATIENCE) == 7

    asyncio.run(work())
    go_on.set()


async def told(session: Session, *said: str, until: int) -> list[dict[str, Any]]:
    """Say something to a view; return all that it tells a page until a question is answered."""
    heard, answered = list[dict[str, Any]](), asyncio.Event()

    async def send(part: str | bytes) -> None:
        content = json.loads(part).get("content", {})
        heard.append(content)
        if content.get("seq") == until and content["what"] == "reply":
            answered.set()

    showing = asyncio.create_task(session.show(send))
    await asyncio.sleep(0)  # a page asks once it has its traits
    for one in said:
        assert await session.hear(one)
    async with asyncio.timeout(PATIENCE):
        await answered.wait()
    showing.cancel()
    return heard


@pytest.mark.parametrize("kind", ["wait", "wait_beside", "panic"])
def test_a_question_that_never_ends_or_panics_is_answered_and_the_next_one_too(kind):
    go_on = threading.Event()
    session = Session(lambda: Slow(go_on), 0.05)
    asked = [
        json.dumps({"kind": one, "seq": seq}) for seq, one in enumerate([kind] * 3 + ["quick"])
    ]
    heard = asyncio.run(told(session, *asked, until=3))
    go_on.set()
    session.view.rest()
    session.close()
    answers = {(one.get("seq"), one.get("what")) for one in heard}
    assert (3, "reply") in answers
    if kind == "wait":
        assert (2, "error") in answers


@pytest.mark.parametrize(
    "said",
    [
        '{"kind": 5}',
        '{"seq": 1}',
        '{"kind": "quick", "seq": "x"}',
        '{"kind": "quick", "other": 1}',
        '{"kind": "quick", "arguments": []}',
        '{"kind": "quick", "arguments": {"more": 1}}',
        '{"kind": "state", "arguments": {"changes": {"version": "x"}}}',
        '{"kind": "state", "arguments": {"changes": {"version": -1}}}',
        '{"kind": "state", "arguments": {}}',
        '{"kind": "nothing"}',
    ],
)
def test_a_bad_question_is_told_and_ends_nothing(said):
    session = Session(lambda: Slow(threading.Event()))
    heard = asyncio.run(told(session, said, '{"kind": "quick", "seq": 7}', until=7))
    session.close()
    [error] = [one["content"] for one in heard if one.get("what") == "error"]
    assert error["message"]
    assert "details" not in error


@pytest.mark.parametrize("said", ["{", "[1]", "null", b"\xff", "", None, "[" * 100_000])
def test_what_is_no_question_at_all_is_refused(said):
    session = Session(lambda: Slow(threading.Event()))
    assert not asyncio.run(session.hear(said))
    session.close()
