"""What a server does for pages, beside its loop."""

import asyncio
import threading

import pytest

from lance_explorer.widgets.page_messages import Hands
from lance_explorer.widgets.parts import parts_of
from lance_explorer.widgets.view import Request, View, answers

PATIENCE = 60


class Slow(View):
    """A view with a question that never ends, until a test lets it."""

    _module = "slow"

    def __init__(self, go_on: threading.Event) -> None:
        super().__init__()
        self.go_on = go_on

    @answers("wait")
    def _wait(self, _: Request) -> dict[str, object]:
        self.go_on.wait(PATIENCE)
        return {}

    @answers("wait_beside", in_background=True)
    def _wait_beside(self, _: Request) -> dict[str, object]:
        self.go_on.wait(PATIENCE)
        return {}

    @answers("panic", in_background=True)
    def _panic(self, _: Request) -> dict[str, object]:
        raise type("PanicException", (BaseException,), {})("out of range")

    @answers("quick")
    def _quick(self, _: Request) -> dict[str, object]:
        return {"quick": True}


def test_work_that_never_ends_holds_up_no_other():
    go_on = threading.Event()

    async def work() -> None:
        hands = Hands(0.05)
        with pytest.raises(TimeoutError):
            await hands.do(lambda: go_on.wait(PATIENCE))
        assert await hands.do(lambda: 7) == 7

    asyncio.run(work())
    go_on.set()


@pytest.mark.parametrize("kind", ["wait", "wait_beside", "panic"])
def test_a_question_that_never_ends_or_panics_is_answered_and_the_next_one_too(kind):
    go_on, heard = threading.Event(), list[dict[str, object]]()
    changed = threading.Condition()

    def send(data, _buffers) -> None:
        with changed:
            heard.append(data.get("content"))
            changed.notify_all()

    def is_told(seq: int, what: str) -> bool:
        return any(one and (one["seq"], one["what"]) == (seq, what) for one in heard)

    with parts_of(send):
        view = Slow(go_on)
    view.state.time_limit = 0.05

    async def ask() -> None:
        hands = Hands(0.05)
        for seq, question in enumerate([kind, kind, kind, "quick"]):
            await hands.hear(view, {"kind": question, "seq": seq, "asker": None})

    asyncio.run(ask())
    with changed:
        assert changed.wait_for(lambda: is_told(2, "error"), PATIENCE)
        assert is_told(3, "reply")
    go_on.set()
    view.rest()
    view.close()
