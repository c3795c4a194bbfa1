"""What two versions differ in: its parts, how sure it is, and how it shows itself."""

from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer import open_table
from lance_explorer.changes.diff_content import SameContent
from lance_explorer.errors import (
    InvalidArgumentError,
    UnsupportedFeatureError,
    VersionNotFoundError,
)
from tests.synthetic import SyntheticTable

KINDS = pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
UNKNOWN_FLAG = 2 | 1 << 20


def people(*ids: int, score: int = 0) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "score": [score] * len(ids)})


def made(path: Path, stable: bool = True) -> Any:
    """Write a table of two versions: rows 1 to 3 and 4 to 6, a fragment each."""
    table = lance.write_dataset(people(1, 2, 3), path, enable_stable_row_ids=stable)
    table.insert(people(4, 5, 6))
    return table


@KINDS
def test_a_version_is_identical_to_itself(tmp_path, stable):
    made(tmp_path, stable)
    diff = open_table(tmp_path).diff(2, 2)
    assert diff.is_identical
    assert diff.same_content() == SameContent(True, "metadata", (), 6, 6, 0, 0)
    assert not len(diff.rows())
    assert diff.summary()["unchanged"].item() == 6
    assert repr(diff).endswith(": 2 to 2: identical)")


@KINDS
def test_a_restore_is_identical_to_what_it_restored(tmp_path, stable):
    table = made(tmp_path, stable)
    table.add_columns({"rank": "id"})
    table.delete("id = 1")
    lance.dataset(tmp_path, version=2).restore()
    ours = open_table(tmp_path)
    diff = ours.diff(2, 5)
    assert diff.is_identical
    assert diff.same_content().method == "metadata"
    assert diff.summary()["unchanged"].item() == 6
    assert not len(ours.diff(5, 2).schema())


@KINDS
def test_backwards_inserted_and_deleted_change_places(tmp_path, stable):
    table = made(tmp_path, stable)
    table.delete("id = 1")
    table.update({"score": "1"}, "id = 4")
    table.insert(people(7, 8))
    ours = open_table(tmp_path)
    names = ["inserted", "deleted", "updated", "unchanged"]
    assert ours.diff(2, 5).summary().select(names).row(0) == (2, 1, 1, 4)
    assert ours.diff(5, 2).summary().select(names).row(0) == (1, 2, 1, 4)
    rows = ours.diff(5, 2).rows(images="after")
    assert rows.filter(_change_type="insert").select("id", "_commit_version").rows() == [(1, 1)]
    assert rows.filter(_change_type="update_postimage").select("id", "score").rows() == [(4, 0)]


@pytest.mark.parametrize(("stable", "method"), [(True, "row ID"), (False, "multiset hash")])
def test_a_compaction_is_proved_to_keep_the_content(tmp_path, stable, method):
    table = made(tmp_path, stable)
    table.delete("id = 2")
    table.optimize.compact_files()
    ours = open_table(tmp_path)
    diff = ours.diff(3, ours.latest.version)
    assert not diff.is_identical
    assert diff.same_content() == SameContent(True, method, (), 5, 5, 5, 5)


def test_an_overwrite_with_the_same_rows_has_the_same_content(tmp_path):
    made(tmp_path)
    lance.write_dataset(people(6, 5, 4, 3, 2, 1), tmp_path, mode="overwrite")
    diff = open_table(tmp_path).diff(2, 3)
    assert diff.same_content() == SameContent(True, "multiset hash", (), 6, 6, 6, 6)
    assert diff.summary().select("inserted", "deleted").row(0) == (6, 6)
    assert not len(diff.schema())


def test_a_row_that_has_the_values_of_another_is_found_by_row_id(tmp_path):
    table = made(tmp_path)
    table.update({"score": "id % 2"}, "id <= 2")
    table.update({"score": "1 - id % 2"}, "id <= 2")
    assert open_table(tmp_path).diff(3, 4).same_content() == SameContent(
        False, "row ID", ("score",), 6, 6, 2, 2
    )


def test_without_row_ids_values_that_changed_places_are_other_rows(tmp_path):
    table = made(tmp_path, stable=False)
    table.update({"score": "id % 2"}, "id <= 2")
    table.update({"score": "1 - id % 2"}, "id <= 2")
    told = open_table(tmp_path).diff(3, 4).same_content()
    assert (told.is_same, told.columns) == (False, ())


@KINDS
def test_the_columns_that_differ_are_named(tmp_path, stable):
    table = made(tmp_path, stable)
    table.add_columns({"rank": "id", "level": "id"})
    table.update({"rank": "id + 1"}, "id = 3")
    table.alter_columns({"path": "level", "data_type": pa.int32()})
    ours = open_table(tmp_path)
    assert ours.diff(3, 4).same_content().columns == ("rank",)
    assert ours.diff(4, 5).same_content().columns == ("level",)
    assert ours.diff(2, 3).same_content().columns == ("rank", "level")


