"""Rewrite groups from every source: what one tells, what several tell, and what none may tell."""

import json
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest

from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.rewrites.address_maps import address_map
from lance_explorer.history.rewrites.all_groups import RewriteGroup, rewrites
from lance_explorer.history.rewrites.stored_compactions import LINEAGE_KEY
from lance_explorer.history.view import HistoryView
from lance_explorer.table import open_table
from tests.format.samples import DATA
from tests.history.compactions import (
    Compacted,
    all_addresses,
    assert_rows_follow,
    copy_without,
    ids_of,
    places,
)
from tests.synthetic.tables import SyntheticTable
from tests.synthetic.transactions import encode_transaction

DEFERRED = [((0, 1), (4,)), ((2, 3), (5,)), ((4,), (7,))]


def stored(path: str) -> HistoryView:
    return HistoryView.open(str(DATA / path))


def told_alike(view: HistoryView, whole: HistoryView, begin: int, end: int) -> bool:
    """Whether two sources carry every row of the rewritten fragments to the same place."""
    groups = rewrites(whole).between(begin, end)
    addresses = all_addresses([digest for group in groups for digest in group.old])
    expected = address_map(whole, begin, end).carry(addresses)
    got = address_map(view, begin, end).carry(addresses)
    return all(np.array_equal(a, b) for a, b in zip(got, expected, strict=True))


# -------------------------------------------------------------------------------- transactions


def test_a_transaction_tells_groups_with_the_deletions_that_it_saw():
    first, second, third = rewrites(stored("14.0.2/deferred_remap.lance")).groups
    assert [(g.version, g.group) for g in (first, second, third)] == [(7, 0), (7, 1), (11, 0)]
    assert first.old == (FragDigest(0, 6, 2), FragDigest(1, 6, 0))
    assert first.new == (FragDigest(4, 10, 0),)
    assert second.old == (FragDigest(2, 6, 1), FragDigest(3, 6, 0))
    assert third.old == (FragDigest(4, 10, 2),)
    assert first.evidence is Evidence.RECORDED
    assert first.source.startswith("transaction 5-")
    assert first.source.endswith(" of version 7")
    assert list(first.rows_moved()) == [(0, 4, 4), (1, 4, 6)]


@pytest.mark.parametrize(
    ("path", "version", "groups"),
    [
        ("0.10.18/life_cycle.lance", 10, [((0, 1, 2, 3, 4), (5,))]),
        ("0.20.0/life_cycle.lance", 10, [((0, 1, 2, 3, 4), (5,))]),
        ("0.32.1/stable_row_ids.lance", 22, [((7, 8), (9,))]),
        ("1.0.4/stable_row_ids.lance", 22, [((5,), (9,)), ((7, 8), (10,))]),
        ("8.0.1/rewritten_indices.lance", 8, [((0, 1, 2, 3), (4,))]),
        ("13.0.0/stable_row_ids.lance", 22, [((5,), (12,)), ((10, 11), (13,))]),
    ],
)
def test_transactions_of_old_writers_are_understood(path, version, groups):
    found = rewrites(stored(path)).between(version - 1, version)
    assert ids_of(found) == groups
    assert {group.evidence for group in found} == {Evidence.RECORDED}


def test_new_fragments_that_a_transaction_does_not_number_have_the_ids_of_the_commit(tmp_path):
    path = str(tmp_path / "t.lance")
    dataset: Any = lance.write_dataset(pa.table({"key": [*range(6)]}), path, max_rows_per_file=3)
    dataset.delete("key = 1")
    old = [fragment.metadata for fragment in dataset.get_fragments()]
    new = lance.fragment.write_fragments(dataset.to_table(), path)
    group = lance.LanceOperation.RewriteGroup(old, new)
    lance.LanceDataset.commit(path, lance.LanceOperation.Rewrite([group], []), read_version=2)
    [told] = rewrites(HistoryView.open(path)).groups
    assert told.old == (FragDigest(0, 3, 1), FragDigest(1, 3, 0))
    assert told.new == (FragDigest(2, 5, 0),)
    addresses = np.array([0, 2, 1 << 32], dtype=np.uint64)
    found, _ = address_map(HistoryView.open(path), 2, 3).carry(addresses)
    assert found.tolist() == [2 << 32, (2 << 32) + 1, (2 << 32) + 2]


