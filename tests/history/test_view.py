"""Where a branch lies, what it says when something is not there, and what refreshing brings."""

import os
import shutil
import time
from datetime import UTC, datetime, timedelta, timezone

import pytest

from lance_explorer.errors import (
    CorruptFileError,
    RefNotFoundError,
    TableNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.history.loading import KEPT_TRANSACTION_BYTES
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import LocalStorage
from tests.format.samples import DATA
from tests.synthetic import DETACHED, SyntheticTable, encode_transaction

BRANCHES = str(DATA / "14.0.2" / "branches.lance")
CLEANED = str(DATA / "14.0.2" / "cleaned.lance")

FIRST_COMMIT = datetime(2026, 1, 1, 0, 1, tzinfo=UTC)
"""Of a synthetic table; one commit a minute."""


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """A table of three versions."""
    return SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=3).delete({0: [1]})


def opened(table: SyntheticTable) -> HistoryView:
    return HistoryView.open(str(table.path))


def versions_of(view: HistoryView) -> list[int]:
    return [record.version for record in view.history.records]


# ------------------------------------------------------------------------------------- no table


def test_a_place_where_nothing_is_is_no_table(tmp_path):
    with pytest.raises(TableNotFoundError, match=r"no Lance table at .*: it has no _versions"):
        HistoryView.open(str(tmp_path / "missing.lance"))


def test_a_file_is_no_table(tmp_path):
    (tmp_path / "t.lance").write_bytes(b"")
    with pytest.raises(TableNotFoundError, match="it has no _versions folder"):
        HistoryView.open(str(tmp_path / "t.lance"))


def test_a_folder_of_many_tables_names_some_of_them(tmp_path):
    for name in "gfedcba":
        (tmp_path / f"{name}.lance").mkdir()
    (tmp_path / "other").mkdir()
    names = r"a\.lance, b\.lance, c\.lance, d\.lance, e\.lance, \.\.\."
    with pytest.raises(TableNotFoundError, match=f"no Lance table but holds 7: {names}$"):
        HistoryView.open(str(tmp_path))


# ------------------------------------------------------------------------------------- branches


@pytest.mark.parametrize("branch", ["dev", "dev/deep", "early"])
def test_a_branch_lies_below_its_table(branch):
    view = HistoryView.open(BRANCHES, branch)
    assert (view.uri, view.storage.uri) == (BRANCHES, f"{BRANCHES}/tree/{branch}")


@pytest.mark.parametrize("branch", ["dev", "dev/deep"])
def test_a_branch_opened_by_its_own_root_is_that_branch(branch):
    view = HistoryView.open(f"{BRANCHES}/tree/{branch}/")
    assert (view.branch, view.uri) == (branch, BRANCHES)
    assert list(view.refs.tags) == ["base", "dev-updated"]


def test_a_table_in_a_folder_called_tree_is_no_branch(tmp_path):
    table = SyntheticTable(tmp_path / "tree" / "oak.lance").append()
    view = opened(table)
    assert (view.branch, view.uri) == (None, str(table.path))


def test_a_moved_branch_is_a_table_of_its_own(table, tmp_path):
    branch = table.branch("dev").append()
    moved = branch.path.rename(tmp_path / "moved.lance")
    view = HistoryView.open(str(moved))
    assert (view.branch, view.uri) == (None, str(moved))


def test_a_branch_that_cannot_be_read_is_opened_all_the_same(table):
    branch = table.branch("dev").append()
    branch.amend(magic=b"LANX")
    view = opened(branch)
    assert (view.uri, view.latest_version) == (str(branch.path), branch.version)


def test_a_missing_branch_names_those_that_there_are():
    with pytest.raises(RefNotFoundError, match=r"no branch 'main' in .*; there are: .*early"):
        HistoryView.open(BRANCHES, "main")


def test_a_missing_branch_of_a_table_without_branches(table):
    with pytest.raises(RefNotFoundError, match=r"no branch 'dev' in .*; there are: none"):
        HistoryView.open(str(table.path), "dev")


