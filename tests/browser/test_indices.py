"""The widget of indices in JupyterLab."""

import re
from functools import partial

import pytest
from playwright.sync_api import expect

from lance_explorer import demo
from lance_explorer.figures.palette import COVERAGE_COLORS
from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

OPEN = """
import lance_explorer as lx
table = lx.open_table({path!r}{options})
widget = lx.widgets.Indices(table)
widget
"""
MARGIN, SIDE, ROWS_TOP, ROW = 66, 10, 84, 18  # px, where there are no tags
COVERED, MASKED, NOT_COVERED, GONE = [
    COVERAGE_COLORS[name].lower() for name in ("covered", "masked", "not_covered", "removed")
]


def show(notebook, path, options=""):
    """Show the widget over a table; return the notebook once it is drawn."""
    notebook.run_cells(OPEN.format(path=str(path), options=options))
    notebook.widgets(".lx-indices[data-shown]").wait_for()
    return notebook


@pytest.fixture
def indices(spare_notebook):
    """Show a table that one test looks at."""
    return partial(show, spare_notebook)


def widget(notebook):
    return notebook.widgets(".lx-indices")


def picture(notebook):
    return widget(notebook).locator(".lx-version-picture")


def drawn(notebook, version, fragment=None, index=None):
    """Wait until everything shows a version, and Python has it too."""
    shown = widget(notebook)
    marked = "" if fragment is None else fragment
    shown.locator(f'.lx-version-picture[data-drawn="{version} {marked}"]').wait_for()
    notebook.widgets(f'.lx-indices[data-shown="{version}"]').wait_for()
    if index is not None:
        notebook.widgets(f'.lx-indices[data-index="{index}"]').wait_for()
    expect(shown.get_by_role("heading").first).to_have_text(f"Version {version:,}")
    selection = {"version": version, "fragment_id": fragment}
    notebook.wait_for(f"{selection!r}.items() <= widget.selection.items()")


def press(notebook, *keys):
    picture(notebook).focus()
    for key in keys:
        notebook.page.keyboard.press(key)


def place(notebook, version, row, versions):
    """Return where a version, counted from 1, and a row are in the picture."""
    width = picture(notebook).bounding_box()["width"]
    unit = (width - MARGIN - 2 * SIDE) / versions
    return {"x": MARGIN + SIDE + (version - 0.5) * unit, "y": ROWS_TOP + (row + 0.5) * ROW}


def expect_color(notebook, where, color):
    """Wait until a place in the picture has a colour, None for none."""
    notebook.page.wait_for_function(
        """([canvas, { x, y }, color]) => {
            const scale = canvas.width / canvas.clientWidth;
            const at = [Math.round(x * scale), Math.round(y * scale)];
            const pixel = [...canvas.getContext("2d").getImageData(...at, 1, 1).data];
            const hex = pixel.map((part) => part.toString(16).padStart(2, "0"));
            return (pixel[3] === 255 ? `#${hex.slice(0, 3).join("")}` : null) === color;
        }""",
        arg=[picture(notebook).locator("canvas").first.element_handle(), where, color],
    )


def card(notebook, name):
    return widget(notebook).get_by_role("radio").filter(has_text=name)


@pytest.fixture(scope="module")
def small_notebook(shared_notebook, tmp_path_factory):
    """Two indices; fragment 0 is compacted away at the end."""
    table = SyntheticTable(tmp_path_factory.mktemp("small") / "t.lance").append(rows=4)
    table.create_index("early").append(rows=12).create_index("late").delete({0: [1]})
    return show(shared_notebook, table.compact([0]).path)


@pytest.fixture
def small(small_notebook):
    """The small table as it is at first."""
    small_notebook.show()
    small_notebook.run("widget.state.version, widget.state.fragment_id = 7, None")
    small_notebook.run("widget.index = 'early'")
    drawn(small_notebook, 7, index="early")
    return small_notebook


def test_each_cell_has_the_colour_of_what_the_index_has(small):
    drawn(small, 7, index="early")
    expected = [
        [None, COVERED, COVERED, COVERED, MASKED, MASKED, GONE],
        [None, None, NOT_COVERED, NOT_COVERED, NOT_COVERED, NOT_COVERED, NOT_COVERED],
        [None, None, None, None, None, None, NOT_COVERED],
    ]
    for row, colors in enumerate(expected):
        for version, color in enumerate(colors, 1):
            expect_color(small, place(small, version, row, 7), color)


