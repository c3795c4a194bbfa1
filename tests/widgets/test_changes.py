"""The widget of changes, without a browser: what Python holds, and how it answers."""

import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer.changes.images import Images
from lance_explorer.errors import (
    InvalidArgumentError,
    RefNotFoundError,
    StorageError,
    VersionNotFoundError,
)
from lance_explorer.table import open_table
from lance_explorer.widgets import Changes, TimeTravel, changed_rows, changed_values
from lance_explorer.widgets import comparison as comparison_module
from lance_explorer.widgets.changed_values import WholeColumns
from lance_explorer.widgets.comparison import compare
from lance_explorer.widgets.state import ExplorerState
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable

LOVED = 10.0


def make(path, *, stable_row_ids=True):
    """Make a table: 8 rows, 3 updated (one of them to its own value), 1 deleted, 2 inserted."""
    rows = pa.table(
        {"id": range(8), "name": [*"abcdefgh"], "score": [1.0, 2, LOVED, 4, 5, 6, 7, 8]}
    )
    photos = lance.write_dataset(rows, path, enable_stable_row_ids=stable_row_ids)
    photos.update({"score": "10"}, where="id in (1, 2)")
    photos.update({"name": "'z'", "score": "0"}, where="id = 4")
    photos.delete("id = 7")
    new = pa.table({"id": [8, 9], "name": ["i", "j"], "score": [9.0, 9]})
    lance.write_dataset(new, path, mode="append")
    lance.dataset(path).tags.create("early", 2)
    return open_table(path)


@pytest.fixture
def table(tmp_path):
    return make(tmp_path / "t.lance")


@pytest.fixture
def widget(table):
    return done(Changes(table))


def done(widget):
    """Wait until the widget has compared."""
    assert widget._worker.wait(60)
    return widget


def told(browser):
    """Return what the browser was told last of the comparison."""
    done(browser.view)
    return browser.news("compared")[-1]


def classes(about):
    return {one["name"]: one["num_rows"] for one in about["classes"] if one["num_rows"] != "0"}


def columns(about):
    return {one["name"]: one["num_rows"] for one in about["cells"]["columns"]}


def test_it_begins_with_the_first_kept_version_and_the_latest(widget):
    assert (widget.begin_version, widget.end_version) == (1, 5)
    assert widget.selection == []


def test_versions_may_be_named_by_number_tag_and_state(table):
    assert Changes(table, 0, "early").end_version == 2
    state = ExplorerState(version=4, compared_version=3)
    assert Changes(table, state=state).begin_version == 3
    assert Changes(table, "early").begin_version == 2
    with pytest.raises(RefNotFoundError):
        Changes(table, "late")


