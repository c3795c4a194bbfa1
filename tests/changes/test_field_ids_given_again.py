"""A field ID that was given to another column names two columns: what feeds say of both."""

from collections.abc import Callable
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer import Table

pytestmark = pytest.mark.sampled(3)

Step = Callable[[str], object]

ROWS = pa.table({"k": pa.array([0, 1], pa.int64()), "a": pa.array([10, 11], pa.int64())})

WRITTEN = ("update_preimage", "update_postimage")


def add(name: str, value: str) -> Step:
    return lambda path: lance.dataset(path).add_columns({name: value})


def drop(name: str) -> Step:
    return lambda path: lance.dataset(path).drop_columns([name])


def rename(old: str, new: str) -> Step:
    return lambda path: lance.dataset(path).alter_columns(cast(Any, {"path": old, "name": new}))


def cast_to(name: str, data_type: pa.DataType) -> Step:
    return lambda path: lance.dataset(path).alter_columns(
        cast(Any, {"path": name, "data_type": data_type})
    )


def restore(version: int) -> Step:
    return lambda path: lance.dataset(path, version=version).restore()


def update(name: str, value: str) -> Step:
    return lambda path: lance.dataset(path).update({name: value})


def overwrite(path: str) -> object:
    return lance.write_dataset(ROWS, path, mode="overwrite")


def written(path: Path, steps: list[Step], *, stable: bool) -> Table:
    """Return a table of two rows, after one commit for each step."""
    lance.write_dataset(ROWS, path, enable_stable_row_ids=stable)
    for step in steps:
        step(str(path))
    return lx.open_table(path)


# Each life ends with a column that has the field ID of another one, which is gone.
LIVES: dict[str, list[Step]] = {
    "dropped": [add("c", "k + 100"), drop("c"), add("d", "k + 5")],
    "dropped and renamed": [add("c", "k + 100"), drop("c"), add("d", "k + 5"), rename("d", "e")],
    "dropped, and the name is another's": [
        add("c", "k + 100"),
        drop("c"),
        add("d", "k + 5"),
        rename("a", "c"),
    ],
    "undone": [add("c", "k + 100"), restore(1), add("d", "k + 5")],
    "undone, and a cast": [add("c", "k + 100"), restore(1), cast_to("k", pa.int32())],
    "a cast, and back": [
        add("c", "k + 100"),
        restore(1),
        cast_to("k", pa.int32()),
        restore(2),
        update("a", "a + 1"),
    ],
    "dropped of those with one name": [
        add("c", "k + 100"),
        drop("c"),
        add("d", "k + 5"),
        rename("d", "c"),
        rename("c", "d"),
    ],
    "swapped, restored, and swapped back": [
        rename("k", "x"),
        rename("a", "k"),
        rename("x", "a"),
        restore(1),
        add("c", "k + 100"),
        drop("c"),
        add("d", "k + 5"),
    ],
}

# Which columns of a version, by their names there, are which ones of the last version, if that is
# not the one with their name, nor none that any version has.
OTHER_NAMES: dict[str, dict[tuple[int, str], str]] = {
    "dropped and renamed": {(4, "d"): "e"},
    "dropped, and the name is another's": {
        **{(version, "a"): "c" for version in range(1, 5)},
        (2, "c"): "c@1",
    },
    "dropped of those with one name": {(5, "c"): "d"},
    "swapped, restored, and swapped back": {
        (2, "x"): "k",
        (3, "x"): "k",
        (3, "k"): "a",
        (4, "k"): "a",
        (4, "a"): "k",
    },
}


def read(path: Path, life: str, version: int) -> dict[int, dict[str, Any]]:
    """Return the rows of a version as pylance reads them, by address, with the feed's names."""
    if not version:
        return {}
    dataset = lance.dataset(path, version=version)
    columns = [*dataset.schema.names, "_rowaddr"]
    names = OTHER_NAMES.get(life, {})
    return {
        row.pop("_rowaddr"): {names.get((version, n), n): value for n, value in row.items()}
        for row in dataset.to_table(columns=columns).to_pylist()
    }