def test_keys_move_the_version_and_everything_follows(small):
    press(small, "End")
    drawn(small, 7)
    expect(card(small, "early")).not_to_contain_text(
        "12 rows to scan in 1 fragment", use_inner_text=True
    )
    press(small, "ArrowLeft", "ArrowLeft")
    drawn(small, 5)
    expect(card(small, "early")).to_contain_text(
        "3 rows covered in 1 fragment", use_inner_text=True
    )
    expect(card(small, "early")).to_contain_text(
        "12 rows to scan in 1 fragment", use_inner_text=True
    )
    expect(card(small, "early")).to_contain_text("up to 1 stale entry", use_inner_text=True)
    press(small, "Home")
    drawn(small, 1)
    widget(small).get_by_text("This version has no index").wait_for()
    expect(widget(small).get_by_role("radio")).to_have_count(0)
    press(small, "PageUp", "ArrowRight")
    drawn(small, 4)
    assert small.value("widget.frame()['version'].unique().to_list()") == [4]


def test_keys_move_the_fragment(small):
    small.run("widget.state.version = 5")
    drawn(small, 5)
    press(small, "ArrowDown")
    drawn(small, 5, 0)
    press(small, "ArrowDown")
    drawn(small, 5, 1)
    press(small, "ArrowDown")  # the version has no fragment 2
    press(small, "ArrowUp")
    drawn(small, 5, 0)
    told = re.compile("version 5, fragment 0, covered, rows deleted or moved since$")
    expect(picture(small)).to_have_attribute("aria-label", told)
    press(small, "Escape")
    drawn(small, 5)


def test_a_click_chooses_the_version_and_the_fragment_and_a_drag_the_version(small):
    picture(small).click(position=place(small, 3, 1, 7))
    drawn(small, 3, 1)
    picture(small).click(position={**place(small, 6, 0, 7), "y": 30})
    drawn(small, 6, 1)
    press(small, "Escape")
    drawn(small, 6)
    picture(small).scroll_into_view_if_needed()
    box = picture(small).bounding_box()
    mouse = small.page.mouse
    begin, end = place(small, 2, 0, 7), place(small, 5, 0, 7)
    mouse.move(box["x"] + begin["x"], box["y"] + 30)
    mouse.down()
    mouse.move(box["x"] + end["x"], box["y"] + 35, steps=6)
    mouse.up()
    drawn(small, 5)


def test_pointing_tells_what_the_index_has(small):
    picture(small).hover(position=place(small, 5, 0, 7))
    told = widget(small).get_by_role("tooltip").filter(visible=True)
    expect(told).to_contain_text("Version 5 · Delete", use_inner_text=True)
    expect(told).to_contain_text("early covers 20 % of the rows", use_inner_text=True)
    expect(told).to_contain_text(
        "Fragment 0: covered, rows deleted or moved since", use_inner_text=True
    )
    small.page.mouse.move(5, 5)


def test_a_card_draws_another_index(small):
    small.run("widget.state.version = 5")
    drawn(small, 5)
    card(small, "late").click()
    drawn(small, 5, index="late")
    small.wait_for("widget.selection['index'] == 'late'")
    expect_color(small, place(small, 4, 1, 7), COVERED)
    assert small.value("widget.frame()['name'].unique().to_list()") == ["late"]
    small.page.keyboard.press("ArrowLeft")
    drawn(small, 5, index="early")
    small.wait_for("widget.selection['index'] == 'early'")
    expect(card(small, "early")).to_have_attribute("aria-checked", "true")


def test_python_moves_the_view(small):
    small.run("widget.state.version, widget.state.fragment_id, widget.index = 4, 1, 'late'")
    drawn(small, 4, 1, index="late")
    small.run("widget.index = 'early'; widget.state.fragment_id = None")
    drawn(small, 4, index="early")


def test_nothing_is_asked_for_when_nothing_changes(small):
    press(small, "End")
    drawn(small, 7)
    small.run("asked = []; widget.on_msg(lambda _, message, __: asked.append(message['kind']))")
    press(small, "End", "ArrowRight", "Escape")
    small.run("widget.state.version = 7; widget.state.row_id = 3")
    press(small, "ArrowLeft")
    drawn(small, 6)
    small.wait_for("asked == ['state', 'version']")


def test_the_reuse_history_tells_who_is_behind(indices, tmp_path):
    photos = indices(demo.make_photos_without_stable_row_ids(tmp_path / "photos.lance"))
    drawn(photos, photos.value("table._view.latest_version"))
    names = "table.inspect.indices().filter(is_system=False)['name']"
    expect(widget(photos).get_by_role("radio")).to_have_count(photos.value(f"{names}.n_unique()"))
    version, behind = photos.value(
        "next((version, entries['indices_behind'][0].to_list())"
        " for version in table.versions()['version'].to_list()"
        " if len(entries := table.inspect.fragment_reuse(version)))"
    )
    photos.run(f"widget.state.version = {version}")
    drawn(photos, version)
    cells = widget(photos).locator(".lx-reuse-panel tbody tr").first.locator("td")
    expect(cells.first).to_have_text("compaction")
    expect(cells.last).to_have_text(", ".join(behind) or "no index: it can be trimmed")


