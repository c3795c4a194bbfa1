"""Work beside the widgets; events hold the jobs where a test wants them."""

import threading
from functools import partial

import pytest

from lance_explorer.widgets.worker import Cancelled, Job, Worker

PATIENCE = 60


def test_the_newest_of_a_kind_cancels_those_that_run():
    worker, started, go_on = Worker(), threading.Event(), threading.Event()
    ended: list[object] = []

    def slow(job: Job) -> None:
        started.set()
        go_on.wait(PATIENCE)
        ended.append(job.is_cancelled)

    worker.submit("page", slow)
    started.wait(PATIENCE)
    worker.submit("page", lambda job: ended.append("new"))
    go_on.set()
    assert worker.wait(PATIENCE)
    assert sorted(map(str, ended)) == ["True", "new"]


def test_of_those_that_wait_only_the_newest_runs():
    worker, go_on, begun = Worker(), threading.Event(), threading.Semaphore(0)
    ran: list[int] = []

    def hold(_: Job) -> None:
        begun.release()
        go_on.wait(PATIENCE)

    for _ in range(2):  # as many as run at once
        worker.submit("page", hold)
        begun.acquire(timeout=PATIENCE)
    for number in range(5):
        worker.submit("page", partial(lambda number, job: ran.append(number), number))
    go_on.set()
    assert worker.wait(PATIENCE)
    assert ran == [4]


def test_kinds_do_not_wait_for_each_other():
    worker, go_on, done = Worker(), threading.Event(), threading.Event()

    def hold(_: Job) -> None:
        go_on.wait(PATIENCE)

    for _ in range(3):
        worker.submit("values", hold)
    worker.submit("words", lambda job: done.set())
    assert done.wait(PATIENCE)
    go_on.set()
    assert worker.wait(PATIENCE)


def test_a_cancelled_job_ends_at_its_next_check():
    job = Job("page", lambda job: None)
    job.check()
    job.cancel()
    with pytest.raises(Cancelled):
        job.check()


def test_what_takes_too_long_holds_up_nothing():
    worker, go_on, late, done = Worker(), threading.Event(), threading.Event(), threading.Event()

    def hold(_: Job) -> None:
        go_on.wait(PATIENCE)

    try:
        for _ in range(2):  # as many as run at once
            late.clear()
            worker.submit("page", hold, 0.05, late.set)
            assert late.wait(PATIENCE)
        worker.submit("page", lambda _: done.set(), 0.05)
        assert done.wait(PATIENCE)
        assert worker.wait(PATIENCE)
    finally:
        go_on.set()
