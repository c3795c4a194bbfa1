"""Plans that undo a commit: what they do, what they leave alone, and when they do nothing."""

import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.plans.plan import Plan
from lance_explorer.plans.records import OnConflict
from tests.differential.row_ids_turned_on import turn_on_row_ids
from tests.plans.carrying_out import (
    FEW_LEFT,
    carried_out,
    rows_of,
    run_as_reader,
    sparse_table,
    stopping_after,
)

TO_INT32: Any = {"path": "id", "data_type": pa.int32()}
KINDS = pytest.mark.parametrize("stable", [True, False], ids=["stable row IDs", "addresses"])


def _table(folder: Path, *, stable: bool = True, until: int = 9) -> str:
    """Write animals, label three wrongly, and go on, or not."""
    uri = str(folder / "animals.lance")
    rows = pa.table({"id": range(10), "label": ["dog"] * 10, "score": [0.5] * 10})
    lance.write_dataset(rows, uri, enable_stable_row_ids=stable, max_rows_per_file=4)
    lance.dataset(uri).create_scalar_index("label", "BTREE")  # 2
    lance.dataset(uri).update({"label": "'wrong'"}, where="id IN (2, 3, 7)")  # 3
    if until == 3:
        return uri
    lance.dataset(uri).update({"label": "'mine'"}, where="id = 7")  # 4
    lance.dataset(uri).update({"score": "0.9"}, where="id = 3")  # 5
    lance.dataset(uri).delete("id IN (1, 2)")  # 6
    lance.write_dataset(
        pa.table({"id": [20], "label": ["cat"], "score": [1.0]}), uri, mode="append"
    )
    lance.dataset(uri).optimize.compact_files()  # 8, 9
    return uri


def _properties(uri: str) -> dict[str, str]:
    """Return the properties of the latest commit."""
    transaction = lance.dataset(uri).read_transaction(lance.dataset(uri).version)
    assert transaction is not None
    return transaction.transaction_properties or {}


def _lines(plan: Plan) -> list[str]:
    return plan.answer.text(200).splitlines()


@KINDS
def test_a_wrong_update_is_undone_and_later_edits_stay(tmp_path: Path, stable: bool) -> None:
    uri = _table(tmp_path, stable=stable)
    before = lance.dataset(uri).to_table(with_row_id=True).to_pylist()
    plan = lx.open_table(uri).plan_revert(3)
    assert plan.sentence == (
        "Undo version 3 with 1 commit: write `label` of 1 row in place. 2 conflicts are left alone."
    )
    found = {row["reason"]: row for row in plan.conflicts().iter_rows(named=True)}
    changed, deleted = found["changed_since"], found["deleted_since"]
    assert (changed["name"], changed["planned"], changed["now"]) == ("label", "dog", "mine")
    assert changed["version"] == 4
    assert deleted["planned"] == "dog"
    script = plan.save(tmp_path / "plan")
    assert run_as_reader(script, uri, "--author", "ann").returncode == 0
    after = {row["id"]: row for row in lance.dataset(uri).to_table(with_row_id=True).to_pylist()}
    assert after.pop(3) == {**next(row for row in before if row["id"] == 3), "label": "dog"}
    assert after == {row["id"]: row for row in before if row["id"] != 3}
    [commit] = lx.open_table(uri).log(limit=1).iter_rows(named=True)
    assert (commit["author"], commit["message"]) == ("ann", "Undo version 3")
    assert plan.id in commit["properties"]


