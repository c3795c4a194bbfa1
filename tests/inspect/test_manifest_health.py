"""What row IDs could save, computed for many fragments at once."""

import numpy as np
import pytest

from lance_explorer.history.intervals import Intervals
from lance_explorer.history.reading.stored_sequences import read_row_ids
from lance_explorer.inspect import manifest_health
from lance_explorer.inspect.fragment_parts import understood
from lance_explorer.inspect.row_id_segments import stored_row_ids
from lance_explorer.rowids.optimum import optimal_sizes
from tests.inspect.tables import STORED, stored


@pytest.mark.parametrize("most", [0, 30, 20_000_000])
def test_savings_are_those_of_each_fragment_by_itself(most, monkeypatch):
    monkeypatch.setattr(manifest_health, "MOST_CHECKED_ROWS", most)
    checked = 0
    for path in STORED:
        source = stored(path)
        history = source.version(source.latest_version)
        savings = dict(manifest_health._savings(source, history))
        sequences = [one for state in history.states for one in stored_row_ids(state)]
        places = np.zeros(len(sequences), dtype=np.int64)
        there = Intervals(np.arange(len(sequences)), places, places)
        for number, row_ids in understood(read_row_ids(source, history, sequences, there)):
            sequence = sequences[number]
            if sequence.fragment_id in savings:
                saving = sequence.stored.num_bytes - optimal_sizes(row_ids).best
                assert savings[sequence.fragment_id] == saving
                checked += 1
    assert (checked > 0) == (most > 0)
