"""Diffs across branches: what two branches gave out apart is never matched."""

from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer import open_table
from lance_explorer.table import Table

KINDS = pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])


def people(*ids: int, score: int = 0) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "score": [score] * len(ids)})


def made(path: Path, stable: bool = True) -> Any:
    """Write a table of three versions: rows 1 to 4, 5 and 6, and without 2."""
    table = lance.write_dataset(people(1, 2, 3, 4), path, enable_stable_row_ids=stable)
    table.insert(people(5, 6))
    table.delete("id = 2")
    return table


def classes(table: Table, a: Any, b: Any) -> dict[str, int]:
    [counts] = table.diff(a, b).summary().to_dicts()
    names = ("inserted", "deleted", "updated", "column_rewritten", "column_added", "moved")
    return {name: counts[name] for name in names if counts[name]} | {"same": counts["unchanged"]}


def test_equal_row_id_address_and_last_updated_are_not_equal_values(tmp_path):
    main = made(tmp_path)
    dev = main.create_branch("dev", 3)
    main.update({"score": "1"}, "id = 3")
    dev.update({"score": "2"}, "id = 3")
    table = open_table(tmp_path)
    columns = ["_rowid", "_rowaddr", "_row_last_updated_at_version"]
    both = [table.at(ref).row_ids().select(columns) for ref in (4, ("dev", 4))]
    assert both[0].equals(both[1])

    assert classes(table, 4, ("dev", 4)) == {"updated": 1, "same": 4}
    rows = table.diff(4, ("dev", 4)).rows(images="both")
    assert rows.select("_change_type", "id", "score", "changed_columns").rows() == [
        ("update_preimage", 3, 1, ["score"]),
        ("update_postimage", 3, 2, ["score"]),
    ]


def test_rows_with_one_row_id_that_two_branches_gave_out_are_two_rows(tmp_path):
    main = made(tmp_path)
    dev = main.create_branch("dev", 3)
    main.insert(people(7, 8))
    dev.insert(people(7, 9))
    table = open_table(tmp_path)
    rows = table.diff(4, ("dev", 4)).rows(images="both")
    assert rows.select("_change_type", "_rowid", "id").rows() == [
        ("delete", 6, 7),
        ("delete", 7, 8),
        ("insert", 6, 7),
        ("insert", 7, 9),
    ]


@KINDS
def test_rows_that_both_branches_moved_to_one_address_are_where_they_were(tmp_path, stable):
    main = made(tmp_path, stable)
    dev = main.create_branch("dev", 3)
    for branch in (main, dev):
        branch.optimize.compact_files()
    dev.delete("id = 3")
    table = open_table(tmp_path)
    assert classes(table, 3, main.version) == {"moved": 5, "same": 0}
    assert classes(table, main.version, ("dev", dev.version)) == {"deleted": 1, "same": 4}
    dev.optimize.compact_files(materialize_deletions_threshold=0.0)
    assert classes(table.refresh(), main.version, ("dev", dev.version)) == {
        "deleted": 1,
        "moved": 4,
        "same": 0,
    }


@KINDS
def test_either_order_tells_the_same(tmp_path, stable):
    main = made(tmp_path, stable)
    dev = main.create_branch("dev", 3)
    main.delete("id = 1")
    main.insert(people(7))
    dev.delete("id = 5")
    dev.update({"score": "2"}, "id = 3")
    table = open_table(tmp_path)
    assert classes(table, 5, ("dev", 5)) == {"inserted": 1, "deleted": 2, "updated": 1, "same": 2}
    assert classes(table, ("dev", 5), 5) == {"inserted": 2, "deleted": 1, "updated": 1, "same": 2}


@KINDS
def test_a_row_deleted_on_both_branches_is_no_change(tmp_path, stable):
    main = made(tmp_path, stable)
    dev = main.create_branch("dev", 3)
    main.delete("id = 1")
    dev.delete("id = 1")
    assert classes(open_table(tmp_path), 4, ("dev", 4)) == {"same": 4}


