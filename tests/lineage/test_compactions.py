import json
import shutil
from dataclasses import replace
from typing import Any

import pytest

from lance_explorer.errors import VersionNotFoundError
from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.history.rewrites.compaction_records import CompactionLineage, FragDigest
from lance_explorer.history.rewrites.stored_compactions import LINEAGE_KEY, encode_lineage
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.compactions import compaction_lineage
from tests.format.samples import DATA
from tests.synthetic.folders import DETACHED
from tests.synthetic.tables import SyntheticTable

FIRST = [((0, 6, 4), (1, 6, 3), (2, 6, 0), (3, 2, 0), (4, 4, 0)), ((5, 17, 0),)]


def lineage_of(table: SyntheticTable, **options: Any) -> CompactionLineage:
    lineage = compaction_lineage(HistoryView.open(str(table.path)), **options)
    return CompactionLineage() if lineage is None else lineage


def versions_of(table: SyntheticTable, **options: Any) -> list[int]:
    return [entry.target_version for entry in lineage_of(table, **options).entries]


def record(table: SyntheticTable) -> SyntheticTable:
    """Store what history shows, as a recorder would."""
    return store(table, lineage_of(table))


def store(table: SyntheticTable, lineage: CompactionLineage) -> SyntheticTable:
    return table.update_config(**{LINEAGE_KEY: encode_lineage(lineage)})