def test_deletions_that_a_transaction_does_not_count_are_counted():
    groups = rewrites(stored("0.10.18/life_cycle.lance")).groups
    assert [digest.num_deleted_rows for digest in groups[0].old] == [4, 3, 0, 0, 0]


def test_groups_between_versions_begin_after_the_one_and_end_with_the_other():
    found = rewrites(stored("14.0.2/deferred_remap.lance"))
    assert [g.version for g in found.between(6, 7)] == [7, 7]
    assert found.between(7, 10) == ()
    assert [g.version for g in found.between(7, 11)] == [11]


def test_a_damaged_transaction_is_a_finding_and_rows_tell_instead(tmp_path):
    view = copy_without(DATA / "0.32.1/stable_row_ids.lance", tmp_path / "t")
    stored_transaction = view.history.records[21].transaction
    assert stored_transaction is not None
    file = tmp_path / "t" / stored_transaction.path
    file.write_bytes(encode_transaction("rewrite", b"nonsense", 20, "uuid"))
    found = rewrites(HistoryView.open(view.uri))
    [finding] = found.findings
    assert (finding.code, finding.first_version) == ("corrupt_transaction", 22)
    assert [group.version for group in found.groups] == [11]


# -------------------------------------------------------------------- what several sources tell


def test_one_group_that_two_sources_tell_of_is_there_once():
    groups = rewrites(stored("14.0.2/deferred_remap.lance")).groups
    assert ids_of(groups) == DEFERRED
    assert all(group.source.startswith("transaction") for group in groups)
    assert [len(group.surviving or ()) for group in groups] == [10, 11, 8]


@pytest.mark.parametrize("writer", ["8.0.1", "14.0.2"])
@pytest.mark.parametrize("lost", [(7, 11), (6, 7, 10, 11), tuple(range(2, 12))])
def test_the_reuse_index_tells_of_lost_versions(tmp_path, writer, lost):
    table = DATA / writer / "deferred_remap.lance"
    view = copy_without(table, tmp_path / "t", *lost)
    groups = rewrites(view).groups
    assert ids_of(groups) == DEFERRED
    assert [(group.version, group.group) for group in groups] == [(7, 0), (7, 1), (11, 0)]
    assert all(group.source.startswith("fragment reuse index") for group in groups)
    assert {group.evidence for group in groups} == {Evidence.RECORDED}
    begin = max(version for version in range(1, 7) if version not in lost)
    assert told_alike(view, HistoryView.open(str(table)), begin, 12)


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Compacted:
    """A table whose reuse history is in a file of its own."""
    table = Compacted(tmp_path_factory.mktemp("t"), rows=1_800_000, per_fragment=900_000)
    table.index()
    table.dataset.delete("key % 3 = 0")
    table.compact(target_rows_per_fragment=2_000_000, defer_index_remap=True)
    table.append(1)
    return table


@pytest.mark.slow
def test_a_reuse_history_in_a_file_tells_the_same(tmp_path, large):
    assert len([*Path(large.uri).glob("_indices/*/details.binpb")]) == 1
    view = copy_without(large.uri, tmp_path / "copy", 4, 5)
    [group] = rewrites(view).groups
    assert (group.version, ids_of([group])) == (5, [((0, 1), (2,))])
    assert told_alike(view, large.view, 3, 6)


@pytest.mark.slow
def test_a_missing_reuse_history_is_a_finding(tmp_path, large):
    view = copy_without(large.uri, tmp_path / "copy", 4, 5)
    [file] = (tmp_path / "copy").glob("_indices/*/details.binpb")
    file.unlink()
    [finding] = rewrites(view).findings
    assert (finding.code, finding.first_version) == ("unreadable_fragment_reuse", 6)