@KINDS
def test_rows_that_one_branch_compacted_have_moved(tmp_path, stable):
    main = made(tmp_path, stable)
    main.create_branch("dev", 3)
    main.optimize.compact_files()
    table = open_table(tmp_path)
    latest = table.latest.version
    assert classes(table, ("dev", 3), latest) == {"moved": 5, "same": 0}
    assert table.diff(latest, ("dev", 3)).same_content()


@KINDS
def test_the_fork_is_identical_on_both_branches(tmp_path, stable):
    made(tmp_path, stable).create_branch("dev", 3)
    table = open_table(tmp_path)
    diff = table.diff(3, ("dev", 3))
    assert diff.is_identical
    assert diff.same_content().method == "metadata"
    assert classes(table, 3, ("dev", 3)) == {"same": 5}


@KINDS
def test_columns_that_two_branches_added_under_one_name_are_two_columns(tmp_path, stable):
    main = made(tmp_path, stable)
    dev = main.create_branch("dev", 3)
    main.add_columns({"rank": "id + 1"})
    dev.add_columns({"rank": "id + 2"})
    table = open_table(tmp_path)
    assert classes(table, 4, ("dev", 4)) == {"column_rewritten": 5, "same": 0}
    diff = table.diff(4, ("dev", 4))
    assert diff.schema().select("change", "path_after").rows() == [("replaced", "rank")]
    assert diff.rows(images="both")["changed_columns"].to_list() == [["rank"]] * 10
    assert diff.same_content().columns == ("rank",)


@pytest.fixture(scope="module")
def family(tmp_path_factory) -> Table:
    """``dev`` of main@3, ``sub`` of dev@4, ``old`` of main@2, all of which went on."""
    path = tmp_path_factory.mktemp("family") / "family.lance"
    main = made(path)
    dev = main.create_branch("dev", 3)
    dev.insert(people(10))
    sub = dev.create_branch("sub", ("dev", 4))
    sub.insert(people(20))
    sub.insert(people(21))
    dev.insert(people(11))
    main.insert(people(30))
    main.insert(people(31))
    main.create_branch("old", 2)
    return open_table(path)


@pytest.mark.parametrize(
    ("a", "b", "common"),
    [
        (5, ("dev", 5), (None, 3)),
        (("sub", 6), ("dev", 5), ("dev", 4)),
        (("sub", 6), ("old", 2), (None, 2)),
        (("sub", 6), 5, (None, 3)),
        (("sub", 6), 1, (None, 1)),
        (("sub", 5), ("sub", 6), ("sub", 5)),
        (4, 2, (None, 2)),
    ],
)
def test_two_versions_come_from_the_last_one_that_both_have(family, a, b, common):
    assert family.diff(a, b).common_ancestor == common
    assert family.diff(b, a).common_ancestor == common


def test_a_branch_of_a_branch_goes_back_over_both(family):
    assert classes(family, 5, ("sub", 6)) == {"inserted": 3, "deleted": 2, "same": 5}
    assert classes(family, 1, ("sub", 6)) == {"inserted": 5, "deleted": 1, "same": 3}
    assert classes(family, ("sub", 6), ("dev", 5)) == {"inserted": 1, "deleted": 2, "same": 6}


def test_the_commits_of_both_sides_are_in_order(family):
    commits = family.diff(5, ("sub", 6)).commits()
    assert commits.select("side", "branch", "version").rows() == [
        ("first", None, 5),
        ("first", None, 4),
        ("second", "dev", 4),
        ("second", "sub", 5),
        ("second", "sub", 6),
    ]


