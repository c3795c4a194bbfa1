"""The explorer in a page of its own: ``lance-explorer open``."""

import lance
import pyarrow as pa
from playwright.sync_api import expect

from tests.browser.lab import open_view
from tests.serving import end, opened


def test_the_explorer_works_without_a_notebook_until_it_is_ended(page, tmp_path):
    path = tmp_path / "t.lance"
    for mode in ("create", "append", "append"):
        lance.write_dataset(pa.table({"n": [1, 2, 3]}), path, mode=mode)
    with opened(path) as (address, process):
        page.goto(address)
        expect(page).to_have_title("t.lance")
        expect(page.locator(".lx-overview[data-loaded='3']")).to_be_visible()
        open_view(page, "time_travel")
        strip = page.locator(".lx-time-travel .lx-strip")
        expect(strip).to_have_attribute("data-drawn", "3")
        strip.press("ArrowLeft")
        expect(page.locator(".lx-version-heading h3")).to_have_text("Version 2")
        expect(page.locator(".lx-explorer-chip[data-choice=version]")).to_have_text("version 2")
        for name in ("changes", "row", "lineage", "encodings", "indices", "disk"):
            open_view(page, name)
        expect(page.locator(".lx-disk-view[data-version='2']")).to_be_visible()
        page.get_by_role("button", name="Back").click()
        expect(page.locator(".lx-explorer[data-view=indices]")).to_be_visible()
        expect(page.locator(".lx-error")).to_have_count(0)
        assert end(process)[0] == 0
        expect(page.get_by_role("alert").first).to_contain_text("lance-explorer has ended")


def test_an_address_keeps_what_is_shown_and_each_tab_has_its_own(page, tmp_path):
    path = tmp_path / "t.lance"
    for mode in ("create", "append", "append"):
        lance.write_dataset(pa.table({"n": [1, 2, 3]}), path, mode=mode)
    with opened(path) as (address, _):
        page.goto(address)
        page.locator(".lx-overview[data-loaded='3']").wait_for()
        open_view(page, "time_travel")
        page.locator(".lx-time-travel .lx-strip[data-drawn='3']").press("ArrowLeft")
        page.wait_for_url("**#view=time_travel&version=2")
        open_view(page, "log")
        page.wait_for_url("**#view=log&version=2")
        link = page.url

        other = page.context.new_page()
        other.goto(link)
        expect(other.locator(".lx-explorer[data-view=log]")).to_be_visible()
        expect(other.locator(".lx-log[data-chosen]")).to_be_visible()
        open_view(other, "disk")
        other.wait_for_url("**#view=disk&version=2")
        expect(page.locator(".lx-explorer[data-view=log]")).to_be_visible()
        other.close()

        page.reload()
        expect(page.locator(".lx-explorer[data-view=log]")).to_be_visible()
        expect(page.locator(".lx-explorer-chip[data-choice=version]")).to_have_text("version 2")
        page.go_back()
        expect(page.locator(".lx-explorer[data-view=time_travel]")).to_be_visible()
        page.locator(".lx-time-travel .lx-strip[data-drawn='2']").wait_for()
        page.go_forward()
        expect(page.locator(".lx-explorer[data-view=log]")).to_be_visible()
        expect(page.locator(".lx-error")).to_have_count(0)


def test_a_link_copies_and_a_wrong_one_says_why(page, tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"n": [1, 2, 3]}), path)
    with opened(path) as (address, _):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto(address)
        page.locator(".lx-overview[data-loaded='1']").wait_for()
        open_view(page, "log")
        page.get_by_role("button", name="Copy link").click()
        page.get_by_role("button", name="Copied").wait_for()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == f"{address}#view=log&version=1"
        page.goto(f"{address}#view=log&branch=gone")
        expect(page.locator(".lx-error").first).to_contain_text("gone")
        expect(page.locator(".lx-explorer")).to_be_visible()