def lineage_of(*groups: RewriteGroup) -> str:
    """Return stored compaction lineage with one entry for some groups of one version."""

    def digests(fragments):
        return [
            {
                "id": fragment.id,
                "physical_rows": fragment.physical_rows,
                "num_deleted_rows": fragment.num_deleted_rows,
            }
            for fragment in fragments
        ]

    entry = {
        "compaction_id": "3f2b6b0e-0000-4000-8000-000000000001",
        "timestamp": "2026-01-02T03:04:05Z",
        "source_version": groups[0].version - 2,
        "target_version": groups[0].version,
        "rewrite_groups": [
            {
                "changed_row_addrs": [],
                "old_frags": digests(group.old),
                "new_frags": digests(group.new),
            }
            for group in groups
        ],
    }
    return json.dumps({"entries": [entry], "max_entries": None})


def table_with_lineage(path: Path) -> tuple[Compacted, int]:
    """Return a table that stores what its one compaction did, and the version of that."""
    table = Compacted(path, rows=18)
    table.dataset.delete("key IN (4, 7)")
    version = table.compact()
    lineage = lineage_of(*rewrites(table.view).groups)
    table.dataset.update_config({LINEAGE_KEY: lineage})
    table.append(3)
    return table, version


def test_stored_lineage_tells_of_lost_versions(tmp_path):
    table, version = table_with_lineage(tmp_path / "t")
    view = copy_without(table.uri, tmp_path / "copy", version - 1, version)
    [group] = rewrites(view).groups
    assert (group.version, group.evidence) == (version, Evidence.RECORDED)
    assert group.source == f"compaction lineage in the config of version {version + 2}"
    assert told_alike(view, table.view, version - 2, version + 1)


def test_stored_lineage_says_nothing_new_of_kept_versions(tmp_path):
    table, _ = table_with_lineage(tmp_path / "t")
    [group] = rewrites(table.view).groups
    assert group.source.startswith("transaction")


def test_damaged_lineage_is_a_finding(tmp_path):
    table = Compacted(tmp_path / "t")
    table.dataset.update_config({LINEAGE_KEY: "{nonsense"})
    [finding] = rewrites(table.view).findings
    assert (finding.code, finding.first_version) == ("unreadable_compaction_lineage", 2)


# ---------------------------------------------------------------------------- what rows tell


def without_rewrite(path: Path, version: int, target: Path, *, how: str) -> HistoryView:
    """Return a copy that lost the version of a rewrite, the one before too, or its transaction."""
    if how == "lost":
        return copy_without(path, target, version)
    if how == "lost with the one before":
        return copy_without(path, target, version - 1, version)
    view = copy_without(path, target)
    transaction = view.history.records[view.history.position(version)].transaction
    assert transaction is not None
    (target / transaction.path).unlink()
    return HistoryView.open(str(target))


HOW = pytest.mark.parametrize("how", ["lost", "lost with the one before"])


@HOW
@pytest.mark.parametrize("version", [11, 22])
@pytest.mark.parametrize("writer", ["0.32.1", "1.0.4", "8.0.1", "13.0.0", "14.0.2"])
def test_row_ids_prove_a_rewrite(tmp_path, writer, version, how):
    path = DATA / writer / "stable_row_ids.lance"
    whole = HistoryView.open(str(path))
    view = without_rewrite(path, version, tmp_path / "t", how=how)
    begin, end = version - 2, version + 1
    found = rewrites(view).between(begin, end)
    assert ids_of(found) == ids_of(rewrites(whole).between(begin, end))
    assert {(group.version, group.evidence) for group in found} == {(version, Evidence.DERIVED)}
    assert told_alike(view, whole, begin, end)


