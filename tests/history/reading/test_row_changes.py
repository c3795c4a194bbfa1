from lance_explorer.errors import VersionNotFoundError
from lance_explorer.history.reading.row_changes import row_changes
from lance_explorer.history.reading.row_reader import FragmentContent, RowReader
from lance_explorer.history.view import HistoryView
from tests.inspect.tables import stored
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


@stored_check()
def check_changes_add_up_to_the_rows_of_each_version(asked):
    view = asked.view
    history = view.history
    current: dict[int, object] = {}
    changes = {change.position: change for change in row_changes(view, history)}
    for position, record in enumerate(history.records):
        if position in changes:
            for state in changes[position].removed:
                del current[state]
            current.update(changes[position].added)
        rows = [current[state] for state in history.states_at(position)]
        assert len(rows) == len(current)
        assert rows == RowReader(view, record.version).contents()


def changes_of(table: SyntheticTable) -> list[tuple[int, list[int], list[int]]]:
    view = HistoryView.open(str(table.path))
    return [
        (view.history.records[change.position].version, change.removed, [*change.added])
        for change in row_changes(view, view.history)
    ]


def test_versions_without_changes_are_left_out(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=2).update_config(a="b").append(rows=1)
    assert changes_of(table) == [(1, [], [0]), (3, [], [1])]


def test_a_fragment_that_went_and_came_back_is_read_again(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=2).append(rows=1)
    table.delete({1: [0]}).restore(2)
    assert changes_of(table) == [(1, [], [0]), (2, [], [1]), (3, [1], []), (4, [], [1])]


def test_what_cannot_be_read_goes_with_its_states(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=2).append(rows=1).append(rows=1)
    view = HistoryView.open(str(table.path))
    assert len(view.history) == 3
    table.remove(2)
    first, second, third = row_changes(view, view.history)
    assert isinstance(first.added[0], FragmentContent)
    assert isinstance(second.added[1], VersionNotFoundError)
    assert isinstance(third.added[2], FragmentContent)


def test_a_table_without_rows_has_no_changes():
    view = stored("14.0.2/empty.lance")
    assert [change.position for change in row_changes(view, view.history)] == [1, 2]
