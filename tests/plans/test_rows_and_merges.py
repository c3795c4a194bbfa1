"""Plans that put rows back, and plans that merge a branch."""

from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.plans.carrying_out import carried_out, rows_of


def _table(folder: Path, *, stable: bool = True) -> str:
    uri = str(folder / "animals.lance")
    rows = pa.table({"id": range(6), "label": [f"old {n}" for n in range(6)]})
    lance.write_dataset(rows, uri, enable_stable_row_ids=stable, max_rows_per_file=3)
    lance.dataset(uri).update({"label": "'new'"}, where="id IN (1, 4)")  # 2
    lance.dataset(uri).delete("id = 2")  # 3
    lance.dataset(uri).update_config({"later": "it"})  # 4
    return uri


@pytest.mark.parametrize("stable", [True, False])
def test_changed_and_deleted_rows_are_put_back(tmp_path: Path, stable: bool) -> None:
    uri = _table(tmp_path, stable=stable)
    plan = lx.open_table(uri).plan_restore_rows("id <= 2", at=1)
    assert plan.steps[0].words == "Write `label` of 1 row in place; append 1 row."
    assert "1 row is as it was already." in plan.answer.words("notes")
    carried_out(plan, uri, tmp_path / "plan")
    labels = dict(rows_of(uri, "id", "label"))
    assert labels == {0: "old 0", 1: "old 1", 2: "old 2", 3: "old 3", 4: "new", 5: "old 5"}


def test_a_deleted_row_whose_key_lives_again_is_updated(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.write_dataset(pa.table({"id": [2], "label": ["again"]}), uri, mode="append")
    plan = lx.open_table(uri).plan_restore_rows("id = 2", at=1, key="id")
    carried_out(plan, uri, tmp_path / "plan")
    assert [row for row in rows_of(uri, "id", "label") if row[0] == 2] == [(2, "old 2")]


def test_rows_that_need_no_plan_say_so(tmp_path: Path) -> None:
    table = lx.open_table(_table(tmp_path))
    assert "no row of version 1 fits" in table.plan_restore_rows("id = 77", at=1).sentence
    assert "1 row is as it was already" in table.plan_restore_rows("id = 0", at=1).sentence
    with pytest.raises(lx.InvalidArgumentError):
        table.plan_restore_rows("nowhere = 1", at=1)
    with pytest.raises(lx.InvalidArgumentError, match="key"):
        table.plan_restore_rows("id = 0", at=1, key="nowhere")


def test_a_merge_brings_what_the_branch_did_and_leaves_conflicts(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).create_branch("dev")
    dev = lance.dataset(uri).checkout_version(("dev", None))
    dev.update({"label": "'theirs'"}, where="id IN (0, 5)")
    lance.dataset(uri).checkout_version(("dev", None)).delete("id = 3")
    lance.dataset(uri).update({"label": "'ours'"}, where="id = 5")
    table = lx.open_table(uri)
    plan = table.merge_preview("dev").plan(author="ann")
    assert plan.sentence.startswith("Merge dev@6 into main with 1 commit: write `label` of 1 row")
    assert plan.conflicts()["now"].to_list() == ["ours"]
    carried_out(plan, uri, tmp_path / "plan")
    assert dict(rows_of(uri, "id", "label")) == {0: "theirs", 1: "new", 4: "new", 5: "ours"}
    again = lx.open_table(uri).merge_preview("dev").plan(on_conflict="overwrite")
    carried_out(again, uri, tmp_path / "again")
    assert dict(rows_of(uri, "id", "label"))[5] == "theirs"


def test_a_plan_for_a_branch_writes_to_that_branch(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).create_branch("dev")
    dev = lance.dataset(uri).checkout_version(("dev", None))
    dev.update({"label": "'wrong'"}, where="id = 0")
    lance.dataset(uri).checkout_version(("dev", None)).update_config({"a": "b"})
    plan = lx.open_table(uri, branch="dev").plan_revert(5)
    carried_out(plan, uri, tmp_path / "plan")
    there = lance.dataset(uri).checkout_version(("dev", None))
    assert there.to_table(filter="id = 0")["label"].to_pylist() == ["old 0"]
    assert lance.dataset(uri).version == 4
    assert "carried out already" in carried_out(plan, uri, tmp_path / "plan")


def test_what_one_side_wrote_into_a_column_that_the_other_dropped_is_a_conflict(
    tmp_path: Path,
) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).add_columns({"score": "id * 2"})
    lance.dataset(uri).create_branch("dev")
    lance.dataset(uri).checkout_version(("dev", None)).drop_columns(["score"])
    lance.dataset(uri).checkout_version(("dev", None)).delete("id = 0")
    lance.dataset(uri).update({"score": "100"}, where="id = 0")
    preview = lx.open_table(uri).merge_preview("dev")
    assert preview.summary()["conflicts"].item() == 1
    assert preview.cells().select("column", "ours", "theirs").rows() == [("score", "100", None)]
