"""The lineage widget, without a browser: what Python holds, and how it answers."""

import pytest

from lance_explorer import open_table
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.widgets import LineageGraph
from lance_explorer.widgets.state import ExplorerState
from tests.synthetic import SyntheticTable


@pytest.fixture
def written(tmp_path):
    """Fragments 0 to 2; rows 1 and 5 are updated into 3, and 0, 1 and 3 are compacted into 4."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=2).append(rows=3)
    return table.update({0: [1], 1: [1]}).delete({2: [0]}).compact([0, 1, 3]).tag("done", 5)


@pytest.fixture
def widget(written):
    return LineageGraph(open_table(written.path))


def picture(browser, span=None):
    answer = browser.ask("picture", span=span)
    assert answer["what"] == "reply", answer
    return answer["content"]


def test_opening_tells_of_versions_and_tags(widget, browse):
    browser = browse(widget)
    content = browser.ask("open")["content"]
    assert (content["begin"], content["end"]) == (1, 6)
    assert content["tags"] == [{"name": "done", "version": "5", "place": 4}]
    assert content["origins"] == []
    assert content["versions"].tolist() == [1, 2, 3, 4, 5, 6]
    assert "frag" not in str(browser.news("between"))


def test_a_branch_comes_with_the_versions_of_its_parent(written, browse):
    widget = LineageGraph(open_table(written.branch("dev").append().path))
    content = browse(widget).ask("open")["content"]
    assert content["origins"] == [{"branch": None, "end": 6}]
    assert content["tags"] == [{"name": "done", "version": "5", "place": 4}]
    assert content["versions"].tolist() == [1, 2, 3, 4, 5, 6, 6, 7]


def test_lanes_are_the_fragments_with_their_rows(widget, browse):
    content = picture(browse(widget))
    fragments = widget.frame()
    assert [lane["node"] for lane in content["lanes"]] == fragments["node"].to_list()
    assert [lane["title"] for lane in content["lanes"]] == [f"Fragment {n}" for n in range(5)]
    rows = [int(words.split()[0]) for words in content["step_words"]]
    lanes = content["step_lane"].tolist()
    of_lane = {lane: [r for r, at in zip(rows, lanes, strict=True) if at == lane] for lane in lanes}
    assert of_lane == {0: [4, 3], 1: [4, 3], 2: [3, 2], 3: [2], 4: [8]}
    moved = sorted(int(words[0].split()[0]) for words in content["ribbon_words"])
    assert moved == [1, 1, 2, 3, 3]
    assert len(content["ribbon_x0"].tolist()) == 5


def test_a_selected_fragment_comes_with_its_ancestors_and_descendants(widget, browse):
    browser = browse(widget)
    browser.ask("select", node="3@3")
    assert widget.selection["fragment_id"] == 3
    selected = picture(browser)["selected"]
    assert selected["lanes"] == [0, 1, 3, 4]
    assert (selected["num_ancestors"], selected["num_descendants"]) == (2, 1)
    assert picture(browser, ["1", "2"])["selected"]["lane"] is None


def test_only_the_ancestry_can_be_shown(widget, browse):
    browser = browse(widget)
    browser.ask("select", node="2@2", only=True)
    assert [lane["node"] for lane in picture(browser)["lanes"]] == ["2@2"]
    assert widget.frame()["node"].to_list() == ["2@2"]
    assert len(widget.edges()) == 0
    browser.ask("select", node=None)
    assert len(picture(browser)["lanes"]) == 5
    assert widget.selection["node"] is None


def test_python_selects_the_life_that_the_version_has(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=3)
    table.delete({1: [0, 1, 2]}).restore(2)
    widget = LineageGraph(open_table(table.path))
    widget.state.fragment_id = 1
    assert widget.selection["node"] == "1@4"
    widget.state.version = 2
    assert widget.selection["node"] == "1@2"
    browse(widget).ask("select", node="1@4")
    assert widget.selection["node"] == "1@4"


def test_a_fragment_that_never_was_is_selected_without_lanes(widget, browse):
    widget.state.fragment_id = 99
    assert widget.selection["node"] is None
    assert picture(browse(widget))["selected"] is None


@pytest.mark.parametrize(
    ("typed", "row_id"),
    [("5", 5), (" row 5", 5), ("1:1@2", 5), ("addr 4294967297@1", 5), ("3:1", 5), ("2:2", 10)],
)
def test_a_row_is_found_by_its_id_or_an_address(widget, browse, typed, row_id):
    browser = browse(widget)
    assert browser.ask("find", text=typed)["content"] == {"row_id": str(row_id)}
    assert widget.state.row_id == row_id


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("tram", "is not a row: type a value such as id = 42, a row ID"),
        ("5000", "did not exist by version 6"),
        ("9:1", "there is no live row at offset 1 of fragment 9 in any kept version"),
        ("1:1@4", "there is no live row at offset 1 of fragment 1 in version 4"),
        ("1:1@17", "version 17"),
        (str(2**64 - 1), "too large"),
        (f"1:{2**32}", "is not an offset"),
    ],
)
def test_a_row_that_is_not_there_is_told_in_words(widget, browse, typed, words):
    browser = browse(widget)
    assert words in browser.ask("find", text=typed)["content"]["problem"]
    assert widget.state.row_id is None


def test_the_way_of_a_row_comes_with_its_events(widget, browse):
    widget.state.row_id = 5
    row = picture(browse(widget))["row"]
    assert [(event["version"], event["event"]) for event in row["events"]] == [
        ("1", "created"),
        ("3", "updated"),
        ("6", "moved"),
    ]
    assert [stay[3] for stay in row["stays"]] == [1, 3, 6]
    assert row["events"][1]["way"] == "from fragment 1, offset 1 to fragment 3, offset 1"


def test_a_deleted_row_ends_where_it_was(widget, browse):
    widget.state.row_id = 8
    row = picture(browse(widget))["row"]
    assert [(event["event"], event["is_end"]) for event in row["events"]] == [
        ("created", False),
        ("deleted", True),
    ]


def test_a_row_of_the_state_that_is_not_there_is_a_problem_beside_the_picture(widget, browse):
    widget.state.row_id = 12_345
    content = picture(browse(widget))
    assert content["row"] is None
    assert "12345 did not exist" in content["row_problem"]
    assert len(content["lanes"]) == 5


def test_without_stable_row_ids_a_row_is_its_last_address(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    table.append(rows=4, fragments=2).compact([0, 1])
    widget = LineageGraph(open_table(table.path))
    browser = browse(widget)
    assert browser.ask("find", text="1:2@1")["content"] == {"row_id": str((2 << 32) + 6)}
    events = picture(browser)["row"]["events"]
    assert [event["event"] for event in events] == ["created", "moved"]


def test_the_frame_follows_what_is_looked_at(widget, browse):
    widget.between = (1, 2)
    assert widget.frame()["node"].to_list() == ["0@1", "1@1", "2@2"]
    browser = browse(widget)
    browser.ask("look", span=["6", "6"])
    assert widget.between == (6, 6)
    assert widget.frame()["node"].to_list() == ["2@2", "4@6"]
    browser.ask("look", span=None)
    assert len(widget.frame()) == 5
    with pytest.raises(InvalidArgumentError):
        widget.between = (5, 2)


def test_views_of_one_state_are_linked(written):
    state = ExplorerState(version=3)
    one, other = [LineageGraph(open_table(written.path), state=state) for _ in range(2)]
    one.state.row_id = 7
    assert other.selection == {"version": 3, "fragment_id": None, "node": None, "row_id": 7}


def test_an_empty_table_has_a_picture(tmp_path, browse):
    widget = LineageGraph(open_table(SyntheticTable(tmp_path / "t.lance").overwrite(0, 0).path))
    assert picture(browse(widget))["lanes"] == []
    assert len(widget.frame()) == 0


def test_many_fragments_are_one_lane_until_fewer_versions_are_looked_at(tmp_path, browse):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3)
    while table.version < 300:
        table.append(rows=1)
    widget = LineageGraph(open_table(table.compact(range(2, 300)).path))
    browser = browse(widget)
    content = picture(browser)
    assert (len(content["lanes"]), content["num_fragments"], content["has_rest"]) == (
        201,
        301,
        True,
    )
    content = picture(browser, ["1", "120"])
    assert (len(content["lanes"]), content["num_fragments"], content["has_rest"]) == (
        120,
        120,
        False,
    )


def test_refresh_finds_new_fragments(widget, written, browse):
    browser = browse(widget)
    picture(browser)
    written.append(rows=1)
    assert browser.ask("open")["content"]["end"] == 6
    assert browser.ask("open", refresh=True)["content"]["end"] == 7
    assert len(picture(browser)["lanes"]) == 6
