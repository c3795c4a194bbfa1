"""Plans of random commits of random lives, carried out on copies and read by pylance.

``python -m tests.differential.random_lives --check plans --check merge_plans`` does many more.
"""

import pytest

from tests.differential.random_lives.life import live


@pytest.mark.drawn(4)
def test_what_a_plan_promises_is_what_pylance_reads(seed: int) -> None:
    lived = live(seed, range(24), ["plans", "merge_plans"])
    wrong = [f"{one.check} on {one.branch}: {one.words}" for one in lived.differences[:5]]
    assert not wrong, f"seed {seed} ({lived.kind}): {lived.steps}"
