"""Rows of a fragment, parted by the versions in which they live, against a look at each row."""

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lance_explorer.lineage.stored_rows import Piece, StoredRows, Wanted
from lance_explorer.profiles.cohorts import NOT_READ, cohorts_of, read_in
from lance_explorer.profiles.digests import Digest
from lance_explorer.profiles.folding import folded

ROWS = 8
DELETED = st.lists(st.frozensets(st.integers(0, ROWS - 1)), min_size=1, max_size=5)
LENGTHS = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3)), min_size=5, max_size=5)


def rows_of(deleted: list[frozenset[int]]) -> Any:
    """Return rows of states, of which only the deleted ones count."""
    return SimpleNamespace(
        history=SimpleNamespace(num_deleted_rows=[len(gone) for gone in deleted]),
        load_deleted=lambda _: None,
        deleted=lambda state: BitMap(deleted[state]),
    )


@given(DELETED, LENGTHS)
def test_each_row_is_in_one_cohort_of_the_versions_that_have_it(
    deleted: list[frozenset[int]], lengths: list[tuple[int, int]]
):
    pieces, position = list[Piece](), 0
    for state, (gap, length) in zip(range(len(deleted)), lengths, strict=False):
        pieces.append(Piece(state, position + gap, position + gap + length - 1))
        position += gap + length
    rows = rows_of(deleted)
    found = cohorts_of(rows, StoredRows(0, Wanted(frozenset(), ()), pieces))
    read = [NOT_READ] * ROWS
    for piece, numbers in found.reads:
        for row, number in enumerate(read_in(found, numbers, ROWS).tolist()):
            if number != NOT_READ:
                assert read[row] == NOT_READ, "a row is read once"
                assert row not in deleted[piece.state], "where it is live"
                read[row] = number
    for row in range(ROWS):
        live = {
            at
            for piece in pieces
            if row not in deleted[piece.state]
            for at in range(piece.first, piece.last + 1)
        }
        if not live:
            assert read[row] == NOT_READ
        else:
            runs = found.cohorts[read[row]].runs
            assert {at for first, last in runs for at in range(first, last + 1)} == live


PARTS = st.lists(
    st.tuples(st.frozensets(st.integers(0, 9), min_size=1), st.integers(1, 5)), max_size=8
)


@given(PARTS)
def test_every_version_gets_what_lives_in_it(parts: list[tuple[frozenset[int], int]]):
    given_ = [(tuple((at, at) for at in sorted(live)), Digest(num_rows=n)) for live, n in parts]
    given_ = [(_joined(runs), digest) for runs, digest in given_]
    found = [
        digest.num_rows
        for first, last, digest in folded(given_, 0, 9, lambda _: Digest())
        for _ in range(first, last + 1)
    ]
    assert found == [sum(n for live, n in parts if at in live) for at in range(10)]


def _joined(runs: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    joined = list[tuple[int, int]]()
    for first, last in runs:
        if joined and joined[-1][1] == first - 1:
            joined[-1] = joined[-1][0], last
        else:
            joined.append((first, last))
    return tuple(joined)
