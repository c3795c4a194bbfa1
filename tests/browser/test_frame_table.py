"""The virtual table in JupyterLab: by mouse and keyboard, and what Python says of it."""

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import NotebookPage

pytestmark = pytest.mark.browser

MAKE_MILLION = """
import numpy as np
import polars as pl
from lance_explorer.widgets.frame_table import FrameTable

i = np.arange(1_000_000)
million = pl.DataFrame({
    "_rowid": np.uint64(2**64 - 1) - i.astype(np.uint64),
    "near": np.uint64(2**63 - 2) + (i % 4).astype(np.uint64),
    "group": i % 7,
    "city": "city " + pl.Series(i % 1000).cast(pl.String),
}).with_columns(
    group=pl.when(pl.col("group") != 3).then("group"),
    vector=pl.concat_list(pl.lit(0.1, pl.Float32), pl.lit(0.2, pl.Float32)).list.to_array(2),
)
table = FrameTable(million)
table
"""

HOSTILE = "<img src=x onerror=\"document.body.dataset.hacked='yes'\">"

MAKE_HOSTILE = f"""
import polars as pl
from lance_explorer.widgets.frame_table import FrameTable

hostile = pl.DataFrame({{
    {HOSTILE!r}: [{HOSTILE!r}, "</td><script>document.body.dataset.hacked='yes'</script>"],
    "turned\\u202e": ["gpj.\\u202eexe", "tab\\tline\\nnul\\0"],
    "long": ["x" * 1_000_000, None],
    "blob": [bytes(range(256)) * 100, None],
    "things": [{{"name": {HOSTILE!r}, "at": [1, 2]}}, None],
    "^a.*$": ["name of", "a pattern"],
}})
marks = pl.DataFrame({{"long": ["changed", None], "blob": [None, "delete"]}})
table = FrameTable(hostile, marks=marks)
table
"""


class Table:
    """The table in the open notebook, as a person meets it."""

    def __init__(self, notebook: NotebookPage) -> None:
        self.notebook = notebook
        self.page = notebook.page
        self.grid = notebook.widgets("[role=grid]")
        self.filter = notebook.widgets("input.lx-filter")
        self.status = notebook.widgets(".lx-rows-status")
        self.detail = notebook.widgets(".lx-detail")

    def head(self, name: str) -> Locator:
        return self.grid.locator("th[role=columnheader]").filter(has_text=re.compile(f"^{name}"))

    def row(self, number: int) -> Locator:
        """Return the row that is shown at a place, counted from 0 over all rows."""
        return self.grid.locator(f'tr[aria-rowindex="{number + 2}"]:not(.lx-waiting)')

    def expect_row(self, number: int, *texts: str) -> None:
        """Wait until a row begins with these cells."""
        for i, text in enumerate(texts):
            expect(self.row(number).locator("td").nth(i)).to_have_text(text)

    def press(self, *keys: str) -> None:
        self.grid.focus()
        for key in keys:
            self.page.keyboard.press(key)


@pytest.fixture(scope="module")
def million_notebook(shared_notebook):
    shared_notebook.run_cells(MAKE_MILLION)
    return shared_notebook


@pytest.fixture
def million(million_notebook):
    million_notebook.show()
    million_notebook.run("table.sort_by(); table.filter = ''; table.selection = []")
    million_notebook.wait_for("table._worker.wait(0)")
    table = Table(million_notebook)
    expect(table.status).to_have_text("1,000,000 rows")
    expect(table.grid.locator("th[aria-sort]:not([aria-sort=none])")).to_have_count(0)
    table.press("Control+Home")
    table.expect_row(0, "18446744073709551615")
    return table


@pytest.fixture
def hostile(spare_notebook):
    spare_notebook.run_cells(MAKE_HOSTILE)
    table = Table(spare_notebook)
    table.row(0).wait_for()
    return table


