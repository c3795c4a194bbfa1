"""The widget for the life of a row, without a browser."""

import shutil

import pytest

from lance_explorer import open_table
from lance_explorer.errors import RowNotFoundError
from lance_explorer.widgets import LineageGraph, RowHistory
from lance_explorer.widgets.row_values_data import absent_columns
from lance_explorer.widgets.state import ExplorerState
from tests.synthetic import SyntheticTable


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Row 1 is updated in version 2, gets a column in 3, is deleted in 4 and restored in 5."""
    import lance
    import pyarrow as pa

    path = tmp_path_factory.mktemp("rows") / "t.lance"
    rows = pa.table({"id": [10, 11, 12], "version": ["a", "b", "c"]})
    table = lance.write_dataset(rows, str(path), enable_stable_row_ids=True)
    table.update({"version": "'B'"}, where="id = 11")
    table.add_columns({"twice": "id * 2"})
    table.delete("id = 11")
    lance.dataset(str(path), version=3).restore()
    return path


@pytest.fixture
def widget(path):
    return RowHistory(open_table(path), 1)


def test_the_frame_has_events_and_values(widget):
    frame = widget.frame()
    assert frame.select("version", "event", "id", "version (value)", "twice").rows() == [
        (1, "created", 11, "b", None),
        (2, "updated", 11, "B", None),
        (3, "column_added", 11, "B", 22),
        (4, "deleted", 11, "B", 22),
        (5, "restored", 11, "B", 22),
    ]
    assert frame["_rowaddr_after"].to_list()[:2] == [1, 1 << 32]


def test_a_row_is_found_by_what_it_has_or_had(path, browse):
    widget = RowHistory(open_table(path))
    browser = browse(widget)
    assert browser.ask("find", text="id = 12")["content"] == {"row_id": "2"}
    assert browser.ask("find", text="version = 'b'")["content"] == {"row_id": "1"}
    assert widget.state.row_id == 1
    several = browser.ask("find", text="id > 10")["content"]["problem"]
    assert several.startswith("several rows have, or had, id > 10: say which")
    assert browser.ask("find", text="id = 99")["content"]["problem"].startswith("no row has")
    assert "such as id = 42" in browser.ask("find", text="hello")["content"]["problem"]
    assert widget.state.row_id == 1


def test_people_know_a_row_by_its_indexed_column(path, tmp_path, browse):
    import lance

    copy = shutil.copytree(path, tmp_path / "t.lance")
    assert browse(RowHistory(open_table(copy))).ask("open")["content"]["key"] == []
    lance.dataset(str(copy)).create_scalar_index("id", "BTREE")
    assert browse(RowHistory(open_table(copy))).ask("open")["content"]["key"] == ["id"]


def test_an_event_says_who_made_it(tmp_path, browse):
    import lance
    import pyarrow as pa

    rows = pa.table({"id": [1]})
    path = str(tmp_path / "t.lance")
    lance.write_dataset(
        rows, path, commit_message="first", transaction_properties={"author": "ana"}
    )
    lance.dataset(path).update({"id": "2"})
    browser = browse(RowHistory(open_table(path), 0))
    told = [(one["who"], one["message"]) for one in browser.ask("row")["content"]["events"]]
    assert told == [("ana", "first"), (None, None)]


def test_what_changed_is_marked_and_what_was_deleted(widget, browse):
    widget.frame()
    marks = browse(widget).ask("page", first=0, count=5)["content"]["marks"]
    columns = widget.frame().columns
    of = {columns[int(number)]: column for number, column in marks.items()}
    assert of["version (value)"] == [None, "changed", None, "removed", None]
    assert of["twice"] == ["absent", "absent", "changed", "removed", None]
    assert of["event"] == ["append", "update", "schema", "delete", "restore"]


def test_values_come_with_those_before(widget, browse):
    browser = browse(widget)
    answers = browser.ask("values")["content"]["values"]
    [change] = [value for value in answers[1]["values"] if value["changed"]]
    about = {"name": "version", "value": "B", "before": "b", "changed": True}
    assert change == {**about, "piece": None, "is_absent": False, "is_new": False}
    assert [answer["is_end"] for answer in answers] == [False, False, False, True, False]


def test_a_column_that_a_version_lacks_is_told_from_a_null(path, tmp_path, browse):
    import lance

    copy = str(shutil.copytree(path, tmp_path / "t.lance"))
    lance.dataset(copy).drop_columns(["twice"])
    lance.dataset(copy).update({"version": "NULL"}, where="id = 11")
    answers = browse(RowHistory(open_table(copy), 1)).ask("values")["content"]["values"]
    values = [{value["name"]: value for value in answer["values"]} for answer in answers]
    lacks = [row["twice"]["is_absent"] for row in values]
    assert lacks == [True, True, False, False, False, True]
    assert [row["twice"]["is_new"] for row in values] == [i == 2 for i in range(6)]
    assert (values[5]["version"]["value"], values[5]["version"]["is_absent"]) == (None, False)


def test_a_column_whose_type_changed_is_absent_but_where_it_was(path, tmp_path):
    import lance

    copy = str(shutil.copytree(path, tmp_path / "t.lance"))
    lance.dataset(copy).drop_columns(["version"])
    lance.dataset(copy).add_columns({"version": "make_array(id)"})
    events = open_table(copy).row(1).history(values=True)
    absent = absent_columns(open_table(copy)._view, events).to_list()
    assert events["values"].struct.field("version@1").to_list() == ["b", "B", "B", "B", "B", None]
    assert ["version@1" in names for names in absent] == [False] * 5 + [True]


def test_the_timeline_has_the_place_of_each_event(widget, browse):
    content = browse(widget).ask("row")["content"]
    places = [(e["version"], e["fragment_id"], e["offset"]) for e in content["events"]]
    assert places == [
        ("1", "0", "1"),
        ("2", "1", "0"),
        ("3", "1", "0"),
        ("4", "1", "0"),
        ("5", "1", "0"),
    ]
    assert [event["is_end"] for event in content["events"]] == [False, False, False, True, False]


def test_the_arrows_go_from_row_to_row(widget, browse):
    browser = browse(widget)
    browser.ask("step", direction=1)
    assert widget.state.row_id == 2
    assert browser.ask("step", direction=1)["content"] == {
        "problem": "there is no later row in version 5"
    }
    for expected in (1, 0):
        browser.ask("step", direction=-1)
        assert widget.state.row_id == expected
    assert "no earlier row" in browser.ask("step", direction=-1)["content"]["problem"]
    widget.state.row_id = None
    browser.ask("step", direction=1)
    assert widget.state.row_id == 0


def test_a_typed_row_is_shown(widget, browse):
    browser = browse(widget)
    assert widget.frame()["id"].unique().to_list() == [11]
    assert browser.ask("find", text="0:2")["content"] == {"row_id": "2"}
    assert widget.frame()["id"].to_list() == [12, 12]
    assert "did not exist" in browser.ask("find", text="77")["content"]["problem"]
    assert widget.state.row_id == 2


def test_no_row_and_an_unknown_row(path, browse):
    widget = RowHistory(open_table(path))
    browser = browse(widget)
    assert browser.ask("row")["content"]["row_id"] is None
    assert browser.ask("values")["content"]["values"] == []
    assert len(widget.frame()) == 0
    widget.state.row_id = 50
    assert "did not exist" in browser.ask("row")["content"]["problem"]
    with pytest.raises(RowNotFoundError):
        widget.frame()


def test_it_is_linked_with_the_lineage(path):
    state = ExplorerState(row_id=2)
    widget = RowHistory(open_table(path), state=state)
    graph = LineageGraph(open_table(path), state=state)
    graph.state.row_id = 0
    assert widget.frame()["id"].unique().to_list() == [10]


def test_values_that_are_gone_are_not_known(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3).update({0: [1]})
    widget = RowHistory(open_table(table.path), 1)
    assert widget.frame()["event"].to_list() == ["created", "updated"]
    answers = browse(widget).ask("values")["content"]["values"]
    assert [answer["is_read"] for answer in answers] == [False, False]


def test_a_row_goes_on_after_a_refresh(tmp_path):
    written = SyntheticTable(tmp_path / "t.lance").append(rows=3)
    table = open_table(written.path)
    widget = RowHistory(table, 1)
    assert widget.frame()["event"].to_list() == ["created"]
    written.update({0: [1]})
    table.refresh()
    assert widget.frame()["event"].to_list() == ["created", "updated"]
