"""The overview, in JupyterLab."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r}, branch={branch!r})
widget = lx.widgets.Overview(table)
widget
"""

EVIL = "<img src=x onerror='owned=1'>\u202e"


def show(notebook, path, branch=None):
    """Show the widget over a table; return the notebook once all is there."""
    notebook.run_cells(OPEN.format(path=str(path), branch=branch))
    notebook.widgets(".lx-overview[data-loaded]").wait_for()
    part(notebook, "Health").locator("li").first.wait_for()
    return notebook


@pytest.fixture
def opened(spare_notebook):
    """Show a table that one test looks at."""
    return partial(show, spare_notebook)


@pytest.fixture(scope="module")
def photos_notebook(shared_notebook, photos_path):
    return show(shared_notebook, photos_path)


@pytest.fixture
def photos(photos_notebook):
    photos_notebook.show()
    return photos_notebook


def widget(notebook):
    return notebook.widgets(".lx-overview")


def part(notebook, title):
    return widget(notebook).get_by_role("region", name=title, exact=True)


def strip(notebook):
    return widget(notebook).get_by_role("slider", name="Version", exact=True)


def chosen(notebook, version):
    """Wait until a version is chosen: in the picture, in words, and in Python."""
    notebook.widgets(f'.lx-strip[data-drawn="{version}"]').wait_for()
    words = widget(notebook).locator(".lx-chosen")
    words.get_by_text(f"Version {int(version):,}", exact=True).wait_for()
    notebook.wait_for(f"widget.state.version == {version}")


ORIGINS = """
from lance_explorer.inspect.size_origins import size_origins
origins = size_origins(table._view)
"""


def largest_origin(notebook, column):
    """Return the version that wrote most of what is there now."""
    return notebook.value(f"origins.sort({column!r}, descending=True)['version'][0]")


def test_the_story_names_the_version_that_made_the_table_big(photos):
    photos.run(ORIGINS)
    version = largest_origin(photos, "size_bytes")
    story = widget(photos).locator(".lx-story")
    photos.run("from lance_explorer.inspect.size_words import headline")
    expect(story).to_contain_text(photos.value("str(headline(origins))"), use_inner_text=True)
    story.get_by_role("button", name=f"Version {version}", exact=True).click()
    chosen(photos, version)


def test_the_largest_versions_are_listed_by_bytes_and_by_rows(photos):
    photos.run(ORIGINS)
    listed = part(photos, "What made it big")
    for measure, column in (("bytes", "size_bytes"), ("rows", "num_rows")):
        listed.get_by_role("button", name=measure, exact=True).click()
        first, version = listed.locator(".lx-commit").first, largest_origin(photos, column)
        expect(first).to_have_attribute("data-version", str(version))
    first.click()
    chosen(photos, version)
    expect(first).to_have_attribute("aria-pressed", "true")


def test_keys_and_mouse_move_along_the_growth(photos):
    strip(photos).focus()
    photos.page.keyboard.press("End")
    chosen(photos, 45)
    photos.page.keyboard.press("ArrowLeft")
    chosen(photos, 44)
    photos.page.keyboard.press("Home")
    chosen(photos, 1)
    box = strip(photos).bounding_box()
    strip(photos).click(position={"x": box["width"] - 12, "y": 40})
    chosen(photos, 45)
    strip(photos).hover(position={"x": 14, "y": 40})
    told = widget(photos).get_by_role("tooltip").filter(visible=True)
    expect(told).to_contain_text("Version 1", use_inner_text=True)
    expect(told).to_contain_text("320 rows", use_inner_text=True)


def test_growth_is_of_rows_bytes_or_fragments(photos):
    growth = part(photos, "Growth")
    label = growth.locator(".lx-scale-label")
    most = photos.value("table.versions()['num_fragments'].max()")
    growth.get_by_role("button", name="fragments", exact=True).click()
    expect(label).to_contain_text(f"most: {most} fragments")
    growth.get_by_role("button", name="data", exact=True).click()
    expect(label).to_contain_text("kB")
    growth.get_by_role("button", name="rows", exact=True).click()
    most = photos.value("table.versions()['num_rows'].max()")
    expect(label).to_contain_text(f"most: {most:,} rows")


