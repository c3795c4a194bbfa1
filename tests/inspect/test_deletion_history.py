"""Deleted rows against the rows that pylance scans, version by version, and told life by life."""

from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer.errors import CorruptFileError, FragmentNotFoundError, StorageError
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.deletion_history import DELETION_HISTORY, deletion_history
from lance_explorer.inspect.deletions import all_deletions
from tests.inspect.tables import rows_of, stored
from tests.inspect.test_row_id_segments import with_sequence
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable

OFFSET_BITS = 32


def scan(path: Path, version: int, fragment_id: int) -> dict[int, int]:
    """Return the row IDs of the live rows of a fragment by their offsets, as pylance tells."""
    fragment = lance.dataset(path, version=version).get_fragment(fragment_id)
    assert fragment is not None
    rows = fragment.to_table(columns=[], with_row_id=True, with_row_address=True)
    offsets = [address % (1 << OFFSET_BITS) for address in rows["_rowaddr"].to_pylist()]
    return dict(zip(offsets, rows["_rowid"].to_pylist(), strict=True))


def all_histories(view: HistoryView) -> pl.DataFrame:
    """Return the histories of all fragments that there ever were."""
    fragment_ids = sorted({state.id for state in view.history.states})
    return pl.concat([deletion_history(view, fragment_id) for fragment_id in fragment_ids])


@stored_check()
def check_the_rows_deleted_by_a_version_are_those_that_it_masks(asked):
    view = asked.view
    frame = all_histories(view)
    first_versions: dict[tuple[int, str], int] = {}  # of each data file
    for version in asked.versions:
        deleted = frame.filter(
            pl.col("version") <= version,
            pl.col("undone_at").is_null() | (pl.col("undone_at") > version),
        )
        for fragment in asked.dataset(version).get_fragments():
            own = fragment.fragment_id
            files = [(own, file.path) for file in fragment.metadata.files]
            first = min(first_versions.setdefault(file, version) for file in files)
            masked = set(range(fragment.physical_rows)) - set(scan(asked.root, version, own))
            shown = deleted.filter(fragment_id=own, fragment_first_version=first)
            assert sorted(shown["offset"]) == sorted(masked)


@stored_check()
def check_rows_lived_in_the_version_before_under_the_same_row_id(asked):
    view = asked.view
    exact = all_histories(view).filter("first_version_exact")
    groups = exact.group_by("fragment_id", "version", "with_fragment")
    for (fragment_id, version, with_fragment), rows in groups:
        before = scan(asked.root, version - 1, fragment_id)
        for offset, row_id in rows_of(rows, "offset", "_rowid"):
            assert row_id is None or row_id == before[offset]
            assert offset in before
        assert not with_fragment or len(rows) == len(before)


@stored_check()
def check_row_ids_are_null_without_stable_ones(asked):
    view = asked.view
    has_row_ids = any(state.row_ids is not None for state in view.history.states)
    frame = all_histories(view)
    assert frame["_rowid"].null_count() == (0 if has_row_ids else len(frame))
    assert frame.schema == DELETION_HISTORY.polars_schema


def test_operations_and_predicates_are_those_of_the_commits():
    frame = deletion_history(stored("14.0.2/stable_row_ids.lance"), 0)
    assert rows_of(frame, "offset", "version", "operation", "predicate") == [
        (1, 3, "Delete", "id IN (1, 4, 8)"),
        (4, 3, "Delete", "id IN (1, 4, 8)"),
        (2, 4, "Update", None),
        (5, 5, "Update", None),
    ]


def test_a_restore_undoes_deletions_and_a_later_one_brings_them_back(tmp_path):
    table = lance.write_dataset(pa.table({"n": range(10)}), tmp_path / "t")
    table.delete("n = 1")
    table.delete("n in (2, 3)")
    lance.dataset(tmp_path / "t", version=2).restore()
    lance.dataset(tmp_path / "t").delete("n = 3")
    lance.dataset(tmp_path / "t", version=3).restore()
    frame = deletion_history(stored(tmp_path / "t"), 0)
    columns = ("offset", "version", "operation", "predicate", "undone_at")
    assert rows_of(frame, *columns) == [
        (1, 2, "Delete", "n = 1", None),
        (2, 3, "Delete", "n in (2, 3)", 4),
        (3, 3, "Delete", "n in (2, 3)", 4),
        (3, 5, "Delete", "n = 3", None),
        (2, 6, "Restore", None, None),
    ]


