"""Whatever is done to a table, in whatever order: what we say of it is what pylance reads.

``python -m tests.differential.random_lives`` lives many more lives, and makes a failure short.
"""

import pytest

from tests.differential.random_lives.life import LOSSES, Lived, live

LIVES = [(seed, range(22)) for seed in range(20)]
ONCE_WRONG = [
    pytest.param(99233, range(27), id="a detached upsert, restored in a table without row IDs"),
]


IDS_TURNED_ON = [*range(6), 7]


@pytest.mark.parametrize(("seed", "steps"), [*LIVES, *ONCE_WRONG])
def test_a_random_life_is_told_as_pylance_reads_it(seed, steps):
    _assert_agrees(live(seed, steps), seed)


@pytest.mark.parametrize("seed", IDS_TURNED_ON)
def test_a_random_life_goes_on_where_stable_row_ids_are_turned_on(seed):
    _assert_agrees(live(seed, range(24), turn_on=11), seed)


LOST_OVERWRITES = [100, 107, 117, 129, 138, 154]
"""In all but the first an overwrite that is lost looks like a compaction."""


@pytest.mark.parametrize("seed", LOST_OVERWRITES)
def test_nothing_false_is_certain_where_overwrites_are_lost(seed):
    _assert_agrees(live(seed, range(24), ["certainty"], weights=LOSSES), seed)


def _assert_agrees(lived: Lived, seed: int) -> None:
    wrong = "\n".join(f"{one.check} on {one.branch}: {one.words}" for one in lived.differences[:5])
    taken = "\n".join(f"{number}: {words}" for number, words in lived.steps)
    assert not lived.differences, f"seed {seed} ({lived.kind})\n{taken}\n{wrong}"
