"""The widget of encodings, without a browser: what it shows, and what it gives back."""

from typing import Any

import pytest

from lance_explorer.table import open_table
from lance_explorer.widgets import ExplorerState, SegmentEncodings
from tests.synthetic import SyntheticTable

PLOTLY = "application/vnd.plotly.v1+json"


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """Two fragments; the second one, of version 2, has 2,000 scattered row IDs."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=10_000)
    return table.update({0: range(0, 10_000, 5)}).append(rows=3)


@pytest.fixture
def widget(table) -> SegmentEncodings:
    return SegmentEncodings(open_table(table.path))


def controls(widget: SegmentEncodings):
    [version, fragment] = widget.children[0].children
    return version, fragment


def picture(widget: SegmentEncodings) -> dict[str, Any]:
    [output] = widget.children[3].outputs
    data: dict[str, Any] = output["data"][PLOTLY]
    return data


def words(widget: SegmentEncodings) -> str:
    return str(widget.children[1].value)


def test_it_begins_at_the_latest_version(widget, table):
    assert widget.selection == {"version": 3, "fragment_id": None}
    latest = open_table(table.path).inspect.row_id_segments()
    assert widget.frame().equals(latest)
    assert widget.children[4].frame().equals(latest)


def test_the_slider_chooses_the_version(widget):
    version, _ = controls(widget)
    assert version.options == (1, 2, 3)
    version.value = 1
    assert widget.state.version == 1
    assert widget.frame()["fragment_id"].to_list() == [0]
    assert picture(widget)["layout"]["title"]["text"].startswith(
        "Version 1: row IDs of 1 fragment "
    )


def test_fragments_that_would_save_most_come_first(widget):
    _, fragment = controls(widget)
    assert [label for label, _ in fragment.options][:2] == ["all", "1"]


def test_a_chosen_fragment_is_shown_alone(widget):
    _, fragment = controls(widget)
    fragment.value = 1
    assert widget.selection == {"version": 3, "fragment_id": 1}
    assert len(widget.frame()) == 2_000
    assert widget.children[4].frame().equals(widget.frame())
    assert picture(widget)["layout"]["yaxis"]["ticktext"] == ["1"]
    assert "2,000 one-row segments" in words(widget)


def test_views_that_share_a_state_are_linked(table):
    state = ExplorerState(version=2)
    first, second = [SegmentEncodings(open_table(table.path), state=state) for _ in range(2)]
    controls(first)[0].value = 1
    assert controls(second)[0].value == 1
    assert second.frame().equals(first.frame())


def test_a_fragment_that_the_version_lacks_stays_chosen_for_other_views(widget):
    widget.state.fragment_id = 1
    widget.state.version = 1
    assert widget.state.fragment_id == 1
    assert widget.frame()["fragment_id"].to_list() == [0]
    widget.state.version = 3
    assert set(widget.frame()["fragment_id"]) == {1}


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("Growth over versions", ["row IDs", "row versions", "bytes a row", "count"]),
        ("Age of rows", ["rows created", "rows last updated"]),
    ],
)
def test_other_pictures_can_be_chosen(widget, name, titles):
    widget.children[2].value = name
    layout = picture(widget)["layout"]
    axes = sorted(axis for axis in layout if axis.startswith("yaxis"))
    assert [layout[axis]["title"]["text"] for axis in axes] == titles


def test_a_version_that_is_not_kept_is_shown_as_what_is_wrong(table):
    table.append(rows=1).remove(2)
    widget = SegmentEncodings(open_table(table.path))
    widget.state.version = 2
    assert "version 2 was cleaned away" in words(widget)
    assert widget.frame().is_empty()


def test_an_unknown_reader_flag_is_shown_as_what_is_wrong(table):
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    widget = SegmentEncodings(open_table(table.path))
    assert "unknown_1048576" in words(widget)
    widget.children[2].value = "Age of rows"
    assert "unknown_1048576" in widget.children[3].outputs[0]["text"]


def test_a_table_without_stable_row_ids_says_so(tmp_path):
    table = SyntheticTable(tmp_path, stable_row_ids=False).append(rows=4)
    assert "does not have stable ones" in words(SegmentEncodings(open_table(table.path)))


def test_the_advice_shows_where_no_kernel_runs(widget):
    html = widget._repr_mimebundle_()["text/html"]
    assert html.count("<li>") == len(widget.advice) == 2
    assert "2,000 one-row segments" in html