def test_rows_of_legacy_files_are_written_anew_and_keep_their_row_ids(tmp_path: Path) -> None:
    uri = str(tmp_path / "animals.lance")
    rows = pa.table({"id": range(6), "label": [f"old {n}" for n in range(6)]})
    lance.write_dataset(rows, uri, enable_stable_row_ids=True, data_storage_version="legacy")
    before = lance.dataset(uri).to_table(with_row_id=True).to_pylist()
    lance.dataset(uri).delete("id = 0")
    lance.dataset(uri).update({"label": "'wrong'"}, where="id IN (2, 4)")
    lance.dataset(uri).create_scalar_index("label", "BITMAP")
    plan = lx.open_table(uri).plan_revert(3)
    assert plan.sentence.endswith("write all columns of 2 rows anew.")
    assert "row_ids" not in plan.losses()["kind"].to_list()
    carried_out(plan, uri, tmp_path / "plan")
    after = lance.dataset(uri).to_table(with_row_id=True).to_pylist()
    assert sorted(after, key=repr) == sorted(before[1:], key=repr)
    assert lance.dataset(uri).to_table(filter="label = 'old 4'")["id"].to_pylist() == [4]


@KINDS
def test_with_overwrite_later_edits_go_and_deleted_rows_come_back(
    tmp_path: Path, stable: bool
) -> None:
    uri = _table(tmp_path, stable=stable)
    plan = lx.open_table(uri).plan_revert(3, on_conflict="overwrite")
    assert "2 rows changed since are overwritten" in plan.sentence
    carried_out(plan, uri, tmp_path / "plan")
    labels = dict(rows_of(uri, "id", "label"))
    assert [labels[one] for one in (2, 3, 7)] == ["dog", "dog", "dog"]


@KINDS
def test_deleted_rows_come_back_and_inserted_ones_go(tmp_path: Path, stable: bool) -> None:
    uri = _table(tmp_path, stable=stable)
    plan = lx.open_table(uri).plan_revert(6)
    assert plan.losses()["kind"].to_list() == (["row_ids"] if stable else [])
    assert plan.rows()["id"].to_pylist() == [1, 2]
    carried_out(plan, uri, tmp_path / "plan")
    labels = dict(rows_of(uri, "id", "label"))
    assert (labels[1], labels[2]) == ("dog", "wrong")
    if stable:
        assert _properties(uri)["lance_explorer.former_row_ids"] == "1, 2"
    plan = lx.open_table(uri).plan_revert(7)
    carried_out(plan, uri, tmp_path / "other")
    assert 20 not in dict(rows_of(uri, "id", "label"))


def test_the_latest_commit_is_undone_by_going_back(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).delete("id > 5")
    before = lance.dataset(uri, version=9).to_table(with_row_id=True)
    plan = lx.open_table(uri).plan_revert(-1)
    assert [step.kind for step in plan.steps] == ["restore"]
    assert len(plan.rows()) == 5
    carried_out(plan, uri, tmp_path / "plan")
    assert lance.dataset(uri).to_table(with_row_id=True) == before


@pytest.mark.parametrize(
    "commit",
    [
        lambda dataset: dataset.add_columns({"twice": "id * 2"}),
        lambda dataset: dataset.drop_columns(["score"]),
        lambda dataset: dataset.alter_columns({"path": "label", "name": "tag"}),
        lambda dataset: dataset.alter_columns(TO_INT32),
    ],
    ids=["add", "drop", "rename", "cast"],
)
def test_changes_of_columns_are_undone(tmp_path: Path, commit: Callable[[Any], None]) -> None:
    uri = _table(tmp_path)
    before = lance.dataset(uri).to_table().sort_by("id")
    commit(lance.dataset(uri))
    lance.dataset(uri).update_config({"after": "it"})
    plan = lx.open_table(uri).plan_revert(10)
    assert len(plan.steps) == 1
    carried_out(plan, uri, tmp_path / "plan")
    after = lance.dataset(uri).to_table().sort_by("id")
    assert {*after.column_names} == {*before.column_names}
    assert after.select(before.column_names) == before


