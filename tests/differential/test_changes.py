"""Net changes and the change feed of tables that pylance wrote, beside comparing its scans."""

import pytest

from lance_explorer import open_table
from tests.differential.changes_agreement import (
    Scans,
    assert_all_agree,
    assert_folds_to_net,
    assert_same_by_key,
    assert_same_commits,
    assert_same_net,
    kept_pairs,
)
from tests.differential.twin import Keys, Twin


def test_net_changes_are_those_between_full_scans(twin_of_one_format):
    table, scans = open_table(twin_of_one_format.uri, twin_of_one_format.branch), Scans()
    for begin, end in kept_pairs(table):
        assert_same_net(table, scans, begin, end)


def test_a_key_tells_rows_apart(twin_of_one_format):
    table, scans = open_table(twin_of_one_format.uri, twin_of_one_format.branch), Scans()
    for begin in [0, *table.versions()["version"].to_list()]:
        assert_same_by_key(table, scans, begin, table.latest.version)


def test_each_commit_did_what_differs_from_the_version_before(twin_of_one_format):
    assert_same_commits(open_table(twin_of_one_format.uri, twin_of_one_format.branch))


def test_the_feed_folds_to_the_net_changes(twin_of_one_format):
    table, scans = open_table(twin_of_one_format.uri, twin_of_one_format.branch), Scans()
    kept, end = table.versions()["version"].to_list(), table.latest.version
    for begin in [0, *kept[::3]]:
        if {*range(begin + 1, end + 1)} <= {*kept}:
            assert_folds_to_net(table, scans, begin, end)


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_column_with_the_field_id_of_an_overwritten_one_has_its_own_values(stable, tmp_path):
    twin = Twin.create(str(tmp_path / "t.lance"), 5, stable_row_ids=stable)
    twin.add_column("one")
    twin.overwrite(2)
    twin.add_column("other")
    assert_all_agree(open_table(twin.uri))


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_rows_written_before_their_column_was_dropped_fold_to_rows_without_it(stable, tmp_path):
    twin = Twin.create(str(tmp_path / "t.lance"), 5, stable_row_ids=stable)
    twin.add_column("one")
    twin.update(Keys(2, 0))
    twin.drop_column("one")
    assert_all_agree(open_table(twin.uri))


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_restores_of_lost_versions_wrote_no_column_that_both_have(stable, tmp_path):
    twin = Twin.create(str(tmp_path / "t.lance"), 5, stable_row_ids=stable)
    twin.add_column("one")
    twin.append(1)
    twin.restore(2)
    twin.restore(3)
    twin.clean_up(versions=[2, 3])
    assert_all_agree(open_table(twin.uri))
