"""Address maps carry rows to where pylance finds their keys: over compactions of every writer."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance.file import LanceFileWriter
from lance.optimize import Compaction
from pyroaring import BitMap64

from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.rewrites.address_maps import address_map
from lance_explorer.history.rewrites.all_groups import rewrites
from lance_explorer.history.rewrites.group_rows import pair_rows
from lance_explorer.history.rewrites.groups import RewriteGroup
from lance_explorer.history.view import HistoryView
from tests.format.samples import DATA
from tests.history.compactions import (
    Compacted,
    all_addresses,
    assert_rows_follow,
    copy_without,
    deferred_rounds,
    places,
)
from tests.stored_tables import stored_check

STABLE = pytest.mark.parametrize("stable", [False, True], ids=["addresses", "stable"])


def no_source() -> HistoryView:
    """Return a source for groups that need nothing of it."""
    return HistoryView.open(str(DATA / "14.0.2/one_version.lance"))


def numbers(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.uint64)


# ------------------------------------------------------------------------------ against pylance


@stored_check()
def check_rows_of_stored_tables_are_where_pylance_finds_them(asked):
    for version in {group.version for group in rewrites(asked.view).groups}:
        column = asked.dataset(version).schema.names[0]
        before = places(str(asked.root), version - 1, column)
        after = places(str(asked.root), version, column)
        assert_rows_follow(address_map(asked.view, version - 1, version), before, after)


@STABLE
@pytest.mark.parametrize("mode", ["reencode", "force_binary_copy"])
def test_several_groups(tmp_path, stable, mode):
    table = Compacted(tmp_path / "t", stable=stable, rows=60)
    if mode == "reencode":
        table.dataset.delete("key % 5 = 0 OR key BETWEEN 31 AND 33")
    table.index()
    table.append(9)
    table.append(4)
    before, begin = places(table.uri, table.version), table.version
    end = table.compact(target_rows_per_fragment=20, compaction_mode=mode)
    assert len(rewrites(table.view).between(begin, end)) > 1
    assert_rows_follow(address_map(table.view, begin, end), before, places(table.uri, end))


@STABLE
def test_several_outputs_of_one_group(tmp_path, stable):
    table = Compacted(tmp_path / "t", stable=stable, rows=100, per_fragment=100)
    table.dataset.delete("key % 5 = 0")
    table.append(9)
    before, begin = places(table.uri, table.version), table.version
    end = table.compact(target_rows_per_fragment=20)
    [group] = rewrites(table.view).between(begin, end)
    assert len(group.new) == 4
    assert_rows_follow(address_map(table.view, begin, end), before, places(table.uri, end))


@STABLE
def test_each_step_of_a_life_keeps_rows_of_rewrites_and_of_other_fragments(tmp_path, stable):
    table = Compacted(tmp_path / "t", stable=stable, rows=40)
    table.dataset.delete("key % 7 = 3")
    table.compact(target_rows_per_fragment=12)
    table.dataset.update({"value": "value + 100"}, where="key % 4 = 1")
    table.append(5)
    table.compact(target_rows_per_fragment=30, materialize_deletions_threshold=0.0)
    table.dataset.delete("key < 9")
    table.compact(materialize_deletions_threshold=0.0)
    view = table.view
    assert len({group.version for group in rewrites(view).groups}) == 3
    for before, after in pairwise(view.history.versions.tolist()):
        then, now = places(table.uri, before), places(table.uri, after)
        new, found = address_map(view, before, after).carry(numbers(*then))
        moved = dict(zip(new[found].tolist(), np.array([*then.values()])[found], strict=True))
        assert all(now[address] == key for address, key in moved.items() if address in now)
        if view.history.records[view.history.position(after)].operation == "Rewrite":
            assert set(moved) == set(now)


def test_rows_appended_while_a_compaction_runs_stay_where_they_are(tmp_path):
    table = Compacted(tmp_path / "t")
    table.dataset.delete("key = 8")
    begin = table.version
    plan = Compaction.plan(table.dataset, options={"target_rows_per_fragment": 1000})
    results = [task.execute(table.dataset) for task in plan.tasks]
    table.append(3)
    Compaction.commit(table.dataset, results)
    before = places(table.uri, begin + 1)
    moves = address_map(table.view, begin + 1, table.version)
    assert_rows_follow(moves, before, places(table.uri, table.version))


def assert_as_pylance_remaps(view, table) -> None:
    digests = [digest for group in rewrites(view).groups for digest in group.old]
    addresses = np.unique(all_addresses(digests))
    expected = table.dataset.remap_row_addrs(pa.array(addresses)).to_pylist()
    new, found = address_map(view, 1, table.version).carry(addresses)
    assert [a if f else None for a, f in zip(new.tolist(), found, strict=True)] == expected
    assert None in expected
    assert len({address for address in expected if address}) > 20


def test_chained_deferred_rounds_equal_what_pylance_remaps(tmp_path):
    table = deferred_rounds(tmp_path / "t")
    assert len({group.version for group in rewrites(table.view).groups}) == 3
    assert_as_pylance_remaps(table.view, table)


def test_the_reuse_index_alone_tells_the_same_of_lost_rounds(tmp_path):
    table = deferred_rounds(tmp_path / "t")
    lost = range(2, table.version)
    view = copy_without(table.uri, tmp_path / "copy", *lost)
    groups = rewrites(view).groups
    assert [group.source.partition(" of")[0] for group in groups[:-1]] == (
        ["fragment reuse index"] * (len(groups) - 1)
    )
    assert_as_pylance_remaps(view, table)


# --------------------------------------------------------------------------------- what is lost


def test_without_its_deletion_file_a_group_is_untold(tmp_path):
    table = Compacted(tmp_path / "t", rows=12)
    table.dataset.delete("key = 3")
    table.append(6)
    begin, end = table.version, table.compact()
    [file] = (tmp_path / "t/_deletions").iterdir()
    file.unlink()
    [round_] = address_map(table.view, begin, end).rounds
    assert round_.unrecorded == {0}
    assert file.name in (round_.groups[0].note or "")
    assert not round_.carry(numbers(0, 1))[1].any()


def test_the_reuse_index_stands_in_for_a_lost_deletion_file(tmp_path):
    table = Compacted(tmp_path / "t", rows=12)
    table.index()
    table.dataset.delete("key = 3")
    begin, before = table.version, places(table.uri, table.version)
    end = table.compact(defer_index_remap=True)
    [file] = (tmp_path / "t/_deletions").iterdir()
    file.unlink()
    assert_rows_follow(address_map(table.view, begin, end), before, places(table.uri, end))


def test_a_lost_rewrite_that_a_restore_undid_carries_nothing(tmp_path):
    table = Compacted(tmp_path / "t")
    table.index()
    begin = table.version
    rewrite = table.compact(defer_index_remap=True)
    table.dataset.checkout_version(begin).restore()
    table.append(2)
    undone = table.version
    table.dataset.checkout_version(rewrite).restore()
    view = copy_without(table.uri, tmp_path / "copy", *range(begin + 1, undone))
    assert [group.version for group in rewrites(view).between(begin, undone)] == [rewrite]
    assert address_map(view, begin, undone).rounds == ()
    before = places(table.uri, begin)
    assert address_map(view, begin, undone).carry(numbers(*before))[0].tolist() == [*before]


# ------------------------------------------------------------------------------- the map itself


def test_addresses_of_other_fragments_stay_and_repeat():
    moves = address_map(HistoryView.open(str(DATA / "14.0.2/deferred_remap.lance")), 10, 11)
    addresses = numbers(5 << 32, 4 << 32, 5 << 32, 4 << 32, 99 << 32)
    new, found = moves.carry(addresses)
    assert new.tolist() == [5 << 32, 7 << 32, 5 << 32, 7 << 32, 99 << 32]
    assert found.all()


def test_addresses_behind_the_end_of_a_fragment_are_not_found():
    moves = address_map(HistoryView.open(str(DATA / "14.0.2/deferred_remap.lance")), 10, 11)
    assert moves.carry(numbers((4 << 32) + 99))[1].tolist() == [False]
    assert moves.carry_back(numbers((7 << 32) + 99))[1].tolist() == [False]


def test_a_round_tells_the_group_of_each_address():
    view = HistoryView.open(str(DATA / "14.0.2/deferred_remap.lance"))
    [round_] = address_map(view, 6, 7).rounds
    addresses = numbers(3 << 32, 0, 9 << 32)
    assert round_.old_groups(addresses).tolist() == [1, 0, -1]
    assert round_.new_groups(numbers(5 << 32, 4 << 32)).tolist() == [1, 0]


def group_of(old, new, surviving=None, **facts) -> RewriteGroup:
    return RewriteGroup(
        version=9,
        group=0,
        old=tuple(FragDigest(id_, rows, 0) for id_, rows in old),
        new=tuple(FragDigest(id_, rows, 0) for id_, rows in new),
        evidence=Evidence.RECORDED,
        source="a test",
        surviving=surviving,
        **facts,
    )


@given(st.data())
def test_pairs_are_those_of_one_row_after_the_other(data):
    ids = data.draw(st.permutations([0, 2, 5, 6]))[: data.draw(st.integers(1, 4))]
    old = [(id_, data.draw(st.integers(0, 9))) for id_ in ids]
    rows = [(id_ << 32) + offset for id_, count in old for offset in range(count)]
    live = [row for row in rows if data.draw(st.booleans())]
    new, left = [], len(live)
    for id_ in range(10, 14):
        count = left if id_ == 13 else data.draw(st.integers(0, left))
        new.append((id_, count))
        left -= count
    targets = [(id_ << 32) + offset for id_, count in new for offset in range(count)]
    pairs = pair_rows(no_source(), group_of(old, new, BitMap64(live)))
    assert not isinstance(pairs, str)
    starts, stops, addresses = [column.tolist() for column in pairs]
    found = {
        start + n: address + n
        for start, stop, address in zip(starts, stops, addresses, strict=True)
        for n in range(stop - start)
    }
    assert found == dict(zip(live, targets, strict=True))


def test_long_fragments_stay_few_runs():
    old = [(id_, 1 << 30) for id_ in range(4)]
    pairs = pair_rows(no_source(), group_of(old, [(9, 3 << 30), (10, 1 << 30)]))
    assert not isinstance(pairs, str)
    assert pairs.start.tolist() == [id_ << 32 for id_ in range(4)]


def test_counts_that_do_not_fit_are_untold():
    assert pair_rows(no_source(), group_of([(0, 3)], [(9, 2)])) == (
        "the counts do not match: 3 rows before, 2 after"
    )


def test_rows_that_were_never_counted_are_untold():
    assert "are unknown" in pair_rows(no_source(), group_of([(0, None)], [(9, 2)]))


def row_map(path, *labels: int | None) -> str:
    table = pa.table({"label": pa.array(labels, pa.uint16())})
    with LanceFileWriter(str(path), table.schema) as writer:
        writer.write_batch(table)
    return str(path)


def test_a_stable_partition_is_followed_through_its_map(tmp_path):
    uri = row_map(tmp_path / "map.lance", 1, 0, None, 0, 1, 1, 0)
    group = group_of([(3, 4), (2, 3)], [(7, 3), (8, 3)], in_order=False, row_map=uri)
    pairs = pair_rows(no_source(), group)
    assert not isinstance(pairs, str)
    moved = dict(zip(pairs.start.tolist(), pairs.address.tolist(), strict=True))
    a, b, c, d = 3 << 32, 2 << 32, 7 << 32, 8 << 32
    assert pairs.num_rows == 6
    assert moved == {a: d, a + 1: c, a + 3: c + 1, b: d + 1, b + 2: c + 2}
    assert pairs.stop.tolist()[3] - pairs.start.tolist()[3] == 2


@pytest.mark.parametrize("labels", [(0, 0, 1), (0, 0, 5, 1), (0, 0, 0, 1), (None,) * 4])
def test_a_map_that_does_not_fit_is_not_followed(tmp_path, labels):
    uri = row_map(tmp_path / "map.lance", *labels)
    group = group_of([(3, 4)], [(7, 2), (8, 2)], in_order=False, row_map=uri)
    assert "the row map does not fit" in pair_rows(no_source(), group)


def test_a_missing_map_is_not_followed(tmp_path):
    group = group_of([(3, 4)], [(7, 4)], in_order=False, row_map=str(tmp_path / "none.lance"))
    assert "the row map cannot be read" in pair_rows(no_source(), group)