def assert_values(
    feed: pl.DataFrame, columns: list[str], old: dict[int, Any], new: dict[int, Any]
) -> None:
    """Check each line beside what pylance reads, and which columns it says differ."""
    for line in feed.iter_rows(named=True):
        before = line["_change_type"] in ("delete", "update_preimage")
        place = line["_rowaddr_before"] if before else line["_rowaddr_after"]
        here = (old if before else new)[place]
        assert {name: line[name] for name in columns} == {n: here.get(n) for n in columns}
        if line["_change_type"] in WRITTEN:
            was, now = old[line["_rowaddr_before"]], new[line["_rowaddr_after"]]
            differ = {name for name in columns if was.get(name) != now.get(name)}
            assert {*line["changed_columns"]} == differ


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
@pytest.mark.parametrize("life", LIVES)
class TestValues:
    def test_net_values_are_those_of_the_column_that_is_named(self, tmp_path, life, stable):
        table = written(tmp_path / "t.lance", LIVES[life], stable=stable)
        last = len(LIVES[life]) + 1
        for begin in range(last):
            for key in (None, "k"):
                old, new = (read(tmp_path / "t.lance", life, v) for v in (begin, last))
                if key and life.startswith("swapped") and begin in (2, 3, 4):
                    continue  # another column is the key there
                changes = table.changes(
                    begin, images="both", key=key, include=("moved", "column_added")
                )
                feed = changes.to_polars()
                columns = feed.columns[feed.columns.index("changed_columns") + 1 :]
                assert {*columns} == {n for v in (old, new) for row in v.values() for n in row}
                assert_values(feed, columns, old, new)

    def test_so_are_those_of_each_commit(self, tmp_path, life, stable):
        table = written(tmp_path / "t.lance", LIVES[life], stable=stable)
        changes = table.changes(
            0, mode="per_commit", images="both", include=("moved", "column_added")
        )
        feed = changes.to_polars()
        columns = feed.columns[feed.columns.index("changed_columns") + 1 :]
        for version in range(1, len(LIVES[life]) + 2):
            old, new = (read(tmp_path / "t.lance", life, v) for v in (version - 1, version))
            assert_values(feed.filter(_commit_version=version), columns, old, new)


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_column_that_got_the_id_of_a_dropped_one_is_added(tmp_path, stable):
    table = written(tmp_path / "t.lance", LIVES["dropped"], stable=stable)
    feed = table.changes(2, 4, include="column_added").to_polars()
    assert feed.select("_event", "is_uncertain").unique().rows() == [("column_added", False)]
    assert table.changes(2, 4).summary()["column_rewritten"].to_list() == [0]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_rows_are_matched_by_a_column_whose_id_another_one_had(tmp_path, stable):
    table = written(tmp_path / "t.lance", LIVES["a cast, and back"], stable=stable)
    changes = table.changes(4, 5, key="k", images="both")
    assert changes.to_polars().filter(pl.col("_change_type").is_in(["insert", "delete"])).is_empty()


def test_a_table_that_was_refreshed_says_the_same_as_one_just_opened(tmp_path):
    path, swap = tmp_path / "t.lance", [rename("k", "x"), rename("a", "k"), rename("x", "a")]
    table = written(path, [], stable=False)
    for step in (overwrite, *swap, restore(1), *swap):
        table.versions()
        step(str(path))
        table.refresh()
    feeds = [
        one.changes(0, mode="per_commit", images="both", include="moved").to_polars()
        for one in (table, lx.open_table(path))
    ]
    assert feeds[0].equals(feeds[1])


def test_one_schema_before_and_after_an_overwrite_is_not_the_same_columns(tmp_path):
    path = tmp_path / "t.lance"
    swap = [rename("k", "x"), rename("a", "k"), rename("x", "a")]
    table = written(path, [overwrite, *swap], stable=False)
    feed = table.changes(0, mode="per_commit", images="both").to_polars()
    found = feed.select("_commit_version", "_change_type", "k", "a").rows()
    by_name, by_id = [(0, 10), (1, 11)], [(10, 0), (11, 1)]
    assert found == [
        *[(1, "insert", *row) for row in by_name],
        *[(2, "delete", *row) for row in by_name],
        *[(2, "insert", *row) for row in by_id],
    ]


