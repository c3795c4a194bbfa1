"""Deletion files against the files themselves, and against what pylance counts."""

import lance
import polars as pl
import pyarrow as pa
import pytest
from pyroaring import BitMap

from lance_explorer.errors import UnsupportedFeatureError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.deletions import all_deletions, deletions
from tests.format.samples import DATA
from tests.inspect.tables import rows_of, stored
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable, record
from tests.synthetic.deletions import ARROW_ARRAY, BITMAP, deletion_file


@stored_check()
def check_files_are_those_that_pylance_sees(asked):
    view = asked.view
    for version in asked.versions:
        expected = []
        for fragment in asked.dataset(version).get_fragments():
            file = fragment.metadata.deletion_file
            if file is not None:
                name = f"_deletions/{fragment.fragment_id}-{file.read_version}-{file.id}"
                rows = fragment.num_deletions, fragment.physical_rows
                expected.append((fragment.fragment_id, name, *rows, file.base_id))
        frame = deletions(view, version).with_columns(pl.col("path").str.replace(r"\.\w+$", ""))
        columns = ("fragment_id", "path", "num_deleted_rows", "physical_rows", "base_id")
        assert rows_of(frame, *columns) == expected


@stored_check()
def check_sizes_are_those_of_the_files(asked):
    frame = all_deletions(asked.view)
    for file, size, base_root in rows_of(frame, "path", "file_bytes", "root"):
        assert size == len((DATA / asked.release / (base_root or asked.root) / file).read_bytes())
    assert frame["problem"].null_count() == len(frame)


def test_both_types_show_what_the_other_would_take():
    frame = deletions(stored("14.0.2/bitmap_deletions.lance"), 5)
    [bitmap, array] = frame.iter_rows(named=True)
    assert (bitmap["file_type"], bitmap["num_deleted_rows"]) == ("bitmap", 5_250)
    assert (bitmap["file_bytes"], array["file_bytes"]) == (8_208, 698)
    assert 8_208 < bitmap["other_type_bytes"] < 4 * 5_250
    assert array["other_type_bytes"] == len(BitMap([0]).serialize())
    assert (bitmap["num_array_containers"], bitmap["num_bitset_containers"]) == (0, 1)
    assert (array["num_array_containers"], array["num_bitset_containers"]) == (1, 0)
    assert bitmap["fraction"] == 5_250 / 6_000


def test_an_arrow_file_is_as_large_as_lance_writes_it_but_for_its_frame(tmp_path):
    table = lance.write_dataset(numbers(20_000), tmp_path / "t")
    table.delete("n % 5 = 0")
    [array] = deletions(stored(tmp_path / "t"), 2).iter_rows(named=True)
    table = lance.write_dataset(numbers(60_000), tmp_path / "u")
    table.delete("n < 20000 and n % 5 = 0")
    table.delete("n >= 40000")
    [bitmap] = deletions(stored(tmp_path / "u"), 3).iter_rows(named=True)
    assert (array["file_type"], bitmap["file_type"]) == ("arrow_array", "bitmap")
    [path] = (tmp_path / "u/_deletions").glob("*.bin")
    assert bitmap["file_bytes"] == len(path.read_bytes())
    written = deletion_file(BitMap(range(0, 20_000, 5)), ARROW_ARRAY)
    assert 0 <= array["file_bytes"] - len(written) < 300


def numbers(count):
    return pa.table({"n": range(count)})


def test_containers_are_counted_by_kind(tmp_path):
    bitmap = BitMap([*range(0, 60_000, 2), 70_000, *range(131_072, 180_000)])
    bitmap.run_optimize()
    table = SyntheticTable(tmp_path / "t").append(rows=200_000).delete({0: bitmap})
    view = HistoryView.open(str(table.path))
    replace_file(table, view, bitmap.serialize())
    [row] = deletions(view, 2).iter_rows(named=True)
    kinds = ("array", "run", "bitset")
    assert [row[f"num_{kind}_containers"] for kind in kinds] == [1, 1, 1]
    assert row["file_bytes"] == len(bitmap.serialize())