def test_row_ids_prove_a_rewrite_whose_transaction_is_gone(tmp_path):
    path = DATA / "0.32.1/stable_row_ids.lance"
    view = without_rewrite(path, 22, tmp_path / "t", how="transaction")
    [group] = rewrites(view).between(20, 22)
    assert (group.version, group.evidence, group.note) == (22, Evidence.DERIVED, None)
    assert group.source == "row IDs of versions 21 and 22"
    assert told_alike(view, HistoryView.open(str(path)), 21, 22)


@HOW
@pytest.mark.parametrize("writer", ["0.10.18", "0.20.0", "0.32.1", "8.0.1", "14.0.2"])
def test_counts_and_order_suggest_a_rewrite(tmp_path, writer, how):
    path = DATA / writer / "life_cycle.lance"
    whole = HistoryView.open(str(path))
    [group] = rewrites(whole).groups
    view = without_rewrite(path, group.version, tmp_path / "t", how=how)
    [found] = rewrites(view).groups
    assert (found.old, found.new) == (group.old, group.new)
    assert (found.version, found.evidence) == (group.version, Evidence.INFERRED)
    assert (found.note is None) == (how == "lost")
    assert told_alike(view, whole, group.version - 2, group.version + 1)


@pytest.mark.parametrize("writer", ["0.10.18", "0.20.0", "0.32.1"])
def test_counts_and_order_suggest_a_rewrite_whose_transaction_is_gone(tmp_path, writer):
    path = DATA / writer / "life_cycle.lance"
    [group] = rewrites(HistoryView.open(str(path))).groups
    view = without_rewrite(path, group.version, tmp_path / "t", how="transaction")
    [found] = rewrites(view).groups
    assert (found.old, found.new, found.note) == (group.old, group.new, None)
    assert found.evidence is Evidence.INFERRED


def test_deletions_before_and_after_a_lost_rewrite_do_not_hide_it(tmp_path):
    table = Compacted(tmp_path / "t", stable=True)
    begin = table.version
    table.dataset.delete("key IN (1, 9)")
    end = table.compact()
    table.dataset.delete("key IN (2, 17)")
    before, after = places(table.uri, begin), places(table.uri, table.version)
    view = copy_without(table.uri, tmp_path / "copy", *range(begin + 1, end + 1))
    [group] = rewrites(view).groups
    assert group.evidence is Evidence.DERIVED
    assert [digest.num_deleted_rows for digest in group.old] == [1, 1, 0, 0]
    assert_rows_follow(address_map(view, begin, table.version), before, after, lost=4)


STABLE = pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable"])


@STABLE
def test_a_lost_update_of_all_rows_is_no_rewrite(tmp_path, stable):
    table = Compacted(tmp_path / "t", stable=stable, rows=6)
    table.append(6)
    table.dataset.update({"value": "value + 1"})
    table.append(2)
    assert rewrites(copy_without(table.uri, tmp_path / "copy", 3)).groups == ()


@STABLE
def test_a_lost_rewrite_of_updated_rows_cannot_be_told(tmp_path, stable):
    table = Compacted(tmp_path / "t", stable=stable)
    table.dataset.update({"value": "value + 1"}, where="key % 2 = 0")
    version = table.compact()
    table.append(1)
    view = copy_without(table.uri, tmp_path / "copy", *range(2, version + 1))
    assert rewrites(view).groups == ()


@STABLE
def test_a_lost_overwrite_with_as_many_rows_is_no_rewrite(tmp_path, stable):
    table = Compacted(tmp_path / "t", stable=stable, rows=6)
    data = lance.dataset(table.uri).to_table()
    lance.write_dataset(data, table.uri, mode="overwrite")
    table.append(2)
    assert rewrites(copy_without(table.uri, tmp_path / "copy", 2)).groups == ()


