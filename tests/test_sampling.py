"""The sample of stored tables covers what it is drawn from, and is the same for the same seed."""

import pytest

from tests.sampling import DATA, chosen_tables, covering_sample, stored_tables

TABLES = stored_tables()
SEEDS = [f"seed {number}" for number in range(20)]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_scenario_and_every_release_is_in_a_sample(seed):
    sample = covering_sample(TABLES, seed)
    assert {table.scenario for table in sample} == {table.scenario for table in TABLES}
    assert {table.release for table in sample} == {table.release for table in TABLES}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sample_has_little_more_than_one_table_of_a_scenario(seed):
    scenarios = {table.scenario for table in TABLES}
    releases = {table.release for table in TABLES}
    assert len(covering_sample(TABLES, seed)) < len(scenarios) + len(releases)


def test_a_seed_gives_the_same_sample_in_any_order_of_the_tables():
    assert covering_sample(TABLES, "one") == covering_sample(TABLES[::-1], "one")


def test_samples_of_several_seeds_reach_every_table():
    drawn = set().union(*(covering_sample(TABLES, f"{number}") for number in range(300)))
    assert drawn == {*TABLES}


def test_a_table_is_chosen_by_its_name():
    [table] = chosen_tables("14.0.2/branches", "any seed")
    assert table.root == DATA / "14.0.2" / "branches.lance"
    assert chosen_tables("14.0.2/nothing", "any seed") == []
