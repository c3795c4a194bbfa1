"""The explorer follows a table while somebody looks at it: nothing that is looked at moves."""

import lance
import pyarrow as pa
import pytest
from playwright.sync_api import expect

from tests.browser.lab import open_view
from tests.serving import opened

pytestmark = pytest.mark.browser


@pytest.fixture
def path(tmp_path):
    written = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"n": [1, 2, 3]}), written)
    for _ in range(39):
        append(written)
    return written


def append(path, count: int = 1) -> None:
    for _ in range(count):
        lance.write_dataset(pa.table({"n": [4]}), path, mode="append")


def test_new_commits_come_into_the_log_and_the_lines_in_sight_stay(page, path):
    with opened(path, pace=0.2) as (address, _):
        page.goto(address)
        open_view(page, "log")
        expect(page.locator(".lx-log[data-lines='40']")).to_be_visible()
        lines = page.get_by_role("listbox")
        line = page.locator(".lx-log-line[data-version='20']")
        lines.evaluate("list => { list.scrollTop = 15 * 28 + 5; }")
        line.click()
        expect(page.locator(".lx-log[data-chosen='20']")).to_be_visible()
        place = line.bounding_box()
        append(path, 3)
        expect(page.locator(".lx-log[data-lines='43']")).to_be_visible()
        expect(page.locator(".lx-live-news")).to_have_text("3 new versions")
        assert line.bounding_box() == place
        expect(page.locator(".lx-log[data-chosen='20']")).to_be_visible()
        page.locator(".lx-live-news").click()
        expect(page.locator(".lx-log[data-chosen='43']")).to_be_visible()
        expect(page.locator(".lx-log-line[data-version='43']")).to_be_visible()
        expect(page.locator(".lx-live-news")).to_be_hidden()


def test_what_is_looked_at_in_time_travel_stays_and_its_end_is_said(page, path):
    with opened(path, pace=0.2) as (address, _):
        page.goto(address)
        open_view(page, "time_travel")
        strip = page.locator(".lx-time-travel .lx-strip")
        expect(strip).to_have_attribute("aria-valuemax", "39")
        append(path)
        expect(strip).to_have_attribute("aria-valuemax", "40")
        expect(strip).to_have_attribute("aria-valuenow", "39")
        expect(page.locator(".lx-version-heading h3")).to_have_text("Version 40")
        said = "1 new version: 40 is no longer the latest"
        expect(page.locator(".lx-live-news")).to_have_text(said)
        lance.dataset(path).cleanup_old_versions(retain_versions=1)
        note = page.locator(".lx-live-note")
        expect(note).to_contain_text("Version 40 was cleaned up, and 39 others")
        expect(page.locator(".lx-version-heading h3")).to_have_text("Version 40")
        note.get_by_role("button").click()
        expect(note).to_be_hidden()
        page.locator(".lx-live-news").click()
        expect(page.locator(".lx-version-heading h3")).to_have_text("Version 41")
        expect(page.locator(".lx-error")).to_have_count(0)


def test_other_views_go_on_and_it_is_turned_off_and_on(page, path):
    news, live = page.locator(".lx-live-news"), page.get_by_role("button", name="Live")
    version = page.locator(".lx-explorer-chip[data-choice=version]")
    with opened(path, pace=0.2) as (address, _):
        page.goto(address)
        for view, latest in (("overview", 41), ("changes", 42), ("disk", 43)):
            open_view(page, view)
            append(path)
            expect(news).to_be_visible()
            expect(version).to_have_text(f"version {latest - 1}")
            news.click()
            expect(version).to_have_text(f"version {latest}")
            expect(news).to_be_hidden()
        live.click()
        expect(live).to_have_attribute("aria-pressed", "false")
        append(path)
        live.click()
        expect(news).to_be_visible()
        expect(page.locator(".lx-error")).to_have_count(0)
