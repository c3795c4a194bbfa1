"""What all views share, seen in JupyterLab: failures, slow answers, linked states."""

import pytest
from playwright.sync_api import expect

from tests.browser.test_frame_table import Table
from tests.synthetic import SyntheticTable

pytestmark = pytest.mark.browser

MAKE_SOURCE = """
import threading
import polars as pl
import lance_explorer as lx
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.row_sources import FrameRows

class Unsteady(FrameRows):
    "Rows that come when they are let, or not at all."
    def __init__(self, frame):
        super().__init__(frame)
        self.failure = None
        self.go_on = threading.Event()
        self.go_on.set()
        self.cuts = []

    def slice(self, start, stop, columns=None):
        self.cuts.append(start)
        self.go_on.wait(30)
        if self.failure:
            raise self.failure
        return super().slice(start, stop, columns)

source = Unsteady(pl.DataFrame({"n": range(10_000)}))
"""


@pytest.fixture(scope="module")
def unsteady_notebook(shared_notebook):
    shared_notebook.run_cells(MAKE_SOURCE, "table = FrameTable(source)\ntable")
    return shared_notebook


@pytest.fixture
def unsteady(unsteady_notebook):
    unsteady_notebook.show()
    unsteady_notebook.run("source.failure = None; source.go_on.set()")
    table = Table(unsteady_notebook)
    table.press("Control+Home")
    table.expect_row(0, "0")
    return table


def test_a_failure_is_shown_in_the_view_and_can_be_tried_again(unsteady):
    pane = unsteady.notebook.widgets(".lx-error")
    for failure, title, tracebacks in (
        ("lx.StorageError('the bucket does not answer; try again later')", "Storage error", 0),
        ("ZeroDivisionError('the bucket does not answer')", "ZeroDivisionError", 1),
    ):
        unsteady.notebook.run(f"source.failure = {failure}")
        unsteady.press("Control+End")
        expect(pane.locator("strong")).to_have_text(title)
        expect(pane).to_contain_text("the bucket does not answer")
        expect(pane.locator("details")).to_have_count(tracebacks)
        unsteady.notebook.screenshot(f"view_error_{title.split()[0]}")
        unsteady.notebook.run("source.failure = None")
        pane.get_by_role("button", name="Try again", exact=True).click()
        unsteady.expect_row(9_999, "9999")
        expect(pane).to_have_count(0)
        unsteady.press("Control+Home")
        unsteady.expect_row(0, "0")


def test_a_view_whose_kernel_has_ended_says_so(open_notebook):
    notebook = open_notebook("ended", MAKE_SOURCE, "FrameTable(source)")
    notebook.run_all()
    table = Table(notebook)
    table.expect_row(0, "0")
    notebook.page.evaluate("() => jupyterapp.shell.currentWidget.context.sessionContext.shutdown()")
    table.press("Control+End")
    pane = notebook.widgets(".lx-error")
    expect(pane).to_contain_text("Python cannot be asked")
    expect(pane).to_contain_text("The kernel seems to have ended")
    pane.get_by_role("button", name="Dismiss").click()
    expect(pane).to_have_count(0)


def test_a_slow_answer_holds_up_neither_scrolling_nor_a_newer_question(unsteady):
    unsteady.notebook.run("source.go_on.clear(); source.cuts.clear()")
    unsteady.press("Control+End")
    unsteady.notebook.wait_for("len(source.cuts) >= 1")
    unsteady.press("Control+Home")
    expect(unsteady.grid).to_have_js_property("scrollTop", 0)
    unsteady.notebook.run("source.go_on.set()")
    unsteady.expect_row(0, "0")
    unsteady.press("Control+End")
    unsteady.expect_row(9_999, "9999")


def test_keys_of_the_notebook_do_not_reach_through(unsteady):
    unsteady.press("a", "b", "x", "d", "d")
    cells = unsteady.page.evaluate("window.jupyterapp.shell.currentWidget.content.widgets.length")
    assert cells == 2