def test_row_timestamps_are_those_of_the_commits_that_wrote_them(family):
    rows = family.diff(5, ("sub", 6)).rows()
    added = rows.filter(_change_type="insert").select("_commit_version", "_commit_timestamp")
    times = [family.at(ref).timestamp for ref in (("dev", 4), ("sub", 5), ("sub", 6))]
    assert added.rows() == list(zip((4, 5, 6), times, strict=True))


def test_a_branch_that_was_made_again_has_nothing_of_the_old_one(tmp_path):
    main = made(tmp_path)
    main.create_branch("dev", 3).insert(people(7))
    table = open_table(tmp_path)
    assert table.diff(("dev", 4), 2).common_ancestor == (None, 2)
    main.branches.delete("dev")
    main.create_branch("dev", 1).insert(people(8))
    table.refresh()
    assert table.diff(("dev", 2), 3).common_ancestor == (None, 1)
    assert classes(table, 3, ("dev", 2)) == {"inserted": 2, "deleted": 2, "same": 3}


def test_the_main_branch_can_be_named_on_a_branch(family):
    dev = open_table(family.uri, branch="dev")
    assert classes(dev, ("main", 5), 5) == classes(family, 5, ("dev", 5))


# ----------------------------------------------------------------------- where versions are lost


def plain_branch(path: Path) -> tuple[Any, Any]:
    """Return the main branch of a table without stable row IDs, and a branch of its version 3."""
    main = made(path, stable=False)
    return main, main.create_branch("dev", 3)


def clean_up(branch: Any, *versions: int) -> None:
    branch.cleanup_old_versions(versions=[*versions], error_if_tagged_old_versions=False)


def doubts(table: Table, a: Any, b: Any) -> tuple[int, str]:
    found: tuple[int, str] = table.diff(a, b).summary().select("uncertain", "evidence").row(0)
    return found


def test_without_its_fork_a_branch_still_has_what_common_files_prove(tmp_path):
    main, dev = plain_branch(tmp_path)
    dev.delete("id = 5")
    dev.delete("id = 1")
    main.insert(people(7))
    clean_up(dev, 3)
    table = open_table(tmp_path)
    assert classes(table, 3, ("dev", 5)) == {"deleted": 2, "same": 3}
    assert classes(table, 4, ("dev", 5)) == {"deleted": 3, "same": 3}
    assert classes(table, ("dev", 5), 4) == {"inserted": 3, "same": 3}
    assert doubts(table, 4, ("dev", 5)) == (0, "recorded")
    rows = table.diff(4, ("dev", 5)).rows(images="both")
    assert rows.select("_change_type", "id").rows() == [("delete", n) for n in (1, 5, 7)]


def test_where_its_fork_is_lost_a_branch_tells_what_it_began_with(tmp_path):
    main, dev = plain_branch(tmp_path)
    dev.delete("id = 5")
    main.insert(people(7))
    clean_up(main, 3)
    table = open_table(tmp_path)
    assert classes(table, 4, ("dev", 4)) == {"deleted": 2, "same": 4}
    assert classes(table, ("dev", 4), 4) == {"inserted": 2, "same": 4}


def test_rows_that_lost_versions_of_a_branch_wrote_may_be_those_that_went(tmp_path):
    _, dev = plain_branch(tmp_path)
    dev.update({"score": "1"}, "id = 3")
    dev.insert(people(7))
    dev.delete("id = 1")
    clean_up(dev, 3, 4)
    table = open_table(tmp_path)
    assert classes(table, 3, ("dev", 6)) == {"inserted": 2, "deleted": 2, "same": 3}
    assert doubts(table, 3, ("dev", 6)) == (2, "lost")
    rows = table.diff(3, ("dev", 6)).rows(images="after", key="id")
    assert rows.select("_event", "id").rows() == [
        ("deleted", None),
        ("updated", 3),
        ("inserted", 7),
    ]