def test_a_column_that_others_wrote_since_stays(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).add_columns({"twice": "id * 2"})
    lance.dataset(uri).update({"twice": "0"}, where="id = 4")
    table = lx.open_table(uri)
    plan = table.plan_revert(10)
    assert not plan
    assert plan.conflicts()["note"].to_list() == ["1 row got values of it since"]
    plan = table.plan_revert(10, on_conflict="overwrite")
    assert plan.losses()["num_rows"].to_list() == [1]
    carried_out(plan, uri, tmp_path / "plan")
    assert "twice" not in lance.dataset(uri).schema.names


def test_a_conflict_shows_nulls_and_rows_that_would_go(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).update({"score": "NULL"}, where="id = 4")  # 10
    lance.dataset(uri).update({"score": "7"}, where="id = 4")
    lance.dataset(uri).update({"label": "'now'"}, where="id = 20")
    table = lx.open_table(uri)
    [row] = [one for one in _lines(table.plan_revert(11)) if one.startswith("update")]
    assert row.split() == ["update", "4", "null"]
    undone = table.plan_revert(7)
    assert undone.conflicts().select("planned", "now", "note").rows() == [
        (None, "now", "the row would be deleted")
    ]
    lance.dataset(uri).update({"score": "8"}, where="id = 4")
    conflict = lx.open_table(uri).plan_revert(11)
    assert conflict.conflicts()["planned"].to_list() == [None]
    [line] = [one for one in _lines(conflict) if one.startswith("changed_since")]
    assert line.split()[3:6] == ["score", "null", "8.0"]


def test_settings_and_indices_are_undone(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).update_config({"a": "1", "b": "1"})
    lance.dataset(uri).update_config({"b": "2"})
    plan = lx.open_table(uri).plan_revert(10)
    assert plan.conflicts()["name"].to_list() == ["b"]
    carried_out(plan, uri, tmp_path / "plan")
    config = lance.dataset(uri).config()
    assert ("a" in config, config["b"]) == (False, "2")
    carried_out(lx.open_table(uri).plan_revert(2), uri, tmp_path / "index")
    assert not lance.dataset(uri).describe_indices()
    dropped = lance.dataset(uri).version
    lance.dataset(uri).update_config({"c": "1"})
    carried_out(lx.open_table(uri).plan_revert(dropped), uri, tmp_path / "again")
    assert [index.name for index in lance.dataset(uri).describe_indices()] == ["label_idx"]


@pytest.mark.parametrize(
    ("version", "why"),
    [(1, "it created the table"), (8, "reserved fragment IDs"), (9, "a compaction changes no row")],
)
def test_what_cannot_be_undone_says_why(tmp_path: Path, version: int, why: str) -> None:
    plan = lx.open_table(_table(tmp_path)).plan_revert(version)
    assert not plan
    assert why in plan.sentence
    with pytest.raises(lx.InvalidArgumentError, match="nothing to save"):
        plan.save(tmp_path / "plan")


def test_a_commit_that_was_undone_since_has_nothing_to_undo(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).update_config({"owner": "anna"})
    version = lance.dataset(uri).version
    lance.dataset(uri).delete_config_keys(["owner"])
    plan = lx.open_table(uri).plan_revert(version)
    assert not plan
    assert "none of its changes is in the table now" in plan.sentence


def test_an_index_that_was_built_anew_is_no_conflict(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).create_scalar_index("label", "BTREE", replace=True)
    lance.dataset(uri).update_config({"after": "it"})
    plan = lx.open_table(uri).plan_revert(10)
    assert not plan
    assert plan.num_conflicts == 0
    assert "changes no row: `label_idx` stays" in plan.sentence


