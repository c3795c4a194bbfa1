"""What is kept with a view, and for how long."""

import pickle

import pytest

from lance_explorer.history.memories import notes, remembered
from lance_explorer.history.view import HistoryView
from tests.synthetic import SyntheticTable

made = list[int]()


@remembered
def latest(view: HistoryView) -> int:
    made.append(view.latest_version)
    return view.latest_version


@remembered
def size_of_missing(view: HistoryView) -> int | None:
    try:
        return len(view.storage.get("missing.bin"))
    except FileNotFoundError:
        return None


of_view, of_table = notes(set[str]), notes(set[str], are_carried=True)


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    made.clear()
    return SyntheticTable(tmp_path / "t").append(rows=2)


def test_a_function_is_called_once_for_each_view(table):
    view = HistoryView.open(str(table.path))
    assert (latest.known(view), latest(view), latest(view), latest.known(view)) == (None, 1, 1, 1)
    table.append(rows=1)
    assert (latest(view.refreshed()), latest(view)) == (2, 1)
    assert made == [1, 2]


def test_only_notes_that_are_carried_are_those_of_a_later_view_too(table):
    view = HistoryView.open(str(table.path))
    of_view(view).add("old")
    of_table(view).add("old")
    later = view.refreshed()
    assert (of_view(later), of_table(later)) == (set(), {"old"})


def test_nothing_is_carried_to_another_table_at_the_same_place(table, tmp_path):
    view = HistoryView.open(str(table.path))
    of_table(view).add("old")
    table.path.rename(tmp_path / "away")
    SyntheticTable(tmp_path / "t").append(rows=3)
    assert of_table(view.refreshed()) == set()


def test_each_part_of_a_view_has_memories_of_its_own(table):
    for _ in range(40):
        table.append(rows=1)
    view = HistoryView.open(str(table.path))
    part = view.part(range(1, 3))
    of_view(view).add("whole")
    assert part is not None
    assert (of_view(part), of_view(view.of_fragments(range(1)))) == (set(), set())


def test_what_was_missing_is_noted_whenever_it_is_remembered(table):
    view = HistoryView.open(str(table.path))
    for _ in range(2):
        with view.storage.sessions.begin() as session:
            assert size_of_missing(view) is None
        assert session.missing == {f"{view.storage.uri}/missing.bin"}


def test_another_process_remembers_nothing_of_a_view(table):
    view = HistoryView.open(str(table.path))
    of_table(view).add("old")
    sent = pickle.loads(pickle.dumps(view))
    assert (of_table(sent), sent.latest_version) == (set(), 1)