def test_a_null_column_added_again_is_read_though_no_file_differs(tmp_path):
    table = made(tmp_path)
    table.drop_columns(["score"])
    table.add_columns(pa.schema([("score", pa.int64())]))
    ours = open_table(tmp_path)
    for first in (1, 2):
        schema = ours.diff(first, 4).schema()
        assert schema.select("change", "path_after").rows() == [("replaced", "score")]
    assert ours.diff(2, 4).same_content().columns == ("score",)


def test_blobs_are_compared_by_their_bytes(tmp_path):
    field = pa.field("blob", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    blobs = pa.table([[b"one", b"two", b"three"]], schema=pa.schema([field]))
    table = lance.write_dataset(blobs, tmp_path, max_rows_per_file=1)
    table.delete("false")
    table.optimize.compact_files()
    ours = open_table(tmp_path)
    assert len(ours.diff(1, ours.latest.version).fragments())
    assert ours.diff(1, ours.latest.version).same_content()


@KINDS
def test_an_empty_table_differs_in_all_its_rows(tmp_path, stable):
    table = made(tmp_path, stable)
    table.delete("true")
    ours = open_table(tmp_path)
    assert ours.diff(3, 2).summary().select("inserted", "unchanged").row(0) == (6, 0)
    assert ours.diff(2, 3).summary().select("deleted", "unchanged").row(0) == (6, 0)
    assert ours.diff(3, 3).same_content()
    assert not ours.diff(2, 3).same_content()


def test_indices_and_configuration_are_compared(tmp_path):
    table = made(tmp_path)
    table.create_scalar_index("id", "BTREE")
    table.update_config({"owner": "me"})
    table.update_config({"owner": "you"})
    table.drop_index("id_idx")
    ours = open_table(tmp_path)
    indices = ours.diff(2, 3).indices()
    assert indices.select("change", "name", "num_fragments_after").rows() == [
        ("added", "id_idx", 2)
    ]
    assert ours.diff(5, 6).indices()["change"].to_list() == ["removed"]
    config = ours.diff(4, 5).config().select("change", "map", "key", "value_before", "value_after")
    assert config.rows() == [("changed", "config", "owner", "me", "you")]
    assert ours.diff(5, 2).differs == ("indices", "config")


def test_fields_are_followed_by_their_ids(tmp_path):
    table = made(tmp_path)
    table.alter_columns({"path": "score", "name": "points"})
    table.alter_columns({"path": "points", "data_type": pa.int32()})
    ours = open_table(tmp_path)
    names = ["change", "path_before", "path_after"]
    assert ours.diff(2, 3).schema().select(names).rows() == [("renamed", "score", "points")]
    assert ours.diff(3, 4).schema().select(names).rows() == [("cast", "points", "points")]
    rows = ours.diff(3, 2).rows(images="both", include=("column_added", "moved"))
    assert not len(rows)
    assert "score" in rows.columns


def test_an_overwritten_column_of_another_type_is_another_one(tmp_path):
    table: Any = lance.write_dataset(pa.table({"id": [1], "score": [2]}), tmp_path)
    table.alter_columns({"path": "score", "data_type": pa.int32()})
    lance.write_dataset(pa.table({"id": [1], "score": ["2"]}), tmp_path, mode="overwrite")
    ours = open_table(tmp_path)
    names = ["change", "path_after", "type_before", "type_after"]
    assert ours.diff(1, 2).schema().select(names).rows() == [("cast", "score", "int64", "int32")]
    for first, before in ((1, "int64"), (2, "int32")):
        there, back = ours.diff(first, 3).schema(), ours.diff(3, first).schema()
        assert there.select(names).rows() == [("replaced", "score", before, "string")]
        assert back.select(names).rows() == [("replaced", "score", "string", before)]


def test_a_key_tells_rows_apart(tmp_path):
    table = made(tmp_path, stable=False)
    table.delete("id = 2")
    table.insert(people(2, 9, score=5))
    ours = open_table(tmp_path)
    rows = ours.diff(4, 2).rows(images="both", key="id")
    assert rows.select("_change_type", "id", "score").rows() == [
        ("delete", 9, 5),
        ("update_preimage", 2, 5),
        ("update_postimage", 2, 0),
    ]


def test_rows_of_an_unknown_feature_are_refused_and_metadata_is_compared(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=3)
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", UNKNOWN_FLAG))
    table.append(rows=2)
    diff = open_table(tmp_path).diff(1, 2)
    assert diff.fragments()["change"].to_list() == ["added"]
    assert not diff.is_identical
    for refused in (diff.summary, diff.rows, diff.same_content):
        with pytest.raises(UnsupportedFeatureError, match="unknown feature"):
            refused()
    assert "unknown feature" in diff._repr_html_()


def test_a_clone_has_the_same_content_though_its_rows_cannot_be_matched(tmp_path):
    made(tmp_path / "first.lance").shallow_clone(tmp_path / "clone.lance", 2)
    first, clone = open_table(tmp_path / "first.lance"), open_table(tmp_path / "clone.lance")
    diff = first.diff(2, clone.latest)
    assert diff.same_content()
    assert not len(diff.fragments())
    with pytest.raises(InvalidArgumentError, match="two tables"):
        diff.summary()


def test_a_lost_version_is_named(tmp_path):
    made(tmp_path).delete("id = 1")
    table = lance.dataset(tmp_path)
    table.cleanup_old_versions(retain_versions=1)
    with pytest.raises(VersionNotFoundError, match="cleaned up"):
        open_table(tmp_path).diff(1, 3)


def test_lost_versions_on_the_way_are_counted(tmp_path):
    table = made(tmp_path)
    table.tags.create("first", 1)
    for _ in range(2):
        table.delete("id = 4")
    table.cleanup_old_versions(retain_versions=1, error_if_tagged_old_versions=False)
    ours = open_table(tmp_path)
    counts = ours.diff("first", 4).summary().select("inserted", "unchanged", "versions_lost")
    assert counts.row(0) == (2, 3, 2)
    assert ours.diff(4, "first").summary()["versions_lost"].item() == 2


def test_the_report_escapes_what_files_say(tmp_path):
    table = made(tmp_path)
    table.update_config({"<script>": "<b>"})
    table.insert(people(7))
    html = open_table(tmp_path).diff(2, 4)._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "rows: 1 inserted, 6 unchanged" in html


def test_a_report_that_is_cut_says_so(tmp_path):
    table = SyntheticTable(tmp_path).append()
    table.append(fragments=50)
    assert "Fragments, 20 of 50 rows" in open_table(tmp_path).diff(1, 2)._repr_html_()


def test_what_is_no_version_is_refused(tmp_path):
    made(tmp_path)
    with pytest.raises(InvalidArgumentError):
        open_table(tmp_path).diff(1, 2.5)  # type: ignore[arg-type]


def test_an_unknown_column_is_refused(tmp_path):
    made(tmp_path)
    with pytest.raises(InvalidArgumentError, match="no column 'nothing'"):
        open_table(tmp_path).diff(1, 2).rows(images="after", columns=["nothing"])


def test_empty_parts_have_all_their_columns(tmp_path):
    made(tmp_path)
    same, other = open_table(tmp_path).diff(2, 2), open_table(tmp_path).diff(1, 2)
    for part in ("rows", "schema", "fragments", "indices", "config", "commits"):
        empty: pl.DataFrame = getattr(same, part)()
        assert empty.is_empty()
        assert empty.schema == getattr(other, part)().schema


@pytest.mark.parametrize(
    "options", [{"images": "before"}, {"include": ["updated"]}, {"tolerance": -1.0}], ids=str
)
def test_unknown_choices_of_rows_are_errors_that_name_the_known_ones(tmp_path, options):
    lance.write_dataset(pa.table({"id": [1]}), tmp_path)
    with pytest.raises(InvalidArgumentError, match=f"{next(iter(options))} is "):
        open_table(tmp_path).diff(1, 1).rows(**options)


@KINDS
def test_rows_compared_are_told_apart_from_rows_of_the_version(tmp_path, stable):
    table = lance.write_dataset(
        people(*range(100)), tmp_path, enable_stable_row_ids=stable, max_rows_per_file=50
    )
    table.insert(people(*range(100, 200)))
    table.delete("id < 10")
    found = open_table(tmp_path).diff(2, 3).same_content()
    assert found.num_rows_before == lance.dataset(tmp_path, version=2).count_rows() == 200
    assert found.num_rows_after == lance.dataset(tmp_path, version=3).count_rows() == 190
    assert (found.num_compared_before, found.num_compared_after) == (50, 40)
    assert str(found).endswith(
        "Compared: 50 of 200 rows of the first version with 40 of 190 rows of the second; "
        "all others are in files that both versions have."
    )


def test_rows_that_cannot_be_counted_are_none():
    counts = SameContent(False, "multiset hash", ("a", "b"), None, 3, 2, 3)
    assert str(counts) == (
        "No: a and b differ. Compared: 2 rows of the first version with all 3 rows of the "
        "second; all others are in files that both versions have."
    )


def test_a_proof_names_all_rows_where_all_were_compared():
    assert str(SameContent(True, "row ID", (), 1, 1, 1, 1)) == (
        "Yes: each row ID has the same values in both. Compared: 1 row of the "
        "first version with 1 row of the second."
    )


def test_the_column_that_became_a_list_is_the_one_that_differs(tmp_path):
    for tags in (["a", "b"], [["a"], ["b"]]):
        lance.write_dataset(pa.table({"id": [1, 2], "tags": tags}), tmp_path, mode="overwrite")
    told = open_table(tmp_path).diff(1, 2).same_content()
    assert (told.is_same, told.columns) == (False, ("tags",))
