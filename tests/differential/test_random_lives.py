"""Whatever is done to a table, in whatever order: what we say of it is what pylance reads.

``python -m tests.differential.random_lives`` lives many more lives, and makes a failure short.
"""

import pytest

from tests.differential.random_lives.life import live

LIVES = range(20)
STEPS = range(22)


@pytest.mark.parametrize("seed", LIVES)
def test_a_random_life_is_told_as_pylance_reads_it(seed):
    lived = live(seed, STEPS)
    wrong = "\n".join(f"{one.check} on {one.branch}: {one.words}" for one in lived.differences[:5])
    steps = "\n".join(f"{number}: {words}" for number, words in lived.steps)
    assert not lived.differences, f"seed {seed} ({lived.kind})\n{steps}\n{wrong}"