def test_a_dropped_column_comes_back_without_row_ids_after_a_compaction(tmp_path: Path) -> None:
    uri = sparse_table(tmp_path)
    lance.dataset(uri).drop_columns(["score"])
    dropped = lance.dataset(uri).version
    lance.dataset(uri).delete(FEW_LEFT)
    carried_out(lx.open_table(uri).plan_revert(dropped), uri, tmp_path / "plan")
    assert rows_of(uri, "id", "score") == [(7, 7.0), (100, 100.0), (20_000, 20_000.0)]


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP", "NGRAM", "LABEL_LIST", "ZONEMAP"])
def test_rows_that_come_back_are_found_by_an_index(tmp_path: Path, kind: Any) -> None:
    uri = str(tmp_path / "animals.lance")
    rows = pa.table({"id": range(6), "tag": [[f"tag {n}"] for n in range(6)]})
    rows = rows.append_column("label", [[f"label {n}" for n in range(6)]])
    lance.write_dataset(rows.slice(1), uri, enable_stable_row_ids=True)
    column = "tag" if kind == "LABEL_LIST" else "label"
    where = "array_has(tag, 'tag 0')" if column == "tag" else "label = 'label 0'"
    lance.write_dataset(rows.slice(0, 1), uri, mode="append")  # 2
    lance.dataset(uri).merge_insert(
        "id"
    ).when_not_matched_by_source_delete().when_not_matched_insert_all().execute(
        pa.concat_tables([rows.slice(1, 4), rows.slice(5).set_column(0, "id", [[9]])])
    )  # 3: deletes 0 and 5, inserts 9
    lance.dataset(uri).create_scalar_index(column, kind)
    plan = lx.open_table(uri).plan_revert(3)
    assert plan.steps[0].words == "Delete 1 row; append 2 rows."
    carried_out(plan, uri, tmp_path / "plan")
    assert lance.dataset(uri).to_table(filter=where)["id"].to_pylist() == [0]


