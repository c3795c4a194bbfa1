"""The search box of the explorer, in JupyterLab: values, questions and their answers."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r})
explorer = table.explore("time_travel")
explorer
"""


@pytest.fixture(scope="module")
def photos_notebook(shared_notebook, photos_path):
    shared_notebook.run_cells(OPEN.format(path=str(photos_path)))
    shared_notebook.widgets(".lx-search-try").first.wait_for()
    return shared_notebook


@pytest.fixture
def photos(photos_notebook):
    photos_notebook.show()
    photos_notebook.run("explorer.view = 'time_travel'; explorer.state.row_id = None")
    photos_notebook.run("explorer.state.version = 45")
    photos_notebook.widgets('.lx-time-travel .lx-strip[data-drawn="45"]').wait_for()
    return photos_notebook


def box(notebook):
    return notebook.widgets(".lx-explorer-search")


def ask(notebook, text):
    box(notebook).fill(text)
    box(notebook).press("Enter")


def answer(notebook):
    return notebook.widgets(".lx-search-answer")


def test_a_value_finds_rows_and_leads_to_them(photos):
    ask(photos, "photo_id = 42")
    expect(answer(photos)).to_contain_text("It is live.")
    number = photos.value("table.find('photo_id = 42').to_polars().height")
    expect(answer(photos).locator("li")).to_have_count(number)
    answer(photos).get_by_role("button", name="Open the row", exact=True).click()
    photos.wait_for("(explorer.view, explorer.state.row_id) == ('row', 42)")
    expect(answer(photos)).to_be_visible()
    answer(photos).get_by_role("button", name="Close", exact=True).click()
    expect(answer(photos)).to_be_hidden()


def test_keys_open_examples_and_one_is_asked(photos):
    photos.widgets('[role="tab"]').first.focus()
    photos.page.keyboard.press("Control+k")
    expect(box(photos)).to_be_focused()
    box(photos).fill("big")
    option = photos.widgets(".lx-search-example")
    expect(option).to_have_count(1)
    photos.page.keyboard.press("ArrowDown")
    photos.page.keyboard.press("Enter")
    expect(answer(photos)).to_contain_text(photos.value("table.disk_usage().sentence"))
    answer(photos).get_by_role("button", name="Open Disk", exact=True).click()
    photos.wait_for("explorer.view == 'disk'")


def test_a_question_to_be_completed_is_put_into_the_box(photos):
    box(photos).fill("")
    box(photos).focus()
    photos.widgets(".lx-search-example").filter(has_text="who deleted").click()
    expect(box(photos)).to_have_value("who deleted ")
    box(photos).press_sequentially("photo_id = 42")
    box(photos).press("Enter")
    expect(answer(photos)).to_contain_text("1 row was deleted in version 26")
    expect(answer(photos)).to_contain_text("live again")
    answer(photos).get_by_role("button", name="version 26: ").click()
    photos.wait_for("(explorer.view, explorer.state.version) == ('time_travel', 26)")


def test_an_answer_is_copied_as_code_that_gives_it(photos):
    ask(photos, "what changed since 40")
    expect(answer(photos)).to_contain_text("From version 40 to version 45")
    copy = answer(photos).get_by_role("button", name="Copy answer as code", exact=True)
    copy.click()
    expect(answer(photos).get_by_role("button", name="Copied", exact=True)).to_be_visible()
    code = photos.page.evaluate("navigator.clipboard.readText()")
    assert code.splitlines()[-1] == "table.changes(40).summary()"
    photos.run(code)


def test_a_column_leads_to_the_commits_that_touched_it(photos):
    ask(photos, "rating")
    answer(photos).get_by_role("button", name="Open Log", exact=True).click()
    number = photos.value("table.log(column='rating').height")
    photos.widgets(f'.lx-log[data-lines="{number}"]').wait_for()
    photos.wait_for(f"explorer.frame().height == {number}")
    photos.run("explorer._views['log'].show_only()")


def test_a_word_finds_more_when_asked(photos):
    ask(photos, "Phone")
    expect(answer(photos)).to_contain_text("the newest 50 are told")
    answer(photos).get_by_role("button", name="Search on", exact=True).click()
    expect(answer(photos)).to_contain_text("the newest 150 are told")


def test_what_a_branch_has_is_looked_at_there(photos):
    ask(photos, "what is on faces")
    expect(answer(photos)).to_contain_text("60 rows inserted")
    answer(photos).get_by_role("button", name="Switch to faces", exact=True).click()
    photos.wait_for("(explorer._table.branch, explorer.view) == ('faces', 'changes')")
    ask(photos, "branch faces")
    photos.wait_for("explorer.view == 'time_travel'")
    photos.widgets("select").first.select_option("")
    photos.wait_for("explorer._table.branch is None")