def write_in_place(path: str) -> None:
    """Commit other values of ``c`` in all rows, and do not say in which ones."""
    dataset: Any = lance.dataset(path)
    fragment, fields = dataset.get_fragment(0).update_columns(
        pa.table({"k": [0, 1], "c": [7, 8]}), "k", "k"
    )
    operation = lance.LanceOperation.Update(
        updated_fragments=[fragment], fields_modified=fields, update_mode="rewrite_columns"
    )
    lance.LanceDataset.commit(path, operation, read_version=dataset.version)


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_what_was_written_into_a_dropped_column_is_no_change_of_one_with_its_id(tmp_path, stable):
    steps = [add("c", "k + 100"), write_in_place, drop("c"), add("d", "k + 5")]
    table = written(tmp_path / "t.lance", steps, stable=stable)
    feed = table.changes(2, 5, include="column_added").to_polars()
    assert feed.select("_event", "is_uncertain").unique().rows() == [("column_added", False)]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_the_history_of_a_row_compares_no_column_with_one_that_had_its_id(tmp_path, stable):
    steps = [add("c", "k + 5"), drop("c"), add("d", "k + 5"), rename("d", "e"), update("e", "5")]
    path = tmp_path / "t.lance"
    table = written(path, steps, stable=stable)
    [row] = lance.dataset(path).to_table(with_row_id=True, filter="k = 0")["_rowid"].to_pylist()
    history = table.row(row).history(values=True)
    told = dict(history.select("version", "changed_columns").iter_rows())
    assert (told[2], told[4], told[6]) == (["c"], ["e"], [])


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_so_it_does_on_a_branch(tmp_path, stable):
    path = tmp_path / "t.lance"
    written(path, [add("c", "k + 5"), drop("c")], stable=stable)
    branch = lance.dataset(path).create_branch("b")
    branch.add_columns({"d": "k + 5"})
    table = lx.open_table(path, branch="b")
    history = table.row(0).history(values=True)
    told = dict(history.select("version", "changed_columns").iter_rows())
    assert (told[2], told[max(told)]) == (["c"], ["d"])


def test_an_id_with_another_name_over_a_lost_restore_is_another_column(tmp_path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"k": [0, 1]}), uri)
    lance.dataset(uri).add_columns({"c": "k + 10"})
    lance.dataset(uri, version=1).restore()
    lance.dataset(uri).add_columns({"d": "k + 20"})  # gets the ID of c
    (tmp_path / "t.lance" / "_versions" / f"{2**64 - 1 - 3:020}.manifest").unlink()
    table = lx.open_table(uri)
    assert table.inspect.gaps()["first_version"].to_list() == [3]
    feed = table.changes(2, 4, images="both", include=("moved", "column_added")).to_polars()
    assert {"c", "d"} <= {*feed.columns}
    images = feed.filter(_change_type="update_preimage").sort("k")
    assert images.select("k", "c", "d").rows() == [(0, 10, None), (1, 11, None)]


def lose(path: Path, version: int) -> None:
    """Remove one version, as a clean-up does that found tags on all others."""
    (path / "_versions" / f"{2**64 - 1 - version:020}.manifest").unlink()