def replace_file(table, view, data):
    path = deletions(view, table.version)["path"][-1]
    (table.path / path).write_bytes(data)


def test_a_file_outlives_the_states_of_its_fragment(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1]}).add_column("c")
    table.delete({0: [2]}).compact([0]).restore(3)
    frame = all_deletions(HistoryView.open(str(table.path)))
    columns = ("num_deleted_rows", "first_version", "last_version", "is_current")
    assert rows_of(frame, *columns) == [(1, 2, 3, False), (2, 4, 5, False), (1, 7, 7, True)]


def test_each_file_is_read_once(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=30)
    for row in range(20):
        table.delete({0: [row]}).update_config(step=str(row))
    view = HistoryView.open(str(table.path))
    _ = view.history
    before = view.storage.io.requests
    assert len(all_deletions(view)) == 20
    assert view.storage.io.requests - before == 20


@pytest.mark.parametrize(
    ("damage", "problem", "deleted", "size"),
    [
        (None, "the file is missing", 2, None),
        (b"no bitmap", "expected deleted offsets as a Roaring bitmap, found 9 other bytes", 2, 9),
        (deletion_file(BitMap([9]), BITMAP), "the offset 9 is deleted from a fragment of 5", 2, 18),
        (deletion_file(BitMap([1]), BITMAP), "says that 2 rows are deleted, the file 1", 1, 18),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path, damage, problem, deleted, size):
    table = SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1, 3]})

    def as_bitmap(message):
        message.deletion_file.file_type = BITMAP

    amend_fragment(table, as_bitmap)
    view = HistoryView.open(str(table.path))
    path = table.path / deletions(view, 2)["path"][0]
    path.unlink(missing_ok=True)
    if damage is not None:
        path.write_bytes(damage)
    for frame in (deletions(view, 2), all_deletions(view)):
        [row] = frame.iter_rows(named=True)
        assert problem in row["problem"]
        assert (row["num_deleted_rows"], row["file_bytes"]) == (deleted, size)
        assert row["fraction"] == deleted / 5


def amend_fragment(table, change):
    """Change the one fragment of the latest version."""
    message = pb.DataFragment()
    message.CopyFrom(table.state.fragments[0].message)
    change(message)
    table.amend(fragments=record(2, message.SerializeToString()))


def test_a_type_of_file_that_nobody_knows_is_told(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1]})
    amend_fragment(table, lambda message: setattr(message.deletion_file, "file_type", 7))
    [row] = deletions(HistoryView.open(str(table.path)), 2).iter_rows(named=True)
    assert row["file_type"] == "unknown_7"
    assert "deletion files of type 7 are not known" in row["problem"]


def test_a_base_that_is_not_there_is_told(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1]})
    amend_fragment(table, lambda message: setattr(message.deletion_file, "base_id", 3))
    [row] = deletions(HistoryView.open(str(table.path)), 2).iter_rows(named=True)
    assert "base path 3 is not among" in row["problem"]
    assert (row["base_id"], row["root"], row["num_deleted_rows"]) == (3, None, 1)


def test_files_of_a_branch_lie_below_the_root_of_its_parent(tmp_path):
    main = SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1]})
    dev = main.branch("dev").delete({0: [2]})
    frame = all_deletions(HistoryView.open(str(tmp_path / "t"), "dev"))
    assert rows_of(frame, "num_deleted_rows", "root", "problem", "branch") == [
        (1, str(main.path), None, "dev"),
        (2, None, None, "dev"),
    ]
    assert dev.version == 3


def test_rows_that_were_not_counted_are_counted(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1, 2]}, counted=False)
    frame = deletions(HistoryView.open(str(table.path)), 2)
    assert rows_of(frame, "num_deleted_rows", "problem") == [(2, None)]


def test_versions_with_unknown_flags_tell_nothing(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=2).delete({0: [0]})
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 4096))
    view = HistoryView.open(str(table.path))
    with pytest.raises(UnsupportedFeatureError, match="version 2"):
        deletions(view, 2)
    assert all_deletions(view).is_empty()
