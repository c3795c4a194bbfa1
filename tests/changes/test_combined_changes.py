"""Changes put together and read backwards are those that comparing both ends gives."""

import pytest

from lance_explorer import Table, open_table
from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.combined_changes import composed, inverted
from lance_explorer.changes.steps import net_step, version_range
from lance_explorer.history.events.event_runs import RowEvent
from tests.differential.twin import Keys, Twin


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "addresses"])
def table(request, tmp_path_factory) -> Table:
    path = tmp_path_factory.mktemp("composed") / "table.lance"
    twin = Twin.create(str(path), 20, stable_row_ids=request.param)
    twin.update(Keys(3, 0))
    twin.append(6)
    twin.delete(Keys(5, 1))
    twin.compact()
    twin.add_column("more")
    twin.update(Keys(4, 1))
    twin.overwrite(4)
    return open_table(path)


def net(table: Table, begin: int, end: int) -> ChangeRuns:
    return net_step(version_range(table._view, begin, end)).runs


def rows(runs: ChangeRuns) -> list[tuple[str, int, int]]:
    """Return class and addresses of each row."""
    single = runs.rows()
    labels = [RowEvent(change).label for change in single.change.tolist()]
    return sorted(zip(labels, single.before.tolist(), single.after.tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("middle", range(2, 8))
def test_changes_over_a_version_between_are_the_net_changes(table, middle):
    last = table.latest.version
    for begin in range(1, middle):
        for end in range(middle + 1, last + 1):
            parts = composed(net(table, begin, middle), net(table, middle, end))
            assert rows(parts) == rows(net(table, begin, end)), (begin, end)


def test_rows_that_were_there_between_end_where_they_began(table):
    there = net(table, 2, 4)
    back = rows(composed(there, inverted(there)))
    kept = [(before, after) for label, before, after in back if label == "updated"]
    assert all(before == after for before, after in kept)
    assert {label for label, *_ in back} <= {"updated", "deleted", "inserted"}


def test_rows_that_moved_there_and_back_did_not_move(table):
    there = net(table, 4, 6)  # a compaction
    assert there.count(RowEvent.MOVED) > 0
    assert rows(composed(there, inverted(there))) == []


def test_rows_that_were_not_there_between_are_other_rows(table):
    there = net(table, 3, 4)  # a delete
    back = rows(composed(there, inverted(there)))
    labels = [label for label, *_ in back]
    assert labels.count("deleted") == labels.count("inserted") == there.count(RowEvent.DELETED) > 0


def test_twice_inverted_is_as_it_was(table):
    runs = net(table, 1, 5)
    assert rows(inverted(inverted(runs))) == rows(runs)


def test_nothing_changes_nothing(table):
    runs = net(table, 1, 5)
    nothing = runs.where(runs.length == 0)
    for parts in (composed(nothing, runs), composed(runs, nothing)):
        assert rows(parts) == rows(runs)
