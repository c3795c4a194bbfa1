"""Rows of a write-ahead log, beside what pylance says of the files that it wrote."""

import shutil
from pathlib import Path
from uuid import UUID

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import CorruptFileError
from tests.format.samples import DATA

GOLDEN = DATA / "14.0.2" / "mem_wal.lance"


@pytest.fixture(scope="module")
def golden():
    return lx.open_table(GOLDEN)


def test_generations_are_told_with_what_is_merged(golden):
    frame = golden.inspect.mem_wal()
    rows = frame.select("shard_id", "generation", "place", "num_changes", "is_merged").rows()
    one, two = [str(UUID(int=number)) for number in (1, 2)]
    assert rows == [
        (one, 1, "table", 4, True),
        (one, 2, "table", 6, False),
        (two, 1, "log", 7, False),
    ]


def test_changes_are_the_rows_that_pylance_reads_from_the_files(golden):
    for row in golden.inspect.mem_wal().rows(named=True):
        folder = GOLDEN / row["path"]
        if row["place"] == "table":
            assert lance.dataset(folder).count_rows() == row["num_changes"]
        else:
            files = [pa.ipc.open_stream(path.read_bytes()).read_all() for path in folder.iterdir()]
            assert sum([len(file) for file in files]) == row["num_changes"]


def test_rows_that_a_scan_does_not_see_are_found(golden):
    assert golden.at(-1).num_rows == lance.dataset(GOLDEN).count_rows() == 14
    [finding] = golden.inspect.health().filter(code="rows_not_scanned").rows(named=True)
    assert finding["statement"].startswith("13 rows were written or deleted in 2 shards")
    assert "7 of them in the log alone" in finding["statement"]
    assert golden.inspect.health(1).filter(code="rows_not_scanned").is_empty()


def keyed(start: int, stop: int) -> pa.Table:
    key = {"lance-schema:unenforced-primary-key": "true"}
    schema = pa.schema([pa.field("id", pa.int64(), False, metadata=key)])
    return pa.table({"id": range(start, stop)}, schema=schema)


def test_rows_in_the_log_are_known_while_the_writer_is_at_work(tmp_path):
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(keyed(0, 5), path)
    dataset.initialize_mem_wal(unsharded=True)
    table = lx.open_table(path)
    assert table.inspect.mem_wal().is_empty()
    with dataset.mem_wal_writer(str(UUID(int=9))) as writer:
        writer.put(keyed(5, 8))
        writer.put(keyed(8, 9))
        writer.delete(keyed(0, 1))
        [row] = table.inspect.mem_wal().rows(named=True)
        assert (row["place"], row["num_files"], row["num_changes"]) == ("log", 3, 5)
        assert row["num_changes"] == writer.memtable_stats()["row_count"]
    frame = table.inspect.mem_wal()
    assert frame.select("place", "generation", "num_changes").rows() == [("table", 1, 5)]


def test_a_writer_that_took_over_keeps_what_was_in_the_log(tmp_path):
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(keyed(0, 5), path)
    dataset.initialize_mem_wal(unsharded=True)
    shard = str(UUID(int=9))
    with dataset.mem_wal_writer(shard) as first:
        first.put(keyed(5, 8))
    second = dataset.mem_wal_writer(shard)
    second.put(keyed(8, 10))
    frame = lx.open_table(path).inspect.mem_wal()
    assert frame.select("place", "generation", "num_changes", "writer_epoch").rows() == [
        ("table", 1, 3, 2),
        ("log", 2, 2, 2),
    ]
    second.close()


def test_a_table_without_a_log_has_no_rows(tmp_path):
    lance.write_dataset(keyed(0, 5), tmp_path / "t.lance")
    (tmp_path / "t.lance/_mem_wal/somebody").mkdir(parents=True)
    assert lx.open_table(tmp_path / "t.lance").inspect.mem_wal().is_empty()


@pytest.mark.parametrize("folder", ["manifest", "wal"])
def test_a_damaged_file_of_the_log_is_named(tmp_path, folder):
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(keyed(0, 5), path)
    dataset.initialize_mem_wal(unsharded=True)
    writer = dataset.mem_wal_writer(str(UUID(int=9)))
    writer.put(keyed(5, 8))
    [file] = (path / "_mem_wal" / str(UUID(int=9)) / folder).glob("1" + 63 * "0" + ".*")
    data = file.read_bytes()
    Path(file).write_bytes(b"\xff" * 40)
    table = lx.open_table(path)
    with pytest.raises(CorruptFileError, match=f"{folder}/1000"):
        table.inspect.mem_wal()
    found = table.inspect.health().filter(code="not_checked")
    assert found["statement"][0].startswith("rows not scanned could not be checked")
    [damaged] = table.damage().to_polars().rows(named=True)
    assert damaged["path"] == file.relative_to(path).as_posix()
    assert "not known" in damaged["note"]
    Path(file).write_bytes(data)
    writer.close()


@pytest.mark.parametrize("has_log", [True, False])
def test_a_table_of_the_log_that_is_gone_is_told_with_what_the_log_still_has(tmp_path, has_log):
    path = tmp_path / "t.lance"
    lance.write_dataset(keyed(0, 5), path).initialize_mem_wal(unsharded=True)
    for start in (100, 200):
        with lance.dataset(path).mem_wal_writer(str(UUID(int=1))) as writer:
            writer.put(keyed(start, start + 4))
    table = lx.open_table(path)
    assert table.inspect.health().filter(code="log_table_missing").is_empty()
    second = path / table.inspect.mem_wal().filter(generation=2)["path"].item()
    shutil.rmtree(second)
    log = second.parent / "wal"
    if not has_log:
        shutil.rmtree(log)
    table = lx.open_table(path)
    [found] = table.check().filter(code="log_table_missing").rows(named=True)
    assert (found["severity"], found["num_rows"]) == ("error", 4)
    assert "generation 2" in found["statement"]
    assert table.inspect.health().filter(code="rows_not_scanned")["num_rows"].to_list() == [4]
    damage = table.damage()
    assert [one.path for one in damage.files] == [found["subject_path"]]
    assert damage.sentence.startswith(
        "1 file is damaged. The latest version needs none of them for its rows. "
        f"4 rows of the write-ahead log were not merged. {found['consequence']}"
    )
    assert not len(table.plan_recovery().steps)
    if not has_log:
        assert "lost, unless a backup" in found["consequence"]
        return
    assert found["consequence"] == "The log itself still has all of them."
    [name] = [file.name for file in log.iterdir() if file.name in found["remedy"]]
    rows = pa.ipc.open_stream((log / name).read_bytes()).read_all().drop_columns("_tombstone")
    assert rows.to_pylist() == keyed(200, 204).to_pylist()