def test_numbers_up_to_2_to_the_64_are_exact(million):
    million.expect_row(0, "18446744073709551615", "9223372036854775806", "0", "city 0", "[0.1,0.2]")
    million.expect_row(3, "18446744073709551612", "9223372036854775809", "null", "city 3")


def test_end_of_a_million_rows_is_reached_by_key_wheel_and_scroll_bar(million):
    last = str(2**64 - 1_000_000)
    million.press("Control+End")
    million.expect_row(999_999, last)
    million.grid.hover()
    million.page.mouse.wheel(0, -240)
    million.expect_row(999_989, str(2**64 - 999_990))
    expect(million.row(999_999)).to_have_count(0)
    million.grid.evaluate("grid => { grid.scrollTop = grid.scrollHeight / 2; }")
    middle = million.page.wait_for_function(
        """grid => {
            const first = Number(grid.dataset.first);
            return 490_000 < first && first < 510_000 && first;
        }""",
        arg=million.grid.element_handle(),
    ).json_value()
    million.expect_row(middle, str(2**64 - 1 - middle))
    million.grid.evaluate("grid => { grid.scrollTop = grid.scrollHeight; }")
    million.expect_row(999_999, last)


def test_a_head_sorts_by_click_and_key_with_nulls_last_and_equal_rows_in_their_order(million):
    million.head("group").click()
    million.expect_row(0, "18446744073709551615", "9223372036854775806", "0")
    million.expect_row(1, str(2**64 - 1 - 7))
    expect(million.head("group")).to_have_attribute("aria-sort", "ascending")
    million.head("group").click()
    million.expect_row(0, str(2**64 - 1 - 6), "9223372036854775808", "6")
    million.notebook.wait_for("table.sort[0].descending")
    assert million.notebook.value("table.frame()['group'].head(2).to_list()") == [6, 6]
    million.press("Control+End")
    million.expect_row(999_999, str(2**64 - 1 - 999_995), "9223372036854775809", "null")
    million.head("group").click()
    expect(million.head("group")).to_have_attribute("aria-sort", "none")
    million.expect_row(0, "18446744073709551615")
    million.press("ArrowUp", "Enter")
    expect(million.head("_rowid")).to_have_attribute("aria-sort", "ascending")
    million.expect_row(0, str(2**64 - 1_000_000))


def test_shift_sorts_by_a_second_column(million):
    million.head("group").click()
    expect(million.head("group")).to_have_attribute("aria-sort", "ascending")
    million.head("near").click(modifiers=["Shift"])
    expect(million.head("near")).to_have_attribute("aria-sort", "ascending")
    million.expect_row(1, str(2**64 - 1 - 28), "9223372036854775806", "0")
    assert million.notebook.value("[sort.column for sort in table.sort]") == ["group", "near"]


def test_filter_takes_an_expression_or_text(million):
    million.filter.fill('near = 9223372036854775807 AND "group" = 5')
    expect(million.status).to_have_text("35,715 of 1,000,000 rows match")
    million.expect_row(0, str(2**64 - 1 - 5), "9223372036854775807", "5")
    million.notebook.wait_for("table.state.filter.startswith('near')")
    assert million.notebook.value("table.frame().height") == 35_715
    million.filter.fill("CITY 77")
    expect(million.status).to_have_text("11,000 of 1,000,000 rows with this text")
    million.expect_row(1, str(2**64 - 1 - 770), "9223372036854775808", "0", "city 770")
    million.filter.fill("no such city")
    expect(million.grid.get_by_text("No row matches the filter")).to_be_visible()


def test_a_wrong_expression_is_explained_beside_the_box_and_rows_stay(million):
    million.filter.fill("grup > 3")
    expect(million.status).to_contain_text('unable to find column "grup"')
    expect(million.filter).to_have_attribute("aria-invalid", "true")
    million.expect_row(0, "18446744073709551615")
    million.notebook.screenshot("table_wrong_filter")