def test_an_append_that_is_kept_is_new_though_all_before_it_is_lost(tmp_path):
    _, dev = plain_branch(tmp_path)
    dev.insert(people(7))
    clean_up(dev, 3)
    table = open_table(tmp_path)
    assert classes(table, 3, ("dev", 4)) == {"inserted": 1, "same": 5}
    assert doubts(table, 3, ("dev", 4)) == (0, "recorded")


def test_columns_that_lost_versions_of_a_branch_wrote_are_told_by_files(tmp_path):
    _, dev = plain_branch(tmp_path)
    dev.add_columns({"rank": "id + 1"})
    dev.delete("id = 1")
    dev.alter_columns({"path": "score", "data_type": pa.int32()})
    dev.delete("id = 5")
    clean_up(dev, 3, 4)
    table = open_table(tmp_path)
    assert classes(table, 3, ("dev", 5)) == {"deleted": 1, "column_added": 4, "same": 0}
    clean_up(dev, 5, 6)
    table = open_table(tmp_path)
    assert classes(table, 3, ("dev", 7)) == {"deleted": 2, "column_rewritten": 3, "same": 0}
    assert doubts(table, 3, ("dev", 7)) == (3, "inferred")


def test_a_branch_of_a_branch_is_matched_over_the_lost_one(tmp_path):
    _, dev = plain_branch(tmp_path)
    dev.delete("id = 1")
    sub = dev.create_branch("sub", ("dev", 4))
    sub.delete("id = 5")
    sub.delete("id = 6")
    clean_up(sub, 4)
    table = open_table(tmp_path)
    assert classes(table, 3, ("sub", 6)) == {"deleted": 3, "same": 2}


def test_a_write_in_place_is_told_though_a_later_commit_adds_a_column(tmp_path):
    main = made(tmp_path)
    main.add_columns({"rank": "id + 1"})
    dev = main.create_branch("dev", 4)
    fragment = dev.get_fragments()[0]
    changed = pa.table({"id": [3], "rank": pa.array([70], pa.int64())})
    updated = fragment.update_columns(changed, left_on="id", right_on="id")[0]
    update = lance.LanceOperation.Update(
        removed_fragment_ids=[], updated_fragments=[updated], new_fragments=[]
    )
    lance.LanceDataset.commit(dev, update, read_version=dev.version)
    dev.checkout_latest()
    dev.add_columns({"other": "id + 2"})
    clean_up(dev, 4)
    table = open_table(tmp_path)
    rows = table.diff(4, ("dev", 6)).rows(include="column_added")
    events = dict(rows.select("id", "_event").iter_rows())
    assert events[3] == "column_rewritten"
    back = table.diff(("dev", 6), 4).rows(include="column_added")
    assert dict(back.select("id", "_event").iter_rows())[3] == "column_rewritten"


@pytest.mark.parametrize(
    ("lost", "event"),
    [([3], "column_rewritten"), ([3, 4], "column_rewritten"), ([3, 4, 5], "moved")],
)
def test_rows_that_moved_on_a_branch_may_have_been_written_before(tmp_path, lost, event):
    """The compaction hides in which files they were written."""
    main = made(tmp_path)
    dev = main.create_branch("dev", 3)
    changed = pa.table({"id": [3], "score": pa.array([70], pa.int64())})
    updated = dev.get_fragments()[0].update_columns(changed, left_on="id", right_on="id")[0]
    update = lance.LanceOperation.Update(
        removed_fragment_ids=[], updated_fragments=[updated], new_fragments=[]
    )
    lance.LanceDataset.commit(dev, update, read_version=dev.version)
    dev.checkout_latest()
    dev.insert(people(7))
    dev.optimize.compact_files()
    dev.checkout_latest()
    dev.insert(people(8))
    clean_up(dev, *lost, *([6] if 5 in lost else []))
    rows = open_table(tmp_path).diff(3, ("dev", dev.latest_version)).rows(include="moved")
    [told] = rows.filter(pl.col("id") == 3).select("_event", "is_uncertain").rows()
    assert told == (event, True)