def counted(digests: tuple[FragDigest, ...]) -> tuple[Any, ...]:
    return tuple((d.id, d.physical_rows, d.num_deleted_rows) for d in digests)


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """Three fragments in version 2; a compaction makes version 5 of version 3."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=2).append(rows=3)
    return table.delete({0: [1, 2], 2: [0]}).compact([0, 1])


class TestTransactions:
    def test_a_compaction_of_the_past_is_there(self, table):
        [entry] = lineage_of(table).entries
        view = HistoryView.open(str(table.path))
        record = view.version(5).records[0]
        transaction: Any = view.transaction(record)
        assert entry.compaction_id == transaction.uuid
        assert (entry.source_version, entry.target_version) == (3, 5)
        assert entry.timestamp == record.manifest.timestamp
        [group] = entry.rewrite_groups
        assert counted(group.old_frags) == ((0, 4, 2), (1, 4, 0))
        assert counted(group.new_frags) == ((3, 6, 0),)
        assert entry.source == f"transaction 3-{entry.compaction_id} of version 5"

    def test_the_newest_is_the_first(self, table):
        table.append().compact([2, 4], [3])
        assert versions_of(table) == [8, 5]
        assert [len(entry.rewrite_groups) for entry in lineage_of(table).entries] == [2, 1]

    def test_a_table_without_compactions_has_no_lineage(self, tmp_path):
        path = SyntheticTable(tmp_path / "t.lance").append().path
        assert compaction_lineage(HistoryView.open(str(path))) is None

    def test_an_earlier_version_has_those_that_led_to_it(self, table):
        table.append().compact([2, 4])
        assert versions_of(table, version=4) == []
        assert versions_of(table, version=5) == versions_of(table, version=7) == [5]
        assert versions_of(table, version=8) == [8, 5]

    def test_a_version_that_is_not_kept_is_refused(self, table):
        with pytest.raises(VersionNotFoundError, match="version 2 was cleaned up"):
            lineage_of(table.remove(2), version=2)

    def test_a_compaction_whose_version_is_gone_is_gone(self, table):
        assert versions_of(table.append().remove(5)) == []

    @pytest.mark.parametrize("writer", ["0.32.1", "1.0.4", "8.0.1", "13.0.0", "14.0.2"])
    def test_compactions_of_old_writers_are_there(self, writer):
        lineage = compaction_lineage(HistoryView.open(str(DATA / writer / "stable_row_ids.lance")))
        assert lineage is not None
        second, first = lineage.entries
        assert (first.source_version, first.target_version) == (9, 11)
        assert (second.source_version, second.target_version) == (20, 22)
        [group] = first.rewrite_groups
        assert [counted(group.old_frags), counted(group.new_frags)] == FIRST


class TestStored:
    def test_a_recorded_compaction_outlives_its_version(self, table):
        [expected] = lineage_of(table).entries
        record(table).append().remove(1, 2, 3, 4, 5, 6)
        [entry] = lineage_of(table).entries
        assert entry == expected
        assert entry.source == "config of version 7"

    def test_what_is_recorded_and_has_its_transaction_is_one_entry(self, table):
        before = lineage_of(table)
        assert lineage_of(record(table)) == before
        assert lineage_of(table).entries[0].source == "config of version 6"

    def test_a_version_before_the_record_has_it_too(self, table):
        record(table.append()).remove(5)
        [entry] = lineage_of(table, version=6).entries
        assert entry.target_version == 5
        assert entry.source == "config of version 7"
        assert versions_of(table, version=4) == []

    def test_the_limit_is_that_of_the_version(self, table):
        record(table)
        store(table, replace(lineage_of(table), max_entries=3))
        assert lineage_of(table).max_entries == 3
        assert lineage_of(table, version=6).max_entries is None

    def test_a_limit_without_entries_is_a_lineage(self, tmp_path):
        table = store(SyntheticTable(tmp_path / "t.lance").append(), CompactionLineage((), 9))
        assert lineage_of(table) == CompactionLineage((), 9)

    @pytest.mark.parametrize("text", ["{", "[]", '{"entries": [{}]}'])
    def test_what_cannot_be_understood_hides_nothing_else(self, table, text):
        expected = lineage_of(table)
        assert lineage_of(table.update_config(**{LINEAGE_KEY: text})) == expected

    def test_another_writer_s_entry_of_a_known_compaction_is_no_second_one(self, table):
        [entry] = lineage_of(table).entries
        foreign = {
            "compaction_id": "another",
            "timestamp": "2026-01-01T00:00:00Z",
            "source_version": 4,
            "target_version": 5,
            "fragment_mappings": [{"target_fragment_id": 3, "source_fragment_ids": [0, 1]}],
        }
        table.update_config(**{LINEAGE_KEY: json.dumps({"entries": [foreign]})})
        [known] = lineage_of(table).entries
        assert known.compaction_id == "another"
        table.update_config(
            **{LINEAGE_KEY: json.dumps({"entries": [foreign | {"target_version": 4}]})}
        )
        assert {e.compaction_id for e in lineage_of(table).entries} == {
            "another",
            entry.compaction_id,
        }


class TestReuseIndex:
    @pytest.fixture
    def deferred(self, tmp_path):
        shutil.copytree(DATA / "14.0.2/deferred_remap.lance", tmp_path / "t.lance")
        return tmp_path / "t.lance"

    def test_it_remembers_what_was_cleaned_away(self, deferred):
        full = compaction_lineage(HistoryView.open(str(deferred)))
        assert full is not None
        for path in deferred.glob("_versions/*.manifest"):
            if int(path.stem) != (1 << 64) - 1 - HistoryView.open(str(deferred)).latest_version:
                path.unlink()
        shutil.rmtree(deferred / "_transactions", ignore_errors=True)
        left = compaction_lineage(HistoryView.open(str(deferred)))
        assert left is not None
        assert len(left.entries) == len(full.entries) == 2
        for entry, expected in zip(left.entries, full.entries, strict=True):
            assert entry.rewrite_groups == expected.rewrite_groups
            assert entry.target_version == expected.target_version
            assert not entry.is_complete
            assert entry.source is not None
            assert entry.source.startswith("fragment reuse index of version")

    def test_what_transactions_know_it_does_not_tell_again(self, deferred):
        lineage = compaction_lineage(HistoryView.open(str(deferred)))
        assert lineage is not None
        assert [entry.target_version for entry in lineage.entries] == [11, 7]
        assert all(entry.is_complete for entry in lineage.entries)


class TestRestore:
    def test_what_a_restore_undid_is_left_out(self, table):
        table.restore(3)
        assert versions_of(table) == []
        assert versions_of(table, include_undone=True) == [5]
        assert versions_of(table, version=5) == [5]

    def test_what_led_to_the_restored_version_stays(self, table):
        table.append().compact([2, 4]).restore(6)
        assert versions_of(table) == [5]
        table.compact([2, 4])
        assert versions_of(table) == [11, 5]
        assert versions_of(table, include_undone=True) == [11, 8, 5]

    def test_a_restore_of_a_restored_version_goes_its_way(self, table):
        table.restore(3).append().restore(5)
        assert versions_of(table) == [5]
        table.restore(7)
        assert versions_of(table) == []

    def test_a_record_that_was_taken_back_is_known_as_undone(self, table):
        record(table.remove(4)).restore(3).remove(5)
        assert versions_of(table) == []
        [entry] = lineage_of(table, include_undone=True).entries
        assert entry.is_complete
        assert entry.source == "config of version 6"

    def test_a_restore_that_is_gone_undoes_nothing(self, table):
        assert versions_of(table.restore(3).append().remove(6)) == [5]

    def test_what_the_restore_of_a_detached_version_undid_is_not_known(self, table):
        table.append().detach(1).compact([2, 4])  # the detached one was made of version 5
        detached = DETACHED | 1
        table.commit("restore", pb.Restore(version=detached))
        assert versions_of(table) == versions_of(table, include_undone=True) == [8, 5]
        assert versions_of(table, version=detached) == [5]


class TestBranches:
    def test_a_branch_has_what_led_to_its_fork(self, table):
        branch = table.branch("dev")
        table.append().compact([2, 4])
        branch.append().append().compact([2, 3])
        view = HistoryView.open(str(table.path), "dev")
        lineage = compaction_lineage(view)
        assert lineage is not None
        assert [entry.target_version for entry in lineage.entries] == [9, 5]
        assert versions_of(table) == [8, 5]

    def test_what_was_undone_before_the_fork_is_left_out(self, table):
        branch = table.restore(3).branch("dev")
        view = HistoryView.open(str(table.path), "dev")
        assert branch.version == 6
        assert compaction_lineage(view) is None
        undone = compaction_lineage(view, include_undone=True)
        assert undone is not None
        assert [entry.target_version for entry in undone.entries] == [5]

    def test_a_branch_whose_parent_is_gone_has_its_own(self, table):
        branch = table.branch("dev").append().append().compact([2, 3])
        shutil.rmtree(table.path / "_versions")
        assert versions_of(branch) == [9]