def test_an_overwrite_is_undone_whole_or_not_at_all(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.write_dataset(pa.table({"other": [1]}), uri, mode="overwrite")
    lance.write_dataset(pa.table({"other": [2]}), uri, mode="append")
    table = lx.open_table(uri)
    plan = table.plan_revert(10)
    assert not plan
    assert plan.conflicts()["subject"].to_list() == ["table"]
    carried_out(table.plan_revert(10, on_conflict="overwrite"), uri, tmp_path / "plan")
    assert lance.dataset(uri).schema.names == ["id", "label", "score"]


def test_rows_come_back_with_a_column_that_was_renamed_after_a_restore(tmp_path: Path) -> None:
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": [0, 1, 2], "label": ["a", "b", "c"]}), uri)
    lance.write_dataset(pa.table({"id": [9], "label": ["x"]}), uri, mode="overwrite")
    lance.dataset(uri, version=1).restore()
    renamed: Any = {"path": "label", "name": "kind"}
    lance.dataset(uri).alter_columns(renamed)
    lance.dataset(uri).delete("id < 2")
    carried_out(lx.open_table(uri).plan_revert(2), uri, tmp_path / "plan")
    rows = lance.dataset(uri).to_table().sort_by("id").to_pydict()
    assert rows == {"id": [0, 1, 2], "kind": ["a", "b", "c"]}


def test_a_row_that_a_later_restore_brought_back_does_not_come_twice(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).checkout_version(5).restore()
    lance.dataset(uri).update({"score": "7"}, where="id = 1")
    choices: tuple[OnConflict, ...] = ("keep", "overwrite")
    for on_conflict in choices:
        plan = lx.open_table(uri).plan_revert(6, on_conflict=on_conflict)
        assert plan.rows()["_change"].to_pylist() == []
        assert plan.num_conflicts == 0


def test_the_version_before_must_be_kept(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    manifest = next(Path(uri, "_versions").glob(f"{2**64 - 1 - 2}.manifest"))
    manifest.unlink()
    with pytest.raises(lx.VersionNotFoundError, match="version 2, which has the values"):
        lx.open_table(uri).plan_revert(3)


# ------------------------------------------------------------------------------------- the script


def test_a_second_run_does_nothing(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    plan = lx.open_table(uri).plan_revert(3)
    carried_out(plan, uri, tmp_path / "plan")
    lance.dataset(uri).update_config({"after": "it"})
    assert "carried out already, in version 10" in carried_out(plan, uri, tmp_path / "plan")
    assert lance.dataset(uri).version == 11


def test_a_table_that_moved_on_is_left_alone(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    plan = lx.open_table(uri).plan_revert(3)
    lance.dataset(uri).update_config({"later": "it"})
    with pytest.raises(SystemExit, match="version 10 was committed since"):
        carried_out(plan, uri, tmp_path / "plan")
    assert lance.dataset(uri).version == 10


def test_another_table_is_left_alone(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    plan = lx.open_table(uri).plan_revert(3)
    other = _table(tmp_path / "other")
    with pytest.raises(SystemExit, match="the files of this version are not those"):
        carried_out(plan, other, tmp_path / "plan")
    copy = shutil.copytree(uri, tmp_path / "copy.lance")
    assert "Done" in carried_out(plan, copy, tmp_path / "plan")


def _three_steps(folder: Path) -> tuple[str, Plan]:
    """Return a table, and a plan that casts, adds a column and writes rows, a commit each."""
    uri = _table(folder)
    lance.dataset(uri).create_branch("dev")
    dev = lance.dataset(uri).checkout_version(("dev", None))
    dev.alter_columns(TO_INT32)
    dev = lance.dataset(uri).checkout_version(("dev", None))
    dev.add_columns({"new": "id + 1"})
    dev = lance.dataset(uri).checkout_version(("dev", None))
    dev.update({"label": "'theirs'"}, where="id = 9")
    plan = lx.open_table(uri).merge_preview("dev").plan()
    assert [step.kind for step in plan.steps] == ["alter_columns", "add_columns", "rows"]
    return uri, plan


@pytest.mark.parametrize("is_before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("number", range(3))
def test_a_killed_run_is_finished_by_the_next(tmp_path: Path, number: int, is_before: bool) -> None:
    uri, plan = _three_steps(tmp_path)
    script = plan.save(tmp_path / "plan")
    whole = script.read_text()
    step = "            operation = STEPS[step"
    after = "        dataset = opened(arguments.table, options)\n    check_result"
    kill = f"if number == {number}: import os, signal; os.kill(os.getpid(), signal.SIGKILL)\n"
    place, indent = (step, " " * 12) if is_before else (after, " " * 8)
    assert whole.count(place) == 1
    script.write_text(whole.replace(place, f"{indent}{kill}{place}"))
    assert run_as_reader(script, uri).returncode == -signal.SIGKILL
    done = number if is_before else number + 1
    assert lance.dataset(uri).version == 9 + done
    script.write_text(whole)
    run = run_as_reader(script, uri)
    assert run.returncode == 0, run.stderr
    assert ("carried out already" in run.stdout) == (done == 3)
    rows = {row["id"]: row for row in lance.dataset(uri).to_table().to_pylist()}
    assert (rows[9]["label"], rows[9]["new"], rows[4]["new"]) == ("theirs", 10, 5)
    assert lance.dataset(uri).version == 12
    assert lance.dataset(uri).schema.field("id").type == pa.int32()


def test_a_commit_of_others_in_between_is_told_with_what_was_done(tmp_path: Path) -> None:
    uri, plan = _three_steps(tmp_path)
    with pytest.raises(KeyboardInterrupt), stopping_after(0):
        carried_out(plan, uri, tmp_path / "plan")  # a cast is no commit by operation
    lance.dataset(uri).update_config({"in": "between"})
    told = "Stopped after step 1: .* version 11 was committed since"
    with pytest.raises(SystemExit, match=told):
        carried_out(plan, uri, tmp_path / "plan")


def test_a_commit_of_others_is_not_taken_for_a_step(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).alter_columns(TO_INT32)
    lance.dataset(uri).update_config({"after": "it"})
    plan = lx.open_table(uri).plan_revert(10)
    assert [step.kind for step in plan.steps] == ["alter_columns"]
    lance.dataset(uri).update_config({"another": "commit"})
    with pytest.raises(SystemExit, match=r"Nothing was done: .* version 12 was committed since"):
        carried_out(plan, uri, tmp_path / "plan")


def test_an_overwrite_without_a_column_is_not_taken_for_its_drop(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).add_columns({"twice": "id * 2"})
    lance.dataset(uri).update_config({"after": "it"})
    plan = lx.open_table(uri).plan_revert(10)
    assert [step.kind for step in plan.steps] == ["drop_columns"]
    lance.write_dataset(pa.table({"id": [1]}), uri, mode="overwrite")
    with pytest.raises(SystemExit, match=r"Nothing was done: .* version 12 was committed since"):
        carried_out(plan, uri, tmp_path / "plan")


def test_nothing_of_an_older_plan_is_left_in_its_folder(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lx.open_table(uri).plan_revert(3).save(tmp_path / "plan")
    assert (tmp_path / "plan" / "rows.arrow").exists()
    latest = _table(tmp_path / "as it was at version 3", until=3)
    plan = lx.open_table(latest).plan_revert(3)
    assert [step.kind for step in plan.steps] == ["restore"]
    script = plan.save(tmp_path / "plan")
    assert [file.name for file in (tmp_path / "plan").iterdir()] == [script.name]
    assert run_as_reader(script, latest).returncode == 0


def test_keys_that_stand_twice_afterwards_are_told(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    plan = lx.open_table(uri).plan_revert(6, key="id")
    script = plan.save(tmp_path / "plan")
    text = script.read_text().replace(
        "            if operation is not None:\n",
        "            lance.write_dataset(pa.table({'id': [1], 'label': ['x'], 'score': [0.0]}), "
        "arguments.table, mode='append')\n            if operation is not None:\n",
    )
    script.write_text(text)  # another writer is as fast as that
    run = run_as_reader(script, uri)
    assert run.returncode == 1
    assert "keys that the plan brought are there twice" in run.stderr


@pytest.mark.parametrize("place", [".", "plans", "_versions/plans"])
def test_no_plan_is_saved_inside_a_table(tmp_path: Path, place: str) -> None:
    uri = _table(tmp_path)
    with pytest.raises(lx.InvalidArgumentError, match="cannot be saved inside a table"):
        lx.open_table(uri).plan_revert(3).save(Path(uri) / place)


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    (tmp_path / "plan").mkdir()
    (tmp_path / "plan" / "notes.txt").write_text("mine")
    with pytest.raises(lx.InvalidArgumentError, match=r"other files, such as notes\.txt"):
        lx.open_table(uri).plan_revert(3).save(tmp_path / "plan")


def test_texts_of_users_stand_in_the_script_as_they_are(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    nasty = "\"\"\" ''' \\ \n {x} ü"
    plan = lx.open_table(uri).plan_revert(3, author=nasty, reason=nasty)
    carried_out(plan, uri, tmp_path / "plan")
    properties = _properties(uri)
    assert properties["author"] == properties["__lance_commit_message"] == nasty


def test_row_ids_that_were_turned_on_stay(tmp_path: Path) -> None:
    uri = _table(tmp_path, stable=False)
    turned_on = turn_on_row_ids(uri)
    table = lx.open_table(uri)
    plan = table.plan_revert(turned_on)
    assert not plan
    assert "Lance does not turn them off" in plan.sentence
    assert "turn them off" not in "\n".join(_lines(table.plan_revert(3)))  # it did not


def test_an_overwrite_before_row_ids_were_turned_on_cannot_be_undone(tmp_path: Path) -> None:
    uri = _table(tmp_path, stable=False, until=3)
    lance.write_dataset(pa.table({"other": range(3)}), uri, mode="overwrite")  # 4
    turn_on_row_ids(uri)
    plan = lx.open_table(uri).plan_revert(4, on_conflict="overwrite")
    assert not plan.steps
    assert "from before stable row IDs were turned on" in plan.sentence
    assert len(plan.losses()) == 0