def test_branches_are_reached_from_each_other():
    deep = HistoryView.open(BRANCHES, "dev/deep")
    assert deep.on_branch("early").latest_version == 3
    assert deep.on_branch(None).latest_version == 5
    assert deep.on_branch("dev/deep") is deep


# ----------------------------------------------------------------------------- missing versions


@pytest.mark.parametrize("version", [1, 3, 7])
def test_a_version_that_was_cleaned_away_says_what_remains(version):
    message = f"^version {version} was cleaned up; 4 versions remain, 2 to 10$"
    with pytest.raises(VersionNotFoundError, match=message):
        HistoryView.open(CLEANED).version(version)


@pytest.mark.parametrize("version", [-1, 0, 11, 2**64 - 1, DETACHED | 3])
def test_a_version_outside_of_the_line_never_was(version):
    message = f"^version {version} never existed; 4 versions remain, 2 to 10$"
    with pytest.raises(VersionNotFoundError, match=message):
        HistoryView.open(CLEANED).version(version)


@pytest.mark.parametrize(
    ("branch", "version", "parent", "fork"),
    [
        ("dev", 2, "the main branch", 3),
        ("dev", 1, "the main branch", 3),
        ("early", 1, "the main branch", 2),
        ("dev/deep", 4, "dev", 5),
    ],
)
def test_a_version_before_the_fork_names_the_parent(branch, version, parent, fork):
    message = (
        f"^version {version} is before the fork: {branch} was created from version {fork} of "
        f"{parent}; open {parent} for it$"
    )
    with pytest.raises(VersionNotFoundError, match=message):
        HistoryView.open(BRANCHES, branch).version(version)


def test_a_version_that_a_branch_lost_names_the_branch(table):
    branch = table.branch("dev").append().append().remove(4)
    message = "version 4 of branch dev was cleaned up; 2 versions remain, 3 to 5"
    with pytest.raises(VersionNotFoundError, match=message):
        opened(branch).version(4)


def test_the_fork_itself_belongs_to_the_branch(table):
    branch = table.branch("dev").append().remove(3)
    with pytest.raises(VersionNotFoundError, match="version 3 of branch dev was cleaned up"):
        opened(branch).version(3)


def test_a_version_that_is_removed_after_it_was_listed_says_so(table):
    view = opened(table)
    table.remove(2)
    with pytest.raises(
        VersionNotFoundError, match="version 2 was removed since the table was last read; refresh"
    ):
        view.version(2)


def test_a_version_that_cannot_be_understood_names_its_file(table):
    table.amend(magic=b"LANX")
    path = f"_versions/{table.folder.manifest_path(3).name}"
    with pytest.raises(CorruptFileError, match=f"^{path} at byte"):
        opened(table).version(3)


# ----------------------------------------------------------------------------------------- tags


def test_a_missing_tag_names_those_that_there_are():
    with pytest.raises(RefNotFoundError, match=r"no tag 'gold' in .*; there are: base, dev-up"):
        HistoryView.open(BRANCHES).refs.tag("gold")


def test_a_missing_tag_of_a_table_without_tags(table):
    with pytest.raises(RefNotFoundError, match=r"no tag 'gold' in .*; there are: none"):
        opened(table).refs.tag("gold")


def test_a_tag_on_another_branch_leads_there():
    view = HistoryView.open(BRANCHES, "early")
    tag = view.refs.tag("dev-updated")
    [record] = view.on_branch(tag.branch).version(tag.version).records
    assert (record.version, record.operation, record.manifest.branch) == (6, "Delete", "dev")


# ---------------------------------------------------------------------------------------- as of


@pytest.mark.parametrize(
    ("minutes", "version"),
    [(0, 1), (0.5, 1), (1, 2), (1.99, 2), (2, 3), (1_000_000, 3)],
)
def test_as_of_is_the_highest_version_by_then(table, minutes, version):
    assert opened(table).version_as_of(FIRST_COMMIT + timedelta(minutes=minutes)) == version


def test_before_the_first_version_there_was_none(table):
    with pytest.raises(VersionNotFoundError, match="no kept version is as old as 2026-01-01T00:00"):
        opened(table).version_as_of(FIRST_COMMIT - timedelta(microseconds=1))


