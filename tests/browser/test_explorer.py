"""The explorer in JupyterLab: its views, and what leads from one to the other."""

import pytest
from playwright.sync_api import expect

from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r})
explorer = table.explore({view!r})
explorer
"""

NOTE_WHAT_IS_ASKED = """
from lance_explorer.widgets.view import View

asked = []
answer = View._answer
def noting(view, request):
    question = request._question
    asked.append((type(view).__name__, question.kind, question.arguments.get("version")))
    answer(view, request)
View._answer = noting
"""

TABS = {
    "overview": "Overview",
    "log": "Log",
    "time_travel": "Time travel",
    "changes": "Changes",
    "columns": "Columns",
    "row": "Row",
    "lineage": "Lineage",
    "indices": "Indices",
    "disk": "Disk",
    "encodings": "Encodings",
}


class Page:
    """The explorer in a notebook."""

    def __init__(self, notebook):
        self.notebook = notebook
        self.bar = notebook.widgets(".lx").filter(has=notebook.page.get_by_role("tablist")).first
        self.box = self.bar.get_by_role("combobox", name="Search for")

    def tab(self, view):
        return self.bar.get_by_role("tab", name=TABS[view], exact=True)

    def panel(self, view):
        return self.notebook.page.get_by_role("tabpanel", name=TABS[view], exact=True)

    def open(self, view):
        if not self.tab(view).count():
            self.bar.get_by_role("button", name="Advanced").click()
        self.tab(view).click()
        self.expect(view)

    def expect(self, view, **choices):
        """Wait until a view is shown, alone, and Python has the choices."""
        expect(self.tab(view)).to_have_attribute("aria-selected", "true")
        expect(self.bar.get_by_role("tab", selected=True)).to_have_count(1)
        expect(self.panel(view)).to_be_visible()
        expect(self.notebook.widgets(".lx[role=tabpanel]:visible")).to_have_count(1)
        self.notebook.wait_for(f"explorer.view == {view!r}")
        self.notebook.wait_for(f"explorer.selection.items() >= {choices!r}.items()")

    def search(self, typed):
        self.box.fill(typed)
        self.box.press("Enter")

    def expect_chips(self, *texts):
        """Wait until the bar says that this is chosen."""
        expect(self.bar.locator("[data-choice]")).to_have_text([*texts])

    def expect_size(self, view, height, width):
        """Wait until a view is taller, narrower and in none of its parts wider than that."""
        self.notebook.page.wait_for_function(
            """([panel, height, width]) => {
                const box = panel.getBoundingClientRect();
                return box.height > height && box.width < width
                    && panel.scrollWidth <= panel.clientWidth;
            }""",
            arg=[self.panel(view).element_handle(), height, width],
        )

    def press(self, role, *keys):
        """Press keys on what is visible of a role."""
        self.notebook.widgets(f"[role={role}]:visible").first.focus()
        for key in keys:
            self.notebook.page.keyboard.press(key)

    def travelled(self, version):
        """Wait until Time travel shows a version."""
        self.panel("time_travel").locator(f'.lx-strip[data-drawn="{version}"]').wait_for()
        self.expect("time_travel", version=version)


@pytest.fixture
def explore(spare_notebook):
    """Show the explorer of a table that one test looks at."""

    def explore_one(path, view="overview"):
        spare_notebook.run_cells(OPEN.format(path=str(path), view=view))
        page = Page(spare_notebook)
        page.expect(view)
        return page

    return explore_one


@pytest.fixture(scope="module")
def photos_page(shared_notebook, photos_path):
    code = NOTE_WHAT_IS_ASKED + OPEN.format(path=str(photos_path), view="overview")
    shared_notebook.run_cells(code)
    page = Page(shared_notebook)
    page.expect("overview")
    yield page
    shared_notebook.show()
    shared_notebook.run("View._answer = answer")


@pytest.fixture
def photos(photos_page):
    """Return the explorer of the sample table as it is at first."""
    photos_page.notebook.show()
    photos_page.notebook.run(
        "with explorer._one_step():\n"
        "    explorer.view = 'time_travel'\n"
        "    first = {'version': 45, 'filter': '', 'chosen_columns': {}}\n"
        "    for name in explorer.state.trait_names():\n"
        "        setattr(explorer.state, name, first.get(name))\n"
        "explorer._trail = type(explorer._trail)(explorer._place()); explorer._show_place()"
    )
    photos_page.travelled(45)
    return photos_page


# ------------------------------------------------------------------------------------ views


def test_each_view_opens_with_the_keyboard(photos):
    """Of the tabs, the key Tab reaches that of the view alone."""
    expect(photos.tab("encodings")).to_have_count(0)
    photos.bar.get_by_role("button", name="Advanced").press("Enter")
    stops = photos.bar.get_by_role("tab").evaluate_all("tabs => tabs.map((tab) => tab.tabIndex)")
    assert stops == [0 if view == "time_travel" else -1 for view in TABS]
    photos.tab("time_travel").focus()
    photos.notebook.page.keyboard.press("Home")
    expect(photos.tab("overview")).to_be_focused()
    for view in TABS:
        photos.notebook.page.keyboard.press("Enter")
        photos.expect(view)
        expect(photos.tab(view)).to_be_focused()
        photos.notebook.page.keyboard.press("ArrowRight")
    expect(photos.tab("overview")).to_be_focused()
    photos.notebook.page.keyboard.press("End")
    expect(photos.tab("encodings")).to_be_focused()


# ----------------------------------------------------------------------------------- linked


def test_a_version_chosen_in_one_view_is_that_of_the_others(photos):
    photos.press("slider", "Home")
    photos.travelled(1)
    photos.expect_chips("version 1")
    for view in ("lineage", "indices", "disk", "encodings", "overview"):
        photos.open(view)
        photos.expect(view, version=1)
    photos.notebook.run("explorer.state.version = 26")
    photos.open("changes")
    photos.panel("changes").locator('[data-shown="25 26"]').wait_for()
    photos.open("time_travel")
    photos.travelled(26)


def test_a_row_and_a_fragment_are_shown_wherever_they_matter(photos):
    photos.search("row 42")
    photos.expect("row", row_id=42)
    photos.panel("row").get_by_role("heading", name="photo_id 42", exact=True).wait_for()
    photos.press("slider", "Home")
    photos.expect("row", version=1)
    photos.open("lineage")
    photos.panel("lineage").get_by_text("Row 42", exact=True).wait_for()
    photos.search("fragment 12")
    photos.expect("lineage", fragment_id=12, row_id=42)
    photos.panel("lineage").locator(".lx-pane").get_by_text("Fragment 12", exact=True).wait_for()
    photos.open("time_travel")
    photos.notebook.run("explorer.state.version = 30")
    chosen = photos.panel("time_travel").locator(".lx-chosen-fragment")
    chosen.get_by_text("Fragment 12", exact=True).wait_for()


def test_views_lead_to_each_other(photos):
    photos.notebook.run("explorer.state.version = 44")
    photos.travelled(44)
    panel = photos.panel("time_travel")
    panel.get_by_role("button", name="What changed", exact=True).press("Enter")
    photos.expect("changes", version=44, compared_version=43)
    expect(photos.tab("changes")).to_be_focused()
    photos.panel("changes").locator('[data-cells="43 44"]').wait_for()
    expect(photos.panel("changes").locator(".lx-rows-status")).to_have_text("1 row")
    photos.panel("changes").get_by_role("gridcell", name="update_postimage").click()
    photos.panel("changes").get_by_role("button", name="Follow row 42", exact=True).click()
    photos.expect("row", version=44, row_id=42)
    photos.panel("row").locator(".lx-value").first.wait_for()  # then its buttons stay as they are
    photos.panel("row").get_by_role("button", name="In the lineage", exact=True).click()
    photos.expect("lineage", row_id=42)
    photos.panel("lineage").locator('.lx-lineage[data-row="42"]').wait_for()
    photos.panel("lineage").get_by_role("button", name="Its values", exact=True).click()
    photos.expect("row", row_id=42)
    photos.notebook.run("explorer.view = 'time_travel'; explorer.state.fragment_id = 12")
    panel.get_by_role("button", name="Its lineage", exact=True).click()
    photos.expect("lineage", fragment_id=12)


def test_the_last_compaction_is_proved_with_three_clicks_from_the_overview(photos):
    photos.open("overview")
    overview = photos.panel("overview")
    overview.get_by_role("button").filter(has_text="compact").filter(has_text="last: ").click()
    overview.get_by_role("button", name="What changed", exact=True).click()
    photos.expect("changes", version=43, compared_version=42)
    photos.panel("changes").locator('[data-cells="42 43"]').wait_for()
    check = photos.panel("changes").locator(".lx-content")
    check.get_by_role("button", name="Compare all values", exact=True).click()
    expect(check).to_contain_text("Yes: each row ID has the same values in both.")
    expect(check).to_contain_text("Compared: 230 of 2,521 rows of the first version")


def test_a_choice_is_cleared_with_its_button(photos):
    photos.notebook.run("explorer.state.row_id = 42; explorer.state.fragment_id = 12")
    photos.bar.get_by_role("button", name="Clear: fragment 12", exact=True).click()
    photos.notebook.wait_for("explorer.selection['fragment_id'] is None")
    photos.bar.get_by_role("button", name="Clear: row 42", exact=True).click()
    photos.notebook.wait_for("explorer.selection['row_id'] is None")
    photos.expect_chips("version 45")


FILLED = {
    "overview": ".lx-overview[data-loaded]",
    "log": '.lx-log[data-lines][data-chosen="45"]',
    "time_travel": '.lx-strip[data-drawn="45"]',
    "changes": '.lx-changes[data-cells$=" 45"]',
    "columns": '[data-column="photo_id"] .lx-values-bars',
    "row": ".lx-row-history",
    "lineage": '.lx-lineage[data-version="45"]',
    "encodings": '.lx-encodings[data-shown^="45 "]',
    "indices": '.lx-indices[data-shown="45"]',
    "disk": '.lx-disk-view[data-loaded][data-version="45"]',
}
"""What is there when a view has read version 45 of the sample table."""


def test_hidden_views_ask_for_nothing(photos):
    for view in TABS:
        photos.open(view)
        photos.panel(view).locator(FILLED[view]).wait_for()
    photos.open("time_travel")
    photos.press("slider", *["ArrowLeft"] * 10)
    photos.travelled(35)
    photos.panel("time_travel").locator('[data-panel="rows"]:not(.lx-stale)').wait_for()
    passed = {str(version) for version in range(35, 45)}
    asked = photos.notebook.value("asked")
    assert {name for name, _, version in asked if version in passed} == {"TimeTravel"}
    photos.open("disk")
    photos.notebook.run("asked.clear(); explorer.state.row_id = 7; explorer.state.version = 3")
    photos.open("row")
    photos.panel("row").get_by_role("heading", name="photo_id 7", exact=True).wait_for()
    asked = photos.notebook.value("asked")
    assert {name for name, kind, version in asked if version == "3"} <= {"Disk"}
    assert "picture" not in {kind for _, kind, _ in asked}


# ------------------------------------------------------------------------ back and forward


def test_back_and_forward(photos):
    back = photos.bar.get_by_role("button", name="Back", exact=True)
    forward = photos.bar.get_by_role("button", name="Forward", exact=True)
    expect(back).to_be_disabled()
    expect(forward).to_be_disabled()
    photos.press("slider", *["ArrowLeft"] * 5)
    photos.travelled(40)
    photos.search("row 7")
    photos.expect("row", version=40, row_id=7)
    back.click()
    photos.travelled(40)
    photos.expect_chips("version 40")
    back.click()
    photos.travelled(45)
    expect(back).to_be_disabled()
    forward.click()
    photos.travelled(40)
    forward.click()
    photos.expect("row", row_id=7)
    expect(forward).to_be_disabled()


# ---------------------------------------------------------------------------------- search


def test_search_leads_to_what_is_typed(photos):
    photos.search("12")
    photos.travelled(12)
    photos.search("address 12884901905")
    photos.expect("row", version=12, row_id=517)
    photos.search("fragment 7")
    photos.expect("lineage", version=12, fragment_id=7)
    photos.open("changes")
    photos.search("backup")  # which shows a version, too
    photos.expect("changes", version=25)


def test_what_cannot_be_found_is_told_below_the_box(photos):
    alert = photos.bar.get_by_role("alert").filter(visible=True)
    photos.search("v99")
    expect(alert).to_contain_text("version 99 never existed; 45 versions remain, 1 to 45")
    expect(photos.box).to_have_attribute("aria-invalid", "true")
    photos.search("<img src=x onerror='owned=1'>")
    expect(alert).to_contain_text('Nothing is called "<img src=x')
    photos.box.press("Escape")
    expect(alert).to_have_count(0)
    photos.expect("time_travel", version=45)


# ------------------------------------------------------------------------------------ code


def copied(photos):
    photos.bar.get_by_role("button", name="Copy as code", exact=True).click()
    pane = photos.bar.get_by_role("status").filter(has=photos.notebook.page.locator("pre"))
    pane.wait_for()
    return pane


def test_code_goes_to_the_clipboard_and_is_shown(photos):
    photos.open("changes")
    pane = copied(photos)
    expect(pane).to_contain_text("Copied")
    code = photos.notebook.value("explorer.code()")
    assert photos.notebook.page.evaluate("navigator.clipboard.readText()") == code
    assert pane.locator("pre").inner_text() == code
    photos.notebook.run(f"frame = None\n{code.replace('table.changes', 'frame = table.changes')}")
    assert photos.notebook.value("frame.height == explorer.frame().height")
    pane.get_by_role("button", name="Close", exact=True).click()
    expect(pane).to_be_hidden()


def test_code_is_there_to_select_without_a_clipboard(photos):
    photos.notebook.page.evaluate(
        """() => {
            navigator.clipboard.writeText = () => Promise.reject(new Error("not allowed"));
            document.execCommand = () => false;
        }"""
    )
    try:
        pane = copied(photos)
        expect(pane).to_contain_text("did not allow copying")
        selected = photos.notebook.page.evaluate("String(getSelection())")
        assert selected.strip() == photos.notebook.value("explorer.code()")
    finally:
        photos.notebook.page.evaluate(
            "() => { delete navigator.clipboard.writeText; delete document.execCommand; }"
        )


# ---------------------------------------------------------------------------- other tables


def test_views_fit_in_both_themes(photos, lab):
    photos.notebook.run("explorer.state.row_id = 42; explorer.state.fragment_id = 12")
    for theme, width in (("light", 1400), ("dark", 700)):
        lab.set_width(width, 2200)
        lab.set_theme(theme)
        for view in TABS:
            photos.open(view)
            photos.panel(view).locator(FILLED[view]).wait_for()
            photos.expect_size(view, height=60, width=width)
            expect(photos.panel(view).locator(".lx-error")).to_have_count(0)
            photos.notebook.screenshot(f"explorer_{view}_{theme}_{width}", photos.panel(view))


def opens_all(page):
    for view in TABS:
        page.open(view)
        page.expect_size(view, height=40, width=1400)


def test_an_empty_table(explore, tmp_path):
    opens_all(explore(SyntheticTable(tmp_path / "t.lance").overwrite(0, 0).path))


def test_one_version_without_stable_row_ids(explore, tmp_path):
    made = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=3)
    page = explore(made.path)
    opens_all(page)


def test_five_thousand_versions(explore, many_versions):
    page = explore(many_versions)
    opens_all(page)
    page.open("time_travel")
    page.search("v2500")
    page.travelled(2500)
    page.press("slider", *["ArrowLeft"] * 20)
    page.travelled(2480)


BREAK = """
from dataclasses import replace
import lance_explorer as lx
from lance_explorer.widgets import explorer as module