@pytest.mark.slow
@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
@pytest.mark.parametrize(
    ("life", "lost"),
    [(life, lost) for life, steps in LIVES.items() for lost in (None, *range(2, len(steps) + 1))],
)
def test_a_diff_tells_columns_apart_as_the_feed_does(tmp_path, life, lost, stable):
    path, include = tmp_path / "t.lance", ("moved", "column_added")
    written(path, LIVES[life], stable=stable)
    if lost:
        lose(path, lost)
    table = lx.open_table(path)
    versions = table.versions()["version"].to_list()
    for begin, end in combinations(versions, 2):
        feed = table.changes(begin, end, images="both", include=include).to_polars()
        rows = table.diff(begin, end).rows(images="both", include=include)
        assert rows.select(sorted(rows.columns)).equals(feed.select(sorted(feed.columns)))
        ids = ["field_id_before", "field_id_after"]
        there, back = [
            {*table.diff(*pair).schema()[ids].rows()} for pair in ((begin, end), (end, begin))
        ]
        assert there == {(before, after) for after, before in back}


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
@pytest.mark.parametrize("fork_is_kept", [True, False])
def test_an_id_that_a_branch_and_its_parent_gave_out_names_two_columns(
    tmp_path, fork_is_kept, stable
):
    path = tmp_path / "t.lance"
    written(path, [add("c", "k + 100")], stable=stable)
    branch: Any = lance.dataset(path, version=1).create_branch("b", 1)
    branch.add_columns({"d": "k + 5"})
    if not fork_is_kept:
        lose(path / "tree" / "b", 1)
    diff = lx.open_table(path).diff(2, ("b", 2))
    changes = diff.schema().select("change", "path_before", "path_after").rows()
    assert sorted(changes) == [("added", None, "d"), ("dropped", "c", None)]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_column_that_a_branch_renamed_is_one_though_the_fork_is_lost(tmp_path, stable):
    path = tmp_path / "t.lance"
    written(path, [add("c", "k + 100")], stable=stable)
    branch: Any = lance.dataset(path).create_branch("b", 2)
    branch.alter_columns({"path": "c", "name": "e"})
    lose(path / "tree" / "b", 2)
    schema = lx.open_table(path).diff(2, ("b", 3)).schema()
    assert schema.select("change", "path_before", "path_after").rows() == [("renamed", "c", "e")]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_data_file_proves_a_column_that_a_lost_restore_brought_back(tmp_path, stable):
    path = tmp_path / "t.lance"
    steps = [add("c", "k + 100"), drop("c"), restore(2), rename("c", "e"), update("a", "a + 1")]
    written(path, steps, stable=stable)
    lose(path, 4)
    table = lx.open_table(path)
    schema = table.diff(2, 5).schema()
    assert schema.select("change", "path_before", "path_after").rows() == [("renamed", "c", "e")]
    assert table.changes(2, 5, include=("moved", "column_added")).to_polars().is_empty()
    for feed in (table.changes(2, 6, images="both"), table.changes(2, 6, "per_commit", "both")):
        columns = feed.to_polars().columns
        assert columns[columns.index("changed_columns") + 1 :] == ["k", "a", "e"]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_an_id_with_another_name_is_another_column_if_the_restored_version_is_lost(
    tmp_path, stable
):
    path = tmp_path / "t.lance"
    steps = [add("c", "k + 100"), drop("c"), add("d", "k + 5"), overwrite, restore(4)]
    written(path, steps, stable=stable)
    for version in (3, 4):
        lose(path, version)
    table = lx.open_table(path)
    schema = table.diff(2, 6).schema().sort("path_before", nulls_last=True)
    changes = schema.select("change", "path_before", "path_after").rows()
    assert changes == [("dropped", "c", None), ("added", None, "d")]
    feed = table.changes(2, 6, images="both", include=("moved", "column_added")).to_polars()
    assert {"c", "d"} <= {*feed.columns}


@pytest.mark.parametrize("stable", [False, True])
def test_a_column_whose_name_another_one_got_is_one_column_in_all_versions(tmp_path, stable):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"k": [1, 2], "a": [3, 4]}), uri, enable_stable_row_ids=stable)
    lance.dataset(uri).add_columns({"b": "k + 10"})
    for old, new in (("a", "c"), ("b", "a")):
        rename(old, new)(tmp_path / "t.lance")
    lance.dataset(uri).drop_columns(["c"])
    changes = lx.open_table(uri).changes(
        0, mode="per_commit", images="both", include="column_added"
    )
    feed = changes.to_polars()
    assert feed["c"].to_list() == [3, 4] * 3
    assert feed["a"].to_list() == [None] * 4 + [11, 12]
    added = feed.filter(pl.col("_event") == "column_added")
    assert added["changed_columns"].to_list() == [["a"]] * 4


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_column_that_is_cast_and_renamed_is_one_column(tmp_path, stable):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"k": [1, 2], "a": [3, 4]}), uri, enable_stable_row_ids=stable)
    cast_to("a", pa.int32())(uri)
    rename("a", "b")(uri)
    lance.dataset(uri).delete("k = 1")
    table = lx.open_table(uri)
    feed = table.changes(0, mode="per_commit", images="both").to_polars()
    assert feed.columns[-2:] == ["k", "b"]
    assert feed.filter(_change_type="insert")["b"].to_list() == [3, 4]
    assert feed.filter(_change_type="delete")["b"].to_list() == [3]
    net = table.changes(1, images="both").to_polars()
    assert net.filter(_change_type="delete")["b"].to_list() == [3]
    [pair] = table.diff(1, 4).schema().to_dicts()
    assert (pair["change"], pair["path_before"], pair["path_after"]) == ("renamed", "a", "b")
    assert {"id", "logical_type", "name"} <= {*pair["differs"]}
    gone = table.diff(1, 4).rows(images="both").filter(_change_type="delete")
    assert gone["b"].to_list() == [3]


