"""What row IDs could save, computed for many fragments at once."""

import numpy as np
import pytest

from lance_explorer.history.intervals import Intervals
from lance_explorer.history.reading.stored_sequences import FragmentSequence, read_row_ids
from lance_explorer.inspect import manifest_health
from lance_explorer.inspect.fragment_parts import understood
from lance_explorer.inspect.row_id_segments import stored_row_ids
from lance_explorer.rowids.optimum import optimal_sizes
from tests.inspect.tables import STORED, stored


@pytest.mark.parametrize("most", [0, 30, 20_000_000])
def test_savings_are_those_of_each_fragment_by_itself(most, monkeypatch):
    monkeypatch.setattr(manifest_health, "MOST_CHECKED_ROWS", most)
    num_checked = 0
    for path in STORED:
        source = stored(path)
        history = source.version(source.latest_version)
        checked, room = list[FragmentSequence](), most
        is_range = history.states.row_id_ranges.found.tolist()
        stored_ones = [
            one
            for state, is_one in zip(history.states, is_range, strict=True)
            for one in stored_row_ids(state)
            if not is_one
        ]
        for sequence in sorted(stored_ones, key=lambda one: one.stored.num_bytes, reverse=True):
            rows = sequence.physical_rows or 0
            if sequence.stored.storage == "inline" and rows <= room:
                checked.append(sequence)
                room -= rows
        places = np.zeros(len(checked), dtype=np.int64)
        there = Intervals(np.arange(len(checked)), places, places)
        expected = [
            (
                checked[number].fragment_id,
                checked[number].stored.num_bytes - optimal_sizes(row_ids).best,
            )
            for number, row_ids in understood(read_row_ids(source, history, checked, there))
        ]
        assert list(manifest_health._savings(source, history)) == expected
        num_checked += len(checked)
    assert (num_checked > 0) == (most > 0)


def test_one_range_can_save_nothing():
    num_ranges = 0
    for path in STORED:
        source = stored(path)
        history = source.version(source.latest_version)
        for number in np.flatnonzero(history.states.row_id_ranges.found).tolist():
            [sequence] = stored_row_ids(history.states[number])
            place = np.zeros(1, dtype=np.int64)
            there = Intervals(place, place, place)
            [(_, row_ids)] = understood(read_row_ids(source, history, [sequence], there))
            assert sequence.stored.num_bytes == optimal_sizes(row_ids).best
            num_ranges += 1
    assert num_ranges