failures = [lx.StorageError("the bucket does not answer")] * 2
disk = module.TABS["disk"]
def make(*arguments, **options):
    if failures:
        raise failures.pop()
    return disk.make(*arguments, **options)
module.TABS["disk"] = replace(disk, make=make)
"""


@pytest.fixture
def broken(spare_notebook, explore, tmp_path):
    """The explorer of a table whose view of the disk fails twice."""
    spare_notebook.show()
    spare_notebook.run(BREAK)
    try:
        yield explore(SyntheticTable(tmp_path / "t.lance").append().path, "disk")
    finally:
        spare_notebook.run("module.TABS['disk'] = disk")


def test_a_view_that_cannot_be_made_says_why_and_is_tried_again(broken):
    page, notebook = broken, broken.notebook
    error = page.panel("disk").locator(".lx-error")
    expect(error).to_contain_text("the bucket does not answer")
    again = error.get_by_role("button", name="Try again", exact=True)
    again.click()
    notebook.wait_for("not failures")
    expect(error).to_contain_text("the bucket does not answer")
    again.click()
    page.panel("disk").get_by_role("heading", name="Files of version 1").wait_for()
    page.open("time_travel")
    page.open("disk")


EVIL = "<img src=x onerror='owned=1'>\u202e"


def test_hostile_names_are_text(explore, tmp_path):
    import lance
    import pyarrow as pa

    path = tmp_path / "<img src=x onerror='owned=1'>.lance"
    table = lance.write_dataset(
        pa.table({"name": [EVIL], EVIL: [1]}), str(path), enable_stable_row_ids=True
    )
    table.update({"name": "'plain'"})
    table.create_scalar_index("name", "BTREE", name=EVIL)
    page = explore(path)
    page.notebook.run("explorer.state.row_id = 0")
    opens_all(page)
    page.open("changes")
    page.notebook.run(f"explorer.state.filter = {EVIL!r}")
    page.bar.locator('[data-choice="filter"]').get_by_text("\\u202e").wait_for()
    pane = copied(page)
    expect(pane.locator("pre")).to_contain_text("\\u202e", use_inner_text=True)
    expect(page.notebook.widgets("img")).to_have_count(0)
    assert page.notebook.page.evaluate("typeof owned") == "undefined"
