"""An interactive report, opened from its file: no Python, no server, no network."""

import lance
import pyarrow as pa
import pytest
from playwright.sync_api import expect

from lance_explorer.table import open_table
from tests.browser.lab import PATIENCE, open_view
from tests.serving import opened

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror='document[String(1)] = alert(1)'><!--"


@pytest.fixture
def show(browser):
    """Open a file; whatever it asks for beside itself, or complains about, is an error."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, offline=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE * 1000)
    heard = []

    def show_file(path):
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("request", lambda request: heard.append(request.url))
        page.goto(path.as_uri())
        assert heard == [path.as_uri()]
        return page

    yield show_file
    context.close()
    assert heard[1:] == []


def life(path):
    """Make a table with every kind of change, and a column whose name means harm."""
    rows = pa.table({"n": range(6), HOSTILE: [HOSTILE] * 6, "city": ["Rome", "Bonn"] * 3})
    table = lance.write_dataset(rows, path, enable_stable_row_ids=True)
    table.update({"city": "'Oslo'"}, where="n = 2")
    table.delete("n = 4")
    table = lance.write_dataset(rows.slice(0, 2), path, mode="append")
    table.tags.create("end", 4)
    return path


def go_to(page, typed, version):
    """Type a version; return what is shown of it once its rows are there."""
    open_view(page, "time_travel")
    view = page.locator(".lx-time-travel")
    view.locator(".lx-find").fill(typed)
    view.locator(".lx-find").press("Enter")
    expect(view.locator(".lx-version-heading h3")).to_have_text(f"Version {version}")
    expect(view.locator(".lx-panel.lx-stale")).to_have_count(0)
    expect(view.locator(".lx-words > span").first).not_to_have_text("…")
    parts = (".lx-version-heading h3", ".lx-words", ".lx-facts", ".lx-version-tabs .lx-tabs")
    schema = view.locator("[data-panel=schema]").text_content()
    return [*texts(view, *parts), schema, *grid(view)]


def changes(page):
    """Return what is shown of the chosen changes."""
    open_view(page, "changes")
    view = page.locator(".lx-changes")
    expect(view).to_have_attribute("data-cells", "1 2")
    return [*texts(view, ".lx-version-heading h3", ".lx-notes", ".lx-bar-lists"), *grid(view)]


def row(page, name):
    """Type a row; return what is shown of its life."""
    open_view(page, "row")
    view = page.locator(".lx-row-history")
    view.locator(".lx-row-box").fill(name)
    view.locator(".lx-row-box").press("Enter")
    expect(view.locator(".lx-version-heading h3")).to_have_text("Row 2")
    expect(view.locator(".lx-value-grid")).to_be_visible()
    heading, values = texts(view, ".lx-version-heading", ".lx-row-values")
    return [heading.removesuffix("\nIn the lineage"), values, *grid(view)]


def texts(view, *selectors):
    return [view.locator(selector).inner_text() for selector in selectors]


def grid(view):
    """Return what is in the grid, once all of it is there."""
    expect(view.locator(".lx-rows-coming")).to_have_count(0)
    expect(view.locator("tr.lx-waiting")).to_have_count(0)
    expect(view.locator(".lx-old-heads")).to_have_count(0)
    return [
        view.locator(".lx-rows thead").text_content(),
        view.locator(".lx-rows tbody").inner_text(),
    ]


def looked_at(page):
    """Look at versions, at what a commit changed, and at a row."""
    found = [go_to(page, *names) for names in (("1", 1), ("3", 3), ("end", 4), ("2", 2))]
    page.get_by_role("button", name="What changed", exact=True).click()
    found.append(changes(page))
    page.locator(".lx-bar-button", has_text="updated").click()
    expect(page.locator(".lx-filters")).to_contain_text("only: updated")
    found.append(changes(page))
    return [*found, row(page, "2")]


def test_it_shows_what_the_live_explorer_shows(show, page, tmp_path):
    path = life(tmp_path / "t.lance")
    report = open_table(path).report(tmp_path / "report.html", interactive=True)
    with opened(path) as (address, _):
        page.goto(address)
        live = looked_at(page)
    kept = show(report)
    assert looked_at(kept) == live
    assert kept.title() == "t.lance"
    expect(kept.locator("img")).to_have_count(0)
    expect(kept.locator(".lx-error:visible")).to_have_count(0)


def test_views_go_on_and_what_needs_python_is_disabled_and_says_so(show, tmp_path):
    table = open_table(life(tmp_path / "t.lance"))
    page = show(table.report(tmp_path / "report.html", interactive=True))
    open_view(page, "time_travel")
    strip = page.locator(".lx-time-travel .lx-strip")
    expect(strip).to_have_attribute("data-drawn", "4")
    strip.press("Home")
    expect(page.locator(".lx-version-heading h3")).to_have_text("Version 1")
    rows = page.locator(".lx-time-travel .lx-rows tbody tr")
    expect(rows).to_have_count(6)
    rows.nth(3).locator("td").nth(2).click()
    expect(page.locator(".lx-explorer-chip[data-choice=row_id]")).to_contain_text("row 3")
    open_view(page, "overview")
    expect(page.locator(".lx-overview[data-loaded='4']")).to_be_visible()
    open_view(page, "log")
    expect(page.locator(".lx-log-line")).to_have_count(4)
    page.get_by_role("button", name="Back").click()
    expect(page.locator(".lx-explorer[data-view=overview]")).to_be_visible()
    for name in ("Copy as code", "Go"):
        button = page.get_by_role("button", name=name, exact=True).first
        expect(button).to_be_disabled()
        expect(button).to_have_attribute(
            "title", "This needs Python: open the table with lance_explorer"
        )
    expect(page.locator(".lx-live")).to_be_hidden()
    expect(page.locator(".lx-page-note").first).to_contain_text(
        "filters and the search need Python"
    )


def test_what_found_no_room_is_said_in_words(show, tmp_path):
    path = tmp_path / "t.lance"
    for first in range(0, 12_000, 1_000):
        values = pa.array(hash((first, n)) % 10**15 for n in range(1_000))
        lance.write_dataset(pa.table({"v": values}), path, mode="append")
    whole = open_table(path).report(tmp_path / "whole.html", interactive=True)
    least = len(whole.read_bytes()) - 60_000
    cut = open_table(path).report(tmp_path / "cut.html", interactive=True, max_bytes=least)
    assert cut.stat().st_size <= least
    page = show(cut)
    expect(page.locator(".lx-page-note").first).to_contain_text("of them")
    open_view(page, "time_travel")
    page.locator(".lx-time-travel .lx-strip").press("Home")
    expect(page.locator(".lx-version-heading h3")).to_have_text("Version 1")
    expect(page.locator(".lx-refusal")).to_contain_text("This page does not have them")
    page.get_by_role("button", name="What changed", exact=True).click()
    expect(page.locator(".lx-changes .lx-refusal")).to_contain_text("This page does not have it")
    expect(page.locator(".lx-changes .lx-rows tbody tr")).to_have_count(0)
