import pytest

from lance_explorer.errors import StorageError
from lance_explorer.inspect.fragment_reuse import all_fragment_reuse, fragment_reuse_entries
from tests.history.compactions import Compacted
from tests.inspect.tables import rows_of, stored

ENTRY = ("old_fragment_ids", "new_fragment_ids", "rows_in", "rows_moved", "rows_dropped")
INDICES = ("indices_behind", "indices_caught_up")


@pytest.mark.parametrize(("writer", "built_on"), [("8.0.1", [5, 9]), ("14.0.2", [6, 10])])
def test_each_deferred_compaction_is_an_entry(writer, built_on):
    frame = fragment_reuse_entries(stored(f"{writer}/deferred_remap.lance"), 12)
    assert frame["entry"].to_list() == [0, 1]
    assert frame["dataset_version"].to_list() == built_on
    assert frame["num_groups"].to_list() == [2, 1]
    assert rows_of(frame, *ENTRY) == [
        ([0, 1, 2, 3], [4, 5], 24, 21, 3),
        ([4], [7], 10, 8, 2),
    ]
    assert set(frame["storage"]) == {"inline"}
    assert frame["history_bytes"][0] > frame["bitmap_bytes"].sum() > 0


def test_a_version_without_reuse_index_has_no_entries():
    assert fragment_reuse_entries(stored("14.0.2/deferred_remap.lance"), 3).is_empty()


def two_indices(path) -> Compacted:
    """Return a table with two indices and one deferred compaction."""
    table = Compacted(path)
    table.index("key")
    table.index("value", "BITMAP")
    table.dataset.delete("key = 7")
    table.compact(defer_index_remap=True)
    return table


def indices_of(table: Compacted) -> list[tuple[list[str], list[str]]]:
    return rows_of(fragment_reuse_entries(table.view, table.version), *INDICES)


def test_indices_hold_an_entry_until_they_are_built_anew(tmp_path):
    table = two_indices(tmp_path / "t")
    assert indices_of(table) == [(["key_idx", "value_idx"], [])]
    table.dataset.delete("key = 8")  # which carries the bitmaps on, not the indices
    assert indices_of(table) == [(["key_idx", "value_idx"], [])]
    table.index("key")
    assert indices_of(table) == [(["value_idx"], ["key_idx"])]
    table.index("value", "BITMAP")
    assert indices_of(table) == [([], ["key_idx", "value_idx"])]


def test_entries_that_are_gone_are_those_that_were_trimmed(tmp_path):
    table = two_indices(tmp_path / "t")
    version = table.version
    table.append(2)
    table.dataset.checkout_version(1).restore()
    table.dataset.checkout_version(version).restore()
    frame = all_fragment_reuse(table.view)
    assert rows_of(frame, "first_version", "last_version", "is_current") == [
        (version, version + 1, False),
        (version + 3, version + 3, True),
    ]
    assert set(frame["rows_dropped"]) == {1}


def test_entries_stay_while_others_come():
    frame = all_fragment_reuse(stored("14.0.2/deferred_remap.lance"))
    assert rows_of(frame, "first_version", "last_version", "is_current") == [
        (7, 12, True),
        (11, 12, True),
    ]


@pytest.mark.slow
def test_a_long_history_is_external(tmp_path):
    table = Compacted(tmp_path / "t", rows=1_800_000, per_fragment=900_000)
    table.index()
    table.dataset.delete("key % 3 = 0")
    version = table.compact(target_rows_per_fragment=2_000_000, defer_index_remap=True)
    [file] = (tmp_path / "t").glob("_indices/*/details.binpb")
    [row] = rows_of(
        fragment_reuse_entries(table.view, version), "storage", "history_bytes", "rows_moved"
    )
    assert row == ("external", file.stat().st_size, 1_200_000)
    file.unlink()
    with pytest.raises(StorageError, match=r"details\.binpb is missing"):
        fragment_reuse_entries(table.view, version)
    assert all_fragment_reuse(table.view).is_empty()
