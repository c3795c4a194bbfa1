"""The widget of row-ID encodings in JupyterLab."""

from functools import partial

import pytest
from playwright.sync_api import expect

from lance_explorer.figures.palette import ENCODING_COLORS
from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r}{options})
widget = lx.widgets.SegmentEncodings(table)
widget
"""
MARGIN, HEAD, ROW = 66, 20, 20  # px
RANGE, ARRAY = [ENCODING_COLORS[name].lower() for name in ("range", "array")]


def show(notebook, path, options=""):
    """Show the widget over a table; return the notebook once it is drawn."""
    notebook.run_cells(OPEN.format(path=str(path), options=options))
    notebook.widgets(".lx-encodings[data-shown]").wait_for()
    return notebook


@pytest.fixture
def encodings(spare_notebook):
    """Show a table that one test looks at."""
    return partial(show, spare_notebook)


def widget(notebook):
    return notebook.widgets(".lx-encodings")


def growth(notebook):
    return widget(notebook).locator(".lx-version-picture")


def segments(notebook):
    return widget(notebook).get_by_label("Segments of")


def shown(notebook, version, fragment=None, mode="position"):
    """Wait until everything shows a version and a fragment, and Python has them too."""
    marked = "" if fragment is None else fragment
    notebook.widgets(f'.lx-encodings[data-shown="{version} {marked} {mode}"]').wait_for()
    growth(notebook).and_(notebook.page.locator(f'[data-drawn="{version} "]')).wait_for()
    picture = segments(notebook)
    if picture.is_visible():
        picture.and_(notebook.page.locator(f'[data-drawn="{version} {marked} {mode}"]')).wait_for()
    expect(widget(notebook).get_by_role("heading").first).to_have_text(f"Version {version:,}")
    selection = {"version": version, "fragment_id": fragment}
    notebook.wait_for(f"widget.selection == {selection!r}")


def press(notebook, element, *keys):
    element.focus()
    for key in keys:
        notebook.page.keyboard.press(key)


def statistics(notebook):
    """Return the cells of the encodings in numbers."""
    return widget(notebook).locator(".lx-statistics tbody td")


def expect_fragments(notebook, *fragments):
    """Wait until the rows of the table in sight are of these fragments."""
    grid = widget(notebook).locator(".lx-rows-grid")
    grid.locator(".lx-rows-name").first.wait_for()
    at = grid.locator(".lx-rows-name").all_inner_texts().index("fragment_id") + 2
    expect(grid.locator(f"tbody td:nth-child({at})")).to_have_text([str(f) for f in fragments])


def expect_color(notebook, x, y, color):
    """Wait until a place in the picture of segments has a colour."""
    notebook.page.wait_for_function(
        """([canvas, x, y, color]) => {
            const scale = canvas.width / canvas.clientWidth;
            const at = [Math.round(x * scale), Math.round(y * scale)];
            const pixel = [...canvas.getContext("2d").getImageData(...at, 1, 1).data].slice(0, 3);
            return `#${pixel.map((part) => part.toString(16).padStart(2, "0")).join("")}` === color;
        }""",
        arg=[segments(notebook).element_handle(), x, y, color],
    )


@pytest.fixture(scope="module")
def photos_notebook(shared_notebook, photos_path):
    return show(shared_notebook, photos_path)


@pytest.fixture
def photos(photos_notebook):
    """The sample table as it is at first: the last version, all its segments by position."""
    photos_notebook.show()
    photos_notebook.run("widget.state.version, widget.state.fragment_id = 45, None")
    photos_notebook.run("widget.state.filter = ''; widget.sort_by()")
    widget(photos_notebook).get_by_role("button", name="by position", exact=True).click()
    shown(photos_notebook, 45)
    return photos_notebook


def test_keys_move_the_version_and_everything_follows(photos):
    press(photos, growth(photos), "End")
    shown(photos, 45)
    expected = photos.value("widget.words")
    expect(widget(photos).locator(".lx-sentences li")).to_have_text(expected)
    press(photos, growth(photos), "ArrowLeft", "ArrowLeft")
    shown(photos, 43)
    press(photos, growth(photos), "PageDown", "ArrowRight")
    shown(photos, 42)
    press(photos, growth(photos), "Home")
    shown(photos, 1)
    size = photos.value("int(widget.frame()['encoded_bytes'].sum())")
    expected = ["range", "2", "0", "320", f"{size} bytes", f"{size / 320:.2f} B"]
    expect(statistics(photos)).to_have_text(expected, use_inner_text=True)
    expect_fragments(photos, 0, 1)


def test_a_click_and_a_drag_move_the_version(photos):
    growth(photos).scroll_into_view_if_needed()
    box = growth(photos).bounding_box()
    unit = (box["width"] - MARGIN - 20) / 45
    at = [box["x"] + MARGIN + 10 + (version - 0.5) * unit for version in (10, 20)]
    mouse = photos.page.mouse
    mouse.move(at[0], box["y"] + 40)
    mouse.down()
    mouse.move(at[1], box["y"] + 45, steps=5)
    mouse.up()
    shown(photos, 20)


def test_a_click_chooses_a_fragment_and_its_segments_alone_are_told(photos):
    photos.run("widget.state.version = 45")
    shown(photos, 45)
    ids = photos.value("table.inspect.row_id_encodings(45)['fragment_id'].to_list()")
    segments(photos).click(position={"x": 100, "y": HEAD + 2.5 * ROW})
    shown(photos, 45, ids[2])
    told = photos.value("widget.frame()['fragment_id'].to_list()")
    assert set(told) == {ids[2]}
    expect_fragments(photos, *told[:10])
    widget(photos).get_by_text(f"Encodings of fragment {ids[2]}", exact=True).wait_for()
    press(photos, segments(photos), "ArrowDown")
    shown(photos, 45, ids[3])
    press(photos, segments(photos), "ArrowUp", "ArrowUp", "Home", "End")
    shown(photos, 45, ids[-1])
    press(photos, segments(photos), "Escape")
    shown(photos, 45)
    widget(photos).get_by_label("Fragment", exact=True).select_option(str(ids[1]))
    shown(photos, 45, ids[1])
    segments(photos).click(position={"x": 100, "y": HEAD + 1.5 * ROW})
    shown(photos, 45)


def test_segments_have_the_colours_of_their_encodings_and_stand_by_row_id_if_asked(photos):
    photos.run("widget.state.version = 45")
    shown(photos, 45)
    of = photos.value("dict(widget.frame().group_by('fragment_id').agg('encoding').rows())")
    counts = photos.value(
        "dict(table.inspect.row_id_encodings(45).select('fragment_id', 'num_values').rows())"
    )
    expected = {"range": RANGE, "array": ARRAY}
    checked = 0
    for row, (fragment, count) in enumerate(counts.items()):
        if len(of[fragment]) == 1 and count > 20:
            y = HEAD + (row + 0.5) * ROW
            expect_color(photos, MARGIN + 2, y, expected[of[fragment][0]])
            checked += 1
    assert checked > 1
    by_row_id = widget(photos).get_by_role("button", name="by row ID", exact=True)
    by_row_id.click()
    shown(photos, 45, mode="row_id")
    expect(by_row_id).to_have_attribute("aria-pressed", "true")
    widget(photos).get_by_text("fainter: few of the row IDs there").wait_for()
    widget(photos).get_by_role("button", name="by position", exact=True).click()
    shown(photos, 45)


def test_the_table_is_sorted_and_filtered_and_python_has_it(photos):
    photos.run("widget.state.version = 45")
    shown(photos, 45)
    head = widget(photos).get_by_role("columnheader", name="encoded_bytes")
    head.click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    head.click()
    expect(head).to_have_attribute("aria-sort", "descending")
    photos.wait_for("len(widget.sort) == 1 and widget.sort[0].descending")
    largest = photos.value("widget.frame()['encoded_bytes'].to_list()")
    assert largest == sorted(largest, reverse=True)
    box = widget(photos).get_by_label("Filter rows")
    box.fill("encoding = 'array'")
    box.press("Enter")
    photos.wait_for("set(widget.frame()['encoding']) == {'array'}")
    widget(photos).get_by_text("match", exact=False).first.wait_for()
    assert photos.value(
        "eval(widget.code(), {'table': table, 'pl': __import__('polars')}).equals(widget.frame())"
    )
    box.fill("")
    box.press("Enter")
    photos.wait_for("widget.state.filter == ''")
    photos.run("widget.sort_by()")
    expect(head).to_have_attribute("aria-sort", "none")


def test_pointing_tells_the_bytes_of_a_fragment_and_of_a_version(photos):
    photos.run("widget.state.version = 45")
    shown(photos, 45)
    segments(photos).hover(position={"x": 100, "y": HEAD + 1.5 * ROW})
    row = photos.value("table.inspect.row_id_encodings(45).row(1, named=True)")
    tip = widget(photos).get_by_role("tooltip").filter(visible=True)
    sizes = f"{row['encoded_bytes']} bytes now, {row['best_bytes']} bytes at best"
    expect(tip).to_contain_text(sizes)
    growth(photos).hover(position={"x": MARGIN + 12, "y": 30})
    expect(tip).to_contain_text("Row IDs:")
    photos.page.mouse.move(5, 5)


def test_nothing_is_asked_for_when_nothing_changes(photos):
    press(photos, growth(photos), "End")
    shown(photos, 45)
    photos.run("asked = []; widget.on_msg(lambda _, message, __: asked.append(message['kind']))")
    press(photos, growth(photos), "End", "ArrowRight")
    photos.run("widget.state.version = 45; widget.state.row_id = 3")
    press(photos, growth(photos), "ArrowLeft")
    shown(photos, 44)
    photos.wait_for("'page' in asked")
    kinds = photos.value("asked")
    assert kinds.count("version") == kinds.count("state") == 1
    assert {"history", "growth"}.isdisjoint(kinds)


def test_without_stable_row_ids_it_says_what_is_the_matter(encodings, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4).append()
    notebook = encodings(table.path)
    widget(notebook).get_by_text("This table has no stable row IDs").wait_for()
    expect(growth(notebook)).to_be_hidden()
    expect(segments(notebook)).to_be_hidden()
    expect(widget(notebook).get_by_role("grid")).to_be_hidden()
    notebook.run("widget.state.version = 1")
    widget(notebook).get_by_role("heading", name="Version 1", exact=True).wait_for()


def test_an_empty_table_is_shown(encodings, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").overwrite(fragments=0)
    notebook = encodings(table.path)
    shown(notebook, 1)
    expect(statistics(notebook)).to_have_count(0)
    press(notebook, growth(notebook), "ArrowRight", "Home")
    shown(notebook, 1)


def test_an_unknown_reader_flag_is_told_in_words(encodings, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).delete({0: [1]})
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    notebook = encodings(table.path)
    shown(notebook, 2)
    expect(widget(notebook).locator(".lx-findings")).to_contain_text(
        "unknown_1048576", use_inner_text=True
    )
    press(notebook, growth(notebook), "ArrowLeft")
    shown(notebook, 1)
    expect(statistics(notebook).first).to_have_text("range")
    expect(statistics(notebook)).to_have_count(6)


def test_a_version_that_is_not_kept_is_told(encodings, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=2).append(rows=2).append(rows=1)
    notebook = encodings(table.remove(2).path)
    notebook.run("widget.state.version = 2")
    widget(notebook).get_by_text("Version 2 is not among the 2 that are shown").wait_for()
    widget(notebook).get_by_text("cleaned up").wait_for()
    press(notebook, growth(notebook), "End")
    shown(notebook, 3)


def test_a_branch_begins_with_its_fork_and_refresh_goes_on(encodings, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4)
    branch = table.branch("dev").append(rows=5)
    notebook = encodings(table.path, ", branch='dev'")
    shown(notebook, 2)
    widget(notebook).get_by_text("t.lance, branch dev: 2 versions").wait_for()
    branch.append(rows=3)
    widget(notebook).get_by_role("button", name="Refresh", exact=True).click()
    shown(notebook, 3)
    for i, text in enumerate(("range", "3", "0", "12")):
        expect(statistics(notebook).nth(i)).to_have_text(text)


def test_five_thousand_versions_and_fragments_are_aggregated_in_words(encodings, many_versions):
    many = encodings(many_versions)
    shown(many, 5000)
    widget(many).get_by_text("5,000 fragments in 120 rows, up to 42 each").wait_for()
    widget(many).get_by_text("all (500 of 5,000 to choose from)").wait_for(state="attached")
    press(many, segments(many), "ArrowDown")
    many.wait_for("widget.state.fragment_id is not None")
    fragment = many.value("widget.state.fragment_id")
    shown(many, 5000, fragment)
    press(many, growth(many), "Home")
    many.wait_for("widget.state.version == 1")
    many.screenshot("encodings_many", widget(many))
