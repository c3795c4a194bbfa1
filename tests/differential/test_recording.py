"""What is recorded is what pylance did, and stays, whatever else happens to the table."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import lancedb
import pyarrow as pa
import pytest

from lance_explorer import (
    CorruptFileError,
    InvalidArgumentError,
    StorageError,
    TableNotFoundError,
    open_table,
)
from lance_explorer.history.rewrites.compaction_records import CompactionLineage
from lance_explorer.history.rewrites.stored_compactions import LINEAGE_KEY, decode_lineage
from lance_explorer.lineage.recording import (
    compact_files,
    record_compaction_lineage,
    set_lineage_retention,
)
from tests.differential.reference import commit_time

WORKER = "tests.differential.recording_worker"


@pytest.fixture(params=[False, True], ids=["addresses", "stable"])
def dataset(request, tmp_path) -> Any:
    """Four fragments of five rows, of which two are deleted."""
    dataset = lance.write_dataset(
        rows(20), tmp_path / "t.lance", max_rows_per_file=5, enable_stable_row_ids=request.param
    )
    dataset.delete("n IN (3, 12)")
    return dataset


def rows(count: int) -> pa.Table:
    return pa.table({"n": range(count)})


def append(dataset: Any, fragments: int = 2) -> None:
    lance.write_dataset(rows(5 * fragments), dataset.uri, mode="append", max_rows_per_file=5)
    dataset.checkout_latest()


def forget_the_past(dataset: Any) -> None:
    dataset.cleanup_old_versions(timedelta(0), delete_unverified=True)
    assert len(dataset.versions()) == 1


def stored(dataset: Any) -> Any:
    """Return the lineage that the config holds, as pylance reads it."""
    text = lance.dataset(dataset.uri).config().get(LINEAGE_KEY)
    return None if text is None else decode_lineage(text)


def lineage_of(dataset: Any, **options: Any) -> Any:
    return open_table(dataset).compaction_lineage(**options)


def stored_versions(dataset: Any) -> list[int]:
    lineage = stored(dataset)
    return [] if lineage is None else [entry.target_version for entry in lineage.entries]


def known_versions(dataset: Any, **options: Any) -> list[int]:
    lineage = lineage_of(dataset, **options)
    return [] if lineage is None else [entry.target_version for entry in lineage.entries]


def groups_of_pylance(dataset: Any, version: int) -> list[Any]:
    """Return the groups of a Rewrite: ID, physical rows and deleted rows of each fragment."""

    def digests(fragments):
        return [
            (f.id, f.physical_rows, f.deletion_file.num_deleted_rows if f.deletion_file else 0)
            for f in fragments
        ]

    operation = dataset.read_transaction(version).operation
    return [
        (digests(group.old_fragments), digests(group.new_fragments)) for group in operation.groups
    ]


def groups_of(entry: Any) -> list[Any]:
    return [
        tuple(
            [(f.id, f.physical_rows, f.num_deleted_rows) for f in fragments]
            for fragments in (group.old_frags, group.new_frags)
        )
        for group in entry.rewrite_groups
    ]


def new_fragments(compaction: Any) -> tuple[int, ...]:
    return tuple([new.id for group in compaction.rewrite_groups for new in group.new_frags])


class TestCompactFiles:
    def test_the_compaction_is_stored_as_pylance_did_it(self, dataset):
        metrics = compact_files(dataset, target_rows_per_fragment=8)
        [entry] = stored(dataset).entries
        transaction = dataset.read_transaction(entry.target_version)
        assert entry.compaction_id == transaction.uuid
        assert entry.source_version == transaction.read_version == 2
        assert entry.target_version == 4
        assert entry.timestamp == commit_time(dataset.checkout_version(4))
        assert groups_of(entry) == groups_of_pylance(dataset, 4)
        assert len(entry.rewrite_groups) == 2
        assert metrics.rewrite_groups == entry.rewrite_groups
        assert (metrics.fragments_removed, metrics.fragments_added) == (4, 2)
        assert (metrics.files_removed, metrics.files_added) == (6, 2)

    def test_the_dataset_is_then_at_the_version_of_the_record(self, dataset):
        compact_files(dataset)
        assert dataset.version == lance.dataset(dataset.uri).version == 5
        assert LINEAGE_KEY in dataset.config()

    def test_nothing_is_written_if_there_is_nothing_to_compact(self, dataset):
        compact_files(dataset)
        metrics = compact_files(dataset)
        assert metrics.rewrite_groups == ()
        assert metrics.fragments_removed == 0
        assert lance.dataset(dataset.uri).version == 5

    def test_a_compaction_that_nobody_recorded_is_picked_up(self, dataset):
        dataset.optimize.compact_files()
        append(dataset)
        metrics = compact_files(dataset)
        assert stored_versions(dataset) == [7, 4]
        assert metrics.rewrite_groups == stored(dataset).entries[0].rewrite_groups

    def test_several_outputs_of_a_group_are_in_order(self, dataset):
        lance.write_dataset(rows(40), dataset.uri, mode="append")
        dataset.checkout_latest()
        dataset.delete("n > 33")
        compact_files(dataset, target_rows_per_fragment=12)
        [entry] = stored(dataset).entries
        assert groups_of(entry) == groups_of_pylance(dataset, entry.target_version)
        assert max(len(group.new_frags) for group in entry.rewrite_groups) > 1

    def test_indices_make_no_difference(self, dataset):
        dataset.create_scalar_index("n", "BTREE")
        metrics = compact_files(dataset)
        [entry] = stored(dataset).entries
        assert metrics.rewrite_groups == entry.rewrite_groups
        [new] = [fragment.fragment_id for fragment in dataset.get_fragments()]
        before = [(0, 5, 1), (1, 5, 0), (2, 5, 1), (3, 5, 0)]
        assert groups_of(entry) == [(before, [(new, 18, 0)])]

    def test_what_pylance_refuses_is_raised(self, dataset):
        with pytest.raises(InvalidArgumentError, match="pylance cannot compact with targets"):
            compact_files(dataset, targets=3)
        assert stored(dataset) is None


def test_a_deferred_remap_is_recorded(tmp_path):
    dataset: Any = lance.write_dataset(rows(20), tmp_path / "t.lance", max_rows_per_file=5)
    dataset.create_scalar_index("n", "BTREE")
    metrics = compact_files(dataset, defer_index_remap=True)
    [entry] = stored(dataset).entries
    assert metrics.rewrite_groups == entry.rewrite_groups
    assert groups_of(entry) == groups_of_pylance(dataset, entry.target_version)
    assert known_versions(dataset) == [entry.target_version]


def test_a_deferred_remap_is_known_from_the_reuse_index_alone(tmp_path):
    dataset: Any = lance.write_dataset(rows(20), tmp_path / "t.lance", max_rows_per_file=5)
    dataset.create_scalar_index("n", "BTREE")
    dataset.optimize.compact_files(defer_index_remap=True)
    [expected] = lineage_of(dataset).entries
    append(dataset)
    forget_the_past(dataset)
    [entry] = lineage_of(dataset).entries
    assert entry.rewrite_groups == expected.rewrite_groups
    assert entry.target_version == expected.target_version
    assert entry.compaction_id is None
    assert entry.source.startswith("fragment reuse index")
    assert record_compaction_lineage(dataset) is None
    assert stored(dataset) is None


class TestRecord:
    def test_compactions_of_the_past_are_stored(self, dataset):
        expected: list[int] = []
        for _ in range(3):
            append(dataset)
            dataset.optimize.compact_files()
            expected.insert(0, dataset.version)
        lineage: Any = record_compaction_lineage(dataset)
        assert [entry.target_version for entry in lineage.entries] == expected
        assert lineage == stored(dataset)
        assert lineage.max_entries is None
        for entry in lineage.entries:
            assert groups_of(entry) == groups_of_pylance(dataset, entry.target_version)

    def test_what_is_stored_is_not_stored_again(self, dataset):
        compact_files(dataset)
        lineage = record_compaction_lineage(dataset)
        assert lineage == stored(dataset)
        assert lance.dataset(dataset.uri).version == 5

    def test_a_table_without_compactions_is_left_alone(self, dataset):
        assert record_compaction_lineage(dataset) is None
        assert lance.dataset(dataset.uri).version == 2

    def test_an_entry_is_the_same_wherever_it_is_known_from(self, dataset):
        dataset.optimize.compact_files()
        before = lineage_of(dataset)
        record_compaction_lineage(dataset)
        after = lineage_of(dataset)
        assert before == after == stored(dataset)
        assert before.entries[0].source.startswith("transaction 2-")
        assert after.entries[0].source == "config of version 5"

    def test_a_checked_out_old_version_is_taken_to_the_latest(self, dataset):
        dataset.optimize.compact_files()
        old = lance.dataset(dataset.uri, version=1)
        record_compaction_lineage(old)
        assert old.version == 5
        assert stored_versions(dataset) == [4]

    def test_other_keys_stay(self, dataset):
        dataset.update_config({"owner": "me"})
        compact_files(dataset)
        assert dataset.config()["owner"] == "me"

    def test_entries_that_only_name_fragments_stay_as_they_are(self, dataset):
        foreign = {
            "compaction_id": "5a",
            "timestamp": "2026-01-01T00:00:00Z",
            "source_version": 1,
            "target_version": 2,
            "fragment_mappings": [{"target_fragment_id": 9, "source_fragment_ids": [7, 8]}],
        }
        dataset.update_config({LINEAGE_KEY: json.dumps({"entries": [foreign]})})
        compact_files(dataset)
        assert stored_versions(dataset) == [5, 2]
        assert json.loads(dataset.config()[LINEAGE_KEY])["entries"][1] == foreign

    def test_a_lineage_that_cannot_be_understood_is_left_alone(self, dataset):
        dataset.update_config({LINEAGE_KEY: "{"})
        dataset.optimize.compact_files()
        with pytest.raises(CorruptFileError, match=LINEAGE_KEY):
            record_compaction_lineage(dataset)
        with pytest.raises(CorruptFileError, match=LINEAGE_KEY):
            set_lineage_retention(dataset, 3)
        assert lance.dataset(dataset.uri).config()[LINEAGE_KEY] == "{"
        assert known_versions(dataset) == [5]

    @pytest.mark.parametrize("what", [None, "t.lance", 3])
    def test_what_is_no_opened_table_is_refused(self, what):
        with pytest.raises(InvalidArgumentError, match="is a LanceDataset or a lancedb table"):
            record_compaction_lineage(what)

    def test_a_table_in_memory_is_refused(self):
        dataset = lance.write_dataset(rows(3), "memory://")
        with pytest.raises((InvalidArgumentError, TableNotFoundError)):
            record_compaction_lineage(dataset)


class TestKeeping:
    def test_the_record_survives_cleanup(self, dataset):
        compact_files(dataset)
        expected = stored(dataset)
        append(dataset)
        forget_the_past(dataset)
        assert lineage_of(dataset) == expected

    def test_the_record_survives_changes_and_later_compactions(self, dataset):
        compact_files(dataset)
        first = stored(dataset)
        append(dataset)
        dataset.update({"n": "n + 1"}, where="n = 2")
        dataset.delete("n = 4")
        dataset.add_columns({"m": "n * 2"})
        assert stored(dataset) == first
        forget_the_past(dataset)
        dataset.optimize.compact_files()
        assert stored(dataset) == first
        append(dataset)
        compact_files(dataset)
        assert len(stored(dataset).entries) == 3
        assert stored(dataset).entries[-1] == first.entries[0]
        lance.write_dataset(rows(3), dataset.uri, mode="overwrite")
        assert len(stored(dataset).entries) == 3

    def test_a_restore_brings_back_the_record_of_its_version(self, dataset):
        compact_files(dataset)
        restored = dataset.version
        append(dataset)
        compact_files(dataset)
        later = known_versions(dataset)
        dataset.checkout_version(restored).restore()
        assert stored_versions(dataset) == known_versions(dataset) == later[1:]
        assert known_versions(dataset, include_undone=True) == later
        assert known_versions(dataset, version=restored + 3) == later
        assert record_compaction_lineage(dataset) == stored(dataset)
        assert stored_versions(dataset) == later[1:]

    def test_a_restore_forward_brings_the_undone_back(self, dataset):
        compact_files(dataset)
        recorded = dataset.version
        dataset.checkout_version(2).restore()
        assert known_versions(dataset) == stored_versions(dataset) == []
        lance.dataset(dataset.uri, version=recorded).restore()
        assert known_versions(dataset) == stored_versions(dataset) == [4]

    def test_what_was_recorded_after_the_restored_version_is_not_lost(self, dataset):
        """The compaction led to the restored version, which did not have the record yet."""
        dataset.optimize.compact_files()
        record_compaction_lineage(dataset)
        dataset.checkout_version(4).restore()
        assert stored(dataset) is None
        record_compaction_lineage(dataset)
        assert stored_versions(dataset) == [4]

    def test_a_branch_goes_on_with_the_record_of_its_parent(self, dataset):
        compact_files(dataset)
        branch = dataset.create_branch("dev", dataset.version)
        append(dataset)
        compact_files(dataset)
        lance.write_dataset(rows(10), branch.uri, mode="append", max_rows_per_file=5)
        branch.checkout_latest()
        metrics = compact_files(branch)
        assert stored_versions(branch) == known_versions(branch) == [branch.version - 1, 4]
        assert metrics.rewrite_groups == stored(branch).entries[0].rewrite_groups
        assert stored_versions(dataset) == [dataset.version - 1, 4]

    def test_a_branch_knows_what_its_parent_did_not_record(self, dataset):
        dataset.optimize.compact_files()
        branch = dataset.create_branch("dev", dataset.version)
        append(dataset)
        dataset.optimize.compact_files()
        assert known_versions(branch) == [4]
        record_compaction_lineage(branch)
        assert stored_versions(branch) == [4]
        assert stored(dataset) is None


class TestRetention:
    def test_older_entries_go(self, dataset):
        for _ in range(4):
            append(dataset)
            compact_files(dataset)
        every = stored_versions(dataset)
        set_lineage_retention(dataset, 2)
        assert stored_versions(dataset) == every[:2]
        assert stored(dataset).max_entries == 2
        append(dataset)
        compact_files(dataset)
        assert stored_versions(dataset)[1:] == every[:1]

    def test_only_what_is_stored_is_limited(self, dataset):
        compact_files(dataset)
        append(dataset)
        compact_files(dataset)
        every = known_versions(dataset)
        set_lineage_retention(dataset, 1)
        assert known_versions(dataset) == every
        forget_the_past(dataset)
        assert known_versions(dataset) == every[:1]

    def test_the_limit_is_kept_without_entries(self, dataset):
        set_lineage_retention(dataset, 7)
        assert stored(dataset) == CompactionLineage((), 7)
        assert lineage_of(dataset) == CompactionLineage((), 7)
        compact_files(dataset)
        assert stored(dataset).max_entries == 7
        assert len(stored(dataset).entries) == 1

    def test_the_same_limit_is_not_written_again(self, dataset):
        set_lineage_retention(dataset, 7)
        set_lineage_retention(dataset, 7)
        assert lance.dataset(dataset.uri).version == 3

    @pytest.mark.parametrize("limit", [0, -1, 1.5, True, "3", None, 1 << 63])
    def test_what_is_no_limit_is_refused(self, dataset, limit):
        with pytest.raises(InvalidArgumentError, match="is a whole number from 1 on"):
            set_lineage_retention(dataset, limit)
        assert lance.dataset(dataset.uri).version == 2


def test_a_lancedb_table_is_compacted_and_recorded(tmp_path):
    table = lancedb.connect(tmp_path).create_table("t", rows(5))
    table.add(rows(5))
    metrics = compact_files(table)
    assert metrics.fragments_removed == 2
    set_lineage_retention(table, 5)
    lineage: Any = record_compaction_lineage(table)
    assert table.version == 6
    assert lineage == lineage_of(table)
    assert lineage.entries[0].rewrite_groups == metrics.rewrite_groups


class TestOthersInBetween:
    """Another writer commits after history was read, and before the record is committed."""

    @staticmethod
    def interleave(monkeypatch, other: Callable[[], object]) -> None:
        commit = lance.LanceDataset.commit
        waiting = [other]

        def commit_after_other(*args, **options):
            if waiting:
                waiting.pop()()
            return commit(*args, **options)

        monkeypatch.setattr(lance.LanceDataset, "commit", commit_after_other)

    @pytest.fixture
    def table(self, dataset):
        compact_files(dataset)
        append(dataset)
        dataset.optimize.compact_files()
        return dataset

    def test_an_append_does_not_matter(self, table, monkeypatch):
        self.interleave(monkeypatch, lambda: append(lance.dataset(table.uri)))
        record_compaction_lineage(table)
        assert stored_versions(table) == [8, 4]

    def test_the_entry_of_another_recorder_stays(self, table, monkeypatch):
        def other():
            dataset = lance.dataset(table.uri)
            append(dataset)
            compact_files(dataset)

        self.interleave(monkeypatch, other)
        record_compaction_lineage(table)
        assert stored_versions(table) == [11, 8, 4]

    def test_an_entry_stays_whose_commits_are_cleaned_away(self, table, monkeypatch):
        def other():
            dataset = lance.dataset(table.uri)
            append(dataset)
            compact_files(dataset)
            append(dataset)
            forget_the_past(dataset)

        self.interleave(monkeypatch, other)
        record_compaction_lineage(table)
        assert stored_versions(table) == [11, 8, 4]

    def test_a_restore_undoes_what_was_to_be_recorded(self, table, monkeypatch):
        self.interleave(monkeypatch, lambda: lance.dataset(table.uri, version=5).restore())
        record_compaction_lineage(table)
        assert stored_versions(table) == known_versions(table) == [4]

    def test_a_limit_of_another_writer_holds(self, table, monkeypatch):
        self.interleave(monkeypatch, lambda: set_lineage_retention(lance.dataset(table.uri), 1))
        record_compaction_lineage(table)
        assert stored(table).max_entries == 1
        assert stored_versions(table) == [8]

    def test_a_writer_that_dies_leaves_a_table_that_the_next_one_records(self, table, monkeypatch):
        def die():
            raise OSError("no space left")

        before = stored(table)
        self.interleave(monkeypatch, die)
        append(table)
        with pytest.raises(StorageError, match="the lineage cannot be stored: no space left"):
            compact_files(table)
        assert stored(table) == before
        assert known_versions(table) == [11, 8, 4]
        record_compaction_lineage(table)
        assert stored_versions(table) == [11, 8, 4]


@pytest.mark.slow
def test_processes_that_record_at_once_lose_no_entry(dataset):
    """Each appends and compacts; they print the fragments that their compactions made."""
    first = compact_files(dataset)
    made = {new_fragments(first)}
    forget_the_past(dataset)
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", WORKER, dataset.uri, str(number)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        for number in range(4)
    ]
    outputs = [worker.communicate(timeout=1200)[0] for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * len(workers)
    made |= {tuple(json.loads(line)) for output in outputs for line in output.splitlines()}
    assert len(made) > len(workers)
    dataset.checkout_latest()
    forget_the_past(dataset)
    entries = stored(dataset).entries
    assert len(entries) == len(made)
    assert {new_fragments(entry) for entry in entries} == made
