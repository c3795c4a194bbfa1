"""What is left of tables that do not open, beside what their manifests said before."""

import json
import shutil
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.cli.group import main
from lance_explorer.errors import StorageError, TableNotFoundError
from lance_explorer.format.schema import NO_PARENT
from tests.format.samples import DATA

TABLES = [
    "0.10.18/life_cycle",
    "0.20.0/life_cycle",
    "0.32.1/life_cycle",
    "8.0.1/branches",
    "14.0.2/branches",
    "14.0.2/data_overlay",
    "14.0.2/format_legacy",
    "14.0.2/format_2_0",
    "14.0.2/schema_changes",
    "14.0.2/update_columns",
]


def half(name: str, path: Path) -> Path:
    """Copy a table without its manifests."""
    shutil.copytree(DATA / f"{name}.lance", path)
    for folder in path.rglob("_versions"):
        shutil.rmtree(folder)
    return path


@pytest.mark.parametrize("name", TABLES)
def test_files_have_the_rows_and_columns_that_manifests_said(name: str, tmp_path: Path) -> None:
    whole = lx.open_table(DATA / f"{name}.lance")
    left = lx.salvage(half(name, tmp_path / "t.lance")).to_polars()
    by_path = {row["path"]: row for row in left.iter_rows(named=True)}
    view = whole._view
    count = 0
    for record in view.history.records:
        for fragment in view.version(record.version).states:
            for file in fragment.files:
                row = by_path[f"data/{file.path}"]
                names = [
                    field.name
                    for field in record.schema
                    if field.parent_id == NO_PARENT and field.id in file.fields
                ]
                assert row["problem"] is None
                assert row["num_rows"] == fragment.physical_rows
                assert row["format_version"] != "0.1" or not row["columns"]
                assert not row["columns"] or len(row["columns"]) >= len(names)
                count += 1
    assert count


def make(path: Path) -> int:
    """Write a table with deleted rows, a compaction and an added column; return how many live."""
    lance.write_dataset(pa.table({"id": range(90)}), path, max_rows_per_file=30)
    lance.dataset(path).delete("id % 7 = 3")
    lance.dataset(path).optimize.compact_files()
    lance.write_dataset(pa.table({"id": range(90, 100)}), path, mode="append")
    lance.dataset(path).add_columns({"twice": "id * 2"})
    lance.dataset(path).delete("id in (95, 96)")
    return lance.dataset(path).count_rows()


def test_the_code_copies_the_rows_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.lance"
    num_live = make(path)
    expected = lance.dataset(path).to_table().to_pydict()
    shutil.rmtree(path / "_versions")
    left = lx.salvage(path)
    assert left
    assert "87 rows of id in 2 files" in left.sentence
    assert "87 rows of twice in 2 files" in left.sentence
    assert "The rows of 3 other files are in these again." in left.sentence
    assert "2 of these rows were deleted" in left.answer.text()
    frame = left.to_polars()
    copied = frame.filter(pl.col("note").is_null())
    assert copied.select(pl.col("num_rows").sum() - pl.col("num_deleted").sum()).item() == num_live
    folder = tmp_path / "copies"
    folder.mkdir()
    monkeypatch.chdir(folder)
    exec(left.code, {})
    copies = [lance.dataset(each).to_table() for each in folder.iterdir()]
    values = {table.column_names[0]: sorted(table[0].to_pylist()) for table in copies}
    ids = sorted([*expected["id"], 95, 96])
    assert values == {"id": ids, "twice": [2 * number for number in ids]}


def test_without_transactions_nobody_knows_which_rows_were_deleted(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    make(path)
    shutil.rmtree(path / "_versions")
    shutil.rmtree(path / "_transactions")
    left = lx.salvage(path)
    frame = left.to_polars()
    assert frame["num_deleted"].null_count() == frame["note"].null_count() == len(frame)
    assert "Some of these rows were deleted" in left.answer.text()
    assert frame.filter(pl.col("columns").list.contains("id"))["num_rows"].sum() == 90 + 87


def test_damaged_files_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    make(path)
    for manifest in (path / "_versions").iterdir():
        manifest.write_bytes(b"")
    cut, *_ = sorted((path / "data").iterdir())
    cut.write_bytes(cut.read_bytes()[:-1])
    num_files = len(list((path / "data").iterdir()))
    left = lx.salvage(path)
    assert "none of its 7 manifests can be read; of the latest, _versions/" in left.sentence
    assert "1 data file cannot be read." in left.sentence
    frame = left.to_polars()
    [problem] = frame.drop_nulls("problem").iter_rows(named=True)
    assert (problem["path"], problem["num_rows"]) == (f"data/{cut.name}", None)
    assert len(frame) == num_files
    kept = frame.filter(pl.col("problem").is_null(), pl.col("note").is_null())["path"]
    assert all(name in left.code for name in kept)
    assert cut.name not in left.code
    table = lx.open_table(path)
    assert f"lx.salvage('{path}')" in table.damage().remedy.words.replace('"', "'")
    with pytest.raises(StorageError, match="no version can be read, so there is no plan"):
        table.plan_recovery()


def test_whoever_opens_half_a_table_is_led_there(tmp_path: Path) -> None:
    path = half("14.0.2/life_cycle", tmp_path / "t.lance")
    with pytest.raises(TableNotFoundError, match=r"no _versions folder; lx\.salvage\("):
        lx.open_table(path)
    [problem] = lx.open_database(tmp_path).tables()["problem"]
    assert "lx.salvage(" in problem


def test_a_table_that_opens_is_led_to_its_damage() -> None:
    left = lx.salvage(DATA / "14.0.2" / "one_version.lance")
    assert left.why is None
    assert left.sentence.startswith("The table opens: `lx.open_table(")


def test_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(TableNotFoundError, match="there is no file at"):
        lx.salvage(tmp_path)
    path = half("14.0.2/life_cycle", tmp_path / "t.lance")
    shutil.rmtree(path / "data")
    left = lx.salvage(path)
    assert not left
    assert left.sentence.endswith("it has no _versions folder. No data file is left.")
    assert left.code == ""
    assert CliRunner().invoke(main, ["salvage", str(path)]).exit_code == 1


def test_the_command_prints_it(tmp_path: Path) -> None:
    path = half("14.0.2/life_cycle", tmp_path / "t.lance")
    told = CliRunner().invoke(main, ["salvage", str(path)])
    assert told.exit_code == 0
    assert "What is left: 35 rows of id, name, score, point in 5 files" in " ".join(
        told.output.split()
    )
    answer = json.loads(CliRunner().invoke(main, ["salvage", str(path), "--json"]).output)
    assert set(answer["sections"]) == {"notes", "files", "others"}
