"""Which table a ledger tells of: another one may have stood at the same place before."""

import shutil
from pathlib import Path

import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError, TableNotFoundError
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.ledger import recorded_table
from tests.synthetic import SyntheticTable


@pytest.fixture
def ledger(tmp_path) -> lx.Ledger:
    return lx.Ledger(tmp_path / "ledger")


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """A table of four versions; rows of the first one are in all of them."""
    return SyntheticTable(tmp_path / "t.lance").append(rows=4).append().delete({0: [1]}).append()


def versions(path: Path, ledger: lx.Ledger) -> list[int]:
    found: list[int] = lx.open_table(path, ledger=ledger).versions()["version"].to_list()
    return found


def codes(path: Path, ledger: lx.Ledger) -> list[str]:
    """Return what is found wrong with what is recorded of the main branch."""
    recorded = recorded_table(ledger, str(path))
    HistoryView.open(str(path), recorded=recorded)
    return [finding.code for finding in recorded.findings(None)]


def lives(ledger: lx.Ledger) -> list[tuple[int, int, int]]:
    return ledger.tables().select("life", "first_version", "last_version").rows()


def test_a_table_that_was_made_again_is_another_one(table: SyntheticTable, ledger: lx.Ledger):
    ledger.record(table.path)
    shutil.rmtree(table.path)
    SyntheticTable(table.path).append(rows=2).append(rows=5)
    assert versions(table.path, ledger) == [1, 2]
    ledger.record(table.path)
    assert lives(ledger) == [(1, 1, 4), (2, 1, 2)]
    table_now = SyntheticTable(table.path.with_name("u.lance"))  # of which nothing is recorded
    table_now.append()
    shutil.rmtree(table.path)
    table_now.path.rename(table.path)
    assert versions(table.path, ledger) == [1]


def test_after_a_cleanup_each_life_has_its_own_versions(table: SyntheticTable, ledger: lx.Ledger):
    ledger.record(table.path)
    shutil.rmtree(table.path)
    again = SyntheticTable(table.path).append(rows=2).append(rows=5).append().append().append()
    ledger.record(table.path)
    again.remove(1, 2, 3)
    assert versions(table.path, ledger) == [1, 2, 3, 4, 5]
    frame = lx.open_table(table.path, ledger=ledger).versions()
    assert frame["num_rows"].to_list() == [2, 7, 8, 9, 10]


def test_a_copy_that_went_another_way_is_another_table(table: SyntheticTable, ledger: lx.Ledger):
    copy = shutil.copytree(table.path, table.path.with_name("copy"))
    table.append(rows=3).append(rows=3)
    ledger.record(table.path)
    shutil.rmtree(table.path)
    shutil.copytree(copy, table.path)
    other = table_at(table.path).append(rows=1).append(rows=1).append(rows=1)
    ledger.record(table.path)
    assert lives(ledger) == [(1, 1, 6), (2, 1, 7)]
    other.remove(1, 2, 3, 4)
    frame = lx.open_table(table.path, ledger=ledger).versions()
    assert frame["version"].to_list() == [1, 2, 3, 4, 5, 6, 7]
    assert frame["num_rows"].to_list() == [4, 5, 4, 5, 6, 7, 8]


def table_at(path: Path) -> SyntheticTable:
    """Return a table that goes on from four versions as the fixture makes them."""
    table = SyntheticTable(path.with_name("rehearsal") / "t.lance")
    table.append(rows=4).append().delete({0: [1]}).append()
    table.path, table.folder = path, type(table.folder)(path, "V2")
    table.state._folder = table.folder
    return table


def test_across_a_hole_data_files_tell_that_it_is_the_same_table(
    table: SyntheticTable, ledger: lx.Ledger
):
    ledger.record(table.path)
    table.append().append().append()
    table.remove(1, 2, 3, 4, 5)
    assert versions(table.path, ledger) == [1, 2, 3, 4, 6, 7]
    assert codes(table.path, ledger) == []
    gaps = lx.open_table(table.path, ledger=ledger).inspect.gaps()
    assert gaps.select("first_version", "last_version").rows() == [(5, 5)]
    ledger.record(table.path)
    assert lives(ledger) == [(1, 1, 7)]


def test_any_kept_version_may_have_such_a_file(table: SyntheticTable, ledger: lx.Ledger):
    ledger.record(table.path)
    table.append().append().overwrite(rows=2).append()
    table.remove(1, 2, 3, 4, 5)
    assert versions(table.path, ledger) == [1, 2, 3, 4, 6, 7, 8]