def test_new_ids_that_nobody_reserved_are_of_no_rewrite(tmp_path):
    table = SyntheticTable(tmp_path / "t", stable_row_ids=False, transaction_files=False)
    table.append(4, fragments=2).overwrite(8)
    table.amend(lambda manifest: manifest.ClearField("transaction_file"), transaction=None)
    view = HistoryView.open(str(table.path))
    assert view.history.records[1].operation is None
    assert rewrites(view).groups == ()


def test_a_lost_update_beside_a_lost_rewrite_leaves_it_open(tmp_path):
    table = Compacted(tmp_path / "t")
    table.compact()
    table.dataset.delete("key % 3 = 0")
    begin = table.version
    table.dataset.update({"value": "value + 1"}, where="key % 3 = 1")
    version = table.compact(target_rows_per_fragment=7)
    table.append(1)
    assert [len(group.new) for group in rewrites(table.view).groups][-1] == 1
    view = copy_without(table.uri, tmp_path / "copy", *range(begin + 1, version + 1))
    assert rewrites(view).between(begin, version + 1) == ()


def nine_rows(path: str) -> Any:
    """Return a table of three fragments; an update then took a row of each of the first two."""
    data = pa.table({"key": range(9), "value": [0] * 9, "more": [0] * 9})
    table: Any = lance.write_dataset(data, path, max_rows_per_file=3)
    table.update({"value": "1"}, where="key IN (1, 4)")
    return table


def test_a_lost_restore_and_a_lost_update_are_no_rewrite(tmp_path):
    path = str(tmp_path / "t.lance")
    table = nine_rows(path)
    table.checkout_version(1).restore()
    table = lance.dataset(path)
    table.update({"value": "2"}, where="key IN (0, 3, 6, 7, 8)")
    table.drop_columns(["more"])
    view = copy_without(path, tmp_path / "copy", 1, 3, 4)
    assert view.history.versions.tolist() == [2, 5]
    assert rewrites(view).groups == ()
    followed = open_table(view.storage.uri).follow_addresses([2 << 32, (2 << 32) + 1], 2, 5)
    assert set(followed["outcome"]) == {"unknown"}


def test_two_lost_commits_that_changed_other_fragments_are_no_rewrite(tmp_path):
    path = str(tmp_path / "t.lance")
    table = nine_rows(path)
    table.delete("key = 4")
    table.update({"value": "2"}, where="key IN (0, 1, 6, 7, 8)")
    table.drop_columns(["more"])
    view = copy_without(path, tmp_path / "copy", 3, 4)
    assert rewrites(view).groups == ()


@STABLE
def test_fragments_that_a_restore_brings_back_were_not_rewritten(tmp_path, stable):
    table = Compacted(tmp_path / "t", stable=stable)
    version = table.compact()
    table.dataset.checkout_version(1).restore()
    table.dataset.checkout_version(version).restore()
    table.append(1)
    view = copy_without(table.uri, tmp_path / "copy", version + 2)
    assert {group.version for group in rewrites(view).groups} == {version}


# ----------------------------------------------------------------------------------- refresh


def test_groups_are_found_once_and_again_after_a_refresh(tmp_path):
    table = Compacted(tmp_path / "t")
    view = table.view
    assert rewrites(view).groups == ()
    assert rewrites(view) is rewrites(view)
    version = table.compact()
    assert rewrites(view).groups == ()
    view = view.refreshed()
    assert [group.version for group in rewrites(view).groups] == [version]


def test_what_was_told_while_a_version_vanished_is_not_told_again(tmp_path):
    made = SyntheticTable(tmp_path / "t.lance").append(rows=5).append(rows=5)
    made.compact(made.fragment_ids).append(rows=1).append(rows=1).remove(3, 4)
    table = open_table(made.path)
    table.versions()
    made.remove(5)
    [finding] = rewrites(table._view).findings  # as another thread may ask just then
    assert finding.code == "compactions_unreadable"
    assert "rows_unreadable" not in table.inspect.findings()["code"].to_list()
    assert table.versions()["version"].to_list() == [1, 2, 6]
