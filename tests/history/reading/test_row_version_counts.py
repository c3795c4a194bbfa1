import polars as pl
import pytest

from lance_explorer.errors import VersionNotFoundError
from lance_explorer.history.reading.row_version_counts import OwnRows, own_rows
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.rows import rows
from tests.inspect.tables import stored
from tests.stored_tables import has_row_ids, stored_check
from tests.synthetic import SyntheticTable

CREATED, UPDATED = pl.col("_row_created_at_version"), pl.col("_row_last_updated_at_version")


@stored_check(has_row_ids)
def check_own_rows_are_those_with_the_number_of_the_version(asked):
    view = asked.view
    for record in view.history.records:
        listed = rows(view, record.version)
        expected: OwnRows | None = OwnRows(
            len(listed.filter(record.version == CREATED)),
            len(listed.filter(record.version == UPDATED, record.version != CREATED)),
        )
        if listed.select(CREATED.null_count(), UPDATED.null_count()).row(0) != (0, 0):
            expected = None
        states = view.version(record.version).states
        assert own_rows(view, record, states) == expected


def test_rows_of_other_fragments_do_not_count():
    view = stored("14.0.2/stable_row_ids.lance")
    record = view.history.records[0]
    first, *others = view.version(1).states
    counts = [own_rows(view, record, some) for some in ([first], others, [])]
    assert counts == [OwnRows(6, 0), OwnRows(6, 0), OwnRows(0, 0)]


def test_deletions_of_fragments_without_own_rows_are_not_read(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=3).append(rows=3)
    table.delete({0: [0], 1: [0]})
    view = HistoryView.open(str(table.path))
    for path in (table.path / "_deletions").iterdir():
        path.unlink()
    record = view.history.records[2]
    assert own_rows(view, record, view.version(3).states) == OwnRows(0, 0)


def test_a_version_that_went_away_is_missed(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=3).append(rows=3)
    view = HistoryView.open(str(table.path))
    record = view.history.records[0]
    table.remove(1)
    with pytest.raises(VersionNotFoundError, match="version 1 "):
        own_rows(view, record, [])
