"""The time-travel widget in JupyterLab."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r}{options})
widget = lx.widgets.TimeTravel(table)
widget
"""


def show(notebook, path, options=""):
    """Show the widget over a table; return the notebook once it is drawn."""
    notebook.run_cells(OPEN.format(path=str(path), options=options))
    widget(notebook).locator(".lx-strip[data-drawn]").wait_for()
    return notebook


@pytest.fixture
def travel(spare_notebook):
    """Show a table that one test looks at."""
    return partial(show, spare_notebook)


def widget(notebook):
    return notebook.widgets(".lx-time-travel")


def drawn(notebook, version):
    """Wait until strip, map and words show a version, and Python has it too."""
    for part in ("strip", "map"):
        widget(notebook).locator(f'.lx-{part}[data-drawn="{version}"]').wait_for()
    heading = widget(notebook).get_by_role("heading")
    expect(heading).to_have_text(f"Version {version:,}")
    notebook.wait_for(f"widget.state.version == {version}")


def words(notebook):
    """Return the sentence; it is "…" until it is known. A message of the commit comes after it."""
    return widget(notebook).locator(".lx-words > span").first


def rows(notebook):
    """Return the cells of the rows in sight, when they are those of the version."""
    panel = widget(notebook).locator('[data-panel="rows"]:not(.lx-stale)')
    panel.locator(".lx-rows-grid").wait_for()
    expect(panel.locator("tr.lx-waiting")).to_have_count(0)
    return panel.locator("tbody tr").evaluate_all(
        "rows => rows.map((row) => [...row.querySelectorAll('td')].map((td) => td.textContent))"
    )


def press(notebook, *keys):
    widget(notebook).get_by_role("slider").focus()
    for key in keys:
        notebook.page.keyboard.press(key)


@pytest.fixture(scope="module")
def photos_notebook(shared_notebook, photos_path):
    return show(shared_notebook, photos_path)


@pytest.fixture
def photos(photos_notebook):
    """The sample table as it is at first: the last version and its rows."""
    photos_notebook.show()
    photos_notebook.run("widget.state.version, widget.state.fragment_id = 45, None")
    drawn(photos_notebook, 45)
    widget(photos_notebook).locator('[data-tab="rows"]').click()
    return photos_notebook


def test_keys_move_the_slider_and_everything_follows(photos):
    press(photos, "End")
    drawn(photos, 45)
    expect(words(photos)).to_have_text("361 rows deleted where rating = 1; 4 fragments changed.")
    press(photos, "ArrowLeft", "ArrowDown")
    drawn(photos, 43)
    expect(words(photos)).to_have_text("230 rows compacted from 2 fragments into 1.")
    press(photos, "ArrowRight", "ArrowUp", "PageDown")
    drawn(photos, 43)
    press(photos, "PageUp", "Home")
    drawn(photos, 1)
    expect(words(photos)).to_have_text("Table created with 320 rows in 2 fragments and 11 columns.")
    expected = photos.value(
        "table.at(1).read(columns=['photo_id'], limit=12)['photo_id'].to_list()"
    )
    assert [int(row[0]) for row in rows(photos)] == expected


def test_the_slider_never_jumps_back_while_python_follows(photos):
    press(photos, "End")
    drawn(photos, 45)
    widget(photos).get_by_role("slider").evaluate(
        """(strip) => {
            window.positions = [];
            new MutationObserver(() => window.positions.push(Number(strip.ariaValueNow)))
                .observe(strip, { attributeFilter: ["aria-valuenow"] });
        }"""
    )
    press(photos, *["ArrowLeft"] * 30)
    drawn(photos, 15)
    positions = photos.page.evaluate("window.positions")
    assert positions == sorted(positions, reverse=True)


def test_a_drag_with_the_mouse_moves_the_slider(photos):
    press(photos, "Home")
    drawn(photos, 1)
    widget(photos).get_by_role("slider").scroll_into_view_if_needed()
    box = widget(photos).get_by_role("slider").bounding_box()
    mouse = photos.page.mouse
    mouse.move(box["x"] + 15, box["y"] + 40)
    mouse.down()
    mouse.move(box["x"] + box["width"] / 2, box["y"] + 45, steps=8)
    drawn(photos, 23)
    mouse.move(box["x"] + box["width"] - 2, box["y"] + 45, steps=8)
    mouse.up()
    drawn(photos, 45)


