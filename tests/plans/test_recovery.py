"""Plans that repair a damaged table: what comes back, and what is said to be lost."""

from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.disk.seeded_damage import damaged, wrong_about_recovery
from tests.plans.carrying_out import FEW_LEFT, carried_out, rows_of, run_as_reader, sparse_table


def _table(folder: Path, *, stable: bool = True) -> str:
    uri = str(folder / "animals.lance")
    rows = pa.table({"id": range(9), "label": [f"animal {n}" for n in range(9)]})
    lance.write_dataset(rows, uri, enable_stable_row_ids=stable, max_rows_per_file=3)
    return uri


def _file(uri: str, fragment: int, column: int = 0) -> Path:
    files = lance.dataset(uri).get_fragments()[fragment].data_files()
    return Path(uri, "data", files[column].path)


def test_a_sound_table_needs_nothing(tmp_path: Path) -> None:
    plan = lx.open_table(_table(tmp_path)).plan_recovery()
    assert not plan
    assert "no damaged file was found" in plan.sentence


def test_a_lost_fragment_is_left_out_and_counted(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    _file(uri, 1).unlink()
    plan = lx.open_table(uri).plan_recovery()
    assert plan.losses().select("kind", "num_rows").rows() == [("rows", 3)]
    carried_out(plan, uri, tmp_path / "plan")
    assert [row[0] for row in rows_of(uri, "id")] == [0, 1, 2, 6, 7, 8]
    assert not lx.open_table(uri).damage().now


def test_after_a_compaction_the_version_before_is_restored(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).optimize.compact_files()
    _file(uri, 0).unlink()
    plan = lx.open_table(uri).plan_recovery()
    assert [step.kind for step in plan.steps] == ["restore"]
    assert plan.losses().is_empty()
    carried_out(plan, uri, tmp_path / "plan")
    assert len(rows_of(uri, "id")) == 9


@pytest.mark.parametrize("stable", [True, False])
def test_rows_that_stand_elsewhere_are_rebuilt(tmp_path: Path, stable: bool) -> None:
    uri = _table(tmp_path, stable=stable)
    lance.dataset(uri).optimize.compact_files()
    lance.dataset(uri).delete("id = 4")
    lance.write_dataset(pa.table({"id": [20], "label": ["new"]}), uri, mode="append")
    ids = lance.dataset(uri).to_table(["id"], with_row_id=True).to_pylist()
    _file(uri, 0).unlink()
    plan = lx.open_table(uri).plan_recovery()
    assert [step.kind for step in plan.steps] == ["rows"]
    assert plan.losses().is_empty()
    carried_out(plan, uri, tmp_path / "plan")
    if stable:
        rebuilt = lance.dataset(uri).to_table(["id"], with_row_id=True).to_pylist()
        assert sorted(ids, key=repr) == sorted(rebuilt, key=repr)
    assert lx.open_table(uri).check(severity="error")["code"].to_list() == ["missing_files"]
    expected = [(n, f"animal {n}") for n in range(9) if n != 4]
    assert rows_of(uri, "id", "label") == [*expected, (20, "new")]


def test_a_lost_column_is_null_and_its_rows_stay(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).add_columns({"score": "id * 2"})
    _file(uri, 2, column=1).unlink()
    plan = lx.open_table(uri).plan_recovery()
    assert plan.losses().filter(kind="values")["num_rows"].to_list() == [3]
    carried_out(plan, uri, tmp_path / "plan")
    rows = {row["id"]: row["score"] for row in lance.dataset(uri).to_table().to_pylist()}
    assert rows == {n: n * 2 if n < 6 else None for n in range(9)}


@pytest.mark.parametrize("stable", [True, False])
def test_a_lost_deletion_file_is_replaced_by_the_one_before(tmp_path: Path, stable: bool) -> None:
    uri = _table(tmp_path, stable=stable)
    lance.dataset(uri).delete("id = 0")  # 2
    lance.dataset(uri).delete("id = 1")  # 3
    newest = max(Path(uri, "_deletions").iterdir(), key=lambda one: one.stat().st_mtime_ns)
    newest.unlink()
    plan = lx.open_table(uri).plan_recovery()
    said = "1 row of fragment 0 that was deleted since version 2 comes back as then"
    if not stable:
        said = (
            "1 row of fragment 0 that was deleted or updated since version 2 comes back as then; "
            "an updated one stands there twice then"
        )
    assert plan.losses()["statement"].to_list() == [said]
    carried_out(plan, uri, tmp_path / "plan")
    assert [row[0] for row in rows_of(uri, "id")] == [*range(1, 9)]
    codes = lx.open_table(uri).check(severity="error")["code"].to_list()
    assert "contradicting_manifests" not in codes


def test_rows_without_row_ids_are_rebuilt_where_few_are_left(tmp_path: Path) -> None:
    uri = sparse_table(tmp_path)
    lance.dataset(uri).delete(FEW_LEFT)
    _file(uri, 0).unlink()
    carried_out(lx.open_table(uri).plan_recovery(), uri, tmp_path / "plan")
    assert rows_of(uri, "id", "score") == [(7, 7.0), (100, 100.0), (20_000, 20_000.0)]


def test_a_manifest_that_cannot_be_read_is_set_aside(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).delete("id = 0")
    newest = max(Path(uri, "_versions").glob("*.manifest"), key=lambda one: one.stat().st_mtime_ns)
    newest.write_bytes(b"")
    plan = lx.open_table(uri).plan_recovery()
    assert [step.kind for step in plan.steps] == ["set_aside"]
    carried_out(plan, uri, tmp_path / "plan")
    assert (tmp_path / "plan" / "set_aside" / newest.name).exists()
    assert len(rows_of(uri, "id")) == 9


def _with_broken_manifest(folder: Path) -> tuple[str, Path, bytes]:
    """Return a table of which the newest of two manifests is cut, that file, and its bytes."""
    uri = _table(folder)
    lance.dataset(uri).delete("id = 0")
    newest = min(Path(uri, "_versions").glob("*.manifest"))  # names count down
    whole = newest.read_bytes()
    newest.write_bytes(whole[:50])
    return uri, newest, whole


def test_only_the_damaged_manifest_is_moved(tmp_path: Path) -> None:
    uri, newest, _ = _with_broken_manifest(tmp_path)
    script = lx.open_table(uri).plan_recovery().save(tmp_path / "plan")
    other = _table(tmp_path / "other")
    lance.dataset(other).delete("id = 1")
    run = run_as_reader(script, other)
    assert "has no such damaged file" in run.stdout
    assert lance.dataset(other).version == 2
    run = run_as_reader(script, uri)
    assert "Done: the table is at version 1." in run.stdout, run.stderr
    lance.dataset(uri).delete("id = 5")
    assert newest.exists()
    assert "nothing was done" in run_as_reader(script, uri).stdout
    assert lance.dataset(uri).version == 2


def test_a_broken_manifest_and_a_lost_file_of_the_version_before(tmp_path: Path) -> None:
    uri, newest, whole = _with_broken_manifest(tmp_path)
    newest.unlink()
    lost = _file(uri, 1)
    newest.write_bytes(whole[:50])
    lost.unlink()
    plan = lx.open_table(uri).plan_recovery()
    assert plan.sentence.startswith("Recover with 1 commit: move `_versions/")
    assert plan.sentence.endswith("leave out 1 damaged fragment.")
    carried_out(plan, uri, tmp_path / "plan")
    assert [row[0] for row in rows_of(uri, "id")] == [0, 1, 2, 6, 7, 8]


def test_a_footer_that_leads_behind_all_files_is_damage(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    file = _file(uri, 1)
    data = bytearray(file.read_bytes())
    data[-20:-4] = b"\xff" * 16
    file.write_bytes(data)
    assert lx.open_table(uri).check(depth="deep")["code"].to_list().count("corrupt_data_file") == 1
    carried_out(lx.open_table(uri).plan_recovery(), uri, tmp_path / "plan")
    assert len(rows_of(uri, "id")) == 6


def test_an_index_that_does_not_cover_rebuilt_rows_is_named(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).optimize.compact_files()
    lance.dataset(uri).create_scalar_index("id", "BTREE")
    lance.dataset(uri).delete("id = 4")
    _file(uri, 0).unlink()
    plan = lx.open_table(uri).plan_recovery()
    [loss] = plan.losses().filter(kind="indices").iter_rows(named=True)
    assert loss["num_rows"] == 8
    carried_out(plan, uri, tmp_path / "plan")
    assert lance.dataset(uri).to_table(filter="id = 7").num_rows == 1


def test_an_index_whose_file_is_gone_is_built_anew(tmp_path: Path) -> None:
    uri = _table(tmp_path)
    lance.dataset(uri).create_scalar_index("id", "BTREE")
    for file in Path(uri, "_indices").glob("*/*"):
        file.unlink()
    plan = lx.open_table(uri).plan_recovery()
    assert [step.kind for step in plan.steps] == ["drop_index", "create_index"]
    carried_out(plan, uri, tmp_path / "plan")
    assert lance.dataset(uri).to_table(filter="id = 7").num_rows == 1


@pytest.mark.drawn(4)
def test_a_random_damage_is_repaired_as_promised(tmp_path: Path, seed: int) -> None:
    assert wrong_about_recovery(damaged(tmp_path, seed)) is None