def test_operations_are_counted_by_kind_and_a_click_steps_through_them(photos):
    versions = photos.value(
        "table.versions().filter(kind='append')['version'].to_list()",
    )
    appends = part(photos, "What was done").locator('[data-kind="append"]')
    expect(appends).to_have_text(re.compile(rf"\b{len(versions)}\b"), use_inner_text=True)
    photos.run("widget.state.version = 1")
    chosen(photos, 1)
    appends.focus()
    photos.page.keyboard.press("Enter")
    chosen(photos, versions[-1])
    photos.page.keyboard.press("Enter")
    chosen(photos, versions[-2])


def test_to_choose_another_version_asks_for_nothing(photos):
    photos.run("widget.state.version = 10")
    chosen(photos, 10)
    photos.run("asked = []; answer = widget._answer")
    photos.run("widget._answer = lambda one: (asked.append(one._question.kind), answer(one))")
    strip(photos).focus()
    photos.page.keyboard.press("ArrowRight")
    chosen(photos, 11)
    photos.wait_for("asked == ['state']")
    photos.run("del widget._answer")


def test_what_to_do_is_told_and_leads_to_what_it_is_about(opened, lab, tmp_path):
    """There are many small fragments, and one that lost its rows."""
    table = SyntheticTable(tmp_path / "t.lance")
    table.append(rows=9, fragments=150).append(rows=40_000).delete({150: range(30_000)})
    sick = opened(table.append(rows=5).path)
    advice = part(sick, "Health")
    codes = sick.value("[code for code in table.check()['code'] if code != 'not_checked']")
    # There is no data in what tests write by hand.
    assert codes == ["missing_files", "small_fragments", "deleted_rows"]
    items = advice.locator("li[data-code]")
    expect(items).to_have_count(len(codes))
    for i, code in enumerate(codes):
        expect(items.nth(i)).to_have_attribute("data-code", code)
    item = advice.locator('[data-code="deleted_rows"]')
    expect(item).to_contain_text("30,000 deleted rows", use_inner_text=True)
    code = item.locator("code").get_by_text("dataset.optimize.compact_files()", exact=True)
    expect(code.first).to_be_visible()
    sick.run("widget.state.version = 1")
    chosen(sick, 1)
    item.get_by_role("button", name="Select version 4, fragment 150", exact=True).click()
    chosen(sick, 4)
    sick.wait_for("widget.selection == {'version': 4, 'fragment_id': 150}")
    lab.expect_to_fit(widget(sick), "overview_sick", 2000)


def test_the_newest_commits_and_the_first_rows_are_shown(photos):
    newest = part(photos, "Latest changes").locator("button[data-version]")
    expect(newest).to_have_count(6)
    expect(newest.first).to_contain_text("361 rows deleted where rating = 1", use_inner_text=True)
    newest.nth(2).click()
    chosen(photos, 43)
    rows = part(photos, "First rows").locator("tbody tr")
    expect(rows).to_have_count(5)
    ids = photos.value("table.latest.read(columns=['photo_id'], limit=5)['photo_id'].to_list()")
    assert [int(row.split()[0]) for row in rows.all_inner_texts()] == ids


def test_what_is_on_disk_is_told_and_a_healthy_table_has_nothing_to_do(photos):
    disk = part(photos, "On disk")
    expect(disk.locator("dd code")).to_have_count(3)
    expect(disk).to_contain_text(photos.value("table.disk_usage().sentence"), use_inner_text=True)
    disk.get_by_role("application", name="Bytes on disk over versions").focus()
    photos.page.keyboard.press("Home")
    chosen(photos, 1)
    code = disk.locator("dd code").all_inner_texts()
    assert code[0] == photos.value("table.cleanup_preview().code")
    assert code[2] == photos.value("table.compaction_preview().code")
    disk.get_by_role("button", name="Copy", exact=True).last.click()
    disk.get_by_role("button", name="Copied", exact=True).wait_for()
    expect(part(photos, "Health")).to_contain_text("Nothing needs to be done")