def test_python_moves_the_view(photos):
    photos.run("widget.state.version = 12")
    drawn(photos, 12)
    assert photos.value("widget.selection") == {"version": 12, "fragment_id": None}
    assert photos.value("widget.frame()['version'].unique().to_list()") == [12]


def test_the_box_goes_to_a_version_a_tag_and_a_time(photos):
    box = widget(photos).get_by_role("combobox", name="Go to")
    tagged = photos.value("table.tags['backup'].version")
    time = photos.value("str(table.versions()['timestamp'][6])")
    for text, version in (("17", 17), ("backup", tagged), (time, 7)):
        box.fill(text)
        box.press("Enter")
        drawn(photos, version)
    box.fill("no such thing")
    box.press("Enter")
    widget(photos).get_by_text("no version or tag is called 'no such thing'").wait_for()
    press(photos, "ArrowRight")
    drawn(photos, 8)
    expect(widget(photos).locator(".lx-note")).to_be_hidden()


def test_the_arrows_step_from_commit_to_commit_of_a_kind(photos):
    press(photos, "Home")
    drawn(photos, 1)
    widget(photos).get_by_label("Kind of commit").select_option("delete")
    for version in (7, 26, 39, 45):
        widget(photos).get_by_role("button", name="Next commit", exact=True).click()
        drawn(photos, version)
    widget(photos).get_by_role("button", name="Previous commit", exact=True).click()
    drawn(photos, 39)
    widget(photos).get_by_label("Kind of commit").select_option("")


def test_a_click_selects_a_fragment_and_says_what_it_is(photos):
    photos.run("widget.state.version = 26")
    drawn(photos, 26)
    widget(photos).locator(".lx-map canvas").click(position={"x": 60, "y": 100})
    photos.wait_for("widget.state.fragment_id == 8")
    chosen = widget(photos).locator(".lx-chosen-fragment")
    expect(chosen).to_contain_text("Fragment 8 · made by Rewrite in version 14")
    photos.page.keyboard.press("ArrowRight")
    photos.wait_for("widget.state.fragment_id == 9")
    photos.run("widget.state.fragment_id = 11")
    chosen.get_by_text("Fragment 11", exact=True).wait_for()
    chosen.get_by_role("button", name="Clear", exact=True).click()
    photos.wait_for("widget.state.fragment_id is None")
    expect(chosen).to_be_hidden()


def test_pointing_at_a_fragment_tells_its_facts(photos):
    photos.run("widget.state.version = 26")
    drawn(photos, 26)
    widget(photos).locator(".lx-map canvas").hover(position={"x": 60, "y": 100})
    fragment = photos.value("widget.frame().row(0, named=True)")
    told = widget(photos).get_by_role("tooltip").filter(visible=True)
    deleted = fragment["num_deleted_rows"]
    expect(told).to_contain_text(
        f"{fragment['physical_rows']} rows, {deleted} of them deleted", use_inner_text=True
    )
    expect(told).to_contain_text("changed in this version", use_inner_text=True)


def test_the_tabs_tell_what_changed(photos):
    photos.run("widget.state.version = 21")
    drawn(photos, 21)
    tabs = widget(photos)
    tabs.get_by_role("tab", name="Schema 13").get_by_text("1 changed").wait_for()
    tabs.get_by_role("tab", name="Schema").click()
    row = tabs.locator("tr.lx-change-cast")
    expect(row.locator("td")).to_have_text(["megapixels", "double → float", "may be null", "cast"])
    photos.run("widget.state.version = 31")
    tabs.get_by_role("tab", name="Config").get_by_text("2 changed").wait_for()
    tabs.get_by_role("tab", name="Config").click()
    added = tabs.locator("tr.lx-change-added")
    expect(added).to_have_count(2)
    expect(added.first).to_contain_text("Photos of the Silva family")
    tabs.get_by_role("tab", name="Rows").click()


