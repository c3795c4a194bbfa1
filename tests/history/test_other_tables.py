"""Commits on a table that was dropped and made anew: nothing is taken for certain of them."""

import shutil
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.differential.never_false import false_certainties


def rows(*keys: int) -> pa.Table:
    return pa.table({"key": pa.array(keys, pa.int64())})


@pytest.fixture(params=[True, False], ids=["stable", "plain"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Version 2 was committed on the table that was there before, of which the file is gone."""
    path = tmp_path / "t.lance"
    options = {"enable_stable_row_ids": request.param}
    held = lance.write_dataset(rows(*range(20)), str(path), **options)
    shutil.rmtree(path)
    lance.write_dataset(rows(1000, 1001, 1002), str(path), **options)
    held.insert(rows(5), mode="append")
    return path


def test_the_commit_is_named_with_what_may_have_happened_and_its_remedy_helps(path: Path) -> None:
    [found] = lx.open_table(path).check().filter(code="commit_of_another_table").to_dicts()
    assert (found["severity"], found["first_version"]) == ("error", 2)
    assert len(found["causes"]) == 2
    exec(found["remedy_code"], {"dataset": lance.dataset(str(path))})
    assert lance.dataset(str(path)).to_table()["key"].to_pylist() == [1000, 1001, 1002]
    added = lance.dataset(str(path), version=2).get_fragments()[1].to_table()
    lance.write_dataset(added, str(path), mode="append")
    table = lx.open_table(path)
    assert table.damage().num_lost == 0
    assert table.latest.read()["key"].to_list() == [1000, 1001, 1002, 5]


def test_no_row_of_the_one_is_taken_for_a_row_of_the_other(path: Path) -> None:
    table = lx.open_table(path)
    told = table.changes(1, 2, images=None, include=("moved",)).to_polars()
    before = told.filter(told["_rowaddr_before"].is_not_null())
    assert before["is_uncertain"].all()
    assert set(table.follow_addresses([0, 1, 2], 1, 2)["outcome"]) == {"unknown"}
    assert table.versions().row(1, named=True)["rows_deleted"] is None


def test_an_ordinary_commit_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(rows(*range(20)), str(path), max_rows_per_file=5)
    dataset.create_scalar_index("key", "BTREE")
    dataset.insert(rows(50), mode="append")
    lance.dataset(str(path)).delete("key = 3")
    lance.dataset(str(path)).optimize.compact_files()
    lance.dataset(str(path)).insert(rows(51), mode="append")
    assert not lx.open_table(path)._view.history.is_of_another_table.any()
    assert not false_certainties(str(path))