def test_python_sets_the_filter_and_the_sort(million):
    million.notebook.run("table.filter = 'near < 9223372036854775807'; table.sort_by('_rowid')")
    expect(million.status).to_have_text("250,000 of 1,000,000 rows match")
    million.expect_row(0, str(2**64 - 1 - 999_996))
    expect(million.filter).to_have_value("near < 9223372036854775807")


def test_rows_are_selected_by_mouse_and_key(million):
    million.row(2).locator("td").first.click()
    expect(million.row(2)).to_have_attribute("aria-selected", "true")
    million.row(4).locator("td").first.click(modifiers=["Shift"])
    million.notebook.wait_for("table.selection == [2, 3, 4]")
    million.row(7).locator("td").first.click(modifiers=["Control"])
    million.notebook.wait_for("table.selection == [2, 3, 4, 7]")
    expect(million.status).to_have_text("1,000,000 rows · 4 selected")
    million.notebook.screenshot("table_selected")
    million.press("Escape")
    million.notebook.wait_for("table.selection == []")
    million.press("Control+Home", "ArrowDown", "Space", "Shift+ArrowDown")
    million.notebook.wait_for("table.selection == [1, 2]")
    million.press("Control+a")
    million.notebook.wait_for("len(table.selection) == 1_000_000")


def test_selection_is_of_rows_not_of_places(million):
    million.head("_rowid").click()
    million.expect_row(0, str(2**64 - 1_000_000))
    million.row(1).locator("td").first.click()
    million.notebook.wait_for("table.selection == [999_998]")
    assert million.notebook.value("table.selected_rows()['_rowid'].to_list()") == [2**64 - 999_999]


def test_copy_takes_the_selected_rows_or_all_and_says_where_it_ends(million):
    million.row(1).locator("td").first.click()
    million.row(2).locator("td").first.click(modifiers=["Control"])
    expect(million.status).to_have_text("1,000,000 rows · 2 selected")
    million.press("Control+c")
    expect(million.status).to_have_text("Copied 2 rows as CSV")
    copied = million.page.evaluate("navigator.clipboard.readText()")
    assert copied == (
        "_rowid,near,group,city,vector\n"
        '18446744073709551614,9223372036854775807,1,city 1,"[0.1,0.2]"\n'
        '18446744073709551613,9223372036854775808,2,city 2,"[0.1,0.2]"\n'
    )
    million.press("Escape")
    expect(million.status).to_have_text("1,000,000 rows")
    million.notebook.widgets("button").filter(has_text="Copy as CSV").click()
    expect(million.status).to_have_text("Copied 100,000 of 1,000,000 rows as CSV")
    assert million.page.evaluate("navigator.clipboard.readText()").count("\n") == 100_001


def test_columns_take_the_width_they_are_dragged_to(million):
    head = million.head("city")
    before = head.bounding_box()["width"]
    head.locator(".lx-rows-grip").hover()
    million.page.mouse.down()
    million.page.mouse.move(head.bounding_box()["x"] + before + 100, 0)
    million.page.mouse.up()
    million.page.wait_for_function(
        "([head, width]) => Math.abs(head.getBoundingClientRect().width - width) < 8",
        arg=[head.element_handle(), before + 100],
    )
    expect(head).to_have_attribute("aria-sort", "none")


def test_names_and_values_stay_text_and_cells_are_marked(hostile):
    assert hostile.page.evaluate("document.body.dataset.hacked") is None
    expect(hostile.grid.locator("img, script")).to_have_count(0)
    expect(hostile.row(0).locator("td").first).to_have_text(HOSTILE)
    expect(hostile.row(0).locator("td").nth(1)).to_have_text(r'"gpj.\u202eexe"')
    expect(hostile.row(1).locator("td").nth(1)).to_have_text(r'"tab\tline\nnul\x00"')
    expect(hostile.grid.locator("th[role=columnheader]").nth(1)).to_contain_text(r"turned\u202e")
    expect(hostile.row(1).locator("td").nth(5)).to_have_text("a pattern")
    expect(hostile.row(0).locator("td").nth(2)).to_have_class(re.compile("lx-mark-changed"))
    expect(hostile.row(1).locator("td").nth(3)).to_have_class(re.compile("lx-mark-delete"))
    expect(hostile.grid.locator(".lx-mark")).to_have_count(2)
    hostile.notebook.screenshot("table_hostile")