def test_all_rows_of_a_version_are_reached(photos):
    press(photos, "End")
    drawn(photos, 45)
    grid = widget(photos).get_by_role("grid")
    expect(grid).to_have_attribute("aria-rowcount", str(photos.value("table.at(45).num_rows") + 1))
    first = rows(photos)
    grid.press("Control+End")
    ids = "table.at(45).read(columns=['photo_id'])['photo_id']"
    begin, end = (
        photos.value(f"{ids}.{part}({len(first)}).to_list()") for part in ("head", "tail")
    )
    expect(grid.locator("tr[role=row]").last.locator("td").first).to_have_text(f"{end[-1]}")
    assert [int(row[0]) for row in first] == begin
    assert [int(row[0]) for row in rows(photos)] == end
    grid.press("Control+Home")
    expect(grid.locator("td").first).to_have_text(f"{begin[0]}")


def test_rows_of_a_version_are_filtered_and_sorted(photos):
    press(photos, "Home")
    drawn(photos, 1)
    rows(photos)
    box = widget(photos).get_by_role("searchbox", name="Filter rows")
    status = widget(photos).locator(".lx-rows-status")
    box.fill("photo_id >= 310 AND photo_id < 315")
    expect(status).to_have_text("5 of 320 rows match")
    widget(photos).get_by_role("columnheader").filter(has_text="photo_id").click()
    widget(photos).get_by_role("columnheader").filter(has_text="photo_id").click()
    expect(widget(photos).get_by_role("grid").locator("td").first).to_have_text("314")
    camera = widget(photos).locator(".lx-head-value").filter(has_text="X-T5")
    camera.click(modifiers=["Control"])
    expect(box).to_have_value("(photo_id >= 310 AND photo_id < 315) AND camera = 'X-T5'")
    box.fill("")
    expect(status).to_have_text("320 rows")
    widget(photos).get_by_role("columnheader").filter(has_text="photo_id").click()  # no more


def test_only_the_columns_that_are_picked_are_shown_and_stay_so(photos):
    press(photos, "End")
    drawn(photos, 45)
    rows(photos)
    picker = widget(photos).get_by_role("button", name="Columns")
    picker.click()
    search = widget(photos).get_by_role("searchbox", name="Search in the names of columns")
    heads = widget(photos).get_by_role("columnheader")
    widget(photos).get_by_role("button", name="None", exact=True).click()
    expect(heads).to_have_count(0)
    search.fill("photo_id")
    search.press("ArrowDown")
    # This draws the list anew, and takes the keyboard from nobody.
    photos.run("widget.shown_columns = ['rating']")
    expect(heads).to_have_count(1)
    photos.page.keyboard.press("Space")
    photos.wait_for("widget.shown_columns == ['photo_id']")
    expect(heads).to_have_count(1)
    photos.page.keyboard.press("Escape")
    expect(picker).to_be_focused()
    press(photos, "ArrowLeft")
    drawn(photos, 44)
    expect(heads).to_have_count(1)
    expect(heads.locator(".lx-head-bars")).to_be_visible()
    photos.run("widget.shown_columns = ['photo_id', 'rating']")
    expect(heads).to_have_count(2)
    photos.run("widget.state.chosen_columns.clear(); widget.state.version = 45")
    drawn(photos, 45)


def test_an_empty_table_and_one_version_are_shown(travel, tmp_path):
    notebook = travel(SyntheticTable(tmp_path / "t.lance").overwrite(fragments=0).path)
    drawn(notebook, 1)
    expect(words(notebook)).to_have_text("Table created with no rows and 2 columns.")
    widget(notebook).get_by_text("No rows", exact=True).wait_for()
    assert rows(notebook) == []
    press(notebook, "ArrowRight", "ArrowLeft", "End")
    drawn(notebook, 1)


def test_an_unknown_reader_flag_refuses_rows_and_nothing_else(travel, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).delete({0: [1]})
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    notebook = travel(table.path)
    drawn(notebook, 2)
    refusal = widget(notebook).get_by_role("note")
    refusal.wait_for()
    expect(refusal).to_contain_text("unknown_1048576", use_inner_text=True)
    expect(widget(notebook).locator(".lx-facts")).to_contain_text(
        "unknown rows", use_inner_text=True
    )
    widget(notebook).get_by_role("tab", name="Schema 2").wait_for()
    press(notebook, "ArrowLeft")
    drawn(notebook, 1)


