"""The log in the explorer, in JupyterLab."""

import pytest
from playwright.sync_api import expect

from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r})
explorer = table.explore("log")
explorer
"""


@pytest.fixture(scope="module")
def photos_notebook(shared_notebook, photos_path):
    shared_notebook.run_cells(OPEN.format(path=str(photos_path)))
    shared_notebook.widgets(".lx-log[data-lines]").wait_for()
    return shared_notebook


@pytest.fixture
def photos(photos_notebook):
    """The log of the sample table at its last version, without filters."""
    photos_notebook.show()
    photos_notebook.run("explorer.view = 'log'; explorer._views['log'].show_only()")
    photos_notebook.run("explorer.state.compared_version = None; explorer.state.version = 45")
    photos_notebook.widgets('.lx-log[data-lines="50"][data-chosen="45"]').wait_for()
    return photos_notebook


def line(notebook, version, branch=None):
    which = f'[data-branch="{branch}"]' if branch else ":not([data-branch])"
    return notebook.widgets(f'.lx-log-line[data-version="{version}"]{which}')


def log(notebook):
    return notebook.widgets(".lx-log")


def test_lines_tell_what_commits_did_newest_first(photos):
    first = log(photos).locator('[aria-posinset="1"]')
    expect(first).to_have_attribute("data-version", "45")
    words = photos.value("table.log()['words'][0].replace('`', '')")
    expect(first).to_contain_text(words)
    expect(first).to_contain_text("main")
    expect(line(photos, 34, "faces")).to_contain_text("faces-tried")


def test_lanes_stand_beside_all_lines_in_sight(photos):
    lanes, lines = [
        log(photos).locator(part).bounding_box()
        for part in (".lx-log-lanes canvas", ".lx-log-lines")
    ]
    assert lines["height"] - 4 <= lanes["height"] <= lines["height"]


def test_keys_and_clicks_choose_versions_and_two_are_compared(photos):
    line(photos, 41).click()
    photos.wait_for("explorer.state.version == 41")
    photos.page.keyboard.press("ArrowDown")
    photos.wait_for("explorer.state.version == 40")
    line(photos, 44).click(modifiers=["Shift"])
    photos.wait_for("explorer.state.compared_version == 44")
    log(photos).get_by_role("button", name="Compare 40 with 44", exact=True).click()
    photos.wait_for("(explorer.view, explorer.state.compared_version) == ('changes', 40)")
    photos.wait_for("explorer.state.version == 44")


def test_the_end_of_the_log_is_reached(photos):
    log(photos).get_by_role("listbox").focus()
    photos.page.keyboard.press("End")
    photos.wait_for("explorer.state.version == 1")
    expect(line(photos, 1)).to_be_visible()
    expect(line(photos, 45)).to_have_count(0)


def test_filters_leave_what_python_leaves(photos):
    log(photos).get_by_role("searchbox").fill("phone")
    number = photos.value("table.log(text='phone').height")
    photos.widgets(f'.lx-log[data-lines="{number}"]').wait_for()
    photos.wait_for(f"explorer.frame().height == {number}")
    log(photos).locator('[data-kind="append"]').click()
    both = photos.value("table.log(text='phone', operation=['append']).height")
    photos.widgets(f'.lx-log[data-lines="{both}"]').wait_for()
    log(photos).get_by_label("Show commits made since then, in UTC").fill("gibberish")
    expect(log(photos).get_by_role("alert").filter(visible=True)).to_contain_text("gibberish")


def test_a_commit_of_another_branch_leads_there(photos):
    line(photos, 33, "faces").click()
    assert photos.value("explorer.state.version") == 45
    log(photos).get_by_role("button", name="Switch to faces", exact=True).click()
    photos.wait_for("explorer._table.branch == 'faces' and explorer.view == 'time_travel'")
    photos.wait_for("explorer.state.version == 33")
    photos.widgets("select").first.select_option("")
    photos.wait_for("explorer._table.branch is None")


def test_many_commits_have_few_lines_on_the_page(spare_notebook, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance")
    for _ in range(300):
        table.append()
    spare_notebook.run_cells(OPEN.format(path=str(table.path)))
    spare_notebook.widgets('.lx-log[data-lines="300"]').wait_for()
    spare_notebook.widgets(".lx-log-lines").evaluate("(list) => { list.scrollTop = 200 * 28; }")
    expect(line(spare_notebook, 95)).to_be_visible()
    assert spare_notebook.widgets(".lx-log-line").count() < 60