def test_a_version_of_another_branch_is_left_to_a_diff(tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": [1]}), path).create_branch("dev", 1)
    with pytest.raises(InvalidArgumentError, match=r"table\.diff$"):
        Changes(open_table(path), ("dev", 1), 1)


def test_a_typed_version_of_another_branch_is_answered_with_the_code_to_run(tmp_path, browse):
    path = tmp_path / "t.lance"
    dataset = lance.write_dataset(pa.table({"id": [1]}), path, enable_stable_row_ids=True)
    dataset.create_branch("dev", 1).insert(pa.table({"id": [2]}))
    lance.dataset(path).tags.create("other", ("dev", 2))
    lance.write_dataset(pa.table({"id": [3]}), path, mode="append")
    table = open_table(path)
    browser = browse(Changes(table))
    for typed, name, code in (
        ("dev@2", "end", 'table.diff(1, ("dev", 2)).rows()'),
        ("other", "begin", 'table.diff(("dev", 2), 2).rows()'),
    ):
        problem = browser.ask("find", name=name, text=typed)["content"]["problem"]
        assert problem.endswith(code)
        assert len(eval(code, {"table": table}))
    assert browser.ask("find", name="end", text="2")["content"] == {"version": "2"}


def test_the_summary_is_that_of_the_table(table, widget):
    assert widget.summary().equals(table.changes(1, 5).summary())


@pytest.mark.parametrize("versions", [(0, 5), (1, 5), (2, 4), (5, 5)])
def test_lines_are_those_of_the_feed_without_images_before(table, versions):
    lines = done(Changes(table, *versions)).frame()
    feed = table.changes(*versions, images="both").to_polars()
    feed = feed.filter(pl.col("_change_type").ne_missing("update_preimage"))
    order = ["_rowid", "_change_type"]
    assert lines.sort(order).equals(feed.select(lines.columns).sort(order))


def test_old_and_new_values_of_changed_cells_are_in_one_line(widget):
    source = widget._comparison().rows()
    every = pl.Series(range(source.num_rows))
    names = ["id", "name", "score"]
    marks, earlier = source.marks(every, names), source.earlier(every, names)
    rows = source.take(every, ["_change_type", "_rowid"]).hstack(marks.select(names))
    of = {(kind, row): tuple(cells) for kind, row, *cells in rows.rows()}
    assert of["update_postimage", 1] == (None, None, "changed")
    assert of["update_postimage", 2] == (None, None, None)  # to its own value
    assert of["update_postimage", 4] == (None, "changed", "changed")
    assert of["delete", 7] == ("removed",) * 3
    assert of["insert", 8] == ("added",) * 3
    was = dict(zip(source.read(["_rowid"])["_rowid"], earlier.rows(), strict=True))
    assert was[1] == (None, None, 2.0)
    assert was[4] == (None, "e", 5.0)
    assert was[2] == was[7] == was[8] == (None, None, None)


def test_only_the_columns_that_are_shown_are_read(table, monkeypatch):
    source = compare(table._view, 1, 5).rows()
    read: list[list[str]] = []
    of = source._images.of

    def watched(rows, names, **how):
        read.append([*names])
        return of(rows, names, **how)

    monkeypatch.setattr(source._images, "of", watched)
    assert source.slice(0, 9, ["name", "_event"]).columns == ["name", "_event"]
    assert source.read(["score"]).columns == ["score"]
    assert read == [["name"], ["score"]]
    source.slice(0, 9, ["changed_columns"])
    assert sorted(read[-1]) == ["id", "name", "score"]
    assert "changed_columns" in source.first_columns(30)
    assert source.first_columns(9) == [
        *("_change_type", "_rowid", "id", "_event", "_commit_version"),
        *("_rowaddr_before", "_rowaddr_after", "evidence", "is_uncertain"),
    ]


def test_a_page_has_what_changed_cells_were(widget, browse):
    page = browse(widget).ask("page", first=0, count=3)["content"]
    place = str(widget.shown_columns.index("score"))
    assert page["marks"][place] == ["changed", None, "changed"]
    assert page["earlier"][place] == ["2.0", None, "5.0"]
    column = [*widget._source.schema].index("score")
    detail = browse(widget).ask("detail", row=0, column=column)["content"]
    assert (detail["text"], detail["earlier"]["text"]) == ("10.0", "2.0")
    assert browse(widget).ask("detail", row=1, column=column)["content"]["earlier"] is None


def test_values_of_changed_columns_before_and_after(widget, browse):
    told = browse(widget).ask("values")["content"]
    assert (told["begin"], told["end"]) == ("1", "5")
    score, name = told["columns"]
    assert (score["name"], score["num_rows"], score["nulls"]) == ("score", "2", [0, 0])
    bars = {bar["label"]: (bar["before"], bar["after"]) for bar in score["bars"]}
    assert bars == {"0.0": (0, 1), "2.0": (1, 0), "5.0": (1, 0), "10.0": (0, 1)}
    assert [bar["label"] for bar in name["bars"]] == ["e", "z"]
    assert score["words"] == "mean 3.5 ± 2.12 → 5 ± 7.07"
    assert name["words"] == ""
    whole = {row[0]: row[1:] for row in told["whole"]["rows"]}
    assert whole["score"][:3] == ["5.375 ± 3.02", "6.222 ± 3.8", "0 → 0"]


def test_whole_columns_that_are_large_are_not_read(widget, browse, monkeypatch):
    monkeypatch.setattr(changed_values, "_MOST_BYTES", 0)
    whole = browse(widget).ask("values")["content"]["whole"]
    assert whole["rows"] == []
    assert [line["words"] for line in whole["lines"]] == [
        "Their values are too many to be read here: table.profile(versions=[1, 5]) reads them."
    ]


def test_whole_columns_of_many_versions_are_those_of_each_pair(tmp_path):
    """Also before a column was renamed, and where another one got its name."""
    make(tmp_path / "t.lance")
    renamed: Any = {"path": "score", "name": "points"}
    lance.dataset(tmp_path / "t.lance").alter_columns(renamed)
    lance.dataset(tmp_path / "t.lance").add_columns({"score": "points * 2"})
    table = open_table(tmp_path / "t.lance")
    versions = table.versions()["version"].to_list()
    pairs, many = WholeColumns(table), WholeColumns(table, versions)
    for begin, end in [*pairwise(versions), (1, versions[-1]), (2, 4)]:
        one, other = (asked.of(begin, end) for asked in (pairs, many))
        assert one is not None
        assert other is not None
        assert isinstance(one.content, pl.DataFrame)
        assert isinstance(other.content, pl.DataFrame)
        assert one.content.equals(other.content)
        assert len(one.content) >= 3


def test_values_that_were_read_are_not_read_again(table, monkeypatch):
    found = compare(table._view, 1, 5)
    asked: list[tuple[str, int]] = []
    for side in ("before", "after"):
        read = getattr(Images, side)

        def watched(images, rows, take=None, side=side, read=read):
            asked.append((side, len(rows)))
            return read(images, rows, take)

        monkeypatch.setattr(Images, side, watched)
    found.compare_cells(lambda done, total: None)
    assert asked == [("before", 3), ("after", 3)]
    again = [found.rows("updated").slice(0, 9), found.rows(None, "score").slice(0, 9)]
    assert asked == [("before", 3), ("after", 3)]
    monkeypatch.setattr(changed_rows, "MOST_BYTES_KEPT", 0)
    fresh = compare(table._view, 1, 5)
    fresh.compare_cells(lambda done, total: None)
    for shown, rows in zip(again, ((("updated", None)), (None, "score")), strict=True):
        assert shown.equals(fresh.rows(*rows).slice(0, 9))
    assert len(asked) > 4


def test_vectors_are_shown_by_how_far_they_turned(tmp_path, browse):
    uri, kind = str(tmp_path / "v.lance"), pa.list_(pa.float32(), 2)
    old = pa.table({"id": range(3), "v": pa.array([[1, 0], [0, 1], [1, 0]], kind)})
    new = pa.table({"id": range(3), "v": pa.array([[0, 1], [0, 2], None], kind)})
    lance.write_dataset(old, uri, enable_stable_row_ids=True)
    lance.dataset(uri).merge_insert("id").when_matched_update_all().execute(new)
    [column] = browse(done(Changes(open_table(uri)))).ask("values")["content"]["columns"]
    assert column["is_cosine"]
    assert column["words"] == "cosine between before and after: 0.50 in the median"
    assert sum(bar["after"] for bar in column["bars"]) == 2
    assert column["movers"] == ["0", "1"]


def test_columns_are_counted_by_rows_that_differ_in_them(widget):
    assert dict(widget.columns().rows()) == {"score": 2, "name": 1, "id": 0}
    cells = widget._about(widget._comparison()).cells
    assert cells is not None
    assert cells.num_equal == "1"


def test_columns_that_differ_stand_before_others(widget):
    assert [*widget._source.schema][2:5] == ["id", "score", "name"]
    assert widget.frame().columns[2:5] == ["id", "name", "score"]


def test_a_class_and_a_column_narrow_the_rows(widget):
    widget.change = "deleted"
    assert widget.frame()["id"].to_list() == [7]
    widget.change = None
    widget.column = "name"
    assert widget.frame()["_rowid"].to_list() == [4]
    widget.change = "inserted"
    assert widget.frame().is_empty()


@pytest.mark.slow
def test_the_frame_is_what_is_chosen_while_older_choices_are_worked_on(widget):
    for _ in range(30):
        widget.column, widget.change = "name", "inserted"
        assert widget.frame().is_empty()
        widget.column, widget.change = None, "deleted"
        assert widget.frame()["id"].to_list() == [7]
    done(widget)
    assert widget._source.num_rows == 1


def test_rows_that_only_moved_are_shown_if_asked_for(tmp_path):
    table = make(tmp_path / "t.lance")
    lance.dataset(table.uri).optimize.compact_files()
    widget = Changes(table.refresh(), 5)
    assert widget.frame().is_empty()
    widget.change = "moved"
    lines = widget.frame()
    assert len(lines) == widget.summary()["moved"].item() > 0
    assert lines["_change_type"].null_count() == len(lines)
    assert lines["score"].null_count() == 0


def test_what_is_no_class_or_column_is_refused(widget):
    with pytest.raises(InvalidArgumentError, match="expected one of inserted"):
        widget.change = "insert"
    with pytest.raises(InvalidArgumentError, match="a column 'age'"):
        widget.column = "age"


def test_versions_in_either_order_are_the_same_range(table):
    state = ExplorerState(version=2, compared_version=5)
    widget = Changes(table, state=state)
    assert (widget.begin_version, widget.end_version) == (2, 5)
    assert widget.summary().equals(table.changes(2, 5).summary())


def test_a_linked_view_moves_the_later_version(table, widget):
    travel = TimeTravel(table, state=widget.state)
    travel.state.version = 3
    assert done(widget).summary().equals(table.changes(1, 3).summary())


def test_the_browser_is_told_when_a_version_moves(widget, browse):
    browser = browse(widget)
    widget.state.version = 2
    about = told(browser)
    assert (about["begin"], about["end"], about["problem"]) == ("1", "2", None)
    assert classes(about) == {"updated": "2"}
    assert columns(about) == {"score": "1", "id": "0", "name": "0"}
    page = browser.ask("page", first=0, count=10)["content"]
    assert page["cells"][0] == ["update_postimage"] * 2


def test_a_click_on_a_bar_narrows_the_rows(widget, browse):
    browser = browse(widget)
    browser.ask("narrow", change="updated", column="name")
    about = told(browser)
    assert (about["change"], about["column"]) == ("updated", "name")
    assert browser.news("rows")[-1]["num_rows"] == 1
    assert widget.change == "updated"


def test_a_selected_row_is_the_row_of_the_state(widget, browse):
    browser = browse(widget)
    browser.ask("select", row=2, anchor=2, how="only")
    assert widget.state.row_id == 4
    assert widget.selected_rows()["_rowid"].to_list() == [4]


def test_a_typed_version_tag_or_time_is_found(widget, browse):
    browser = browse(widget)
    assert browser.ask("find", text=" 3 ")["content"] == {"version": "3"}
    assert browser.ask("find", text="early")["content"] == {"version": "2"}
    assert browser.ask("find", text="0")["content"] == {"version": "0"}
    assert "never existed" in browser.ask("find", text="77")["content"]["problem"]


def test_one_version_is_compared_with_the_empty_table(tmp_path):
    table = open_table(DATA / "14.0.2" / "stable_row_ids.lance")
    lance.write_dataset(pa.table({"id": [1, 2]}), tmp_path / "t.lance")
    widget = Changes(open_table(tmp_path / "t.lance"))
    assert (widget.begin_version, widget.end_version) == (0, 1)
    assert widget.summary()["inserted"].item() == 2
    assert Changes(table).begin_version == 1


def test_an_empty_table_has_no_changes(tmp_path):
    schema = pa.schema([("id", pa.int64())])
    lance.write_dataset(schema.empty_table(), tmp_path / "t.lance")
    widget = done(Changes(open_table(tmp_path / "t.lance")))
    assert widget.frame().is_empty()
    assert "no row changed" in widget.static_html()


def test_a_branch_is_compared_on_its_own(table):
    dataset = lance.dataset(table.uri)
    branch = dataset.create_branch("dev", 5)
    branch.delete("id = 0")
    widget = Changes(open_table(table.uri, branch="dev"))
    assert (widget.begin_version, widget.end_version) == (5, 6)
    assert widget.summary()["deleted"].item() == 1
    assert widget.frame()["id"].to_list() == [0]


def test_without_row_ids_a_key_is_asked_for_and_matches(tmp_path, browse):
    path = tmp_path / "t.lance"
    rows = pa.table({"id": range(4), "name": [*"abcd"]})
    photos = lance.write_dataset(rows, path)
    news = pa.table({"id": [1, 9], "name": ["x", "y"]})
    photos.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(news)
    widget = Changes(open_table(path))
    browser = browse(widget)
    about = told(browser)
    assert about["needs_key"]
    assert about["doubts"].startswith("3 of 3 changed rows are uncertain")
    assert "may be one update" in about["doubts"]
    assert browser.ask("history")["content"]["key_columns"] == ["id", "name"]
    browser.ask("key", key=["id"])
    assert classes(told(browser)) == {"inserted": "1", "updated": "1"}
    assert told(browser)["doubts"] == ""
    changed = widget.frame().filter(_event="updated")
    assert changed["name"].to_list() == ["x"]


def test_stable_row_ids_need_no_key(widget):
    assert not widget._about(widget._comparison()).needs_key


def test_lost_versions_are_said(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=9).append(rows=3)
    table.delete({0: [1]}).append(rows=2).remove(2, 3)
    about = told(browse(Changes(open_table(table.path), 1)))
    assert about["lost"].startswith("2 versions in between are no longer kept; both ends are")
    about = told(browse(Changes(open_table(table.path), 2)))
    assert "row versions tell what was inserted and updated since" in about["lost"]
    unknown = [one["name"] for one in about["classes"] if one["num_rows"] is None]
    assert unknown == ["deleted", "moved"]


def test_what_fails_is_told_with_what_to_do(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    table.append(rows=9).append(rows=3).append(rows=1).remove(2)
    widget = Changes(open_table(table.path))
    browser = browse(widget)
    widget.state.compared_version = 2
    about = told(browser)
    assert about["classes"] is None
    assert "version 2 was cleaned up; 2 versions remain" in about["problem"]["message"]
    with pytest.raises(VersionNotFoundError):
        widget.frame()
    widget.state.compared_version = 1
    assert told(browser)["problem"] is None


def test_refresh_finds_what_was_committed_meanwhile(table, widget, browse):
    browser = browse(widget)
    lance.dataset(table.uri).delete("id = 0")
    browser.ask("history", refresh=True)
    widget.state.version = 6
    assert classes(told(browser))["deleted"] == "2"


def test_a_column_whose_types_do_not_fit_is_two_columns(tmp_path):
    path = tmp_path / "t.lance"
    rows = pa.table({"id": [1, 2], "when": ["a", "b"]})
    lance.write_dataset(rows, path, enable_stable_row_ids=True)
    other = pa.table({"id": [1, 2], "when": [[1.0], [2.0]]})
    lance.write_dataset(other, path, mode="overwrite", enable_stable_row_ids=True)
    lines = done(Changes(open_table(path))).frame()
    assert lines["id"].to_list() == [1, 2, 1, 2]
    assert lines["when"].to_list() == [[1.0], [2.0], None, None]
    assert lines["when@1"].to_list() == [None, None, "a", "b"]


def test_blobs_are_named_and_not_read(tmp_path, browse):
    path = tmp_path / "t.lance"
    blob = pa.field("image", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    schema = pa.schema([("id", pa.int64()), blob])
    rows = pa.table([[1, 2], [b"a", b"b"]], schema=schema)
    table = lance.write_dataset(rows, path, data_storage_version="2.1", enable_stable_row_ids=True)
    table.update({"id": "id + 10"}, where="id = 1")
    widget = Changes(open_table(path))
    assert told(browse(widget))["left_out"] == ["image"]
    assert done(widget).frame()["id"].to_list() == [11]
    assert "image" not in widget.frame().columns


def test_columns_that_have_names_of_the_feed_are_shown_under_others(tmp_path):
    path = tmp_path / "t.lance"
    rows = pa.table({"id": [1, 2], "evidence": ["a", "b"]})
    table = lance.write_dataset(rows, path, enable_stable_row_ids=True)
    table.update({"evidence": "'new'"}, where="id = 1")
    widget = done(Changes(open_table(path)))
    assert widget.frame()["evidence_"].to_list() == ["new"]
    assert widget.frame()["evidence"].to_list() == ["derived"]
    assert widget.columns().row(0) == ("evidence_", 1)


def test_added_and_dropped_columns_are_named_so(tmp_path, browse):
    path = tmp_path / "t.lance"
    rows = pa.table({"id": [1, 2], "old": [3, 4]})
    photos = lance.write_dataset(rows, path, enable_stable_row_ids=True)
    photos.add_columns({"new": "id * 2"})
    photos.update({"id": "7"}, where="id = 1")
    photos.drop_columns(["old"])
    about = told(browse(Changes(open_table(path))))
    presence = {one["name"]: one["presence"] for one in about["cells"]["columns"]}
    assert presence == {"id": "both", "old": "dropped", "new": "added"}


def test_of_very_many_rows_the_first_are_compared_and_it_is_said(table, monkeypatch):
    monkeypatch.setattr(comparison_module, "_MOST_ROWS_COMPARED", 2)
    about = Changes(table)._about(_with_cells(table))
    assert about.cells is not None
    assert (about.cells.num_compared, about.cells.num_rows) == ("2", "3")


def _with_cells(table):
    found = compare(table._view, 1, 5)
    found.compare_cells(lambda done, total: None)
    return found


def test_ten_million_rows_are_a_few_runs(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=10_000_000)
    table.delete({0: range(7)})
    widget = Changes(open_table(table.path), 0, 1)
    assert widget.summary()["inserted"].item() == 10_000_000
    rows = compare(widget._table._view, 0, 1)
    assert len(rows.runs) == 1


def test_ids_and_addresses_are_there_without_data_files(table):
    rows = compare(table._view, 1, 5).rows()
    shutil.rmtree(Path(table.uri) / "data")
    assert rows.read(["_rowid"])["_rowid"].to_list() == [1, 2, 4, 8, 9, 7]
    with pytest.raises(StorageError):
        rows.read(["score"])


@pytest.mark.parametrize("stable_row_ids", [True, False])
def test_a_compaction_is_proved_to_have_changed_no_value(tmp_path, browse, stable_row_ids):
    table = make(tmp_path / "t.lance", stable_row_ids=stable_row_ids)
    lance.dataset(table.uri).optimize.compact_files()
    table = open_table(table.uri)
    latest = table.latest.version
    answer = browse(done(Changes(table, 5, latest))).ask("same_content", begin="5", end=str(latest))
    content = answer["content"]
    assert content["is_same"] is True
    assert content["words"].endswith(
        "Compared: all 9 rows of the first version with all 9 rows of the second."
    )
    assert ("each row ID has" in content["words"]) is stable_row_ids
    assert content["code"] == f"table.diff(5, {latest}).same_content()"


def test_a_value_that_differs_is_named_by_its_column(widget, browse):
    content = browse(widget).ask("same_content", begin="1", end="2")["content"]
    assert content["is_same"] is False
    assert content["words"].startswith("No: score differs. Compared: ")


def test_an_option_that_it_does_not_have_is_refused(table):
    with pytest.raises(TypeError, match="keys"):
        Changes(table, keys="id")  # type: ignore[call-arg]


def test_a_page_without_a_kernel_shows_the_counts_and_a_picture_of_them(widget):
    html = widget.static_html()
    assert "2 inserted, 1 deleted, 3 updated" in html
    assert html.partition("</svg>")[0].count("<rect") == 3


def test_a_page_without_a_kernel_says_why_there_are_no_counts(table):
    assert "no column 'nothing'" in Changes(table, key="nothing").static_html().replace(
        "&#x27;", "'"
    )


COMMITS_WITHOUT_ROWS = {
    "a rename": lambda table: table.alter_columns({"path": "score", "name": "points"}),
    "an index": lambda table: table.create_scalar_index("id", "BTREE"),
    "a config": lambda table: table.update_config({"owner": "me"}),
}


@pytest.mark.parametrize("name", COMMITS_WITHOUT_ROWS)
def test_a_commit_without_rows_tells_what_it_did(tmp_path, browse, name):
    make(tmp_path / "t.lance")
    COMMITS_WITHOUT_ROWS[name](lance.dataset(tmp_path / "t.lance"))
    table = open_table(tmp_path / "t.lance")
    widget = Changes(table, 5, 6)
    about = told(browse(widget))
    assert classes(about) == {}
    assert len(about["beside"]) == 1
    html = widget.static_html()
    assert "no row changed" in html
    assert about["beside"][0] in html
    widget.state.compared_version = 0
    about = told(browse(widget))
    assert classes(about) == {"inserted": "9"}
    assert about["beside"][0].startswith("The table was created with 3 columns")


def test_rows_that_cannot_be_told_leave_what_else_differs(tmp_path, browse):
    table = SyntheticTable(tmp_path).append().update_config(owner="me")
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    about = told(browse(Changes(open_table(table.path), 1, 2)))
    assert about["problem"]
    assert about["beside"] == ["Config `owner` set to `me`."]


def test_a_version_with_itself_differs_in_nothing(widget, browse):
    widget.state.compared_version = widget.state.version
    assert told(browse(widget))["beside"] == []