def test_a_time_without_zone_is_utc(table):
    assert opened(table).version_as_of(FIRST_COMMIT.replace(tzinfo=None)) == 1


def test_a_time_of_another_zone_is_that_moment(table):
    kathmandu = timezone(timedelta(hours=5, minutes=45))
    assert opened(table).version_as_of(FIRST_COMMIT.astimezone(kathmandu)) == 1


def test_where_clocks_went_back_the_highest_version_counts(table):
    table.amend(lambda manifest: setattr(manifest.timestamp, "seconds", 0))
    with pytest.warns(UserWarning, match="a clock ran back"):
        assert opened(table).version_as_of(FIRST_COMMIT - timedelta(days=1)) == 3


def test_versions_without_time_or_that_cannot_be_read_are_passed_over(table):
    table.amend(lambda manifest: manifest.ClearField("timestamp"))
    table.append().amend(magic=b"LANX")
    assert opened(table).version_as_of(FIRST_COMMIT + timedelta(days=1)) == 2


# ------------------------------------------------------------------------------------- refreshing


def test_refreshing_shows_new_commits(table):
    view = opened(table)
    assert versions_of(view) == [1, 2, 3]
    table.append()
    assert (view.latest_version, versions_of(view)) == (3, [1, 2, 3])
    view = view.refreshed()
    assert (view.latest_version, versions_of(view)) == (4, [1, 2, 3, 4])


def test_refreshing_forgets_what_was_cleaned_away(table):
    view = opened(table)
    before = view.version(2)
    table.append().remove(1, 2)
    view = view.refreshed()
    with pytest.raises(VersionNotFoundError, match="2 was cleaned up; 2 versions remain, 3 to 4"):
        view.version(2)
    assert versions_of(view) == [3, 4]
    assert before.records[0].version == 2


def aged(table: SyntheticTable) -> HistoryView:
    """Open a table to whose folder nothing was added for a minute."""
    folder = table.path / "_versions"
    os.utime(folder, ns=(0, folder.stat().st_mtime_ns - 60_000_000_000))
    return opened(table)


def test_refreshing_lists_no_folder_that_is_as_it_was(table, monkeypatch):
    view = aged(table)
    history = view.history
    with monkeypatch.context() as patch:
        patch.setattr(LocalStorage, "list_files", lambda *_: pytest.fail("it was listed"))
        later = view.refreshed()
    assert later is not view
    assert later.history is history
    table.append()
    assert versions_of(later.refreshed()) == [1, 2, 3, 4]
    table.remove(1)
    assert versions_of(later.refreshed()) == [2, 3, 4]


def test_a_version_written_over_in_place_is_noticed(table):
    view = aged(table)
    assert [int(rows) for rows in view.history.live_rows] == [4, 3, 3]
    manifest = table.path / view.listing.versions[-1].path
    folder = manifest.parent.stat().st_mtime_ns
    manifest.write_bytes(b"no manifest")
    assert manifest.parent.stat().st_mtime_ns == folder
    assert versions_of(view.refreshed()) == [1, 2]


def test_a_folder_that_changed_just_now_is_listed_again(table):
    folder, later = table.path / "_versions", time.time_ns() + 60_000_000_000
    os.utime(folder, ns=(0, later))
    assert opened(table).listing.folder_ns is None
    os.utime(folder, ns=(0, later - 60_000_000_000))
    assert aged(table).listing.folder_ns is not None


def test_refreshing_reads_no_history_that_nobody_asked_for(table):
    view = opened(table)
    view = view.refreshed()
    assert (view.storage.io.requests, view.storage.io.bytes_read) == (2, 0)


def test_refreshing_shows_new_refs(table):
    view = opened(table)
    assert (list(view.refs.tags), list(view.refs.branches)) == ([], [])
    table.tag("gold", 2).branch("dev")
    assert (list(view.refs.tags), list(view.refs.branches)) == ([], [])
    view = view.refreshed()
    assert (list(view.refs.tags), list(view.refs.branches)) == (["gold"], ["dev"])


