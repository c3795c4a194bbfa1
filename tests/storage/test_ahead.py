"""Tasks are done several at a time where that is wanted, and their results come in order."""

from collections.abc import Callable, Iterator
from threading import Barrier, current_thread
from typing import Any

import pytest

from lance_explorer.storage import done_in_order

Task = tuple[int, Callable[[], int]]


def test_results_come_in_the_order_of_the_tasks():
    tasks = [(1, lambda number=number: number) for number in range(100)]
    for most in (1, 7):
        assert list(done_in_order(tasks, most, 100)) == [*range(100)]


def test_several_are_under_way_at_a_time():
    together = Barrier(4)
    assert sorted(done_in_order([(1, together.wait)] * 8, 4, 100)) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_one_at_a_time_is_done_by_the_caller_when_it_is_asked_for():
    begun = list[int]()

    def tasks() -> Iterator[Task]:
        for number in range(3):
            begun.append(number)
            yield 1, lambda: int(current_thread() is caller)

    caller = current_thread()
    results = done_in_order(tasks(), 1, 100)
    assert (next(results), begun) == (1, [0])
    assert (next(results), begun) == (1, [0, 1])


@pytest.mark.parametrize(("size", "begun"), [(1, 8), (30, 4), (1000, 1)])
def test_no_more_are_begun_than_fit(size, begun):
    drawn = list[int]()

    def tasks() -> Iterator[Task]:
        for number in range(20):
            drawn.append(number)
            yield size, lambda: 0

    results: Any = done_in_order(tasks(), 8, 100)
    next(results)
    assert len(drawn) == begun
    results.close()


def test_a_task_that_fails_ends_it():
    def fail() -> int:
        raise FileNotFoundError("gone")

    results = done_in_order([(1, lambda: 1), (1, fail), (1, lambda: 2)], 2, 100)
    assert next(results) == 1
    with pytest.raises(FileNotFoundError, match="gone"):
        next(results)