def test_views_of_one_state_follow_each_other(spare_notebook):
    notebook = spare_notebook
    notebook.run_cells(
        """
import polars as pl
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.state import ExplorerState
state = ExplorerState(filter="n > 2")
one = FrameTable(pl.DataFrame({"n": range(5)}), state=state)
other = FrameTable(pl.DataFrame({"n": range(9)}), state=state)
one
""",
        "other",
    )
    one, other = (notebook.widgets(".lx-rows-status").nth(i) for i in range(2))
    expect(one).to_have_text("2 of 5 rows match")
    expect(other).to_have_text("6 of 9 rows match")
    notebook.widgets("input.lx-filter").first.fill("n = 4")
    expect(other).to_have_text("1 of 9 rows match")
    expect(notebook.widgets("input.lx-filter").last).to_have_value("n = 4")


def test_a_hidden_view_asks_for_nothing_until_it_is_seen_again(spare_notebook, tmp_path):
    path = SyntheticTable(tmp_path / "t.lance").append().append().append().path
    notebook = spare_notebook
    notebook.run_cells(
        f"""
import ipywidgets
import lance_explorer as lx
from lance_explorer.widgets.frame_table import FrameTable
from lance_explorer.widgets.state import ExplorerState

asked = []
class Noting(lx.widgets.TimeTravel):
    _module = "time_travel"
    def answer_question(self, question):
        asked.append(question.kind)
        super().answer_question(question)

state = ExplorerState()
travel = Noting(lx.open_table({str(path)!r}), state=state)
rows = FrameTable(travel.frame(), state=state)
ipywidgets.VBox([travel, rows])
""",
    )
    strip = notebook.widgets(".lx-time-travel .lx-strip")
    strip.and_(notebook.page.locator('[data-drawn="3"]')).wait_for()
    notebook.wait_for("{'details', 'show_version'} <= {*asked}")
    notebook.run("travel.layout.display = 'none'")
    strip.wait_for(state="hidden")
    notebook.run("asked.clear(); state.version = 1; state.filter = 'fragment_id = 2'")
    expect(notebook.widgets(".lx-rows-status").last).to_have_text("1 of 3 rows match")
    expect(notebook.widgets(".lx-version-heading h3")).to_have_text("Version 3")
    assert notebook.value("asked") == []
    notebook.run("travel.layout.display = None")
    strip.and_(notebook.page.locator('[data-drawn="1"]')).wait_for()
    notebook.wait_for("asked == ['details', 'show_version']")


def test_rows_of_a_version_come_as_they_are_looked_at(spare_notebook, tmp_path):
    notebook = spare_notebook
    notebook.run_cells(
        f"""
import lance
import pyarrow as pa
import lance_explorer as lx
from lance_explorer.widgets.frame_table import FrameTable
rows = pa.table({{"n": range(5_000), "text": [f"row {{i}}" for i in range(5_000)]}})
dataset = lance.write_dataset(rows, {str(tmp_path / "t.lance")!r}, max_rows_per_file=500,
                              enable_stable_row_ids=True)
dataset.delete("n % 2 = 0")
table = FrameTable(lx.open_table(dataset).latest)
table
""",
    )
    table = Table(notebook)
    table.expect_row(0, "1", "row 1", "1", "1")
    table.press("Control+End")
    table.expect_row(2_499, "4999", "row 4999", "4999", str(9 * 2**32 + 499))
    table.filter.fill("text = 'row 77'")
    expect(table.status).to_have_text("1 of 2,500 rows match")
    table.expect_row(0, "77", "row 77", "77", "77")
    table.filter.fill("")
    expect(table.status).to_have_text("2,500 rows")
    table.head("n").click()
    expect(table.head("n")).to_have_attribute("aria-sort", "ascending")
    table.head("n").click()
    table.expect_row(0, "4999")
    assert notebook.value("table.frame()['n'].head(2).to_list()") == [4999, 4997]
