"""Loading step by step gives what loading at once gives, and both give what was written."""

import os
import shutil
from collections import Counter
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from lance_explorer.errors import (
    CorruptFileError,
    UnsupportedFeatureError,
)
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.listing import DirectoryLister, VersionListing
from lance_explorer.history.loading import extend
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.findings import findings
from lance_explorer.inspect.row_counts import ROW_COUNTS
from lance_explorer.inspect.versions import versions
from lance_explorer.storage.local import LocalStorage
from tests.synthetic import SyntheticTable, encode_transaction, record

FRAGMENT_TREE = 22
UNKNOWN_OPERATION = 116
UNKNOWN_FLAG = 1 << 20


def listing(path: Path) -> VersionListing:
    return DirectoryLister(LocalStorage(path)).list_versions()


def load(path: Path) -> History:
    return extend(EMPTY_HISTORY, LocalStorage(path), listing(path))


def meaning(history: History) -> dict[str, Any]:
    """Return what a history says, whatever the numbers of its states."""
    intervals = history.intervals
    spans = zip(
        intervals.keys.tolist(), intervals.first.tolist(), intervals.last.tolist(), strict=True
    )
    deleted = history.num_deleted_rows.tolist()
    return {
        "records": history.records,
        "states": Counter([(history.states[key], deleted[key], *span) for key, *span in spans]),
        "detached": history.detached,
        "unreadable": [(v.file, type(v.error), str(v.error)) for v in history.unreadable],
        "findings": history.findings,
    }


def shown(view: HistoryView, *columns: str) -> list[tuple[Any, ...]]:
    return versions(view).select(columns).rows()


def rewrite(path: Path, data: bytes) -> None:
    """Write a file anew, later than before: clocks of file systems may tick slowly."""
    modified = path.stat().st_mtime_ns
    path.write_bytes(data)
    os.utime(path, ns=(modified, modified + 1_000_000_000))


class HistoryMachine(RuleBasedStateMachine):
    """Writes to a table, damages it, cleans it up, and looks at it again and again."""

    @initialize(stable=st.booleans(), naming=st.sampled_from(["V1", "V2"]))
    def create(self, stable, naming):
        self.path = Path(mkdtemp())
        self.table = SyntheticTable(self.path, stable_row_ids=stable, naming=naming)
        self.built: dict[int, tuple[int, int, int]] = {}
        self.unreadable: set[int] = set()
        self.table.append(rows=4, fragments=3)
        self.note()
        self.view = HistoryView.open(str(self.path))

    def teardown(self):
        shutil.rmtree(self.path)

    def note(self):
        """Remember what the new versions hold; those before the latest hold what was there."""
        before = self.built.get(self.table.version - 2)
        if before is not None:
            self.built.setdefault(self.table.version - 1, before)
        fragments = self.table.state.fragments.values()
        deleted = sum(len(fragment.deleted) for fragment in fragments)
        self.built[self.table.version] = len(fragments), self.table.num_rows, deleted

    @property
    def kept(self) -> list[int]:
        return sorted(self.built)

    @rule(rows=st.integers(1, 4), fragments=st.integers(1, 3))
    def append(self, rows, fragments):
        self.table.append(rows, fragments)
        self.note()

    @rule(rows=st.integers(1, 4))
    def overwrite(self, rows):
        self.table.overwrite(rows)
        self.note()

    @precondition(lambda self: self.table.num_rows)
    @rule(data=st.data(), update=st.booleans(), inserted=st.integers(0, 1))
    def change_rows(self, data, update, inserted):
        chosen = data.draw(
            st.sets(st.sampled_from(self.table.fragment_ids), min_size=1, max_size=2)
        )
        rows = {}
        for key in chosen:
            live = sorted(self.table.state.fragments[key].live_offsets)
            rows[key] = data.draw(st.sets(st.sampled_from(live), min_size=1))
        if update:
            self.table.update(rows, inserted=inserted)
        else:
            self.table.delete(rows)
        self.note()

    @precondition(lambda self: self.table.num_rows)
    @rule(data=st.data(), into=st.integers(1, 2))
    def compact(self, data, into):
        some = st.sets(st.sampled_from(self.table.fragment_ids), min_size=1, max_size=3)
        group = sorted(data.draw(some))
        rows = sum(self.table.state.fragments[key].num_rows for key in group)
        self.table.compact(group, into=min(into, rows))
        self.note()

    @rule(data=st.data())
    def restore(self, data):
        readable = sorted(set(self.built) - self.unreadable)
        if readable:
            self.table.restore(data.draw(st.sampled_from(readable)))
            self.note()

    @rule(what=st.sampled_from(["column", "name", "config", "index", "nothing"]))
    def change_no_rows(self, what):
        table, version = self.table, self.table.version
        match what:
            case "column":
                table.add_column(f"column{version}")
            case "name":
                table.rename_column(table.state.manifest.fields[0].name, f"name{version}")
            case "config":
                table.update_config(key=f"{version}")
            case "index":
                table.create_index(f"index{version}")
            case "nothing":
                table.reserve(1)
        self.note()

    @rule(data=st.data())
    def remove(self, data):
        old = self.kept[:-1]
        if old:
            for version in data.draw(st.sets(st.sampled_from(old), min_size=1, max_size=4)):
                self.table.folder.manifest_path(version).unlink()
                del self.built[version]
                self.unreadable.discard(version)

    @rule(data=st.data(), how=st.sampled_from(["truncated", "empty", "of another version"]))
    def damage(self, data, how):
        version = data.draw(st.sampled_from(self.kept))
        path = self.table.folder.manifest_path(version)
        file = path.read_bytes()
        if how == "of another version":
            others = sorted(set(self.kept) - self.unreadable - {version})
            if not others:
                return
            other = data.draw(st.sampled_from(others))
            file = self.table.folder.manifest_path(other).read_bytes()
        elif how == "empty":
            file = b""
        else:
            file = file[: data.draw(st.integers(0, max(0, len(file) - 1)))]
        rewrite(path, file)
        self.unreadable.add(version)

    @rule(number=st.integers(0, 3))
    def detach(self, number):
        self.table.detach(number)

    @rule()
    def look(self):
        self.view = self.view.refreshed()
        fresh = HistoryView.open(str(self.path))
        assert meaning(self.view.history) == meaning(fresh.history)
        assert versions(self.view).equals(versions(fresh))
        assert {v.file.version for v in fresh.history.unreadable} == self.unreadable
        assert {finding.first_version for finding in fresh.history.findings} == self.unreadable
        columns = ("version", "num_fragments", "num_rows", "num_deleted_rows")
        readable = [version for version in self.kept if version not in self.unreadable]
        assert shown(fresh, *columns) == [(v, *self.built[v]) for v in readable]


