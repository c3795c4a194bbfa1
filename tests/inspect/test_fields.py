"""Fields against the schema that pylance sees, and how columns come, change and go."""

import json

import lance
import pyarrow as pa

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fields import all_fields, fields
from tests.inspect.tables import rows_of, stored, write


def lives(table):
    """Return what became of each field, in the order in which they began."""
    frame = all_fields(HistoryView.open(str(table)))
    columns = ("field_id", "path", "first_version", "last_version", "began_as", "ended_as")
    return rows_of(frame, *columns)


def test_keys_have_a_position():
    frame = fields(stored("14.0.2/schema_changes.lance"), 14)
    assert rows_of(frame.filter(field_id=0), "primary_key_position") == [(0,)]
    assert frame["primary_key_position"].null_count() == len(frame) - 1
    assert frame["clustering_key_position"].null_count() == len(frame)


def test_encodings_are_parsed(tmp_path):
    metadata = {
        "lance-encoding:compression": "zstd",
        "lance-encoding:compression-level": "3",
        "lance-encoding:rle-threshold": "0.25",
        "lance-encoding:packed": "true",
        "lance-encoding:odd": "007",
        "other": "1",
    }
    schema = pa.schema([pa.field("n", pa.int64(), metadata=metadata)])
    lance.write_dataset(pa.table({"n": [1]}, schema=schema), tmp_path / "t")
    [encoding] = fields(HistoryView.open(str(tmp_path / "t")), 1)["encoding"]
    assert json.loads(encoding) == {
        "compression": "zstd",
        "compression-level": 3,
        "rle-threshold": 0.25,
        "packed": True,
        "odd": "007",
    }


def test_extension_types_are_named(tmp_path):
    metadata = {"ARROW:extension:name": "geoarrow.point"}
    schema = pa.schema([pa.field("n", pa.int64(), metadata=metadata), ("m", pa.int64())])
    lance.write_dataset(pa.table({"n": [1], "m": [2]}, schema=schema), tmp_path / "t")
    frame = fields(HistoryView.open(str(tmp_path / "t")), 1)
    assert frame["extension_name"].to_list() == ["geoarrow.point", None]


def test_columns_are_added_renamed_cast_altered_and_dropped(tmp_path):
    table = write(tmp_path / "t", a=[1])
    table.add_columns({"b": "a + 1"})
    table.alter_columns({"path": "b", "name": "c"})
    table.alter_columns({"path": "c", "data_type": pa.int32()})
    table.update_field_metadata({"c": {"unit": "m"}})
    table.drop_columns(["c"])
    assert lives(tmp_path / "t") == [
        (0, "a", 1, 6, "added", None),
        (1, "b", 2, 2, "added", "renamed"),
        (1, "c", 3, 3, "renamed", "cast"),
        (2, "c", 4, 4, "cast", "altered"),
        (2, "c", 5, 5, "altered", "dropped"),
    ]


def test_an_id_that_is_used_again_is_another_column(tmp_path):
    table = write(tmp_path / "t", a=[1])
    table.add_columns({"b": "a + 1"})
    table.drop_columns(["b"])
    table.add_columns({"c": "a + 1"})
    assert lives(tmp_path / "t") == [
        (0, "a", 1, 4, "added", None),
        (1, "b", 2, 2, "added", "dropped"),
        (1, "c", 4, 4, "added", None),
    ]


def test_a_restore_over_a_used_id_brings_the_old_column_back(tmp_path):
    table = write(tmp_path / "t", a=[1])
    table.add_columns({"b": "a + 1"})
    table.drop_columns(["b"])
    table.add_columns({"c": "a + 1"})
    lance.dataset(tmp_path / "t", version=2).restore()
    assert lives(tmp_path / "t")[1:] == [
        (1, "b", 2, 2, "added", "dropped"),
        (1, "c", 4, 4, "added", "dropped"),
        (1, "b", 5, 5, "added", None),
    ]


def test_a_restore_over_a_rename_renames_back(tmp_path):
    table = write(tmp_path / "t", a=[1])
    table.alter_columns({"path": "a", "name": "b"})
    lance.dataset(tmp_path / "t", version=1).restore()
    assert lives(tmp_path / "t") == [
        (0, "a", 1, 1, "added", "renamed"),
        (0, "b", 2, 2, "renamed", "renamed"),
        (0, "a", 3, 3, "renamed", None),
    ]


def test_names_that_are_swapped_are_renamed(tmp_path):
    table = write(tmp_path / "t", a=[1], b=[2])
    table.alter_columns({"path": "a", "name": "c"})
    table.alter_columns({"path": "b", "name": "a"}, {"path": "c", "name": "b"})
    assert [life[1:] for life in lives(tmp_path / "t")] == [
        ("a", 1, 1, "added", "renamed"),
        ("b", 1, 2, "added", "renamed"),
        ("c", 2, 2, "renamed", "renamed"),
        ("b", 3, 3, "renamed", None),
        ("a", 3, 3, "renamed", None),
    ]


def test_a_renamed_parent_renames_its_children(tmp_path):
    table = write(tmp_path / "t", a=[{"x": 1}])
    table.alter_columns({"path": "a", "name": "b"})
    assert lives(tmp_path / "t") == [
        (0, "a", 1, 1, "added", "renamed"),
        (1, "a.x", 1, 1, "added", "renamed"),
        (0, "b", 2, 2, "renamed", None),
        (1, "b.x", 2, 2, "renamed", None),
    ]


def test_an_overwrite_starts_ids_over(tmp_path):
    write(tmp_path / "t", same=[1], typed=[2], removed=[3], moved=[4])
    write(tmp_path / "t", "overwrite", same=[1], typed=["2"], moved=[4], new=[5])
    assert lives(tmp_path / "t") == [
        (0, "same", 1, 2, "added", None),
        (1, "typed", 1, 1, "added", "altered"),
        (2, "removed", 1, 1, "added", "dropped"),
        (3, "moved", 1, 1, "added", "altered"),
        (1, "typed", 2, 2, "altered", None),
        (2, "moved", 2, 2, "altered", None),
        (3, "new", 2, 2, "added", None),
    ]


def test_a_gap_hides_how_fields_begin_and_end(tmp_path):
    table = write(tmp_path / "t", a=[1])
    table.add_columns({"b": "a + 1"})
    table.alter_columns({"path": "b", "name": "c"})
    table.add_columns({"d": "a + 1"})
    view = HistoryView.open(str(tmp_path / "t"))
    (tmp_path / "t" / view.listing.versions[2].path).unlink()
    assert lives(tmp_path / "t") == [
        (0, "a", 1, 4, "added", None),
        (1, "b", 2, 2, "added", "unknown"),
        (1, "c", 4, 4, "unknown", None),
        (2, "d", 4, 4, "unknown", None),
    ]


def test_a_branch_inherits_its_fields():
    frame = all_fields(stored("14.0.2/branches.lance/tree/dev"))
    assert set(frame["began_as"]) == {"inherited"}
    assert frame["first_version_exact"].all()


def test_the_fields_of_the_oldest_version_after_a_cleanup_are_of_unknown_origin():
    frame = all_fields(stored("14.0.2/cleaned.lance"))
    assert set(
        frame.filter(frame["first_version"] == frame["first_version"].min())["began_as"]
    ) == {"unknown"}
    assert not frame["first_version_exact"][0]
