"""The log: commits of all branches, newest first, and its filters."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError, RefNotFoundError
from lance_explorer.format.transactions import COMMIT_MESSAGE
from tests.synthetic import SyntheticTable


def rows(*keys):
    return pa.table({"key": pa.array(keys, pa.int64()), "mood": [f"mood {key}" for key in keys]})


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A table with two authors, two branches of one branch, and a tag."""
    path = str(tmp_path_factory.mktemp("log") / "t.lance")
    said = {"etl.author": "Ana", "airflow.dagId": "nightly", "run-id": "7", "note": "first"}
    table = lance.write_dataset(
        rows(1, 2, 3, 4), path, transaction_properties=said, commit_message="hello"
    )
    table.delete("key = 2")
    table = table.create_branch("dev", 2)
    table.update({"mood": "'new'"}, where="key = 1")
    deep = table.create_branch("dev/deep", ("dev", table.version))
    lance.write_dataset(rows(8), deep, mode="append")
    lance.write_dataset(rows(9), table, mode="append")
    main: Any = lance.dataset(path)
    main.add_columns({"more": "key + 1"})
    main.alter_columns({"path": "mood", "name": "feeling"})
    main.create_scalar_index("key", "BTREE")
    main.tags.create("gold", 3)
    return path


@pytest.fixture
def table(written):
    return lx.open_table(written)


def test_it_has_every_version_of_every_branch_once(table):
    log = table.log()
    for branch in [None, *table.branches]:
        versions = lx.open_table(table.uri, branch).versions()
        own = log.filter(pl.col("branch").eq_missing(pl.lit(branch, pl.String)))
        assert own["version"].to_list() == versions["version"].to_list()[::-1]
        shared = [name for name in own.columns if name in versions.columns]
        assert own.select(shared).reverse().equals(versions.select(shared))
    assert len(log.filter("is_latest")) == 3


def test_a_commit_stands_above_those_that_it_was_made_on(table):
    log = table.log()
    place = {key: row for row, key in enumerate(log.select("branch", "version").iter_rows())}
    for row in log.filter(pl.col("parent_version").is_not_null()).to_dicts():
        parent = row["parent_branch"], row["parent_version"]
        assert place[row["branch"], row["version"]] < place[parent]
    roots = log.filter(pl.col("parent_version").is_null())
    assert roots.select("branch", "version").rows() == [(None, 1)]


def test_each_branch_has_a_lane_of_its_own_as_long_as_it_is_drawn(table):
    lanes = dict(table.log().select("branch", "lane").unique().iter_rows())
    assert lanes[None] == 0
    assert sorted(lanes.values()) == [0, 1, 2]


def test_a_lane_is_given_again_where_a_branch_was_left(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=5)
    for number in range(3):
        branch = table.branch(f"b{number}")
        branch.append(rows=1)
        table.append(rows=1)
    log = lx.open_table(tmp_path / "t.lance").log()
    lanes = log.select("branch", "lane").unique()
    assert lanes.filter(pl.col("branch").is_null())["lane"].to_list() == [0]
    assert set(lanes["lane"].to_list()) <= {0, 1, 2}


def test_it_says_who_made_a_commit_and_by_which_job(table):
    first = table.log().row(-1, named=True)
    assert [first[name] for name in ("author", "job", "run", "message")] == [
        "Ana",
        "nightly",
        "7",
        "hello",
    ]
    transaction: Any = lance.dataset(table.uri).read_transaction(1)
    told = {**transaction.transaction_properties}
    del told[COMMIT_MESSAGE]
    assert json.loads(first["properties"]) == told


def test_the_newest_ones_alone_are_the_first_of_all(table):
    everything = table.log().drop("lane")
    for limit in range(len(everything) + 2):
        assert table.log(limit=limit).drop("lane").equals(everything.head(limit)), limit


def test_only_the_asked_branch(table):
    assert table.log(all_branches=False)["branch"].unique().to_list() == [None]
    dev = lx.open_table(table.uri, "dev").log(all_branches=False)
    assert dev.select("version", "parent_branch", "parent_version").rows() == [
        (4, "dev", 3),
        (3, "dev", 2),
        (2, None, 2),
    ]


def test_it_can_be_written_as_csv(table):
    text = table.log().write_csv()
    assert len(text.splitlines()) == 1 + len(table.log())


def test_commits_that_touch_a_column(table):
    def touching(column):
        found = table.log(column=column, all_branches=False)
        return found.select("version", "columns").rows()

    assert touching("more") == [(3, "more"), (1, None)]
    assert touching("feeling") == [(4, "mood, feeling"), (1, None)]
    assert touching("mood") == touching("feeling")
    assert touching("key") == [(1, None)]
    log = table.log()
    changing = log.filter(log["changes_values"]).select("branch", "version").rows()
    assert changing == [("dev", 3)]  # the update; no delete, append, new column or name
    assert not log["changes_values"].null_count()
    dev = lx.open_table(table.uri, "dev").log(column="key", all_branches=False)
    assert dev["version"].to_list() == [4]  # the update of column mood says what it wrote


def test_whether_a_commit_changes_values_may_not_be_known(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(rows(1, 2), path)
    for key in (1, 2):
        lance.dataset(path).update({"mood": "'new'"}, where=f"key = {key}")
    Path(path, "_versions", f"{2**64 - 1 - 2}.manifest").unlink()
    assert lx.open_table(path).log()["changes_values"].to_list() == [None, False]


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("KEY = 2", [2]),
        ("nightly", [1]),
        ("gold", [3]),
        ("deep", [4, 3, 3]),
        ("feeling", [4]),
        ("nowhere", []),
        ("[", []),
    ],
)
def test_commits_that_have_a_text(table, text, versions):
    assert table.log(text=text)["version"].to_list() == versions


def test_commits_of_an_operation_or_a_kind(table):
    assert table.log(operation="delete")["version"].to_list() == [2]
    assert table.log(operation="CreateIndex")["version"].to_list() == [5]
    both = table.log(operation=["index", "Delete"])
    assert both["version"].to_list() == [5, 2]


def test_commits_since_and_until(table):
    log = table.log()
    middle = log["timestamp"].sort()[3]
    assert table.log(since=middle).equals(log.filter(pl.col("timestamp") >= middle))
    assert table.log(until=middle).equals(log.filter(pl.col("timestamp") <= middle))
    assert table.log(since="yesterday").equals(log)
    assert table.log(since=datetime.now(UTC) + timedelta(days=1)).is_empty()
    third = table.log(since="gold", all_branches=False)
    assert third["version"].to_list() == [5, 4, 3]
    with pytest.raises(RefNotFoundError):
        table.log(since="nowhen")
    with pytest.raises(InvalidArgumentError):
        table.log(limit=-1)


def test_clocks_that_run_back_do_not_turn_the_order_around(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=2)
    for _ in range(4):
        table.append(rows=1)
    log = lx.open_table(tmp_path / "t.lance").log()
    assert log["version"].to_list() == [5, 4, 3, 2, 1]


def test_lost_versions_are_counted(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=2)
    for _ in range(5):
        table.append(rows=1)
    table.remove(1, 3, 4)
    log = lx.open_table(tmp_path / "t.lance").log()
    lines = log.select("version", "parent_version", "versions_lost").rows()
    assert lines == [(6, 5, 0), (5, 2, 2), (2, None, 1)]
