"""The widget of changes in JupyterLab."""

import re
from functools import partial
from typing import Any

import lance
import pyarrow as pa
import pytest
from playwright.sync_api import expect

from tests.synthetic import SyntheticTable
from tests.widgets.test_changes import make

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r}{options})
widget = lx.widgets.Changes(table)
widget
"""


def show(notebook, path, options=""):
    """Show the widget over a table; return the notebook once it is drawn."""
    notebook.run_cells(OPEN.format(path=str(path), options=options))
    widget(notebook).locator(".lx-range[data-drawn]").wait_for()
    return notebook


@pytest.fixture
def changes(spare_notebook):
    """Show a table that one test looks at."""
    return partial(show, spare_notebook)


@pytest.fixture(scope="module")
def small(shared_notebook, tmp_path_factory):
    path = tmp_path_factory.mktemp("changes") / "people.lance"
    make(path)
    return show(shared_notebook, path)


@pytest.fixture
def people(small):
    small.show()
    small.run("widget.change = widget.column = None; widget.key = (); widget.filter = ''")
    small.run("widget.selection = []")
    small.run("widget.state.compared_version, widget.state.version = 1, 5")
    small.wait_for("widget._worker.wait(0)")
    shown(small, 1, 5)
    lines(small, 6)
    expect_cells(small, "changed", "2.0 → 10.0", "5.0 → 0.0", "e → z")
    return small


def widget(notebook):
    return notebook.widgets(".lx-changes")


def shown(notebook, begin, end):
    """Wait until strip, counts and rows are those of two versions, and Python has them too."""
    widget(notebook).locator(f'.lx-range[data-drawn="{begin} {end}"]').wait_for()
    notebook.widgets(f'.lx-changes[data-cells="{begin} {end}"]').wait_for()
    notebook.wait_for(f"(widget.begin_version, widget.end_version) == ({begin}, {end})")


def expect_counts(notebook, name, /, **counts):
    """Wait until these are the bars of a list that are not empty."""
    bars = widget(notebook).get_by_role("group", name=name).get_by_role("button")
    some = notebook.page.locator(".lx-bar-count").filter(has_text=re.compile("[1-9]"))
    expect(bars.filter(has=some)).to_have_text(
        [re.compile(rf"^\s*{label}\s*{count}\s*$") for label, count in counts.items()]
    )


def expect_cells(notebook, mark, *texts):
    """Wait until these are the cells that are marked so."""
    expect(widget(notebook).locator(f"td.lx-mark-{mark}")).to_have_text([*texts])


def lines(notebook, number):
    """Wait for a number of lines in the table of rows."""
    noun = "row" if number == 1 else "rows"
    expect(widget(notebook).locator(".lx-rows-status")).to_have_text(f"{number} {noun}")


def handle(notebook, which):
    return widget(notebook).get_by_role("slider").nth(which)


def press(notebook, which, *keys):
    handle(notebook, which).focus()
    for key in keys:
        notebook.page.keyboard.press(key)


def drag(notebook, which, version, of):
    """Drag a handle to where one of ``of`` versions stands."""
    widget(notebook).locator(".lx-range").scroll_into_view_if_needed()
    strip = widget(notebook).locator(".lx-range").bounding_box()
    box = handle(notebook, which).bounding_box()
    mouse = notebook.page.mouse
    mouse.move(box["x"], strip["y"] + 30)
    mouse.down()
    width = (strip["width"] - 20) / of
    mouse.move(strip["x"] + 10 + width * (version - 0.5), strip["y"] + 30, steps=4)
    mouse.up()


def test_counts_cells_and_values_are_those_of_the_two_versions(people):
    expect_counts(people, "Rows by class", inserted=2, deleted=1, updated=3)
    expect_counts(people, "Rows by column", score=2, name=1)
    lines(people, 6)
    expect_cells(people, "changed", "2.0 → 10.0", "5.0 → 0.0", "e → z")
    expect_cells(people, "removed", "7", "8.0", "h")
    widget(people).get_by_text("1 row was written with the values it had.").wait_for()
    values = widget(people).get_by_role("region", name="Values before and after")
    expect(values.locator("figcaption")).to_have_text(
        ["score in 2 rows" + "mean 3.5 ± 2.12 → 5 ± 7.07", "name in 1 row"]
    )
    expect(values.get_by_role("img").last).to_have_attribute(
        "aria-label", "name, before and after. e: 1 before, 0 after; z: 0 before, 1 after"
    )
    widget(people).locator("td.lx-mark-changed").first.click()
    people.wait_for("widget.state.row_id == 1")


def test_keys_move_both_handles_and_the_rows_follow(people):
    press(people, 1, "ArrowLeft", "ArrowLeft", "ArrowLeft")
    shown(people, 1, 2)
    lines(people, 2)
    expect_cells(people, "changed", "2.0 → 10.0")
    press(people, 0, "ArrowLeft")
    shown(people, 0, 2)
    expect_counts(people, "Rows by class", inserted=8)
    press(people, 0, "End")
    shown(people, 2, 5)
    people.wait_for("(widget.state.compared_version, widget.state.version) == (5, 2)")
    press(people, 0, "Home")
    shown(people, 0, 2)


def test_the_mouse_moves_both_handles(people):
    drag(people, 1, 3, of=5)
    shown(people, 1, 3)
    drag(people, 0, 2, of=5)
    shown(people, 2, 3)
    expect_counts(people, "Rows by class", updated=1)
    expect_cells(people, "changed", "e → z", "5.0 → 0.0")
    drag(people, 0, 5, of=5)
    shown(people, 3, 5)


def test_versions_and_tags_are_typed(people):
    box = widget(people).get_by_label("From version, tag or time", exact=True)
    box.fill("early")
    box.press("Enter")
    shown(people, 2, 5)
    box = widget(people).get_by_label("To version, tag or time", exact=True)
    box.fill("77")
    box.press("Enter")
    widget(people).get_by_text("version 77 never existed").wait_for()
    box.fill("4")
    box.press("Enter")
    shown(people, 2, 4)
    widget(people).get_by_role("button", name="One commit", exact=True).click()
    shown(people, 3, 4)
    widget(people).get_by_role("button", name="All", exact=True).click()
    shown(people, 1, 5)


def test_a_typed_version_on_the_wrong_side_takes_the_other_one_along(people):
    people.run("widget.state.compared_version = 4")
    shown(people, 4, 5)
    box = widget(people).get_by_label("To version, tag or time", exact=True)
    box.fill("3")
    box.press("Enter")
    shown(people, 2, 3)
    widget(people).get_by_text("“From” was set to version 2, too").wait_for()
    people.wait_for("(widget.state.compared_version, widget.state.version) == (2, 3)")
    widget(people).get_by_role("button", name="One commit", exact=True).click()
    shown(people, 2, 3)
    box = widget(people).get_by_label("From version, tag or time", exact=True)
    box.fill("4")
    box.press("Enter")
    shown(people, 4, 5)
    widget(people).get_by_text("“to” was set to version 5, too").wait_for()


def test_bars_and_a_filter_of_values_narrow_the_rows(people):
    widget(people).get_by_role("button", name="deleted 1", exact=True).click()
    lines(people, 1)
    people.wait_for("widget.change == 'deleted'")
    chip = "Show all again, not only deleted"
    widget(people).get_by_role("button", name=chip, exact=True).click()
    lines(people, 6)
    widget(people).get_by_role("button", name="name 1", exact=True).click()
    lines(people, 1)
    people.wait_for("widget.frame()['_rowid'].to_list() == [4]")
    widget(people).get_by_role("button", name="name 1", exact=True).click()
    lines(people, 6)
    box = widget(people).get_by_role("searchbox")
    box.fill("score = 10")
    box.press("Enter")
    expect(widget(people).locator(".lx-rows-status")).to_contain_text("2 of 6 rows match")
    people.wait_for("widget.frame()['score'].to_list() == [10.0, 10.0]")


def test_python_moves_the_handles_and_is_told_what_cannot_be_compared(people):
    people.run("widget.state.compared_version, widget.state.version = 4, 3")
    shown(people, 3, 4)
    expect_counts(people, "Rows by class", deleted=1)
    heading = widget(people).get_by_role("heading", level=3)
    expect(heading).to_have_text("Version 3 → version 4")
    expect(handle(people, 0)).to_have_attribute("aria-valuetext", "version 4, Delete")
    people.run("widget.key = ['nothing']")
    refusal = widget(people).locator(".lx-refusal")
    expect(refusal).to_contain_text("no column 'nothing'")
    people.run("widget.key = ()")
    refusal.wait_for(state="detached")
    lines(people, 1)


def test_a_key_is_chosen_where_row_ids_are_not_stable(changes, tmp_path):
    path = tmp_path / "t.lance"
    rows = pa.table({"id": range(4), "name": [*"abcd"]})
    news = pa.table({"id": [1, 9], "name": ["x", "y"]})
    upsert = lance.write_dataset(rows, path).merge_insert("id")
    upsert.when_matched_update_all().when_not_matched_insert_all().execute(news)
    notebook = changes(path)
    shown(notebook, 1, 2)
    expect_counts(notebook, "Rows by class", inserted=2, deleted=1)
    widget(notebook).get_by_text("3 of 3 changed rows are uncertain").wait_for()
    widget(notebook).get_by_role("button", name="Choose a key", exact=True).click()
    widget(notebook).get_by_role("checkbox", name="id", exact=True).click()
    expect(widget(notebook).locator(".lx-doubt")).to_have_count(0)
    expect_counts(notebook, "Rows by class", inserted=1, updated=1)
    assert notebook.value("widget.key") == ("id",)
    expect_cells(notebook, "changed", "b → x")


def test_a_compaction_is_asked_whether_it_changed_a_value(changes, tmp_path):
    path = tmp_path / "t.lance"
    make(path)
    lance.dataset(path).optimize.compact_files()
    notebook = changes(path)
    latest = lance.dataset(path).version
    check = widget(notebook).locator(".lx-content")
    shown(notebook, 1, latest)
    expect(check).to_be_hidden()  # values differ, as the columns tell
    notebook.run(f"widget.state.compared_version = {latest - 1}")
    shown(notebook, latest - 1, latest)
    widget(notebook).get_by_text("A click on “moved” lists those rows").wait_for()
    check.get_by_role("button", name="Compare all values", exact=True).click()
    expect(check).to_have_attribute("data-same", "yes")
    expect(check).to_contain_text("Compared: all 9 rows of the first version")
    expect(check).to_contain_text(f"table.diff({latest - 1}, {latest}).same_content()")
    notebook.run("widget.change = 'moved'")
    lines(notebook, 9)
    expect(check).to_contain_text("all 9 rows of the first")
    notebook.run(f"widget.state.compared_version, widget.state.version = 5, {latest - 1}")
    shown(notebook, 5, latest - 1)
    expect(check).not_to_contain_text("Yes")


def test_one_version_without_rows_is_shown(changes, tmp_path):
    lance.write_dataset(pa.schema([("id", pa.int64())]).empty_table(), tmp_path / "t.lance")
    notebook = changes(tmp_path / "t.lance")
    shown(notebook, 0, 1)
    expect_counts(notebook, "Rows by class")
    press(notebook, 1, "ArrowLeft")
    shown(notebook, 0, 0)


def test_a_branch_and_lost_versions_are_shown(changes, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=2)
    branch = table.branch("dev").delete({0: [0]}).delete({0: [1]}).delete({0: [2]})
    branch.remove(4)
    notebook = changes(table.path, ", branch='dev'")
    widget(notebook).locator('.lx-range[data-drawn="2 5"]').wait_for()
    widget(notebook).get_by_text("t.lance, branch dev: 3 versions").wait_for()
    widget(notebook).get_by_text("1 version in between is no longer kept").wait_for()
    box = widget(notebook).get_by_label("From version, tag or time", exact=True)
    box.fill("main@1")
    box.press("Enter")
    widget(notebook).get_by_text('table.diff(("main", 1), 5).rows()').wait_for()


EVIL = "<img src=x onerror='owned=1'><script>owned=1</script>\u202e"


def test_hostile_names_and_values_are_text(changes, tmp_path):
    rows = pa.table({"id": [1, 2], EVIL: ["a", "b"]})
    lance.write_dataset(rows, tmp_path / "t.lance", enable_stable_row_ids=True)
    news = pa.table({"id": [2], EVIL: [EVIL]})
    upsert = lance.dataset(tmp_path / "t.lance").merge_insert("id").when_matched_update_all()
    upsert.execute(news)
    notebook = changes(tmp_path / "t.lance")
    shown(notebook, 1, 2)
    columns = widget(notebook).get_by_role("group", name="Rows by column").get_by_role("button")
    expect(columns.filter(has_text="<img src=x onerror=")).to_have_count(1)
    expect_cells(notebook, "changed", f'b → "{EVIL}"'.replace("\u202e", "\\u202e"))
    expect(widget(notebook).locator("img, script")).to_have_count(0)
    assert notebook.page.evaluate("typeof owned") == "undefined"


def test_five_thousand_versions_are_moved_through(changes, many_versions):
    notebook = changes(many_versions)
    widget(notebook).locator('.lx-range[data-drawn="1 5000"]').wait_for()
    press(notebook, 0, "PageUp")
    widget(notebook).locator('.lx-range[data-drawn="251 5000"]').wait_for()
    press(notebook, 1, *["ArrowLeft"] * 20)
    widget(notebook).locator('.lx-range[data-drawn="251 4980"]').wait_for()
    notebook.wait_for("widget.summary().select('inserted', 'unchanged').row(0) == (10, 1_000)")


def test_commits_without_rows_lead_with_what_did_change(changes, lab, tmp_path):
    """Versions 6 to 8 change a name, an index and the configuration alone."""
    path = tmp_path / "t.lance"
    make(path)
    table: Any = lance.dataset(path)
    table.alter_columns({"path": "score", "name": "points"})
    table.create_scalar_index("id", "BTREE")
    table.update_config({"owner": "<img src=x onerror='owned=1'>"})
    notebook = changes(path)
    beside = widget(notebook).get_by_role("region", name="Other differences", exact=True)
    for version, words in (
        (6, "Field score renamed to points."),
        (7, "Index id_idx added, BTREE on id."),
        (8, "Config owner set to <img src=x onerror='owned=1'>."),
    ):
        notebook.run(
            f"widget.state.compared_version, widget.state.version = {version - 1, version}"
        )
        shown(notebook, version - 1, version)
        expect(beside).to_contain_text("No row differs. What did change:")
        expect(beside.locator("li")).to_have_text([words])
    notebook.run("widget.state.compared_version, widget.state.version = 4, 6")
    shown(notebook, 4, 6)
    expect(beside.get_by_role("heading")).to_have_text("Other differences")
    notebook.run("widget.state.compared_version, widget.state.version = 5, 5")
    shown(notebook, 5, 5)
    expect(beside).to_be_hidden()
    expect(widget(notebook)).to_contain_text("No row differs, and nothing else")
    expect(widget(notebook).locator("img")).to_have_count(0)
    notebook.run("widget.state.compared_version, widget.state.version = 5, 8")
    shown(notebook, 5, 8)
    lab.expect_to_fit(widget(notebook), "changes_beside", widths=(1200, 500))
