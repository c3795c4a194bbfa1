"""A notebook of widgets as nbconvert makes HTML of it: pictures that need no kernel."""

import os
import re
import subprocess
import sys

import nbformat
import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser

OPEN = "import lance_explorer as lx\ntable = lx.open_table({path!r})"
WIDGETS = {
    "TimeTravel": "lx.widgets.TimeTravel(table)",
    "Changes": "lx.widgets.Changes(table)",
    "LineageGraph": "lx.widgets.LineageGraph(table)",
    "RowHistory": "lx.widgets.RowHistory(table)",
    "SegmentEncodings": "lx.widgets.SegmentEncodings(table)",
    "Explorer": "table.explore()",
}

# What the template of nbconvert loads for formulas, and for old notebooks.
OUTSIDE = re.compile(r"https://cdnjs\.cloudflare\.com/ajax/libs/(mathjax|require\.js)/")


@pytest.fixture(scope="module")
def html(photos_path, tmp_path_factory):
    """Run a notebook with all widgets and make HTML of it."""
    folder = tmp_path_factory.mktemp("static")
    cells = [OPEN.format(path=str(photos_path)), *WIDGETS.values()]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, folder / "widgets.ipynb")
    options = ["--to", "html", "--execute", "--ExecutePreprocessor.store_widget_state=False"]
    options += ["--ExecutePreprocessor.startup_timeout=300"]
    subprocess.run(
        [sys.executable, "-m", "jupyter", "nbconvert", *options, "widgets.ipynb"],
        cwd=folder,
        env={**os.environ, "JUPYTER_CONFIG_DIR": str(folder), "IPYTHONDIR": str(folder)},
        check=True,
        capture_output=True,
    )
    return folder / "widgets.html"


@pytest.fixture(scope="module")
def page(browser, html):
    """The page, opened from its file with no network."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    outside, complaints = [], []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: outside.append(request.url))
    page.goto(html.as_uri())
    yield page
    context.close()
    assert [u for u in outside if not OUTSIDE.match(u) and not u.startswith("file:")] == []
    assert complaints == []


def output(page, name):
    return page.locator(".jp-OutputArea-output").nth(list(WIDGETS).index(name))


def test_widgets_are_pictures_and_words_where_no_kernel_runs(page):
    for name, height, words in (
        ("TimeTravel", 40, "photos.lance"),
        ("Changes", 10, "photos.lance, version 1 to 45"),
        ("LineageGraph", 40, "photos.lance"),
        ("RowHistory", 40, "photos.lance"),
        ("SegmentEncodings", 10, "2,522 row IDs in 6 fragments"),
        ("Explorer", 40, "photos.lance"),
    ):
        expect(output(page, name)).to_contain_text(words, use_inner_text=True)
        picture = output(page, name).locator("svg").first.bounding_box()
        assert picture["width"] > 300, name
        assert picture["height"] > height, name
