"""The widget for the life of a row, in JupyterLab."""

import json
import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r})
widget = lx.widgets.RowHistory(table)
widget
"""


def open_rows(notebook, path):
    """Show the widget over a table; return the notebook."""
    notebook.run_cells(OPEN.format(path=str(path)))
    widget(notebook).get_by_role("button", name="First row", exact=True).wait_for()
    return notebook


@pytest.fixture
def opened(spare_notebook):
    """Show a table that one test looks at."""
    return partial(open_rows, spare_notebook)


@pytest.fixture(scope="module")
def photos_notebook(shared_notebook, photos_path):
    notebook = open_rows(shared_notebook, photos_path)
    show(notebook, "42")
    drawn(notebook, 10, 44)
    return notebook


@pytest.fixture
def photos(photos_notebook):
    """Row 42 of the sample table at its last event."""
    photos_notebook.show()
    photos_notebook.run("widget.state.row_id, widget.state.version = 42, 44")
    drawn_row(photos_notebook, 42)
    drawn(photos_notebook, 10, 44)
    return photos_notebook


def widget(notebook):
    return notebook.widgets(".lx-row-history")


def timeline(notebook):
    return widget(notebook).get_by_role("slider")


def drawn(notebook, events, version):
    """Wait until the timeline has so many events, and that of a version is chosen."""
    notebook.widgets(f'[data-drawn="{events}"][data-chosen="{version}"]').wait_for()


def show(notebook, typed):
    box = widget(notebook).get_by_role("textbox", name=re.compile("^Row ID"))
    box.fill(typed)
    box.press("Enter")


def expect_changed(notebook, *cells):
    """Wait until these are the names and values that changed at the chosen event."""
    expect(widget(notebook).locator(".lx-value-changed")).to_have_text(
        [re.compile(rf"^\s*{name}\s*{re.escape(value)}") for name, value in cells],
        use_inner_text=True,
    )


def press(notebook, *keys):
    timeline(notebook).focus()
    for key in keys:
        notebook.page.keyboard.press(key)


def test_a_typed_row_is_shown_with_what_changed(photos):
    show(photos, "42")
    press(photos, "End")
    drawn(photos, 10, 44)
    photos.wait_for("widget.state.row_id == 42")
    expect_changed(photos, ("title", "Tram in Lisbon, 42 → The yellow tram"))
    heading = widget(photos).locator(".lx-version-heading")
    expect(heading).to_contain_text("version 44, Update")
    expect(heading).to_contain_text("from fragment 12, offset 171 to fragment 25, offset 0")


def test_keys_go_from_event_to_event_and_python_follows(photos):
    press(photos, "End", "ArrowLeft", "ArrowLeft")
    drawn(photos, 10, 26)
    photos.wait_for("widget.state.version == 26")
    widget(photos).get_by_text("the values that it had").wait_for()
    expect(widget(photos).locator(".lx-value-removed")).to_have_count(13)
    absent = widget(photos).locator(".lx-value").filter(has_text="not in this version")
    expect(absent).to_have_count(0)
    press(photos, "Home")
    drawn(photos, 10, 1)
    expect(absent.locator(".lx-value-name")).to_have_text(["megapixels", "people"])
    press(photos, "ArrowRight")
    drawn(photos, 10, 6)
    expect_changed(photos, ("title", ""))


def test_a_click_chooses_an_event_and_pointing_tells_of_it(photos):
    press(photos, "Home")
    drawn(photos, 10, 1)
    marks = json.loads(timeline(photos).get_attribute("data-marks"))
    x, y = marks[4]
    timeline(photos).hover(position={"x": x, "y": y})
    told = widget(photos).get_by_role("tooltip").filter(visible=True)
    expect(told).to_contain_text("Row 42 moved in version 14", use_inner_text=True)
    timeline(photos).click(position={"x": x, "y": y})
    drawn(photos, 10, 14)
    photos.wait_for("widget.state.version == 14")
    widget(photos).get_by_text("no value changed").wait_for()


def test_the_table_below_has_every_event_and_python_chooses_one(photos):
    grid = widget(photos).get_by_role("grid")
    grid.get_by_text("17179869198").first.wait_for()
    assert photos.value("widget.frame()['_rowaddr_after'][1]") == 17179869198
    assert photos.value("widget.frame().height") == 10
    photos.run("widget.state.row_id = 42; widget.state.version = 22")
    drawn(photos, 10, 22)


def test_the_arrows_go_to_the_next_row_and_back_and_a_row_that_is_not_there_says_why(photos):
    photos.run("widget.state.row_id = 42")
    drawn_row(photos, 42)
    widget(photos).get_by_role("button", name="Next row", exact=True).click()
    following = photos.value("min(i for i in table.latest.row_ids()['_rowid'].to_list() if i > 42)")
    drawn_row(photos, following)
    photos.wait_for(f"widget.state.row_id == {following}")
    widget(photos).get_by_role("button", name="Previous row", exact=True).click()
    drawn_row(photos, 42)
    show(photos, "987654")
    widget(photos).get_by_role("alert").get_by_text("did not exist by version 45").wait_for()
    drawn_row(photos, 42)


def drawn_row(notebook, row):
    heading = widget(notebook).locator(".lx-version-heading")
    named = re.compile(rf"row {row:,}(?!\d)", re.IGNORECASE)  # beside its key, if it has one
    heading.filter(has_text=named).wait_for()


def test_an_empty_table_has_no_row_to_go_to(opened, tmp_path):
    notebook = opened(SyntheticTable(tmp_path / "t.lance").overwrite(0, 0).path)
    widget(notebook).get_by_role("button", name="Next row", exact=True).click()
    widget(notebook).get_by_text("there is no later row in version 1").wait_for()


def test_without_stable_row_ids_a_row_is_followed_by_address(opened, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    notebook = opened(table.append(rows=4, fragments=2).compact([0, 1]).path)
    show(notebook, "1:2@1")
    drawn(notebook, 2, 3)
    notebook.wait_for(f"widget.state.row_id == {(2 << 32) + 6}")
    widget(notebook).get_by_text("The values are unknown").wait_for()
    widget(notebook).get_by_text("named by the address 2:6").wait_for()


def test_a_row_is_chosen_by_a_button_and_what_is_uncertain_is_said(opened, tmp_path):
    import lance
    import pyarrow as pa

    path = str(tmp_path / "t.lance")
    upsert = lance.write_dataset(pa.table({"id": [1], "name": ["a"]}), path).merge_insert("id")
    new = pa.table({"id": [1, 2], "name": ["b", "c"]})
    upsert.when_matched_update_all().when_not_matched_insert_all().execute(new)
    notebook = opened(path)
    widget(notebook).get_by_role("button", name="First row", exact=True).click()
    drawn(notebook, 1, 2)
    widget(notebook).get_by_text("This row is new, or an updated older one").wait_for()


EVIL = "<img src=x onerror='owned=1'>\u202e"


def test_hostile_values_are_text(opened, tmp_path):
    import lance
    import pyarrow as pa

    path = tmp_path / "t.lance"
    table = lance.write_dataset(
        pa.table({"name": [EVIL], EVIL: [1]}), str(path), enable_stable_row_ids=True
    )
    table.update({"name": "'plain'"})
    notebook = opened(path)
    show(notebook, "0")
    drawn(notebook, 2, 2)
    expect_changed(notebook, ("name", f'"{EVIL}" → plain'.replace("\u202e", "\\u202e")))
    expect(widget(notebook).locator("img")).to_have_count(0)
    assert notebook.page.evaluate("typeof owned") == "undefined"