def test_a_column_that_a_lost_restore_may_have_brought_back_is_in_doubt(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(ROWS, path)
    lance.dataset(path).update({"a": "a + 1"})
    rename("a", "b")(path)
    lance.write_dataset(ROWS, path, mode="overwrite")
    lance.dataset(path).checkout_version(1).restore()
    lance.dataset(path).update({"a": "a + 2"})
    for version in (3, 4):
        lance.dataset(path).tags.create(f"v{version}", version)
    lance.dataset(path).cleanup_old_versions(timedelta(0), error_if_tagged_old_versions=False)
    table = lx.open_table(path)
    assert table.versions()["version"].to_list() == [3, 4, 6]
    for one, other in ((3, 6), (6, 3)):
        diff = table.diff(one, other)
        diff.rows()
        [finding] = diff.findings().filter(code="column_in_doubt").to_dicts()
        assert "column 'a', with field ID 1 since version 6, may be 'b'" in finding["statement"]
    near = table.diff(4, 6)
    near.rows()
    assert not len(near.findings().filter(code="column_in_doubt"))  # both are called a


def restore_detached(version: int) -> Step:
    """Restore a version in a detached commit, and then that."""

    def step(path: str) -> object:
        operation = lance.LanceOperation.Restore(version)
        last = lance.dataset(path).version
        made = lance.LanceDataset.commit(path, operation, read_version=last, detached=True)
        return lance.dataset(path).checkout_version(made.version).restore()

    return step


def delete_all(path: str) -> object:
    return lance.dataset(path).delete("true")


def append_as(*names: str) -> Step:
    """Append the two rows under other names of their columns."""
    rows = ROWS.rename_columns(names)
    return lambda path: lance.write_dataset(rows, path, mode="append")


SWAP = [rename("k", "x"), rename("a", "k"), rename("x", "a")]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_column_that_may_have_been_renamed_over_a_lost_version_is_said_to_be_in_doubt(
    tmp_path, stable
):
    path = tmp_path / "t.lance"
    steps = [delete_all, rename("a", "b"), append_as("k", "b"), update("k", "k + 1")]
    written(path, steps, stable=stable)
    lose(path, 3)
    table = lx.open_table(path)
    told = "two columns may be one: findings() says which, and why"
    for mode in ("net", "per_commit"):
        changes = table.changes(1, mode=mode, images="both")
        feed = changes.to_polars()
        removed, added_rows = feed.filter(_change_type="delete"), feed.filter(_change_type="insert")
        assert {*removed.select("a", "b").rows()} == {(10, None), (11, None)}
        assert {*added_rows.select("a", "b").rows()} == {(None, 10), (None, 11)}
        [finding] = changes.findings().to_dicts()
        assert (finding["code"], finding["first_version"]) == ("column_in_doubt", 4)
        assert "column 'b', with field ID 1 since version 4, may be 'a'" in finding["statement"]
        assert told in repr(changes)
    for options in ({"columns": "k"}, {"images": None}):
        changes = table.changes(1, **options)
        changes.to_polars()
        assert changes.findings().is_empty()
    diff = table.diff(1, 5)
    diff.rows(images="both")
    assert diff.findings()["code"].to_list() == ["column_in_doubt"]
    assert told in repr(diff)


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_columns_in_doubt_are_named_as_in_the_feed(tmp_path, stable):
    path = tmp_path / "t.lance"
    steps = [delete_all, rename("a", "x"), rename("x", "y"), rename("y", "b"), append_as("k", "b")]
    written(path, steps, stable=stable)
    lose(path, 5)
    table = lx.open_table(path)
    for begin, old in ((3, "x"), (4, "y")):
        changes, diff = table.changes(begin, 6, images="both"), table.diff(begin, 6)
        assert {old, "b"} <= {*changes.to_polars().columns}
        diff.rows(images="both")
        for findings in (changes.findings(), diff.findings()):
            [message] = findings["statement"]
            assert "column 'b', with field ID 1 since version 6" in message
            assert f"may be {old!r} of version {begin}:" in message


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_column_that_a_lost_version_of_a_branch_may_have_renamed_is_in_doubt(tmp_path, stable):
    path = tmp_path / "t.lance"
    written(path, [], stable=stable)
    branch: Any = lance.dataset(path).create_branch("b", 1)
    branch.update({"a": "a + 1"})
    branch.alter_columns({"path": "a", "name": "c"})
    branch.cleanup_old_versions(versions=[1, 2])
    table = lx.open_table(path)
    for diff, message in (
        (
            table.diff(1, ("b", 3)),
            "column 'c', with field ID 1 in version 3, may be 'a' of version 1 of the main branch",
        ),
        (
            table.diff(("b", 3), 1),
            "column 'a', with field ID 1 in version 1, may be 'c' of version 3 of branch 'b'",
        ),
    ):
        assert {"a", "c"} <= {*diff.rows(images="both").columns}
        [finding] = diff.findings().to_dicts()
        assert finding["statement"].startswith(message)
        assert diff.schema()["change"].to_list() == ["added", "dropped"]


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_column_that_a_branch_dropped_is_in_no_doubt(tmp_path, stable):
    path = tmp_path / "t.lance"
    written(path, [], stable=stable)
    branch: Any = lance.dataset(path).create_branch("b", 1)
    branch.drop_columns(["a"])
    branch.add_columns({"c": "k + 5"})
    diff = lx.open_table(path).diff(1, ("b", 3))
    diff.rows(images="both")
    assert diff.findings().is_empty()


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_a_column_is_not_in_doubt_where_a_data_file_tells(tmp_path, stable):
    path = tmp_path / "t.lance"
    written(path, [rename("a", "b"), append_as("k", "b"), delete_all], stable=stable)
    lose(path, 2)
    changes = lx.open_table(path).changes(1, 4, images="both")
    assert changes.to_polars().columns[-2:] == ["k", "b"]
    assert changes.findings().is_empty()
    assert "may be one" not in repr(changes)


def test_a_column_that_lost_versions_may_have_cast_and_that_has_another_name_now_is_in_doubt(
    tmp_path,
):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(ROWS, path)
    lance.dataset(path).update_config({"owner": "me"})
    for step in (cast_to("a", pa.int32()), rename("a", "b")):
        step(path)
    lance.dataset(path).delete("k = 0")
    lance.dataset(path).cleanup_old_versions(versions=[2])
    changes = lx.open_table(path).changes(1)
    deleted = changes.to_polars().filter(_change_type="delete")
    assert deleted.select("a", "b").rows() == [(10, None)]
    [finding] = changes.findings().to_dicts()
    assert finding["code"] == "column_in_doubt"
    assert finding["statement"].startswith(
        "column 'b', with field ID 2 since version 3, may be 'a'"
    )


def test_a_column_that_lost_versions_of_another_branch_may_have_cast_is_in_doubt(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(ROWS, path).create_branch("dev", 1)
    lance.dataset(path).update_config({"owner": "me"})
    for step in (cast_to("a", pa.int32()), rename("a", "b")):
        step(path)
    lance.dataset(path).delete("k = 0")
    lance.dataset(path).cleanup_old_versions(versions=[2])
    table = lx.open_table(path)
    for one, other, before, after in ((("dev", 1), 5, "a", "b"), (5, ("dev", 1), "b", "a")):
        diff = table.diff(one, other)
        diff.rows(images="both")
        [finding] = diff.findings().filter(code="column_in_doubt").to_dicts()
        assert finding["statement"].startswith(f"column {after!r}, ")
        assert f"may be {before!r}" in finding["statement"]


def test_a_new_column_of_nulls_is_another_one_in_fragments_that_lose_rows_too(tmp_path):
    path = tmp_path / "t.lance"
    rows = pa.table({"k": range(4), "c": range(10, 14)})
    lance.write_dataset(rows, path, max_rows_per_file=2, enable_stable_row_ids=True)
    lance.dataset(path).drop_columns(["c"])
    lance.dataset(path).add_columns(pa.schema([pa.field("c", pa.int64())]))
    lance.dataset(path).delete("k = 0")
    feed = lx.open_table(path).changes(1, 4).to_polars()
    assert dict(feed.sort("_rowid").select("_rowid", "_event").iter_rows()) == {
        0: "deleted",
        1: "column_rewritten",
        2: "column_rewritten",
        3: "column_rewritten",
    }
    assert feed.filter(_event="column_rewritten")["is_uncertain"].all()


@pytest.mark.parametrize("begin", [1, 3])
def test_a_column_that_a_lost_restore_brought_back_is_the_one_that_was_cast(tmp_path, begin):
    path = tmp_path / "t.lance"
    steps = [cast_to("a", pa.int32()), rename("a", "b"), restore(1)]
    written(path, steps, stable=True)
    lance.write_dataset(ROWS, path, mode="append")
    lose(path, 4)
    table = lx.open_table(path)
    [change] = table.diff(3, 5).schema().iter_rows(named=True)
    assert (change["change"], change["path_before"], change["path_after"]) == ("renamed", "b", "a")
    feed = table.changes(begin, 5, images="both", include=("moved", "column_added")).to_polars()
    assert feed.columns[-2:] == ["k", "a"]
    assert table.changes(begin, 5).findings().is_empty()