def test_versions_that_are_not_kept_are_jumped_over(travel, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance")
    for _ in range(9):
        table.append(rows=2)
    for version in (1, 2, 5, 6, 7):
        table.folder.manifest_path(version).unlink()
    notebook = travel(table.path)
    drawn(notebook, 9)
    press(notebook, "ArrowLeft", "ArrowLeft")
    drawn(notebook, 4)
    press(notebook, "ArrowRight")
    drawn(notebook, 8)
    expect(words(notebook)).to_contain_text("is unknown")
    widget(notebook).get_by_text("compared with version 4, the last one kept before").wait_for()
    press(notebook, "Home")
    drawn(notebook, 3)
    notebook.run("widget.state.version = 6")
    widget(notebook).get_by_text("Version 6 is not among the 4 that are shown").wait_for()


def test_a_branch_begins_with_its_fork_and_refresh_goes_on(travel, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=2)
    branch = table.branch("dev").append(rows=5)
    notebook = travel(table.path, ", branch='dev'")
    drawn(notebook, 3)
    widget(notebook).get_by_text("t.lance, branch dev: 2 versions").wait_for()
    press(notebook, "Home")
    drawn(notebook, 2)
    expect(words(notebook)).to_have_text("Branch dev created from version 2.")
    branch.append(rows=7)
    widget(notebook).get_by_role("button", name="Refresh", exact=True).click()
    widget(notebook).get_by_text("t.lance, branch dev: 3 versions").wait_for()
    drawn(notebook, 2)  # only who looks at the latest version goes on with it
    press(notebook, "End")
    drawn(notebook, 4)
    expect(words(notebook)).to_have_text("7 rows added; 1 new fragment.")
    branch.append(rows=1)
    widget(notebook).get_by_role("button", name="Refresh", exact=True).click()
    drawn(notebook, 5)


EVIL = "<img src=x onerror='owned=1'><script>owned=1</script>\u202e"


def test_hostile_names_and_values_are_text(travel, tmp_path):
    import lance
    import pyarrow as pa

    path = tmp_path / "t.lance"
    columns = pa.table({EVIL: [EVIL, "\x1b[31m\x00" + "y" * 1_000_000, None], "id": [1, 2, 3]})
    dataset = lance.write_dataset(columns, str(path))
    dataset.update_config({EVIL: EVIL})
    dataset.delete("id = 3")
    dataset.tags.create("tag", 1)
    notebook = travel(path)
    drawn(notebook, 3)
    cells = [row[0] for row in rows(notebook)]
    assert cells[0] == f'"{EVIL}"'.replace("\u202e", "\\u202e")
    assert cells[1].startswith('"\\x1b[31m\\x00yyy')
    assert re.search(r'y"… \(1,000,006 characters, #[0-9a-f]{8}\)$', cells[1])
    press(notebook, "ArrowLeft")
    drawn(notebook, 2)
    expect(words(notebook)).to_contain_text("<img src=x onerror=")
    widget(notebook).get_by_role("tab", name="Config 1").click()
    expect(widget(notebook).locator("tr.lx-change-added")).to_contain_text("<script>")
    expect(widget(notebook).locator("img, script")).to_have_count(0)
    assert notebook.page.evaluate("typeof owned") == "undefined"


def test_five_thousand_versions_and_fragments_are_aggregated_in_words(travel, many_versions):
    many = travel(many_versions)
    many.run("widget.state.version = 5000")
    drawn(many, 5000)
    bars = int(widget(many).locator(".lx-map").get_attribute("data-bars"))
    fragments = many.value("len(widget.frame())")
    assert fragments == 5000
    widget(many).get_by_text(f"5,000 fragments as {bars} bars").wait_for()
    width = widget(many).locator(".lx-map canvas").bounding_box()["width"]
    assert 100 < bars <= width / 2
    press(many, "PageDown")
    drawn(many, 4750)
    press(many, "Home")
    drawn(many, 1)
