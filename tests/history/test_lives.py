"""When the life of a fragment begins, goes on and ends."""

import numpy as np
import pytest

from lance_explorer.history.lives import fragment_lives
from lance_explorer.history.view import HistoryView
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """Versions 1 and 2: fragments 0 and 1 of four rows each, then 2."""
    return SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=2).append(rows=4)


def lives_of(table: SyntheticTable) -> list[tuple[int, int, int]]:
    """Return fragment, first and last version of each life."""
    history = HistoryView.open(str(table.path)).history
    lives = fragment_lives(history)
    versions = history.versions
    return [
        (int(fragment), int(versions[first]), int(versions[last]))
        for fragment, first, last in zip(lives.fragment_ids, lives.first, lives.last, strict=True)
    ]


def test_a_life_goes_on_through_deletions_and_new_columns(table):
    table.delete({0: [1]}).add_column("more").delete({0: [2]})
    assert lives_of(table) == [(0, 1, 5), (1, 1, 5), (2, 2, 5)]


def test_a_life_ends_where_the_fragment_is_gone(table):
    table.delete({1: [0, 1, 2, 3]}).append(rows=1)
    assert lives_of(table) == [(0, 1, 4), (1, 1, 2), (2, 2, 4), (3, 4, 4)]


def test_what_a_restore_brings_back_begins_anew(table):
    table.compact([0, 1]).restore(2)
    assert lives_of(table) == [(0, 1, 3), (1, 1, 3), (2, 2, 5), (3, 4, 4), (0, 5, 5), (1, 5, 5)]


def test_a_restore_of_another_state_ends_no_life(table):
    table.delete({0: [1]}).restore(2)
    assert lives_of(table) == [(0, 1, 4), (1, 1, 4), (2, 2, 4)]


def test_an_id_that_an_overwrite_gave_out_again_is_another_fragment(table):
    table.state.manifest.ClearField("max_fragment_id")  # as writers up to 8.0.1 began again
    table.overwrite(rows=4, fragments=2)
    assert lives_of(table) == [(0, 1, 2), (1, 1, 2), (2, 2, 2), (0, 3, 3), (1, 3, 3)]


def test_a_life_goes_on_over_lost_versions_if_a_data_file_is_the_same(table):
    table.delete({0: [1]}).delete({0: [2]}).remove(2, 3)
    assert lives_of(table) == [(0, 1, 4), (1, 1, 4), (2, 4, 4)]


def test_over_lost_versions_an_id_without_a_file_in_common_is_another_fragment(table):
    table.append().state.manifest.ClearField("max_fragment_id")
    table.overwrite(rows=4).append().remove(3, 4)
    assert [life for life in lives_of(table) if life[0] == 0] == [(0, 1, 2), (0, 5, 5)]


def test_lives_can_be_asked_for_by_fragment_and_position(table):
    table.compact([0, 1]).restore(2)
    lives = fragment_lives(HistoryView.open(str(table.path)).history)
    assert [lives.find(0, position) for position in range(5)] == [0, 0, 0, None, 4]
    assert (lives.of_fragment(0), lives.of_fragment(9), lives.find(9, 0)) == ([0, 4], [], None)


def test_the_first_versions_alone_have_the_lives_of_a_shorter_history(table):
    history = HistoryView.open(str(table.delete({0: [1]}).append().path)).history
    lives = fragment_lives(history, 2)
    assert lives.fragment_ids.tolist() == [0, 1, 2]
    assert lives.last.tolist() == [1, 1, 1]


def test_no_version_has_no_lives(table):
    assert len(fragment_lives(HistoryView.open(str(table.path)).history, 0)) == 0


@stored_check()
def check_every_interval_is_in_one_life_and_lives_have_no_gaps(asked):
    history = asked.view.history
    lives = fragment_lives(history)
    for life in range(len(lives)):
        own = np.flatnonzero(lives.of_interval == life)
        own = own[np.argsort(lives.intervals.first[own])]
        first, last = lives.intervals.first[own], lives.intervals.last[own]
        assert (first[1:] == last[:-1] + 1).all()
        assert (lives.first[life], lives.last[life]) == (first[0], last[-1])
        ids = {history.states[state].id for state in lives.intervals.keys[own].tolist()}
        assert ids == {int(lives.fragment_ids[life])}
