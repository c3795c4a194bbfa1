"""Maps of runs and blocks against a dict, and their set operations against those of sets."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lance_explorer.rowids.building import live_rows
from lance_explorer.rowids.id_map import IdMap
from lance_explorer.rowids.runs import RunColumns
from tests.rowids.strategies import Addresses, Rows, tables, uint64

BLOCK = 1 << 12


def map_of(rows: Rows) -> IdMap:
    return IdMap.of_parts(live_rows(rows.fragments))[0]


def addresses(pieces: Iterable[RunColumns]) -> Addresses:
    """Return the address of each row ID; no ID may come twice."""
    result: Addresses = {}
    count = 0
    for piece in pieces:
        for start, stop, address in zip(*(column.tolist() for column in piece), strict=True):
            result.update(
                zip(range(start, stop), range(address, address + stop - start), strict=True)
            )
            count += stop - start
    assert count == len(result)
    return result


def scattered(gap: int, count: int, *, address_gap: int) -> IdMap:
    """Return rows of which each is so far from the one before."""
    steps = np.arange(count, dtype=np.uint64)
    start = steps * np.uint64(gap)
    one = np.uint64(1)
    return IdMap.of(RunColumns(start, start + one, steps * np.uint64(address_gap)))


@pytest.mark.slow
@given(tables())
def test_a_map_holds_the_live_rows(drawn):
    [rows] = drawn
    id_map = map_of(rows)
    assert addresses(id_map.stretches()) == rows.addresses
    assert id_map.num_rows == len(rows.addresses)


@given(tables(count=2))
def test_set_operations_are_those_of_sets(drawn):
    (own, others), maps = [rows.addresses for rows in drawn], [map_of(rows) for rows in drawn]
    union, common, rest = (
        getattr(maps[0], name)(maps[1]) for name in ("union", "intersection", "difference")
    )
    assert addresses(union.stretches()) == others | own
    assert addresses(common.stretches()) == {i: own[i] for i in own.keys() & others.keys()}
    assert addresses(rest.stretches()) == {i: own[i] for i in own.keys() - others.keys()}
    assert common.num_rows + rest.num_rows == len(own)


@pytest.mark.slow
@given(tables(count=3))
@settings(max_examples=30)
def test_results_of_set_operations_can_be_used_again(drawn):
    first, second, third = (map_of(rows) for rows in drawn)
    left = first.difference(second).union(third).intersection(first)
    right = first.difference(second.difference(third))
    assert left.num_rows == right.num_rows
    assert left.difference(right).num_rows == 0


@given(tables(count=2))
def test_pairs_tell_both_addresses(drawn):
    own, others = (rows.addresses for rows in drawn)
    pairs = list(map_of(drawn[0]).pairs(map_of(drawn[1])))
    here = addresses(RunColumns(p.start, p.stop, p.address) for p in pairs)
    there = addresses(RunColumns(p.start, p.stop, p.other_address) for p in pairs)
    common = own.keys() & others.keys()
    assert here == {row_id: own[row_id] for row_id in common}
    assert there == {row_id: others[row_id] for row_id in common}


@given(tables(), st.sets(st.integers(0, 5)))
def test_fragments_can_be_taken_out(drawn, removed):
    [rows] = drawn
    rest, _ = IdMap.of_parts([map_of(rows).without_fragments(removed)])
    assert addresses(rest.stretches()) == {
        row_id: address
        for row_id, address in rows.addresses.items()
        if address >> 32 not in removed
    }


@pytest.mark.parametrize(
    ("address_gap", "extra_bytes"),
    [(2, 16), (1, 32)],  # addresses grow like IDs; like rows, which takes ranks
)
def test_dense_rows_take_a_block(address_gap, extra_bytes):
    id_map = scattered(2, 10 * BLOCK // 2, address_gap=address_gap)
    assert id_map.nbytes == 10 * (BLOCK // 8 + extra_bytes)
    assert len(id_map.runs) == 0
    assert id_map.num_runs == 10 * BLOCK // 2


def test_deleted_rows_between_others_take_a_second_bitmap():
    id_map = scattered(4, 10 * BLOCK // 4, address_gap=2)
    assert id_map.nbytes == 10 * (2 * BLOCK // 8 + 32)


@pytest.mark.drawn(1)
def test_rows_in_no_order_stay_runs(seed):
    steps = np.random.default_rng(seed).permutation(10 * BLOCK).astype(np.uint64)
    steps = steps[steps % 2 == 0]
    id_map = IdMap.of(
        RunColumns(steps, steps + np.uint64(1), np.arange(len(steps), dtype=np.uint64))
    )
    assert id_map.blocks == ()
    assert id_map.nbytes == 24 * id_map.num_runs


def test_few_rows_of_a_block_stay_runs():
    assert scattered(BLOCK // 22 + 1, 220, address_gap=1).blocks == ()


@given(tables())
def test_no_map_takes_more_than_runs_would(drawn):
    id_map = map_of(drawn[0])
    assert id_map.nbytes <= 24 * id_map.num_runs


def test_runs_that_touch_are_counted_once():
    start = uint64(sorted([*range(0, 40, 2), 1, 3, 5]))
    id_map = IdMap.of(RunColumns(start, start + np.uint64(1), start))
    assert (id_map.num_runs, id_map.nbytes) == (17, 17 * 24)


def test_the_same_blocks_in_several_tables_are_all_searched():
    odd = scattered(2, BLOCK, address_gap=1)
    even = IdMap.of(RunColumns(*(column + np.uint64(1) for column in next(odd.stretches()))))
    both = odd.union(even)
    ids = np.arange(2 * BLOCK, dtype=np.uint64)
    result, found = both.lookup(ids)
    assert found.all()
    assert result.tolist() == [i // 2 if i % 2 == 0 else i // 2 + 1 for i in ids.tolist()]
    assert both.repeated().num_rows == 0


def test_repeated_rows_are_found_among_runs_and_blocks():
    blocks = scattered(2, BLOCK, address_gap=1)
    run = IdMap.of(RunColumns(uint64([100]), uint64([110]), uint64([1 << 40])))
    both = IdMap(run.runs, (*blocks.blocks, *blocks.blocks))
    assert both.repeated().num_rows == BLOCK + 5
