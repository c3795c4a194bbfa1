"""The widget of encodings, without a browser: what it shows, and what it gives back."""

import numpy as np
import polars as pl
import pytest

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.figures.encoding_words import encoding_words
from lance_explorer.table import open_table
from lance_explorer.widgets import SegmentEncodings
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.state import ExplorerState
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """Two fragments; the second one, of version 2, has 2,000 scattered row IDs."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=10_000)
    return table.update({0: range(0, 10_000, 5)}).append(rows=3)


@pytest.fixture
def widget(table) -> SegmentEncodings:
    return SegmentEncodings(open_table(table.path))


def shown(browser, mode="position"):
    """Ask for what the state says, as the browser does, and return the answer."""
    state = browser.view.state
    fragment = None if state.fragment_id is None else str(state.fragment_id)
    asked = {"version": str(state.version), "fragment": fragment, "mode": mode}
    answer = browser.ask("version", **asked)
    assert answer["what"] == "reply", answer
    return answer["content"]


def rows_in_sight(browser):
    """Return how many rows the table has, once it is arranged."""
    return browser.ask("rows")["content"]["num_rows"]


def test_it_begins_at_the_latest_version(widget, table):
    assert widget.selection == {"version": 3, "fragment_id": None}
    assert widget.frame().equals(open_table(table.path).inspect.row_id_segments())


def test_the_table_has_the_segments_of_the_version(widget, browse):
    browser = browse(widget)
    shown(browser)
    assert rows_in_sight(browser) == 2_002
    widget.state.version = 1
    shown(browser)
    assert rows_in_sight(browser) == 1
    assert widget.frame()["fragment_id"].to_list() == [0]


def test_fragments_that_would_save_most_come_first(widget, browse):
    assert shown(browse(widget))["choices"][0] == "1"


def test_a_chosen_fragment_is_told_alone_and_drawn_among_the_others(widget, browse):
    widget.state.fragment_id = 1
    browser = browse(widget)
    content = shown(browser)
    assert widget.selection == {"version": 3, "fragment_id": 1}
    assert len(widget.frame()) == rows_in_sight(browser) == 2_000
    assert "2,000 one-row segments" in content["words"][1]
    assert [first for first, _, _ in content["segments"]["rows"]] == ["0", "1", "2"]
    assert content["one"]["rows"] == [["1", "1", 1]]
    [ranges] = content["statistics"]
    assert (ranges["count"], ranges["one_row"]) == ("2000", "2000")


def test_views_that_share_a_state_are_linked(table):
    state = ExplorerState(version=2)
    first, second = [SegmentEncodings(open_table(table.path), state=state) for _ in range(2)]
    first.state.version = 1
    assert second.frame().equals(first.frame())
    assert second.selection["version"] == 1


def test_a_fragment_that_the_version_lacks_stays_chosen_for_other_views(widget, browse):
    widget.state.fragment_id = 1
    widget.state.version = 1
    assert shown(browse(widget))["one"] is None
    assert widget.state.fragment_id == 1
    assert widget.frame()["fragment_id"].to_list() == [0]
    widget.state.version = 3
    assert set(widget.frame()["fragment_id"]) == {1}


def test_the_filter_and_the_sort_of_the_table_are_those_of_the_frame(widget):
    widget.state.filter = "num_values > 2"
    widget.sort_by("num_values", descending=True)
    assert widget.frame()["num_values"].to_list() == [10_000, 3]
    widget.state.filter = "num_values >"
    with pytest.raises(InvalidArgumentError):
        widget.frame()


@pytest.mark.parametrize("fragment_id", [None, 1, 99])
@pytest.mark.parametrize("typed", ["", "start > 5000", "range"])
def test_the_code_gives_the_frame(widget, fragment_id, typed):
    import lance_explorer as lx

    widget.state.fragment_id = fragment_id
    widget.state.filter = typed
    widget.sort_by("start", descending=True)
    names = {"table": widget._table, "pl": pl, "lx": lx}
    names |= {"FrameTable": FrameTable, "ExplorerState": ExplorerState}
    assert eval(widget.code(), names).equals(widget.frame())


def test_the_words_are_those_of_the_figures(widget):
    inspect = open_table(widget._table.uri).inspect
    frames = inspect.row_id_segments(), inspect.row_id_encodings()
    assert widget.words == encoding_words(*frames)


def test_growth_has_a_value_for_each_version(widget, browse):
    browser = browse(widget)
    content = browser.ask("growth")["content"]
    assert (
        content["growth_bytes"].tolist()
        == widget._table.inspect.row_id_totals()["row_ids_bytes"].to_list()
    )


def test_a_version_is_read_once_however_often_it_is_asked_for(widget, browse):
    browser = browse(widget)
    for mode in ("position", "row_id", "position"):
        shown(browser, mode)
    widget.frame()
    assert widget._read.cache_info().misses == 1


def test_the_rows_of_the_table_stay_where_nothing_changes(widget, browse):
    browser = browse(widget)
    shown(browser)
    widget._select(np.array([1]))
    told = len(browser.news("rows"))
    shown(browser, "row_id")
    assert len(browser.news("rows")) == told
    assert len(widget.selected_rows()) == 1


def test_a_version_that_is_not_kept_is_shown_as_what_is_wrong(table, browse):
    table.append(rows=1).remove(2)
    widget = SegmentEncodings(open_table(table.path))
    widget.state.version = 2
    browser = browse(widget)
    assert "version 2 was cleaned up" in shown(browser)["problem"]
    assert rows_in_sight(browser) == 0
    assert widget.frame().is_empty()
    assert "cleaned up" in widget.static_html()


def test_an_unknown_reader_flag_is_shown_as_what_is_wrong(table, browse):
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    browser = browse(SegmentEncodings(open_table(table.path)))
    assert "unknown_1048576" in shown(browser)["problem"]
    assert browser.ask("growth")["what"] == "reply"
    assert browser.ask("history")["what"] == "reply"


def test_a_table_without_stable_row_ids_says_so(tmp_path, browse):
    table = SyntheticTable(tmp_path, stable_row_ids=False).append(rows=4)
    browser = browse(SegmentEncodings(open_table(table.path)))
    content = shown(browser)
    assert "does not have stable ones" in content["words"][0]
    assert (content["segments"]["rows"], content["statistics"]) == ([], [])
    assert browser.ask("history")["content"]["has_row_ids"] is False


def test_words_show_where_no_kernel_runs(widget):
    html = widget._repr_mimebundle_()[0]["text/html"]
    assert html.count("<li>") == 1 + len(widget.words) == 3
    assert "<li>Nothing needs to be done: better encodings would save less" in html
    assert "2,000 one-row segments" in html


def test_a_page_without_a_kernel_does_not_read_more_than_a_little(widget, monkeypatch):
    monkeypatch.setattr("lance_explorer.widgets.segment_encodings._MOST_STATIC_BYTES", 100)
    assert "run this notebook" in widget.static_html()
    assert widget._read.cache_info().misses == 0


@pytest.mark.parametrize("scenario", ["spilled", "bitmap_deletions", "empty", "one_version"])
def test_stored_tables_are_answered_in_every_version(scenario, browse):
    widget = SegmentEncodings(open_table(DATA / f"14.0.2/{scenario}.lance"))
    browser = browse(widget)
    for version in widget._table.versions()["version"].to_list():
        widget.state.version = version
        content = shown(browser)
        assert content["words"]
        expected = widget._table.inspect.row_id_encodings(version)["fragment_id"].to_list()
        assert [int(first) for first, _, _ in content["segments"]["rows"]] == expected


def test_an_option_that_it_does_not_have_is_refused(table):
    with pytest.raises(TypeError, match="fragment"):
        SegmentEncodings(open_table(table.path), fragment=1)  # type: ignore[call-arg]
