"""The widgets where notebooks are opened beside JupyterLab: in Notebook 7 and in Voila."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.places import Notebook7, Voila, notebook7_server, voila_server

pytestmark = pytest.mark.browser

PLACES = {"notebook7": (Notebook7, notebook7_server), "voila": (Voila, voila_server)}

# What the places ask for by themselves, and complain of.
ICONS = "https://cdn.jsdelivr.net/npm/@fortawesome/fontawesome-free@"
OUTSIDE = {"notebook7": (), "voila": (ICONS,)}
COMPLAINTS = {
    "notebook7": r"uncaught: Cannot read properties of undefined \(reading 'schema'\)",
    "voila": rf"Failed to load resource: .*\({ICONS}",
}

# Python says what it has, since Voila lets nobody ask the kernel.
CELL = """
import ipywidgets
import lance_explorer as lx

table = lx.open_table({path!r})
widget = {widget}
said = ipywidgets.Label()

def say(change=None):
    said.value = f"Python has {{ {said} }}"

widget.state.observe(say)
say()
display(widget, said)
"""


@pytest.fixture(scope="module", params=PLACES)
def server(request, tmp_path_factory):
    """Notebook 7 or Voila: its name, its address and its folder."""
    folder = tmp_path_factory.mktemp(request.param)
    with PLACES[request.param][1](folder) as address:
        yield request.param, address, folder


@pytest.fixture
def show(server, browser, photos_path, request):
    """Open a notebook with a widget; fail if the page complains, or asks for something outside."""
    name, address, folder = server
    kind: Any = PLACES[name][0]
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    place = kind(context.new_page(), address, folder)

    def show_widget(widget, said):
        cell = CELL.format(path=str(photos_path), widget=widget, said=said)
        return place.show(place.write(request.node.originalname, cell))

    yield show_widget
    outside = [asked for asked in place.outside if not asked.startswith(OUTSIDE[name])]
    errors = [error for error in place.errors if not re.match(COMPLAINTS[name], error)]
    context.close()
    assert (outside, errors) == ([], [])


def press(element, *keys):
    element.focus()
    for key in keys:
        element.press(key)


def python_has(outputs, text):
    label = outputs.locator(".widget-label").filter(has_text="Python has")
    expect(label).to_have_text(f"Python has {text}")


def type_row(outputs, row):
    box = outputs.get_by_role("textbox", name=re.compile("^Row ID"))
    box.fill(row)
    box.press("Enter")


def test_the_explorer_goes_from_view_to_view_and_python_follows(show):
    outputs = show("table.explore()", "(widget.view, widget.state.version)")
    outputs.get_by_role("tab", name="Overview", exact=True, selected=True).wait_for()
    press(outputs.get_by_role("tab", name="Overview", exact=True), "ArrowRight")
    press(outputs.get_by_role("tab", name="Time travel", exact=True), "Enter")
    travel = outputs.get_by_role("tabpanel", name="Time travel", exact=True)
    travel.locator(".lx-strip[data-drawn]").wait_for()
    press(travel.get_by_role("slider"), "Home", "ArrowRight", "ArrowRight", "PageUp")
    travel.locator('.lx-strip[data-drawn="5"]').wait_for()
    travel.locator('.lx-map[data-drawn="5"]').wait_for()
    expect(travel.get_by_role("heading")).to_have_text("Version 5")
    python_has(outputs, "('time_travel', 5)")
    box = outputs.get_by_role("combobox", name="Search for").first
    box.fill("row 42")
    box.press("Enter")
    outputs.get_by_role("tab", name="Row", exact=True, selected=True).wait_for()
    outputs.locator('.lx-timeline[data-drawn="10"]').wait_for()
    press(outputs.get_by_role("tab", name="Row", exact=True), "ArrowRight")
    press(outputs.get_by_role("tab", name="Lineage", exact=True), "Enter")
    outputs.locator('.lx-lineage[data-row="42"]').wait_for()