def test_with_nothing_in_common_it_is_unknown(table: SyntheticTable, ledger: lx.Ledger):
    ledger.record(table.path)
    table.overwrite(rows=2).append()
    table.remove(1, 2, 3, 4)
    assert versions(table.path, ledger) == [5, 6]
    assert codes(table.path, ledger) == ["unknown_recording"]
    ledger.record(table.path)
    assert lives(ledger) == [(1, 1, 4), (2, 5, 6)]


def test_a_table_that_was_put_back_has_no_later_versions(table: SyntheticTable, ledger: lx.Ledger):
    backup = shutil.copytree(table.path, table.path.with_name("backup"))
    table.append().append()
    ledger.record(table.path)
    shutil.rmtree(table.path)
    backup.rename(table.path)
    table.folder.manifest_path(2).unlink()
    assert versions(table.path, ledger) == [1, 2, 3, 4]
    assert codes(table.path, ledger) == ["table_went_back"]


def test_a_moved_table_is_at_its_old_place_in_the_ledger(table: SyntheticTable, ledger: lx.Ledger):
    ledger.record(table.path)
    moved = table.path.rename(table.path.with_name("moved.lance"))
    assert versions(moved, ledger) == [1, 2, 3, 4]
    with pytest.raises(TableNotFoundError):
        lx.open_table(table.path, ledger=ledger)
    assert ledger.open("t.lance").versions()["version"].to_list() == [1, 2, 3, 4]


def test_a_name_that_two_tables_have_is_refused(table: SyntheticTable, ledger: lx.Ledger):
    ledger.record(table.path)
    other = SyntheticTable(table.path.parent / "other" / "t.lance").append()
    ledger.record(other.path)
    with pytest.raises(InvalidArgumentError, match="the name of several tables"):
        ledger.open("t.lance")
    assert ledger.open(other.path).versions()["version"].to_list() == [1]
    assert ledger.tables()["uri"].n_unique() == 2


def test_a_recording_of_refs_alone_is_of_the_same_life(table: SyntheticTable, ledger: lx.Ledger):
    ledger.record(table.path)
    table.tag("first", 1)
    ledger.record(table.path)
    assert lives(ledger) == [(1, 1, 4)]
    table.remove(1, 2)
    assert versions(table.path, ledger) == [1, 2, 3, 4]
    assert [*ledger.open("t.lance").tags] == ["first"]


def test_a_recording_of_a_detached_version_alone_is_of_the_same_life(
    table: SyntheticTable, ledger: lx.Ledger
):
    ledger.record(table.path)
    table.detach(3)
    ledger.record(table.path)
    assert ledger.tables()["life"].to_list() == [1]
    shutil.rmtree(table.path)
    alone = ledger.open("t.lance")
    assert alone.versions()["version"].to_list() == [1, 2, 3, 4]
    assert len(alone.inspect.detached()) == 1


def test_a_recording_may_show_that_two_earlier_ones_are_of_one_table(tmp_path, ledger: lx.Ledger):
    from tests.ledger.recorders import seeing

    table = SyntheticTable(tmp_path / "t.lance").append().append()
    table.overwrite(rows=2).append().append()
    for seen in ({1, 2}, {4, 5}, {2, 3, 4}):
        ledger.record(seeing(str(table.path), seen))
    assert lives(ledger) == [(1, 1, 5)]


def test_a_migration_of_names_makes_no_other_table(tmp_path, ledger: lx.Ledger):
    table = SyntheticTable(tmp_path / "t.lance", naming="V1").append().append().append()
    ledger.record(table.path)
    expected = lx.open_table(table.path).versions().drop("known_from")
    for version in (1, 2, 3):
        old = table.path / "_versions" / f"{version}.manifest"
        old.rename(old.with_name(f"{2**64 - 1 - version:020}.manifest"))
    (table.path / "_versions" / f"{2**64 - 2:020}.manifest").unlink()
    found = lx.open_table(table.path, ledger=ledger).versions()
    assert found.drop("known_from").equals(expected)
    assert ledger.record(table.path)["new_versions"].to_list() == [0]


def test_a_changed_tag_is_as_it_was_last(table: SyntheticTable, ledger: lx.Ledger):
    ledger.record(table.path)
    table.tag("best", 2)
    ledger.record(table.path)
    table.tag("best", 3)
    ledger.record(table.path)
    refs = ledger.open("t.lance").inspect.refs().filter(pl.col("name") == "best")
    assert refs["version"].to_list() == [3]