def test_the_last_rows_go_with_the_fragment(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=3).append()
    table.delete({0: [1]}, "id = 1").delete({0: [0, 2]}, "id < 3").restore(2).update({0: [0, 1, 2]})
    frame = deletion_history(HistoryView.open(str(table.path)), 0)
    columns = ("offset", "_rowid", "version", "operation", "with_fragment", "undone_at")
    assert rows_of(frame, *columns) == [
        (1, 1, 3, "Delete", False, 5),
        (0, 0, 4, "Delete", True, 5),
        (2, 2, 4, "Delete", True, 5),
        *[(offset, offset, 6, "Update", True, None) for offset in range(3)],
    ]
    assert frame["predicate"].to_list() == ["id = 1", "id < 3", "id < 3", None, None, None]


def test_a_compacted_fragment_loses_no_rows_but_may_come_back_with_others(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=4).delete({0: [1]}).delete({0: [2]})
    table.compact([0]).restore(2)
    frame = deletion_history(HistoryView.open(str(table.path)), 0)
    columns = ("offset", "version", "operation", "undone_at", "fragment_first_version")
    assert rows_of(frame, *columns) == [(1, 2, "Delete", None, 1), (2, 3, "Delete", 6, 1)]


def test_an_overwrite_deletes_no_row_of_a_fragment(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=4).overwrite()
    assert deletion_history(HistoryView.open(str(table.path)), 0).is_empty()


def test_a_fragment_that_took_an_id_has_deletions_of_its_own(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=4).delete({0: [1]})
    table.state.fragments = {}
    table.state.manifest.ClearField("max_fragment_id")
    table.overwrite(rows=5).delete({0: [3]}).restore(1)
    frame = deletion_history(HistoryView.open(str(table.path)), 0)
    columns = ("fragment_first_version", "offset", "version", "undone_at")
    assert rows_of(frame, *columns) == [(1, 1, 2, 5), (3, 3, 4, None)]


def test_after_a_gap_nobody_knows_what_deleted_a_row(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=6).delete({0: [1]}).delete({0: [2]})
    table.update({0: [3]}).delete({0: [4]}).remove(2, 3)
    frame = deletion_history(HistoryView.open(str(table.path)), 0)
    columns = ("offset", "version", "first_version_exact", "operation")
    assert rows_of(frame, *columns) == [
        *[(offset, 4, False, None) for offset in (1, 2, 3)],
        (4, 5, True, "Delete"),
    ]


def test_rows_deleted_before_the_fork_of_a_branch_are_not_its_own(tmp_path):
    SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1]}).branch("dev").delete({0: [2]})
    frame = deletion_history(HistoryView.open(str(tmp_path / "t"), "dev"), 0)
    columns = ("offset", "version", "branch", "first_version_exact", "operation")
    assert rows_of(frame, *columns) == [(1, 2, "dev", False, None), (2, 3, "dev", True, "Delete")]


def test_a_fragment_brought_back_from_lost_versions_does_not_say_when(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1]}).overwrite().restore(2)
    table.remove(1, 2)
    frame = deletion_history(HistoryView.open(str(table.path)), 0)
    columns = ("version", "first_version_exact", "operation")
    assert rows_of(frame, *columns) == [(4, False, None)]


def test_versions_with_unknown_flags_are_as_if_gone(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).delete({0: [1]})
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 4096)).delete({0: [2]})
    frame = deletion_history(HistoryView.open(str(table.path)), 0)
    columns = ("offset", "version", "first_version_exact")
    assert rows_of(frame, *columns) == [(1, 3, False), (2, 3, False)]


def test_a_fragment_that_never_was_is_an_error(tmp_path):
    view = HistoryView.open(str(SyntheticTable(tmp_path / "t").append().path))
    with pytest.raises(FragmentNotFoundError, match="fragment 7 is in no kept version"):
        deletion_history(view, 7)


def test_row_ids_of_another_number_than_rows_are_not_told(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=3).delete({0: [1]})
    with_sequence(table, bytes.fromhex("0a040a021002"))
    assert deletion_history(HistoryView.open(str(table.path)), 0)["_rowid"].to_list() == [None]


def test_a_file_that_is_missing_or_damaged_is_an_error(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=3).delete({0: [1]})
    view = HistoryView.open(str(table.path))
    path = table.path / all_deletions(view)["path"][0]
    path.write_bytes(b"?")
    with pytest.raises(CorruptFileError, match=path.name):
        deletion_history(view, 0)
    path.unlink()
    with pytest.raises(StorageError, match="is missing"):
        deletion_history(view, 0)


def test_many_deletions_of_one_fragment_are_told_in_order(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=300)
    for row in range(0, 298, 2):
        table.delete({0: [row]})
    frame = deletion_history(HistoryView.open(str(table.path)), 0)
    assert frame["offset"].to_list() == list(range(0, 298, 2))
    assert frame["version"].to_list() == list(range(2, 151))
