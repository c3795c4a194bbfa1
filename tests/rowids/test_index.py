"""The row-ID index against a dict: both directions, other versions, duplicates, bad arguments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError, InvalidArgumentError, RowNotFoundError
from lance_explorer.rowids.addresses import RowAddress
from lance_explorer.rowids.arrays import MAX_U64, EncodedU64Array
from lance_explorer.rowids.encoding import encode_segment
from lance_explorer.rowids.index import FragmentRows, RowIdIndex, address_rows
from lance_explorer.rowids.segments import Array, Range
from lance_explorer.rowids.sequence import RowIdSequence
from tests.rowids.strategies import Rows, numbers, tables, uint64


def index_of(rows: Rows) -> RowIdIndex:
    return RowIdIndex.of_fragments(rows.fragments)


def fragment(fragment_id: int, *ids: int, deleted: tuple[int, ...] = ()) -> FragmentRows:
    sequence = RowIdSequence.of([encode_segment(uint64(list(ids)))])
    return FragmentRows(fragment_id, sequence, BitMap(deleted))


def answers(result) -> list[int | None]:
    numbers, found = result
    return [
        number if there else None
        for number, there in zip(numbers.tolist(), found.tolist(), strict=True)
    ]


@given(tables(), st.lists(numbers()))
def test_many_ids_are_located_as_in_a_dict(drawn, others):
    [rows] = drawn
    index, model = index_of(rows), rows.addresses
    everything = np.concatenate([f.row_ids.values() for f in rows.fragments]).tolist()
    asked = [*everything, *others, *everything[:10]]
    assert answers(index.locate_many(uint64(asked))) == list(map(model.get, asked))
    assert len(index) == len(model)


@given(tables(), st.lists(st.tuples(st.integers(0, 6), st.integers(0, 50_000))))
def test_ids_are_found_by_address_as_in_a_dict(drawn, others):
    [rows] = drawn
    model = {address: row_id for row_id, address in rows.addresses.items()}
    asked = [*model, *(int(RowAddress(*place)) for place in others)]
    assert answers(index_of(rows).ids_at(uint64(asked))) == list(map(model.get, asked))


@given(tables(count=2), st.sets(st.integers(0, 4)))
def test_the_index_of_another_version_is_made_from_what_differs(drawn, changed):
    before, after = drawn
    new = [
        after.fragments[fragment.fragment_id]
        for fragment in before.fragments
        if fragment.fragment_id in changed
    ]
    kept = [f for f in before.fragments if f.fragment_id not in changed]
    replaced = index_of(before).replaced(changed, new)
    fresh = RowIdIndex.of_fragments([*kept, *new])
    asked = np.concatenate([f.row_ids.values() for f in [*kept, *new]])
    assert len(replaced) == len(fresh)
    found = replaced.locate_many(asked)[1]
    assert found.tolist() == fresh.locate_many(asked)[1].tolist()
    if not len(fresh.duplicates().start):
        assert answers(replaced.locate_many(asked)) == answers(fresh.locate_many(asked))


@given(tables())
def test_the_order_of_fragments_does_not_matter(drawn):
    [rows] = drawn
    backwards = RowIdIndex.of_fragments(reversed(rows.fragments))
    asked = uint64([*rows.addresses])
    assert answers(backwards.locate_many(asked)) == list(rows.addresses.values())


def test_a_row_updated_away_is_found_at_its_new_address():
    index = RowIdIndex.of_fragments([fragment(0, 5, 6, 7, deleted=(1,)), fragment(1, 6)])
    assert index.locate(6) == RowAddress(fragment_id=1, offset=0)
    assert 6 in index
    assert len(index) == 3


@pytest.mark.parametrize("row_id", [8, -1, 1 << 64, MAX_U64])
def test_a_row_that_is_not_there_is_an_error(row_id):
    index = RowIdIndex.of_fragments([fragment(0, 5, 6, 7)])
    assert row_id not in index
    with pytest.raises(RowNotFoundError, match=str(row_id)):
        index.locate(row_id)


def test_a_deleted_row_is_not_found():
    index = RowIdIndex.of_fragments([fragment(0, 5, 6, 7, deleted=(0,))])
    assert 5 not in index


def test_without_row_ids_live_addresses_are_their_own_ids():
    fragments = [address_rows(0, 1_000_000, BitMap([3])), address_rows(7, 10)]
    index = RowIdIndex.of_fragments(fragments, is_identity=True)
    asked = [0, 3, 4, 1_000_000, (7 << 32) + 9, (7 << 32) + 10]
    expected = [0, None, 4, None, (7 << 32) + 9, None]
    assert answers(index.locate_many(asked)) == answers(index.ids_at(asked)) == expected
    assert index.is_identity
    assert index.num_runs == 3
    assert "addresses" in repr(index)


def test_duplicates_are_told_and_do_no_harm():
    fragments = [fragment(0, *range(100)), fragment(1, 5, 200), fragment(2, 5, 6)]
    index = RowIdIndex.of_fragments(fragments)
    duplicates = index.duplicates()
    assert sorted(zip(duplicates.start.tolist(), duplicates.stop.tolist(), strict=True)) == [
        (5, 6),
        (5, 7),
    ]
    assert len(index) == 104
    assert index.locate(200) == RowAddress(1, 1)


def test_an_id_of_several_live_rows_is_located_only_with_an_error():
    fragments = [fragment(0, *range(100)), fragment(1, 5, 200), fragment(2, 5, 6)]
    index = RowIdIndex.of_fragments(fragments)
    places = "fragment_id=0, offset=5.*fragment_id=1, offset=0.*fragment_id=2, offset=0"
    with pytest.raises(CorruptFileError, match=f"3 live rows have the ID 5: .*{places}"):
        index.locate(5)
    assert 5 in index
    assert index.locate_many([5])[0].tolist()[0] in (5, 1 << 32, 2 << 32)


def test_rows_that_share_an_id_are_all_found_by_address():
    fragments = [fragment(0, *range(100)), fragment(1, 5, 200), fragment(2, 5, 6)]
    index = RowIdIndex.of_fragments(fragments)
    asked = [5, 1 << 32, 2 << 32, (2 << 32) + 1, (2 << 32) + 2]
    assert answers(index.ids_at(asked)) == [5, 5, 5, 6, None]


@pytest.mark.parametrize("twice", [0, 5_000, 5_001, 9_000, 19_998])
def test_an_id_that_a_bitmap_and_a_run_have_is_located_only_with_an_error(twice):
    bitmaps = [fragment(0, *range(0, 20_000, 2)), fragment(1, *range(1, 20_000, 2))]
    index = RowIdIndex.of_fragments([*bitmaps, fragment(2, 30_000, twice)])
    with pytest.raises(CorruptFileError, match=f"2 live rows have the ID {twice}"):
        index.locate(twice)
    assert index.locate(7) == RowAddress(1, 3)


@pytest.mark.parametrize("twice", [5_000, 9_000, 19_998])
def test_an_id_that_two_bitmaps_have_is_located_only_with_an_error(twice):
    index = RowIdIndex.of_fragments(
        [fragment(0, *range(0, 20_000, 2)), fragment(1, *range(5_000, 60_000, 2))]
    )
    assert len(index.id_map.runs) == 0
    with pytest.raises(CorruptFileError, match=f"2 live rows have the ID {twice}"):
        index.locate(twice)
    assert index.locate(20_000) == RowAddress(1, 7_500)


def test_duplicates_come_to_light_when_the_other_row_goes():
    index = RowIdIndex.of_fragments([fragment(0, 5), fragment(1, 5)])
    for removed in (0, 1):
        rest = index.replaced([removed], [])
        assert rest.locate(5) == RowAddress(1 - removed, 0)
        assert len(rest.duplicates().start) == 0


@given(tables())
def test_there_are_no_duplicates_where_ids_are_unique(drawn):
    assert len(index_of(drawn[0]).duplicates().start) == 0


def test_the_index_of_no_rows_finds_none():
    index = RowIdIndex.of_fragments([])
    assert len(index) == index.num_runs == index.nbytes == 0
    assert answers(index.locate_many([1, 2])) == answers(index.ids_at([1, 2])) == [None, None]
    assert index.locate_many([])[0].dtype == np.uint64


@given(tables())
def test_asking_nothing_is_answered_with_nothing(drawn):
    index = index_of(drawn[0])
    assert answers(index.locate_many([])) == answers(index.ids_at([])) == []


def test_the_largest_number_is_no_row_id():
    with pytest.raises(CorruptFileError, match=str(MAX_U64)):
        RowIdIndex.of_fragments([fragment(0, 4, MAX_U64)])


@pytest.mark.parametrize(
    "wrong", [[0.5], [-1], ["7"], [1 << 64], [None], [[1], [2, 3]], [[1, 2]], 7]
)
def test_only_whole_numbers_are_ids(wrong):
    index = RowIdIndex.of_fragments([fragment(0, 1)])
    for ask in (index.locate_many, index.ids_at):
        with pytest.raises(InvalidArgumentError, match="whole numbers"):
            ask(wrong)


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.drawn(1)
def test_runs_are_found_wherever_they_are_cut_into_portions(in_order, seed):
    random = np.random.default_rng(seed)
    some = np.arange(0, 300_000, 3) if in_order else random.permutation(99_999)
    ids = some.astype(np.uint64)
    removed = random.choice(len(ids), 9_000, replace=False).astype(np.uint32)
    array = Array(EncodedU64Array.of(ids))
    fragments = [
        FragmentRows(
            5, RowIdSequence.of([Range(1 << 40, (1 << 40) + 9), array]), BitMap(removed + 9)
        )
    ]
    index = RowIdIndex.of_fragments([*fragments, fragment(2, 1 << 50)])
    addresses, found = index.locate_many(ids)
    live = np.ones(len(ids), dtype=np.bool_)
    live[removed] = False
    expected = np.arange(9, 9 + len(ids), dtype=np.uint64) + np.uint64(5 << 32)
    assert np.array_equal(found, live)
    assert np.array_equal(addresses[live], expected[live])
    assert np.array_equal(index.ids_at(expected)[1], live)
    assert np.array_equal(index.ids_at(expected[live])[0], ids[live])
    assert len(index) == live.sum() + 10


def test_a_range_is_never_written_out():
    rows = FragmentRows(0, RowIdSequence.of([Range(0, 1 << 32)]), BitMap([1 << 31]))
    index = RowIdIndex.of_fragments([rows])
    assert index.num_runs == 2
    assert index.nbytes == 48
    assert index.locate((1 << 32) - 1).offset == (1 << 32) - 1
