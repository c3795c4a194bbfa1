from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.following import row_history
from lance_explorer.lineage.row import Row
from tests.synthetic import SyntheticTable


def test_a_row_tells_its_history_and_what_happened_last(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3).update({0: [1]})
    view = HistoryView.open(str(table.path))
    row = Row(view, 1)
    assert row.history().equals(row_history(view, 1))
    assert repr(row) == "Row(1: last updated in version 2)"
    assert repr(Row(view, 0, at=1)) == "Row(0 at version 1: last created in version 1)"
