"""Sequences against those that were written, and the manifests that are read for them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import FormatError, VersionNotFoundError
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals
from lance_explorer.history.reading.stored_sequences import (
    FragmentSequence,
    SequenceKind,
    _few_positions,
    read_row_ids,
    read_row_versions,
    sequences_of,
)
from lance_explorer.history.view import HistoryView
from tests.synthetic import SyntheticTable

POSITIONS = st.integers(0, 7)
SPANS = st.lists(st.tuples(POSITIONS, POSITIONS).map(sorted), max_size=7)


@given(SPANS)
def test_positions_lie_in_their_intervals_and_are_as_few_as_can_be(spans):
    first, last = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    places = _few_positions(first, last)
    assert ((first <= places) & (places <= last)).all()
    fewest = next(
        count
        for count in range(len(spans) + 1)
        for chosen in combinations(range(8), count)
        if all(any(low <= place <= high for place in chosen) for low, high in spans)
    )
    assert len(set(places.tolist())) == fewest


def in_all_versions(
    view: HistoryView, kind: SequenceKind
) -> tuple[History, list[FragmentSequence], Intervals]:
    """Return the history, the sequences of one kind in all states, and where they are."""
    history = view.history
    there = history.intervals
    states = [history.states[state] for state in there.keys.tolist()]
    sequences = [sequence for state in states for sequence in sequences_of(state, kind)]
    return history, sequences, Intervals(np.arange(len(states)), there.first, there.last)


def test_row_ids_are_those_that_were_written(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=4).append(rows=3).update({0: [3], 1: [0]})
    view = HistoryView.open(str(table.path))
    found = dict(read_row_ids(view, *in_all_versions(view, "row_ids")))
    shown = [ids.values().tolist() for ids in found.values() if not isinstance(ids, FormatError)]
    assert sorted(shown) == [[0, 1, 2, 3], [0, 1, 2, 3], [3, 4], [4, 5, 6], [4, 5, 6]]


def test_row_versions_are_those_that_were_written(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=4).update({0: [3, 1]}, inserted=1)
    view = HistoryView.open(str(table.path))
    expected: dict[SequenceKind, list[int]] = {
        "created_at": [1, 1, 2],
        "last_updated_at": [2, 2, 2],
    }
    for kind, versions in expected.items():
        found = dict(read_row_versions(view, *in_all_versions(view, kind)))
        last = found[len(found) - 1]
        assert not isinstance(last, FormatError)
        spans, runs = last
        assert runs.expand().tolist() == versions
        assert spans is not None
        assert spans.counts().tolist() == runs.counts.tolist()


def test_equal_sequences_of_one_fragment_are_equal_in_all_its_states(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=4).delete({0: [1]}).append(rows=4)
    states = HistoryView.open(str(table.path)).history.states
    whole, masked, other = [
        list(sequences_of(state, "row_ids", "created_at", "last_updated_at")) for state in states
    ]
    assert whole == masked
    assert len({*whole, *masked}) == 3
    assert not {*whole} & {*other}


def test_a_version_that_went_away_is_an_error(tmp_path):
    table = SyntheticTable(tmp_path / "t").append().overwrite()
    view = HistoryView.open(str(table.path))
    wanted = in_all_versions(view, "row_ids")
    table.remove(1)
    with pytest.raises(VersionNotFoundError, match="version 1"):
        list(read_row_ids(view, *wanted))