WAIT = """
import threading
from lance_explorer.widgets import overview
may_tell = threading.Event()
answer = overview.first_rows

def wait_and_tell(*asked):
    may_tell.wait()
    return answer(*asked)

overview.first_rows = wait_and_tell
"""


@pytest.fixture
def waiting(spare_notebook, photos_path):
    """The overview of the sample table, which waits for its first rows."""
    try:
        spare_notebook.run_cells(WAIT + OPEN.format(path=str(photos_path), branch=None))
        yield spare_notebook
    finally:
        spare_notebook.run("may_tell.set(); overview.first_rows = answer")


def test_the_first_rows_have_their_place_before_they_are_known(waiting, lab):
    notebook = waiting
    notebook.widgets(".lx-overview[data-loaded]").wait_for()

    def tops():
        found = {}
        for width in (620, 900, 1400):
            lab.set_width(width)
            top = "(cards) => cards.offsetTop - cards.closest('.lx-overview').offsetTop"
            found[width] = widget(notebook).locator(".lx-cards").evaluate(top)
        return found

    before = tops()
    notebook.run("may_tell.set()")
    expect(part(notebook, "First rows").locator("tbody tr")).to_have_count(5)
    assert tops() == before


def test_an_empty_table_and_its_first_rows(opened, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").overwrite(0, 0)
    notebook = opened(table.path)
    chosen(notebook, 1)
    story = widget(notebook).locator(".lx-story")
    expect(story).to_contain_text("The table has 0 rows in 0 fragments")
    table.append(rows=70)
    widget(notebook).get_by_role("button", name="Refresh", exact=True).click()
    chosen(notebook, 2)
    expect(story).to_contain_text("The table has 70 rows in 1 fragment")


def test_nothing_that_can_be_read_leaves_the_findings(opened, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=5)
    table.folder.manifest_path(1).write_bytes(b"nothing")
    notebook = opened(table.path)
    expect(widget(notebook)).to_contain_text(
        "No version of the table can be read", use_inner_text=True
    )
    expect(part(notebook, "Health").locator(".lx-found-error")).to_have_count(1)


def test_hostile_names_are_text(opened, tmp_path):
    table = SyntheticTable(tmp_path / "<b>`t.lance").append(rows=50_000).create_index(EVIL)
    table.commit("append", note=EVIL)
    table.append(rows=60_000)
    table.folder.write_ref("tags", "x", {"version": 2, "manifestSize": 1, "branch": None})
    notebook = opened(table.path)
    notebook.run("widget.state.version = 3")
    chosen(notebook, 3)
    expect(widget(notebook).locator(".lx-chosen")).to_contain_text("\\u202e", use_inner_text=True)
    advice = part(notebook, "Health").locator('[data-code="unindexed_rows"]')
    expect(advice).to_contain_text("does not find 60,000 of 110,000 rows", use_inner_text=True)
    expect(widget(notebook).locator("img")).to_have_count(0)
    assert notebook.page.evaluate("typeof owned") == "undefined"


def test_five_thousand_versions_are_shown(opened, many_versions):
    notebook = opened(many_versions)
    chosen(notebook, "5000")
    strip(notebook).focus()
    notebook.page.keyboard.press("ArrowLeft")
    notebook.wait_for("widget.state.version == 4999")
    story = widget(notebook).locator(".lx-story")
    expect(story).to_contain_text("5,000 versions are kept, 1 to 5,000", use_inner_text=True)
    expect(part(notebook, "Health")).to_contain_text("5,000 versions are kept", use_inner_text=True)