def test_long_values_are_cut_and_the_detail_says_how_much_it_shows(hostile):
    cell = hostile.row(0).locator("td").nth(2)
    expect(cell).to_have_text(re.compile("^x.{1,198}$"))
    cell.click()
    expect(hostile.detail).to_contain_text("100,000 of 1,000,000 characters")
    hostile.notebook.screenshot("table_detail")
    hostile.press("ArrowRight")
    expect(hostile.detail).to_contain_text("25,600 bytes")
    expect(hostile.detail.locator("pre")).to_contain_text("000102030405")
    hostile.press("ArrowRight")
    expect(hostile.detail.locator("pre")).to_contain_text('"at": [1, 2]')
    hostile.press("ArrowDown")
    expect(hostile.detail.locator("pre")).to_have_text("null")
    hostile.press("Escape")
    expect(hostile.detail).to_be_hidden()


def test_it_fits_the_page_in_both_themes(hostile, lab):
    for theme, width in (("light", 1400), ("dark", 700)):
        lab.set_theme(theme)
        lab.set_width(width)
        hostile.page.wait_for_function(
            """([grid, isLight, width]) => {
                const { color, backgroundColor } = getComputedStyle(grid);
                const [ink, paper] = [color, backgroundColor].map((rgb) => rgb.match(/\\d+/)[0]);
                return grid.getBoundingClientRect().right <= width
                    && (Number(ink) < Number(paper)) === isLight;
            }""",
            arg=[hostile.grid.element_handle(), theme == "light", width],
        )
        hostile.notebook.screenshot(f"table_{theme}_{width}")


PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAE"
    "hQGAhKmMIQAAAABJRU5ErkJggg=="
)

MAKE_MEDIA = f"""
import base64
import polars as pl
from lance_explorer.widgets.frame_table import FrameTable

png = base64.b64decode({PNG!r})
media = pl.DataFrame({{
    "image": [png, png[:40], b"other"],
    "vector": pl.Series([[0.0, 1.0, 0.5, 2.0, 1.0]] * 3, dtype=pl.Array(pl.Float32, 5)),
    "exif": [{{"id": 2**60 + 1, "lens": {{"mm": 23}}}}] * 3,
    "city": ["Oslo", "Oslo", None],
}})
table = FrameTable(media)
table
"""


def test_cells_show_pictures_vectors_and_structs(spare_notebook):
    spare_notebook.run_cells(MAKE_MEDIA)
    table = Table(spare_notebook)
    picture = table.row(0).locator("img")
    expect(picture).to_have_attribute("alt", re.compile("^PNG image, 70 bytes, #"))
    expect(table.row(1).locator("td").first).to_have_text(
        re.compile("^cannot be shown: PNG image, 40 bytes, #")
    )
    expect(table.row(2).locator("td").first).to_have_text("6f74686572 (5 bytes)")
    expect(table.row(0).locator("svg.lx-line")).to_have_count(1)
    head = table.head("city")
    expect(head).to_have_attribute("aria-description", re.compile("Of all 3 rows: 1 null"))
    table.row(0).locator("td").nth(2).click()
    expect(table.detail.locator("pre")).to_have_text(
        '{\n  "id": 1152921504606846977,\n  "lens": {"mm": 23}\n}'
    )
    table.row(0).locator("td").first.click()
    expect(table.detail.locator("img")).to_be_visible()
    spare_notebook.screenshot("table_media")
