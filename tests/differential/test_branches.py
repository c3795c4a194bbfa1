"""A branch is the same however it is opened, and another one when it was made again."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.errors import RefNotFoundError, VersionNotFoundError
from lance_explorer.inspect.catalogue import FRAMES, frame

Ask = Callable[[lx.Table], pl.DataFrame]


def rows(first: int, count: int) -> pa.Table:
    return pa.table({"id": range(first, first + count), "score": [0.0] * count})


@pytest.fixture
def path(tmp_path) -> Path:
    """A table with the branch ``dev`` of version 3, and the branch ``dev/deep`` of that."""
    table: Any = lance.write_dataset(rows(0, 10), tmp_path / "t.lance", enable_stable_row_ids=True)
    table.update({"score": "1.0"}, where="id < 3")
    table = lance.write_dataset(rows(10, 5), table, mode="append")
    dev = table.create_branch("dev")
    dev.delete("id = 1")
    dev.update({"score": "2.0"}, where="id in (2, 12)")
    deep = dev.create_branch("dev/deep")
    deep.optimize.compact_files()
    table.delete("id = 4")
    table.tags.create("on-dev", ("dev", 5))
    return Path(tmp_path / "t.lance")


def row_history(row: int, table: lx.Table) -> pl.DataFrame:
    return table.row(row).history(values=True)


def frame_of(name: str, table: lx.Table) -> pl.DataFrame:
    return frame(table._view, name)


def questions(table: lx.Table) -> dict[str, Ask]:
    """Return what is asked of a branch, under names."""
    first = int(table.versions()["version"][0])
    return {
        **{name: partial(frame_of, name) for name in FRAMES},
        "inherited": lambda t: t.versions(inherited=True),
        "rows": lambda t: t.latest.row_ids(columns=["id", "score"]),
        "changes": lambda t: t.changes(first, images="both").to_polars(),
        "per commit": lambda t: t.changes(0, mode="per_commit").to_polars(),
        "follow": lambda t: t.follow(range(15)),
        **{f"row {row}": partial(row_history, row) for row in (0, 1, 2, 12)},
        "lineage": lambda t: t.lineage().edges(),
        "fragments": lambda t: t.lineage().fragments(),
        "diff to main": lambda t: t.diff(("main", 4), first).rows(),
        "tag": lambda t: t.at("on-dev").row_ids(),
        "check": lx.Table.check_row_ids,
    }


@pytest.mark.parametrize("branch", ["dev", "dev/deep"])
def test_a_branch_opened_by_its_own_root_answers_as_one_opened_by_its_name(path, branch):
    by_name, by_root = lx.open_table(path, branch), lx.open_table(path / "tree" / branch)
    assert (by_root.uri, by_root.branch) == (by_name.uri, branch)
    for ask in questions(by_name).values():
        assert_frame_equal(ask(by_root), ask(by_name))


def test_a_history_across_two_forks_tells_the_branch_of_each_event(path):
    history = lx.open_table(path, "dev/deep").row(2).history()
    assert history.select("branch", "version", "event").rows() == [
        (None, 1, "created"),
        (None, 2, "updated"),
        ("dev", 5, "updated"),
        ("dev/deep", 7, "moved"),
    ]


def make_again(path: Path) -> None:
    """Delete a branch, and make one of its name from an earlier version."""
    table: Any = lance.dataset(path)
    table.branches.delete("dev/deep")
    table.tags.delete("on-dev")
    table.branches.delete("dev")
    table.create_branch("dev", 2).delete("id = 9")


def test_a_branch_that_was_made_again_is_another_one_once_it_is_refreshed(path):
    opened = lx.open_table(path, "dev")
    for ask in questions(opened).values():
        ask(opened)
    make_again(path)
    opened.refresh()
    fresh = lx.open_table(path, "dev")
    assert fresh.versions()["version"].to_list() == [2, 3]
    removed = {"tag", "row 12"}
    asked = {name: ask for name, ask in questions(fresh).items() if name not in removed}
    for ask in asked.values():
        assert_frame_equal(ask(opened), ask(fresh))
    with pytest.raises(RefNotFoundError, match="on-dev"):
        opened.at("on-dev")
    history = opened.row(9).history().select("branch", "version", "event").rows()
    assert history == [(None, 1, "created"), ("dev", 3, "deleted")]


def test_a_tag_of_a_version_that_the_new_branch_has_not_says_so(path):
    tag = path / "_refs" / "tags" / "on-dev.json"
    kept = tag.read_bytes()
    make_again(path)
    tag.write_bytes(kept)
    with pytest.raises(VersionNotFoundError, match="version 5 of branch dev never existed"):
        lx.open_table(path).at("on-dev")


def test_a_branch_whose_parent_was_made_again_goes_back_to_where_it_was_created(path):
    table: Any = lance.dataset(path)
    dev = table.checkout_version(("dev", None))
    own = dev.create_branch("own")
    lance.write_dataset(own.to_table(), path / "tree" / "own", mode="overwrite")
    (path / "_refs" / "branches" / "dev.json").unlink()
    shutil.rmtree(path / "tree" / "dev")
    again = lance.dataset(path).create_branch("dev", 3)
    for number in range(8):
        again.delete(f"id = {number}")
    of_own = lx.open_table(path, "own")
    assert of_own.versions(inherited=True)["version"].to_list() == [5, 6]
    nodes = of_own.lineage().fragments()
    inherited = nodes.filter(pl.col("branch") == "dev")
    assert inherited["node"].to_list() == [f"dev:{number}@5" for number in range(4)]
    assert inherited["data_bytes"].null_count() == 4  # nothing but the fork tells of them
    assert len(nodes) == 9