TestExtending = HistoryMachine.TestCase
TestExtending.settings = settings(max_examples=40, stateful_step_count=30)


# --------------------------------------------------------------------------------- step by step


@pytest.fixture
def table(tmp_path):
    """A table of six versions."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=2).append(rows=3)
    return table.delete({0: [1]}).update({1: [0, 2]}).delete({2: [0, 1, 2]}).append(rows=1)


def test_only_new_versions_are_read(table):
    known = load(table.path)
    table.append().append()
    storage = LocalStorage(table.path)
    extended = extend(known, storage, listing(table.path))
    sizes = [table.folder.manifest_path(version).stat().st_size for version in (7, 8)]
    assert (storage.io.requests, storage.io.bytes_read) == (2, sum(sizes))
    assert meaning(extended) == meaning(load(table.path))


def test_nothing_is_read_where_nothing_is_new(table):
    known = load(table.path)
    table.remove(1, 2, 5)
    storage = LocalStorage(table.path)
    extended = extend(known, storage, listing(table.path))
    assert storage.io.requests == 0
    assert meaning(extended) == meaning(load(table.path))


def test_a_changed_file_makes_everything_be_read_again(table):
    known = load(table.path)
    path = table.folder.manifest_path(2)
    rewrite(path, path.read_bytes())
    storage = LocalStorage(table.path)
    extended = extend(known, storage, listing(table.path))
    assert storage.io.requests == table.version
    assert meaning(extended) == meaning(load(table.path))


def test_another_table_in_the_same_place_is_read_as_a_whole(table, tmp_path):
    known = load(table.path)
    shutil.rmtree(table.path)
    SyntheticTable(table.path, stable_row_ids=False).append(rows=7).append().append()
    assert meaning(extend(known, LocalStorage(table.path), listing(table.path))) == meaning(
        load(table.path)
    )


@pytest.mark.parametrize("gone", [[1], [3], [6], [2, 3, 4], [1, 2, 3, 4, 5, 6]], ids=str)
def test_files_that_vanish_while_they_are_read_are_left_out(table, gone):
    listed = listing(table.path)
    table.remove(*gone)
    history = extend(EMPTY_HISTORY, LocalStorage(table.path), listed)
    assert meaning(history) == meaning(load(table.path))
    assert history.findings == ()


def test_an_unreadable_version_is_forgotten_when_it_is_removed(table):
    path = table.folder.manifest_path(3)
    path.write_bytes(b"")
    known = load(table.path)
    assert [version.file.version for version in known.unreadable] == [3]
    path.unlink()
    extended = extend(known, LocalStorage(table.path), listing(table.path))
    assert meaning(extended) == meaning(load(table.path))


def test_a_version_that_vanished_and_came_back_is_read(table):
    listed, path = listing(table.path), table.folder.manifest_path(3)
    kept = path.rename(table.path / "kept")
    history = extend(EMPTY_HISTORY, LocalStorage(table.path), listed)
    kept.rename(path)
    assert meaning(extend(history, LocalStorage(table.path), listed)) == meaning(load(table.path))


def test_neighbours_share_schemas_and_indices(table):
    table.create_index("by_id").append().append()
    records = load(table.path).records
    assert records[0].schema is records[-1].schema
    assert records[-2].indices is records[-1].indices


# ------------------------------------------------------------------------------------- as built


def row_counts(table: SyntheticTable) -> dict[int, dict[str, int | None]]:
    """Return, for each version, the counts of rows that are not 0."""
    frame = versions(HistoryView.open(str(table.path)))
    return {
        row["version"]: {
            name: row[f"rows_{name}"] for name in ROW_COUNTS if row[f"rows_{name}"] != 0
        }
        for row in frame.iter_rows(named=True)
    }


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def long_table(request, tmp_path):
    """A table to which everything happened that changes rows."""
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=request.param)
    table.append(rows=10).append(rows=5).delete({0: [3]}).update({0: [4], 1: [2]})
    table.update({0: [5]}, inserted=2).update({}, inserted=3).delete({1: [0, 1, 3, 4]})
    table.compact([0, 2]).add_column("extra").restore(9).restore(11).update_config(key="value")
    return table.commit(UNKNOWN_OPERATION, b"x").overwrite(rows=4)


def test_rows_are_counted_as_far_as_metadata_tells(long_table, request):
    stable = request.node.callspec.params["long_table"]
    unknown = {"added": None, "updated": None, "deleted": None}
    assert row_counts(long_table) == {
        1: {"added": 10},
        2: {"added": 5},
        3: {"deleted": 1},
        4: {"updated": 2},
        5: {"added": 2, "updated": 1} if stable else unknown,
        6: {"added": 3},
        7: {"deleted": 4},
        8: {},
        9: {"moved": 9},
        10: {"column_added": 15},
        11: {"reverted": 15},
        12: {},
        13: {},
        14: {},
        15: {"added": 4, "overwritten": 15},
    }


def test_rows_in_and_out_are_known_where_their_meaning_is_not(long_table):
    rows = shown(HistoryView.open(str(long_table.path)), "version", "rows_in", "rows_out")
    assert [row for row in rows if row[0] in (4, 5, 6)] == [(4, 2, 2), (5, 3, 1), (6, 3, 0)]


def test_commits_that_change_nothing_say_so(long_table):
    rows = shown(HistoryView.open(str(long_table.path)), "version", "is_noop")
    assert [version for version, is_noop in rows if is_noop] == [8, 12, 14]


def test_operations_and_read_versions_are_as_written(long_table):
    rows = shown(
        HistoryView.open(str(long_table.path)), "operation", "read_version", "rebased_over"
    )
    assert rows[:3] == [("Overwrite", 0, 0), ("Append", 1, 0), ("Delete", 2, 0)]
    assert rows[7:9] == [("ReserveFragments", 7, 0), ("Rewrite", 7, 1)]
    assert rows[12:] == [("UpdateConfig", 12, 0), ("unknown", 13, 0), ("Overwrite", 14, 0)]


def test_fragments_are_paired_with_themselves(long_table):
    columns = ("fragments_added", "fragments_removed", "fragments_changed")
    rows = shown(HistoryView.open(str(long_table.path)), *columns)
    assert rows[3:5] == [(1, 0, 2), (1, 0, 1)]
    assert rows[8] == (1, 2, 0)
    assert rows[9:11] == [(0, 0, 3), (0, 0, 3)]
    assert rows[14] == (1, 3, 0)


def test_messages_and_tags_stand_beside_their_versions(table):
    table.commit("append", note="nothing new").tag("gold", 2).tag("fine", 2)
    rows = shown(HistoryView.open(str(table.path)), "message", "tags")
    assert rows[-1] == ("nothing new", "")
    assert rows[1] == (None, "fine, gold")


# ----------------------------------------------------------------------------------------- gaps


def test_after_a_gap_only_what_the_version_itself_tells_is_known(table):
    table.remove(1, 4)
    history = load(table.path)
    assert history.versions.tolist() == [2, 3, 5, 6]
    assert history.follows_previous.tolist() == [False, True, False, True]
    rows = shown(
        HistoryView.open(str(table.path)), "version", "rows_added", "rows_deleted", "rows_out"
    )
    assert rows == [(2, 3, 0, None), (3, 0, 1, 1), (5, 0, None, None), (6, 1, 0, 0)]


# ------------------------------------------------------------------------- what writers do not do


def test_records_in_any_order_say_the_same(table):
    before = [record.manifest for record in load(table.path).records]
    table.amend(shuffled=True).append()
    history = load(table.path)
    assert [record.manifest for record in history.records[:6]] == before
    assert history.findings == ()
    assert shown(HistoryView.open(str(table.path)), "fragments_added")[-1] == (1,)


@pytest.mark.parametrize(
    "wrong",
    [
        {"magic": b"LANX"},
        {"start": 1},
        {"start": 1 << 63},
        {"length": 1 << 31},
        {"more": b"\x12\x7f"},
        {"more": record(2, b"\x08")},
        {"index_section": b"\xff"},
        {"index_section": b"", "index_offset": 1 << 62},
        {"edit": lambda manifest: setattr(manifest, "version", 7)},
        {"edit": lambda manifest: setattr(manifest.timestamp, "seconds", 1 << 62)},
    ],
    ids=[
        "magic",
        "no_start",
        "start_behind_the_end",
        "length",
        "cut_record",
        "cut_fragment",
        "index_section",
        "index_offset",
        "another_version",
        "no_time",
    ],
)
def test_a_damaged_manifest_in_the_middle_is_left_out(table, wrong):
    table.amend(**wrong).append().append()
    history = load(table.path)
    assert history.versions.tolist() == [1, 2, 3, 4, 5, 7, 8]
    [finding] = history.findings
    assert (finding.code, finding.first_version) == ("unreadable_manifest", 6)
    assert table.folder.manifest_path(6).name in finding.statement
    assert shown(HistoryView.open(str(table.path)), "num_rows")[-1] == (table.num_rows,)
    with pytest.raises(CorruptFileError):
        HistoryView.open(str(table.path)).version(6)


def test_a_fragment_tree_is_refused_by_name(table):
    table.amend(more=record(FRAGMENT_TREE, b"")).append()
    history = load(table.path)
    assert history.versions.tolist() == [1, 2, 3, 4, 5, 7]
    assert "fragment tree" in history.findings[0].statement
    with pytest.raises(UnsupportedFeatureError, match="fragment tree"):
        HistoryView.open(str(table.path)).version(6)


def test_an_unknown_operation_goes_by_its_number(table):
    table.commit(UNKNOWN_OPERATION, b"\x0a\x00").state.add(2, 1)
    table.commit(UNKNOWN_OPERATION, b"").append()
    view = HistoryView.open(str(table.path))
    numbers = [r.transaction and r.transaction.header.number for r in view.history.records]
    assert numbers[-3:] == [UNKNOWN_OPERATION, UNKNOWN_OPERATION, 100]
    rows = shown(view, "operation", "kind", "rows_added", "rows_in")  # by their row IDs
    assert rows[-3:-1] == [("unknown", "other", 0, 0), ("unknown", "other", 2, 2)]
    assert view.history.findings == ()


def test_with_an_unknown_flag_all_is_shown_but_rows(table):
    def set_flag(manifest):
        manifest.reader_feature_flags |= UNKNOWN_FLAG

    table.amend(set_flag).append()
    frame = versions(HistoryView.open(str(table.path)))
    flagged = frame.row(5, named=True)
    assert flagged["reader_flags"].split(", ")[-1] == f"unknown_{UNKNOWN_FLAG}"
    assert (flagged["operation"], flagged["num_fragments"]) == ("Append", 4)
    assert flagged["data_bytes"] > 0
    counts = ["num_rows", "num_deleted_rows", *[f"rows_{name}" for name in ROW_COUNTS]]
    assert {name for name in counts if flagged[name] is None} == set(counts)
    assert frame["num_rows"].null_count() == 1


def test_a_transaction_may_stand_in_the_field_of_older_writers(table):
    before = load(table.path).records[-1].transaction
    table.amend(transaction_field="transaction_section_until_13")
    assert load(table.path).records[-1].transaction == before


def test_of_two_transactions_in_a_manifest_the_newer_field_counts(table):
    # The older field leads to the message of the manifest itself, which is no transaction.
    table.amend(lambda manifest: setattr(manifest, "transaction_section_until_13", 1 << 40))
    history = load(table.path)
    assert history.records[-1].operation == "Append"
    assert history.findings == ()


def test_a_transaction_that_is_not_inlined_is_read_from_its_file(table):
    table.amend(transaction=None)
    stored = load(table.path).records[-1].transaction
    assert stored is not None
    assert (stored.source, stored.header.operation) == ("file", "Append")
    assert (table.path / stored.path).read_bytes() == stored.data


def test_without_any_transaction_the_operation_is_unknown(table):
    table.amend(transaction=None).folder.transaction_path(6).unlink()
    view = HistoryView.open(str(table.path))
    assert view.history.findings == ()
    rows = shown(view, "operation", "kind", "rows_added", "rows_in")
    assert rows[-1] == (None, "other", 1, 1)


@pytest.mark.parametrize(
    "wrong",
    [
        {"transaction": b"\xff"},
        {"transaction": b""},
        {"transaction_offset": 1 << 40},
        {"transaction_offset": 3},
        {"transaction": encode_transaction("append", b"", 5, "x")[:-2]},
    ],
    ids=str,
)
def test_a_damaged_transaction_leaves_its_version(table, wrong):
    table.amend(**wrong)
    history = load(table.path)
    assert history.versions.tolist() == [1, 2, 3, 4, 5, 6]
    assert history.records[-1].transaction is None
    [finding] = history.findings
    assert (finding.code, finding.first_version) == ("corrupt_transaction", 6)


def deletion_files(table: SyntheticTable) -> list[Path]:
    return sorted((table.path / "_deletions").iterdir())


def test_where_no_manifest_counts_deleted_rows_the_deletion_file_does(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=20_000)
    table.delete({0: [3, 5]}, counted=False).delete({0: range(10, 9_000)}, counted=False)
    assert [path.suffix for path in deletion_files(table)] == [".arrow", ".bin"]
    rows = shown(HistoryView.open(str(tmp_path)), "num_rows", "num_deleted_rows", "rows_deleted")
    assert rows == [(20_000, 0, 0), (19_998, 2, 2), (11_008, 8_992, 8_990)]


def test_a_missing_deletion_file_matters_where_it_has_to_be_counted(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=9).delete({0: [3]}, counted=False).delete({0: [4]})
    for path in deletion_files(table):
        path.unlink()
    view = HistoryView.open(str(tmp_path))
    rows = shown(view, "num_rows", "num_deleted_rows", "rows_deleted")
    assert rows == [(9, 0, 0), (None, None, None), (7, 2, None)]
    [finding] = findings(view).rows(named=True)
    assert (finding["code"], finding["first_version"], finding["subject_name"]) == (
        "deleted_rows_unknown",
        2,
        "0",
    )


def test_what_was_found_goes_with_the_versions_that_it_was_found_in(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=9).delete({0: [3]}, counted=False).delete({0: [4]})
    for path in deletion_files(table):
        path.unlink()
    view = HistoryView.open(str(tmp_path))
    assert len(findings(view)) == 1
    table.remove(2)
    view = view.refreshed()
    assert meaning(view.history) == meaning(load(tmp_path))
    assert len(findings(view)) == 0


def test_a_deletion_file_under_a_base_that_is_not_served_is_a_finding(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=9).delete({0: [3]}, counted=False)
    branch = table.branch("dev")

    def move(manifest):
        manifest.base_paths[0].path = "gopher://elsewhere/t.lance"

    view = HistoryView.open(str(branch.amend(move).path))
    assert view.history.versions.tolist() == [2]
    assert findings(view)["code"].to_list() == ["base_not_allowed", "deleted_rows_unknown"]
