"""The lineage widget in JupyterLab."""

import json
import re
from functools import partial

import pytest
from playwright.sync_api import expect

from tests.browser.lab import PATIENCE, screenshot
from tests.serving import opened as served
from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
from lance_explorer.figures.lineage_layout import lay_out
table = lx.open_table({path!r}{options})
lineage = table.lineage()
widget = lx.widgets.LineageGraph(table)
widget
"""


# All 45 versions of the sample table are in sight, half of one more, and a margin of 12 px.
WHOLE = "now.x0 < 1 && Math.abs(24 + 44.8 * now.unit - element.clientWidth) < 2"


def show(notebook, path, options=""):
    """Show the widget over a table; return the notebook once it is drawn."""
    notebook.run_cells(OPEN.format(path=str(path), options=options))
    picture(notebook).and_(notebook.page.locator("[data-drawn]")).wait_for()
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
    """The sample table with nothing chosen, and all in sight."""
    photos_notebook.show()
    photos_notebook.run("state = widget.state; state.fragment_id = state.row_id = None")
    photos_notebook.run("state.version = 45; widget.between = None")
    shown(photos_notebook, selected="", row="", version="45", lanes="27", drawn="1-45")
    scaled(photos_notebook, WHOLE)
    return photos_notebook


def widget(notebook):
    return notebook.widgets(".lx-lineage-graph")


def picture(notebook):
    return notebook.widgets(".lx-lineage")


def shown(notebook, **attributes):
    """Wait until the picture shows a fragment, a row or a version."""
    css = "".join([f'[data-{name}="{value}"]' for name, value in attributes.items()])
    notebook.widgets(f".lx-lineage{css}").wait_for()


def scale(notebook):
    return json.loads(picture(notebook).get_attribute("data-scale"))


def scaled(notebook, condition, was=None):
    """Wait until a condition on the scale, `now` and as it `was`, is true; return the scale."""
    notebook.page.wait_for_function(
        f"""([element, was]) => {{
            const now = JSON.parse(element.dataset.scale);
            return {condition};
        }}""",
        arg=[picture(notebook).element_handle(), was],
    )
    return scale(notebook)


def place(notebook, version, y):
    """Return where a version and a height of the layout are in the picture."""
    at = scale(notebook)
    x = at["left"] + (version - at["x0"]) * at["unit"]
    return {"x": x, "y": at["top"] + (y - at["offset"]) * at["ky"]}


def lane(notebook, node, version):
    """Return where a lane is at a version."""
    y = notebook.value(f"lay_out(*lineage.frames).y_at({node!r}, {version})")
    return place(notebook, version, y)


def press(notebook, *keys):
    picture(notebook).focus()
    for key in keys:
        notebook.page.keyboard.press(key)


def follow(notebook, typed):
    box = widget(notebook).get_by_role("textbox", name=re.compile("^Row ID"))
    box.fill(typed)
    box.press("Enter")


def test_pointing_at_a_lane_a_ribbon_and_a_commit_tells_the_facts(photos):
    told = widget(photos).get_by_role("tooltip").filter(visible=True)
    picture(photos).hover(position=lane(photos, "9@14", 24))
    words = re.compile("^Fragment 9\n652 rows in versions 22 to 25")
    expect(told).to_have_text(words, use_inner_text=True)
    ribbon = photos.value(
        "lay_out(*lineage.frames).ribbons.filter(version=14, from_lane=5).row(0, named=True)"
    )
    middle = (ribbon["y0"] + ribbon["y1"] + ribbon["width0"]) / 2
    picture(photos).hover(position=place(photos, (ribbon["x0"] + ribbon["x1"]) / 2, middle))
    expect(told).to_contain_text("400 rows compacted in version 14")
    expect(told).to_contain_text("from fragment 5 to fragment 9")
    picture(photos).hover(position={**place(photos, 28, 0), "y": scale(photos)["top"] - 14})
    expect(told).to_have_text(re.compile("^Version 28 · Restore"))


def test_a_click_selects_a_life_of_a_fragment_and_python_follows(photos):
    picture(photos).click(position=lane(photos, "9@14", 24))
    shown(photos, selected="9@14")
    photos.wait_for("widget.state.fragment_id == 9")
    photos.wait_for("widget.selection['node'] == '9@14'")
    chosen = widget(photos).get_by_text("5 fragments that its rows came from, 4 that they moved to")
    chosen.wait_for()
    picture(photos).click(position=lane(photos, "9@14", 24))
    shown(photos, selected="")
    photos.wait_for("widget.state.fragment_id is None")
    expect(chosen).to_be_hidden()
    for node, version in (("12@22", 23), ("12@28", 40)):
        picture(photos).click(position=lane(photos, node, version))
        shown(photos, selected=node)
        photos.wait_for(f"widget.selection['node'] == {node!r}")


def test_only_the_ancestry_of_a_fragment_is_shown_if_asked_for(photos):
    photos.run("widget.state.fragment_id = 24")
    shown(photos, selected="24@43", lanes="27")
    widget(photos).get_by_role("checkbox", name="show only these", exact=True).click()
    shown(photos, selected="24@43", lanes="3")
    assert photos.value("sorted(widget.frame()['fragment_id'])") == [21, 23, 24]
    widget(photos).get_by_role("checkbox", name="show only these", exact=True).click()
    shown(photos, lanes="27")


def test_a_typed_row_or_address_draws_the_path_of_the_row(photos):
    follow(photos, "42")
    shown(photos, row="42")
    photos.wait_for("widget.state.row_id == 42")
    events = photos.value(
        "[f'{v} ' + ('possibly ' if m else '') + e.replace('_', ' ') for v, e, m in "
        "table.row(42).history().select('version', 'event', 'is_uncertain').rows()]"
    )
    expect(widget(photos).locator(".lx-event")).to_have_text(events)
    widget(photos).get_by_role("button", name="26 deleted", exact=True).click()
    shown(photos, version="26")
    photos.wait_for("widget.state.version == 26")
    widget(photos).get_by_role("button", name="Clear row", exact=True).click()
    shown(photos, row="")
    photos.wait_for("widget.state.row_id is None")
    follow(photos, "addr 4:14@9")
    shown(photos, row="42")
    photos.wait_for("widget.state.row_id == 42")


def test_a_row_that_is_not_there_says_why(photos):
    for typed, words in (
        ("99999", "did not exist by version 45"),
        ("no", "is not a row: type a value such as photo_id = 42, a row ID"),
    ):
        follow(photos, typed)
        widget(photos).get_by_role("alert").get_by_text(words).wait_for()
    assert photos.value("widget.state.row_id") is None
    photos.run("widget.state.row_id = 88888")
    widget(photos).get_by_text("88888 did not exist").wait_for()


def test_pointing_at_an_event_tells_what_happened(photos):
    photos.run("widget.state.row_id = 42")
    shown(photos, row="42")
    at = lane(photos, "25@44", 44)
    at["x"] -= 0.14 * scale(photos)["unit"]
    picture(photos).hover(position=at)
    told = widget(photos).get_by_role("tooltip").filter(visible=True)
    expect(told).to_contain_text("Row 42 updated in version 44", use_inner_text=True)
    expect(told).to_contain_text(
        "from fragment 12, offset 171 to fragment 25, offset 0", use_inner_text=True
    )


def test_keys_zoom_move_and_fit(photos):
    whole = scale(photos)
    press(photos, "+", "+")
    zoomed = scaled(photos, "now.unit > 2 * was.unit", whole)
    photos.wait_for("widget.between is not None")
    press(photos, "ArrowRight")
    scaled(photos, "now.x0 > was.x0", zoomed)
    photos.wait_for("1 < widget.between[0] < widget.between[1] <= 45")
    press(photos, "0")
    photos.wait_for("widget.between is None")


def test_the_wheel_zooms_once_the_picture_has_the_focus(photos):
    before = scale(photos)
    picture(photos).focus()
    picture(photos).hover(position=place(photos, 30, 100))
    photos.page.mouse.wheel(0, -400)
    after = scaled(photos, "now.unit > 1.5 * was.unit", before)
    photos.wait_for("widget.between is not None")
    assert after["left"] + (30 - after["x0"]) * after["unit"] == pytest.approx(
        before["left"] + (30 - before["x0"]) * before["unit"], abs=2
    )


def test_a_drag_moves_the_picture_and_selects_nothing(photos):
    whole = scale(photos)
    press(photos, "+", "+", "+")
    before = scaled(photos, "now.unit > 3 * was.unit", whole)
    picture(photos).scroll_into_view_if_needed()
    box = picture(photos).bounding_box()
    mouse = photos.page.mouse
    mouse.move(box["x"] + 300, box["y"] + 200)
    mouse.down()
    mouse.move(box["x"] + 400, box["y"] + 200, steps=5)
    mouse.up()
    scaled(photos, "now.x0 < was.x0 - 1", before)
    assert photos.value("widget.state.fragment_id") is None


def test_shift_and_arrows_move_the_version_and_select_a_fragment(photos):
    press(photos, "Shift+ArrowLeft", "Shift+ArrowLeft")
    shown(photos, version="43")
    photos.wait_for("widget.state.version == 43")
    press(photos, "Shift+ArrowDown")
    shown(photos, selected="19@33")
    press(photos, "Shift+ArrowDown")
    shown(photos, selected="11@16")
    press(photos, "Escape")
    shown(photos, selected="")


def test_python_moves_the_version_and_the_versions_in_sight(photos):
    photos.run("widget.state.version = 12; widget.between = (10, 20)")
    shown(photos, version="12")
    widget(photos).get_by_text("versions 10 to 20").wait_for()


def test_an_empty_table_is_shown(opened, tmp_path):
    notebook = opened(SyntheticTable(tmp_path / "t.lance").overwrite(fragments=0).path)
    shown(notebook, lanes="0", version="1")
    widget(notebook).get_by_text("0 fragments · version 1").wait_for()
    press(notebook, "+", "ArrowLeft", "Shift+ArrowDown", "Shift+ArrowLeft", "0")
    shown(notebook, version="1")


def test_without_stable_row_ids_an_address_is_followed(opened, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False)
    notebook = opened(table.append(rows=4, fragments=2).compact([0, 1]).path)
    follow(notebook, "1:2@1")
    shown(notebook, row=str((2 << 32) + 6))
    expect(widget(notebook).locator(".lx-event")).to_have_text(["1 created", "3 moved"])


EVIL = "<img src=x onerror='owned=1'>"


def test_one_version_is_shown_and_what_is_typed_is_text(opened, tmp_path):
    notebook = opened(SyntheticTable(tmp_path / "t.lance").append(rows=5).tag(EVIL, 1).path)
    shown(notebook, lanes="1")
    follow(notebook, EVIL)
    widget(notebook).get_by_text("is not a row").wait_for()
    expect(widget(notebook).locator("img")).to_have_count(0)
    assert notebook.page.evaluate("typeof owned") == "undefined"
    follow(notebook, "3")
    shown(notebook, row="3")


def test_thousands_of_versions_are_aggregated_and_finer_when_zoomed_in(opened, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", transaction_files=False)
    table.append(rows=100, fragments=4)
    while table.version < 2_996:
        table.append(rows=10).append(rows=20).delete({table.fragment_ids[-1]: [0]})
        if table.version % 100 < 3:
            table.compact(table.fragment_ids)
    many = opened(table.path)
    press(many, "0")
    words = widget(many).locator(".lx-lineage-words")
    total = many.value("len(lineage.fragments())")
    assert total > 1_900
    expect(words).to_contain_text(f"200 of {total:,} fragments in versions 1 to")
    expect(words).to_contain_text("zoom in")
    many.run("widget.between = (1000, 1040)")
    widget(many).get_by_text("versions 1,000 to 1,040").wait_for()
    expect(words).not_to_contain_text("200 of")
    nodes = many.value("widget.frame()['node'].to_list()")
    assert len(nodes) > 25
    press(many, "0")
    widget(many).get_by_text(f"200 of {total:,} fragments").wait_for()
    follow(many, "3")
    shown(many, row="3")
    moves = many.value("len(table.row(3).history())")
    assert moves > 10
    expect(widget(many).locator(".lx-event")).to_have_count(moves)
    whole = scaled(many, "now.x0 < 1")
    press(many, "+", "+")
    scaled(many, "now.unit > 2 * was.unit", whole)
    frames = picture(many).evaluate(
        """async (element) => {
            const counts = [];
            for (const key of ["ArrowRight", "ArrowLeft", "ArrowRight", "ArrowLeft"]) {
                const before = element.dataset.scale;
                element.dispatchEvent(new KeyboardEvent("keydown", { key }));
                let count = 0;
                while (element.dataset.scale === before) {
                    await new Promise(requestAnimationFrame);
                    count += 1;
                }
                counts.push(count);
            }
            return Math.max(...counts);
        }"""
    )
    assert frames <= 2  # a move is drawn without Python


def test_a_version_of_the_parent_is_told_as_such_and_not_gone_to(opened, tmp_path):
    main = SyntheticTable(tmp_path / "t.lance").append(rows=4).append()
    branch = main.branch("dev").append()
    notebook = opened(branch.path)
    above = scale(notebook)["top"] - 14
    told = widget(notebook).get_by_role("tooltip").filter(visible=True)
    picture(notebook).hover(position={**place(notebook, 1, 0), "y": above})
    expect(told).to_have_text(re.compile("^Version 1 of main · Overwrite"))
    picture(notebook).click(position={**place(notebook, 1, 0), "y": above})
    picture(notebook).click(position={**place(notebook, 2, 0), "y": above})
    shown(notebook, version="2")  # the fork is the branch's, too
    notebook.wait_for("widget.state.version == 2")
    press(notebook, "Shift+ArrowLeft", "Shift+ArrowRight")
    shown(notebook, version="3")
    widget(notebook).get_by_text("versions inherited from main").wait_for()


# Which version is at a place of the picture, in px.
AT = "const at = (scale, x) => scale.x0 + (x - scale.left) / scale.unit"


@pytest.fixture
def hand(browser, photos_path):
    """Fingers on the picture of the sample table, on a touch screen."""
    context = browser.new_context(viewport={"width": 820, "height": 1000}, has_touch=True)
    with served(photos_path) as (address, _):
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.goto(address)
        page.locator(".lx-explorer-tab[data-view=lineage]").tap()
        found = page.locator(".lx-lineage[data-drawn]")
        found.scroll_into_view_if_needed()
        yield Hand(page, found, context.new_cdp_session(page))
    context.close()


class Hand:
    """Fingers on a picture."""

    def __init__(self, page, element, session):
        self.page = page
        self.element = element
        self.session = session

    def scale(self):
        return json.loads(self.element.get_attribute("data-scale"))

    def wait(self, condition, was):
        """Wait until a condition on the scale, `now` and as it `was`, is true; return the scale."""
        self.page.wait_for_function(
            f"""([element, was]) => {{
                const now = JSON.parse(element.dataset.scale);
                {AT};
                return {condition};
            }}""",
            arg=[self.element.element_handle(), was],
        )
        return self.scale()

    def slide(self, *ways):
        """Slide one finger or several, each from a place to another one."""
        box = self.element.bounding_box()
        for part in range(6):
            points = [
                {
                    "x": box["x"] + x0 + (x1 - x0) * part / 5,
                    "y": box["y"] + y0 + (y1 - y0) * part / 5,
                    "id": finger,
                }
                for finger, ((x0, y0), (x1, y1)) in enumerate(ways)
            ]
            self.touch("touchMove" if part else "touchStart", points)
        self.touch("touchEnd", [])

    def touch(self, kind, points):
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def test_two_fingers_zoom_and_one_moves(hand):
    whole = hand.scale()
    hand.slide(((360, 180), (280, 180)), ((440, 180), (520, 180)))
    zoomed = hand.wait("Math.abs(now.unit / was.unit - 3) < 0.03", whole)
    hand.wait("Math.abs(at(now, 400) - at(was, 400)) < 0.1", whole)
    hand.slide(((300, 180), (400, 180)))
    moved = hand.wait("Math.abs(at(now, 400) - at(was, 300)) < 0.1", zoomed)
    assert moved["unit"] == pytest.approx(zoomed["unit"])
    screenshot("lineage_touched", hand.page)
    hand.slide(((280, 180), (360, 180)), ((520, 180), (440, 180)))
    hand.wait("Math.abs(now.unit / was.unit - 1) < 1e-6", whole)


def test_a_tap_is_a_click_and_two_zoom_where_no_lane_is(hand):
    expect(hand.element).to_have_attribute("data-selected", "")
    whole = hand.scale()
    x = whole["left"] + (44.9 - whole["x0"]) * whole["unit"]
    hand.element.tap(position={"x": x, "y": whole["top"] - 14})
    expect(hand.element).to_have_attribute("data-version", "45")
    for _ in range(2):
        hand.element.tap(position={"x": x, "y": whole["top"] - 14})
    hand.wait("Math.abs(now.unit / was.unit - 2) < 1e-6", whole)