def test_an_empty_table_and_one_version_say_how_an_index_is_made(indices, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").overwrite(fragments=0)
    notebook = indices(table.path)
    widget(notebook).get_by_text('dataset.create_scalar_index("id", "BTREE")').wait_for()
    expect(picture(notebook)).to_be_hidden()
    assert notebook.value("widget.selection")["index"] is None


def test_an_unknown_reader_flag_leaves_fragments(indices, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).create_index("id_idx")
    table.append(rows=2)
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    notebook = indices(table.path)
    drawn(notebook, 3, index="id_idx")
    expect_color(notebook, place(notebook, 3, 1, 3), NOT_COVERED)
    expect(card(notebook, "id_idx")).to_contain_text("in 1 fragment", use_inner_text=True)


def test_versions_that_are_not_kept_leave_a_gap(indices, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=2).create_index("id_idx")
    for _ in range(7):
        table.append(rows=2)
    table.remove(1, 2, 5, 6, 7)
    notebook = indices(table.path)
    drawn(notebook, 9)
    press(notebook, "ArrowLeft", "ArrowLeft")
    drawn(notebook, 4)
    expect(card(notebook, "id_idx")).to_contain_text(
        "in the table since version ≤ 3", use_inner_text=True
    )
    notebook.run("widget.state.version = 6")
    widget(notebook).get_by_text("Version 6 is not among the 4 that are shown").wait_for()


def test_a_branch_has_its_own_coverage_and_refresh_goes_on(indices, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).create_index("id_idx")
    branch = table.branch("dev").append(rows=5)
    notebook = indices(table.path, ", branch='dev'")
    drawn(notebook, 3)
    widget(notebook).get_by_text("t.lance, branch dev: 2 versions").wait_for()
    expect(card(notebook, "id_idx")).to_contain_text("5 rows to scan", use_inner_text=True)
    branch.append(rows=7)
    widget(notebook).get_by_role("button", name="Refresh", exact=True).click()
    drawn(notebook, 4)
    expect(card(notebook, "id_idx")).to_contain_text("12 rows to scan", use_inner_text=True)


def test_a_damaged_reuse_history_is_told_and_the_rest_is_there(indices, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).create_index("id_idx")
    table.create_index("__lance_frag_reuse", fields=())
    table.state.indices[-1].index_details.value = b"\xff\xff"
    notebook = indices(table.append(rows=1).path)
    widget(notebook).get_by_text("What the indices of this version cover is unknown").wait_for()
    press(notebook, "ArrowLeft", "ArrowLeft")
    drawn(notebook, 2)
    expect(card(notebook, "id_idx")).to_contain_text("4 rows covered", use_inner_text=True)


EVIL = "<img src=x onerror='owned=1'><script>owned=1</script>`\u202e"


def test_hostile_names_are_text(indices, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).create_index(EVIL + "x" * 10_000)
    notebook = indices(table.overwrite(rows=2).path)
    drawn(notebook, 3)
    expect(card(notebook, "<img")).to_contain_text("<img src=x onerror=", use_inner_text=True)
    expect(card(notebook, "<img")).to_contain_text("\\u202e", use_inner_text=True)
    advice = widget(notebook).locator('[data-code="index_covers_nothing"]')
    expect(advice).to_contain_text("covers none of the 2 rows in 1 fragment", use_inner_text=True)
    expect(widget(notebook).locator("img, script")).to_have_count(0)
    assert notebook.page.evaluate("typeof owned") == "undefined"
    assert notebook.value("eval(widget.code()).equals(widget.frame())")


def test_five_thousand_versions_and_fragments_are_aggregated_in_words(indices, tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", transaction_files=False)
    table.append(rows=100, fragments=200).create_index("id_idx")
    while table.version < 4_999:
        table.append(rows=10).delete({table.fragment_ids[-1]: range(10)})
    many = indices(table.append(rows=10, fragments=4_800).path)
    drawn(many, 5001, index="id_idx")
    fragments = many.value("len(table.inspect.all_fragments()['fragment_id'].unique())")
    words = widget(many).locator(".lx-legend").first
    each = -(-fragments // 264)
    expect(words).to_contain_text(
        f"{fragments:,} fragments in {-(-fragments // each)} rows, up to {each} each",
        use_inner_text=True,
    )
    expect(words).to_contain_text("covered: 200 fragments", use_inner_text=True)
    expect(words).to_contain_text("not covered: 4,800 fragments", use_inner_text=True)
    press(many, "PageDown", "ArrowDown")
    drawn(many, 4751, 0)
    press(many, "Home", "Escape")
    drawn(many, 1)
    many.screenshot("indices_many", widget(many))
