import ast
from pathlib import Path
from typing import Any

import ipywidgets
import lance
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.widgets import explorer as explorer_module
from lance_explorer.widgets.explorer import Explorer
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.messages.explorer import Place
from lance_explorer.widgets.state import ExplorerState
from lance_explorer.widgets.view import View
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable

DATA = Path(__file__).parents[1] / "data"
VIEWS = tuple(explorer_module.TABS)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Return a table with a commit of most kinds; one column has a name that events have too."""
    path = str(tmp_path_factory.mktemp("explorer") / "people.lance")

    def people(*ids: int, factor: int = 10) -> pa.Table:
        return pa.table(
            {
                "id": pa.array(ids, pa.int64()),
                "city": [f"city {id_ % 3}" for id_ in ids],
                "version": pa.array([id_ * factor for id_ in ids], pa.int32()),
            }
        )

    dataset: Any = lance.write_dataset(people(1, 2, 3, 4), path, enable_stable_row_ids=True)
    dataset.insert(people(5, 6))
    upsert = dataset.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    upsert.execute(people(3, 7, 8, factor=11))
    dataset.delete("id = 2")
    dataset.update({"city": "'town'"}, where="id = 1")
    dataset.optimize.compact_files()
    dataset.create_scalar_index("id", "BTREE")
    dataset.tags.create("clean", 4)
    dataset.create_branch("dev", 4)
    return lx.open_table(path)


@pytest.fixture
def explorer(table):
    made = Explorer(table)
    yield made
    settle(made)


def open_widgets() -> set[str]:
    """Return the IDs of all widgets that are not closed."""
    return {*ipywidgets.widgets.widget._instances}


def listeners(state: ExplorerState) -> list[object]:
    """Return all that hears of changes of a state."""
    kinds = [kind for kinds in state._trait_notifiers.values() for kind in kinds.values()]
    return [listener for kind in kinds for listener in kind]


def settle(explorer):
    """Wait until nothing is done in the background any more."""
    assert all(view._worker.wait(60) for view in [explorer, *explorer._views.values()])


def run(code: str) -> Any:
    """Return the value of the last line of some code."""
    body = ast.parse(code).body
    names: dict[str, Any] = {}
    last = body.pop()
    assert isinstance(last, ast.Expr)
    exec(compile(ast.Module(body, []), "code", "exec"), names)
    return eval(compile(ast.Expression(last.value), "code", "eval"), names)


def assert_code_gives_frame(explorer: Explorer, *, is_ordered: bool = True) -> None:
    frame, code = explorer.frame(), explorer.code()
    if code.endswith("# no row is chosen"):
        assert frame.height == 0
        return
    found = run(code)
    assert_frame_equal(found.select(frame.columns), frame, check_row_order=is_ordered)


# ------------------------------------------------------------------------------------ views


def test_the_overview_comes_first_and_others_when_they_are_chosen(explorer):
    assert explorer.view == "overview"
    assert [*explorer._views] == ["overview"]
    explorer.view = "lineage"
    assert [*explorer._views] == ["overview", "lineage"]


def test_all_views_that_are_promised_are_there():
    promised = "overview log time_travel changes columns row lineage indices disk encodings"
    assert promised.split() == [*VIEWS]


def test_one_view_is_in_sight(explorer):
    for name in VIEWS:
        explorer.view = name
        assert {n for n, view in explorer._views.items() if view.is_shown} == {name}
        assert explorer.place.view == name
    assert [*explorer.parts] == [*explorer._views] == [*VIEWS]
    assert len({part.number for part in explorer.parts.values()}) == len(VIEWS)


def test_views_speak_over_the_line_of_the_explorer(explorer):
    explorer.view = "time_travel"
    number = explorer.parts["time_travel"].number
    content = {"kind": "nothing", "seq": 1, "asker": "test", "part": [number]}
    explorer.comm.messages.clear()
    explorer.comm.handle_msg(
        {"content": {"data": {"method": "custom", "content": content}}, "buffers": []}
    )
    [(answer, _)] = explorer.comm.messages
    assert (answer["what"], answer["part"], answer["asker"]) == ("error", [number], "test")


def test_what_is_chosen_is_told_once_for_all_views(explorer):
    explorer.view = "time_travel"
    settle(explorer)
    told = []
    explorer.observe(lambda change: told.append(change["name"]), explorer.keys)
    explorer.state.version = 3
    settle(explorer)
    assert sorted(told) == ["address", "shared"]
    assert explorer.shared.version == "3"
    assert explorer.shared.revision == explorer.state.revision


def test_another_branch_is_shown_in_the_same_view(explorer, browse, table):
    explorer.view = "time_travel"
    explorer.state.version, explorer.state.row_id = 2, 3
    browser = browse(explorer)
    assert browser.ask("about")["content"]["branches"] == ["dev"]
    old = explorer._views["time_travel"]
    assert browser.ask("branch", branch="dev")["what"] == "reply"
    [told] = browser.news("about")
    assert told["branch"] == "dev"
    assert (explorer.view, old.comm) == ("time_travel", None)
    dev = lx.open_table(table.uri, branch="dev")
    assert (explorer.state.version, explorer.state.row_id) == (dev.latest.version, None)
    assert_code_gives_frame(explorer)
    assert explorer.place.can_go_back is False
    assert browser.ask("branch", branch=None)["what"] == "reply"
    assert explorer.frame().equals(table.inspect.fragments())
    assert [*explorer.parts] == ["time_travel"]


def test_a_view_is_kept(explorer):
    explorer.view = "time_travel"
    made = explorer._views["time_travel"]
    explorer.view = "row"
    explorer.view = "time_travel"
    assert explorer._views["time_travel"] is made


def test_a_view_that_there_is_not_is_refused(explorer, table):
    with pytest.raises(InvalidArgumentError, match=r"view is one of \('overview'.* not 'rows'"):
        explorer.view = "rows"
    with pytest.raises(InvalidArgumentError):
        table.explore(view="rows")


def test_a_table_is_explored_from_any_view(table):
    assert table.explore().view == "overview"
    explorer = table.explore(view="time_travel")
    assert repr(explorer) == "Explorer(people.lance: time_travel)"


def test_the_latest_version_is_chosen_at_first(explorer):
    assert explorer.selection == {
        "view": "overview",
        "version": 8,
        "compared_version": None,
        "fragment_id": None,
        "row_id": None,
        "filter": "",
    }


def test_a_state_that_is_given_is_kept(table):
    state = ExplorerState(version=2, row_id=3)
    explorer = Explorer(table, "row", state=state)
    assert explorer.selection["version"] == 2
    assert explorer.frame()["event"].to_list() == ["created", "moved"]


# ---------------------------------------------------------------------------------- linked


def test_views_in_sight_follow_the_state(explorer):
    explorer.view = "time_travel"
    explorer.state.version = 3
    assert explorer.frame().height == 3
    explorer.view = "changes"
    assert (explorer.selection["compared_version"], explorer.selection["version"]) == (2, 3)
    settle(explorer)
    assert explorer.frame()["_change_type"].value_counts(sort=True)["count"].to_list() == [2, 1]


def test_a_view_out_of_sight_does_nothing_until_it_is_shown(explorer, monkeypatch):
    compared: list[int] = []
    compare = lx.widgets.Changes._compare

    def noting(view: lx.widgets.Changes) -> None:
        assert view.state.version is not None
        compared.append(view.state.version)
        compare(view)

    monkeypatch.setattr(lx.widgets.Changes, "_compare", noting)
    explorer.view = "changes"
    settle(explorer)
    explorer.view = "time_travel"
    compared.clear()
    sent = len(explorer._views["changes"].comm.messages)
    for version in (7, 6, 5, 4, 3):
        explorer.state.version = version
    settle(explorer)
    assert compared == []
    assert len(explorer._views["changes"].comm.messages) == sent
    explorer.view = "changes"
    settle(explorer)
    assert compared == [3]


def test_to_compare_a_version_the_one_before_is_chosen(explorer):
    explorer.state.version = 5
    explorer.view = "changes"
    assert explorer.selection["compared_version"] == 4
    explorer.state.compared_version = None
    assert explorer.selection["compared_version"] == 4
    explorer.view = "row"
    explorer.state.compared_version = None
    assert explorer.selection["compared_version"] is None


def test_the_first_version_is_compared_with_the_empty_table(explorer):
    explorer.state.version = 1
    explorer.view = "changes"
    assert explorer.selection["compared_version"] == 0


def test_each_view_has_its_own_filter(explorer):
    explorer.view = "row"
    explorer.state.filter = "event = 'moved'"
    explorer.view = "changes"
    assert explorer.selection["filter"] == ""
    explorer.state.filter = "id > 2"
    explorer.view = "row"
    assert explorer.selection["filter"] == "event = 'moved'"
    explorer._go_by(-1)
    assert explorer.selection["filter"] == "id > 2"


def test_a_view_may_open_another(explorer, browse):
    view = explorer._views["overview"]
    browse(view).ask("go", view="row", changes={"row_id": "2", "version": "3"})
    assert (explorer.view, explorer.state.row_id, explorer.state.version) == ("row", 2, 3)
    explorer._go_by(-1)
    assert (explorer.view, explorer.state.row_id, explorer.state.version) == ("overview", None, 8)


# -------------------------------------------------------------------------- back and forward


def test_back_and_forward_bring_back_view_and_choices(explorer, browse):
    browser = browse(explorer)
    explorer.view = "time_travel"
    for version in (7, 6, 5, 4):
        explorer.state.version = version
    explorer.state.fragment_id = 0
    assert explorer.place == Place("time_travel", can_go_back=True, can_go_forward=False)
    browser.ask("step", by=-1)
    assert (explorer.state.version, explorer.state.fragment_id) == (4, None)
    browser.ask("step", by=-1)
    assert (explorer.view, explorer.state.version) == ("time_travel", 8)
    browser.ask("step", by=-1)
    assert explorer.view == "overview"
    assert explorer.place.can_go_back is False
    for _ in range(3):
        browser.ask("step", by=1)
    assert (explorer.view, explorer.state.version, explorer.state.fragment_id) == (
        "time_travel",
        4,
        0,
    )
    assert explorer.place.can_go_forward is False


def test_what_a_view_chooses_for_itself_is_no_step(explorer):
    explorer.view = "changes"
    explorer._go_by(-1)
    assert explorer.view == "overview"
    assert explorer.selection["compared_version"] is None
    assert explorer.place.can_go_back is False


# ------------------------------------------------------------------------------------ search


@pytest.mark.parametrize(
    ("begin", "typed", "view", "changes"),
    [
        ("overview", "v3", "time_travel", {"version": "3"}),
        ("row", "clean", "time_travel", {"version": "4"}),
        ("changes", "v3", "changes", {"version": "3"}),
        ("lineage", "version 3", "lineage", {"version": "3"}),
        ("overview", "row 2", "row", {"row_id": "2"}),
        ("changes", "0:1@1", "row", {"row_id": "1"}),
        ("changes", "fragment 1", "lineage", {"fragment_id": "1"}),
    ],
)
def test_a_search_leads_to_the_view_that_shows_it(table, browse, begin, typed, view, changes):
    explorer = Explorer(table, begin)
    answer = browse(explorer).ask("search", text=typed)
    assert answer["content"] == {"view": view, "changes": changes}
    settle(explorer)


def test_a_question_is_answered_with_lines_to_copy(table, browse):
    explorer = Explorer(table)
    answer = browse(explorer).ask("search", text="why is it big")["content"]["answer"]
    assert answer["sentence"] == f"{table.disk_usage().sentence}."
    assert answer["place"]["view"] == "disk"
    assert answer["code"].endswith("\ntable.disk_usage().summary()")
    assert answer["can_go_on"] is False
    settle(explorer)


def test_the_log_is_shown_with_the_filters_of_an_answer(table, browse):
    explorer = Explorer(table)
    browse(explorer).ask("show_log", filters={"operation": ["delete"]})
    assert explorer.view == "log"
    assert explorer.frame()["operation"].to_list() == ["Delete"]
    settle(explorer)


def test_examples_are_of_the_table(table, browse):
    explorer = Explorer(table)
    found = browse(explorer).ask("examples")["content"]["examples"]
    assert {"text", "hint"} == {*found[0]}
    assert "why is it big" in [example["text"] for example in found]
    settle(explorer)


def test_a_search_that_finds_nothing_says_why(explorer, browse):
    answer = browse(explorer).ask("search", text="nowhere")
    assert answer["what"] == "reply"
    problem = answer["content"]["problem"]
    assert problem.startswith("Nothing is called 'nowhere', and no row of main has it. You can")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("help", "Type a value, a version, a day, or a question."),
        ("?", "Type a value, a version, a day, or a question."),
        ("why is it slow", "No check finds a reason"),
        ("what can I delete?", "A cleanup now, of what is older than 14 days"),
        ("is it healthy", "Nothing needs to be done."),
        ("compact", "A compaction: "),
        ("what changed today", "to version 8, in "),
        ("what changed", "to version 8, in "),
        ("what changed yesterday", "to version 8, in "),
        ("city = town", "1 row found"),
        ("rows where city = 'town'", "1 row found"),
        (
            "put back id = 2",
            "1 row found in versions 1 to 8 with the index 'id_idx'. It was deleted in version 4",
        ),
        ("who changed id = 1", "cells of 1 row"),
        ("duplicates of id", "Each key of id is there once"),
        ("undo", "Undo version 8"),
        ("tags", "1 tag"),
    ],
)
def test_everyday_words_are_understood(explorer, browse, typed, told):
    answer = browse(explorer).ask("search", text=typed)["content"]["answer"]
    assert told in answer["sentence"]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("4711", "version 4711 never existed; 8 versions remain, 1 to 8; no row has 4711 either"),
        ("id > avg", "'id > avg' cannot be read as a filter: compare `id` with a value"),
        ("nothing = 3", "there is no column 'nothing'; there are: city, id and version"),
        ("why is the sky blue", "Nothing is called 'why is the sky blue'"),
        ("select * from t", "Nothing is called 'select * from t', and rows are searched for words"),
    ],
)
def test_what_is_not_understood_is_said_without_the_words_of_a_parser(
    explorer, browse, typed, told
):
    problem = browse(explorer).ask("search", text=typed)["content"]["problem"]
    assert problem.startswith(told)
    assert "pars" not in problem.lower().replace("sparse", "")


# -------------------------------------------------------------------------------------- code

STATES: list[dict[str, Any]] = [
    {},
    {"version": 3, "compared_version": 1},
    {"version": 2, "compared_version": 7, "row_id": 2, "fragment_id": 1},
    {"row_id": 5, "filter": "fragment"},
    {"row_id": 4, "version": 5, "filter": "city"},
    {"row_id": 1, "version": 1, "compared_version": 0, "fragment_id": 0},
]

FILTERS = {"changes": "id > 2", "row": "version > 2", "disk": "path is not null"}


@pytest.mark.parametrize("branch", [None, "dev"])
@pytest.mark.parametrize("choices", STATES, ids=str)
@pytest.mark.parametrize("view", VIEWS)
def test_code_gives_the_frame(table, view, choices, branch):
    on_branch = lx.open_table(table.uri, branch=branch)
    if branch and choices:
        kept = on_branch.versions()["version"].to_list()
        choices = {**choices, "version": kept[-1], "compared_version": kept[0]}
    explorer = Explorer(on_branch, view, state=ExplorerState(**choices))
    assert_code_gives_frame(explorer, is_ordered=view != "changes")
    settle(explorer)


@pytest.mark.parametrize("view", FILTERS)
def test_code_of_filtered_rows_gives_the_frame(table, view):
    state = ExplorerState(row_id=2, filter=FILTERS[view], compared_version=3)
    explorer = Explorer(table, view, state=state)
    assert_code_gives_frame(explorer, is_ordered=view != "changes")
    settle(explorer)


@pytest.mark.parametrize(
    "choose",
    [
        {"change": "updated"},
        {"change": "moved"},
        {"change": "deleted"},
        {"column": "city"},
        {"change": "updated", "column": "version"},
        {"key": ("id", "city")},
    ],
    ids=str,
)
def test_code_of_changes_has_what_was_narrowed(table, choose):
    explorer = Explorer(table, state=ExplorerState(version=7, compared_version=1))
    explorer.view = "changes"
    settle(explorer)
    for name, value in choose.items():
        setattr(explorer._views["changes"], name, value)
    assert explorer.frame().height > 0
    assert_code_gives_frame(explorer, is_ordered=False)
    settle(explorer)


def test_code_of_sorted_rows_is_sorted(table):
    explorer = Explorer(table, "changes", state=ExplorerState(compared_version=1))
    settle(explorer)
    explorer._views["changes"].sort_by("id", "_change_type", descending=True)
    assert explorer.frame()["id"][0] == 8
    assert_code_gives_frame(explorer)
    settle(explorer)


def test_code_of_a_part_of_the_lineage(explorer):
    explorer.view = "lineage"
    explorer._views["lineage"].between = (1, 2)
    assert explorer.frame().height == 2
    assert_code_gives_frame(explorer)


def test_code_is_asked_for_by_the_bar(explorer, browse):
    answer = browse(explorer).ask("code")
    assert answer["content"]["code"] == explorer.code()


# ----------------------------------------------------------------------------- other tables


def opened(made: SyntheticTable) -> lx.Table:
    return lx.open_table(made.path)


def assert_code_does_what_frame_does(explorer: Explorer) -> None:
    """Fail unless the code gives the frame, or raises what it raises."""
    failure = ""
    try:
        explorer.frame()
    except lx.LanceExplorerError as error:
        failure = str(error)
    if failure:
        with pytest.raises(lx.LanceExplorerError) as raised:
            run(explorer.code())
        assert str(raised.value) == failure
    else:
        assert_code_gives_frame(explorer, is_ordered=explorer.view != "changes")


@stored_check(lambda asked: asked.release in ("0.10.18", "1.0.4"))
def check_views_show_tables_of_old_writers(asked):
    explorer = asked.table.explore()
    for view in VIEWS:
        explorer.view = view
        settle(explorer)
        assert_code_does_what_frame_does(explorer)


@pytest.mark.parametrize("view", VIEWS)
def test_views_show_a_version_that_cannot_be_read(tmp_path, view):
    made = SyntheticTable(tmp_path / "t.lance").append()
    made.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    explorer = opened(made).explore(view)
    settle(explorer)
    if view == "encodings":  # it shows the failure, and no segments
        assert explorer.frame().height == 0
        with pytest.raises(lx.UnsupportedFeatureError):
            run(explorer.code())
    else:
        assert_code_does_what_frame_does(explorer)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", ["empty", "one version", "no stable row IDs"])
def test_views_show_other_tables(tmp_path, kind, view):
    made = SyntheticTable(tmp_path / "t.lance", stable_row_ids=kind != "no stable row IDs")
    made = made.overwrite(0, 0) if kind == "empty" else made.append(rows=3)
    if kind == "no stable row IDs":
        made.append().compact([0, 1])
    explorer = opened(made).explore(view)
    if view == "changes":  # there are no data files
        assert explorer._views["changes"].summary().height == 1
    else:
        assert_code_gives_frame(explorer)
    settle(explorer)


def test_a_view_that_cannot_be_made_says_why_and_may_be_tried_again(table, monkeypatch, browse):
    failures = [lx.StorageError("the bucket does not answer")]

    def make(*arguments: Any, **options: Any) -> View:
        if failures:
            raise failures.pop()
        return lx.widgets.TimeTravel(*arguments, **options)

    tab = explorer_module.TABS["time_travel"]
    broken = explorer_module._Tab(tab.name, tab.label, make)
    monkeypatch.setitem(explorer_module.TABS, "time_travel", broken)
    explorer = Explorer(table, "time_travel")
    shown = explorer._views["time_travel"]
    browser = browse(shown)
    failure = browser.ask("make")["content"]
    assert (failure["title"], failure["message"]) == ("Storage error", "the bucket does not answer")
    with pytest.raises(lx.StorageError, match="does not answer"):
        explorer.frame()
    assert browser.ask("make")["what"] == "reply"
    assert explorer.frame().height == table.at(8).num_fragments
    assert explorer.parts["time_travel"].shows == "time_travel"


def test_views_are_made_anew_after_the_table_was_refreshed(tmp_path):
    made = SyntheticTable(tmp_path / "t.lance").append()
    explorer = opened(made).explore("time_travel")
    explorer.view = "lineage"
    assert explorer.frame().height == 1
    explorer.view = "time_travel"
    first = explorer._views["lineage"]
    made.append()
    explorer._table.refresh()
    explorer.view = "lineage"
    assert explorer.frame().height == 2
    assert explorer._views["lineage"] is not first
    assert first.comm is None


def test_a_page_without_kernel_gets_the_table(explorer, table):
    bundle, _ = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert bundle["text/html"] == table._repr_html_()


# ------------------------------------------------------------------------------------- closing it


SINGLE = [getattr(lx.widgets, name) for name in lx.widgets.__all__ if not name.endswith("Explorer")]


@pytest.mark.parametrize("kind", [*SINGLE, FrameTable], ids=lambda kind: kind.__name__)
def test_a_closed_view_leaves_no_widget_and_hears_nothing(table, kind):
    before = open_widgets()
    state = ExplorerState(version=2)
    view = kind(table.versions() if kind is FrameTable else table, state=state)
    assert len(open_widgets() - before) == 2  # the view and its layout
    view.close()
    view.close()
    assert open_widgets() == before
    assert listeners(state) == []
    assert view._worker.wait(60)


def test_a_closed_explorer_leaves_no_widget_and_hears_nothing(table):
    before = open_widgets()
    state = ExplorerState()
    explorer = Explorer(table, state=state)
    for name in VIEWS:
        explorer.view = name
    settle(explorer)
    assert len(open_widgets() - before) == 2 + len(VIEWS)  # it has a layout, its views have none
    explorer.close()
    explorer.close()
    assert open_widgets() == before
    assert listeners(state) == []


def test_a_view_that_shares_the_state_of_a_closed_explorer_goes_on(table):
    state = ExplorerState(version=1)
    other = lx.widgets.TimeTravel(table, state=state)
    Explorer(table, state=state).close()
    state.version = 3
    assert other.shared.version == "3"
    other.close()


def test_a_view_that_is_made_again_leaves_nothing_of_the_one_before(table, monkeypatch):
    before = open_widgets()
    with monkeypatch.context() as context:
        context.setattr(Explorer, "_made", lambda *_: 1 / 0)
        explorer = Explorer(table)
    explorer._make_again("overview")
    explorer.view = "overview"
    assert len(open_widgets() - before) == 2 + 1
    explorer.close()
    assert open_widgets() == before
