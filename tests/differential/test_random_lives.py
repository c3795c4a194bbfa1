"""Whatever is done to a table, in whatever order: what we say of it is what pylance reads.

``python -m tests.differential.random_lives`` lives many more lives, and makes a failure short.
"""

import pytest

from tests.differential.random_lives.life import BEYOND, LOSSES, WITH_PLANS, Lived, live


@pytest.mark.drawn(3)
def test_a_random_life_is_told_as_pylance_reads_it(seed):
    _assert_agrees(live(seed, range(22)), seed)


@pytest.mark.drawn(2)
def test_a_random_life_goes_on_where_stable_row_ids_are_turned_on(seed):
    _assert_agrees(live(seed, range(24), turn_on=11), seed)


@pytest.mark.drawn(2)
def test_a_random_life_in_which_commits_are_undone_by_plans(seed):
    _assert_agrees(live(seed, range(22), weights=WITH_PLANS), seed)


LOOKS_LIKE_A_COMPACTION = [107, 117, 129, 138, 154]
"""Lives in which an overwrite that is lost looks like a compaction."""


WERE_WRONG = [
    (1150745597, [4, 5, 6, 7, 8, 9, 15, 18, 19, 21], None),
    (2747345861, [7, 9, 10, 11, 12, 13, 14, 15, 18, 19, 20, 24, 26, 27], 11),
    (173302443, [7, 11, 21, 22, 23], 11),
]
"""Lives of which answers were wrong: the seed, the steps that matter, and when row IDs came."""


@pytest.mark.parametrize(("seed", "steps", "turn_on"), WERE_WRONG)
def test_a_life_that_was_told_wrongly_once_is_told_rightly(seed, steps, turn_on):
    _assert_agrees(live(seed, steps, turn_on=turn_on), seed)


@pytest.mark.drawn(2)
def test_nothing_false_is_certain_where_overwrites_are_lost(seed):
    _assert_agrees(live(seed, range(24), ["certainty"], weights=LOSSES), seed)


@pytest.mark.parametrize("seed", LOOKS_LIKE_A_COMPACTION)
def test_nothing_false_is_certain_where_a_lost_overwrite_looks_like_a_compaction(seed):
    _assert_agrees(live(seed, range(24), ["certainty"], weights=LOSSES), seed)


@pytest.mark.drawn(2)
def test_nothing_false_is_certain_after_commits_beyond_the_contract(seed):
    _assert_agrees(live(seed, range(24), ["certainty"], weights=BEYOND), seed)


def _assert_agrees(lived: Lived, seed: int) -> None:
    wrong = "\n".join(f"{one.check} on {one.branch}: {one.words}" for one in lived.differences[:5])
    taken = "\n".join(f"{number}: {words}" for number, words in lived.steps)
    assert not lived.differences, f"seed {seed} ({lived.kind})\n{taken}\n{wrong}"