def test_refreshing_forgets_what_was_wrong_with_refs(table):
    path = table.tag("gold").path / "_refs" / "tags" / "gold.json"
    good = path.read_bytes()
    path.write_bytes(b"{")
    view = opened(table)
    assert (list(view.refs.tags), [f.code for f in view.refs.findings]) == ([], ["corrupt_ref"])
    path.write_bytes(good)
    view = view.refreshed()
    assert (list(view.refs.tags), view.refs.findings) == (["gold"], [])


def test_refreshing_a_table_that_is_gone_says_so(table):
    view = opened(table)
    shutil.rmtree(table.path)
    with pytest.raises(TableNotFoundError):
        view = view.refreshed()


def test_refreshing_a_branch_that_is_gone_says_so(table):
    branch = table.branch("dev")
    view = HistoryView.open(str(table.path), "dev")
    shutil.rmtree(branch.path)
    with pytest.raises(RefNotFoundError, match="no branch 'dev'"):
        view = view.refreshed()


# ------------------------------------------------------------------------------------ what it costs


def test_opening_is_one_listing(table):
    assert (opened(table).storage.io.requests, opened(table).storage.io.bytes_read) == (1, 0)


def test_a_version_is_one_file_and_read_once(table):
    view = opened(table)
    assert view.version(2) is view.version(2)
    size = table.folder.manifest_path(2).stat().st_size
    assert (view.storage.io.requests, view.storage.io.bytes_read) == (2, size)


def test_the_versions_that_were_asked_for_last_are_kept(table):
    for number in range(20):
        table.append(rows=number + 1)
    view = opened(table)
    kept = [view.version(version) for version in (5, 6)]
    for version in range(7, 14):
        assert view.version(5) is kept[0]
        view.version(version)
    assert view.version(6) is not kept[1]
    assert view.version(6).records == kept[1].records


def test_refs_are_read_once(table):
    view = opened(table.tag("gold"))
    assert view.refs.tags is view.refs.tags
    assert view.storage.io.requests == 3


# ------------------------------------------------------------------------------------ transactions


def transaction_of_size(size: int) -> bytes:
    """Return an Append without fragments whose message fills it up."""
    empty = len(encode_transaction("append", b"", 3, "x", "x" * 10_000)) - 10_000
    data = encode_transaction("append", b"", 3, "x", "x" * (size - empty))
    assert len(data) == size
    return data


@pytest.mark.parametrize(
    ("size", "kept"), [(KEPT_TRANSACTION_BYTES, 1), (KEPT_TRANSACTION_BYTES + 1, 0)]
)
def test_only_long_transactions_are_read_again(table, size, kept):
    view = opened(table.amend(transaction=transaction_of_size(size)))
    [record] = view.version(3).records
    before = view.storage.io.bytes_read
    transaction = view.transaction(record)
    assert record.transaction is not None
    assert transaction is not None
    assert transaction.properties == record.transaction.header.properties
    assert view.storage.io.bytes_read - before == (0 if kept else size)


def test_a_long_transaction_in_a_file_of_its_own_is_read_again(table):
    data = transaction_of_size(KEPT_TRANSACTION_BYTES + 1)
    table.folder.transaction_path(3).write_bytes(data)
    view = opened(table.amend(transaction=None))
    [record] = view.version(3).records
    assert record.transaction is not None
    assert (record.transaction.source, record.transaction.data) == ("file", None)
    transaction = view.transaction(record)
    assert transaction is not None
    assert transaction.properties == record.transaction.header.properties


def test_a_version_without_transaction_has_none(table):
    table.folder.transaction_path(3).unlink()
    view = opened(table.amend(transaction=None))
    assert view.transaction(view.version(3).records[0]) is None


def test_an_operation_that_cannot_be_understood_names_its_file(table):
    table.amend(transaction=encode_transaction("append", b"\xff", 2, "x"))
    view = opened(table)
    [record] = view.version(3).records
    assert record.operation == "Append"
    with pytest.raises(CorruptFileError, match=f"^{record.file.path}"):
        view.transaction(record)
