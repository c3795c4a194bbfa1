"""The explorer in a page of its own: ``lance-explorer open``."""

import lance
import pyarrow as pa
from playwright.sync_api import Page, expect

from tests.serving import end, opened


def tab(page: Page, name: str) -> None:
    """Show a view."""
    page.locator(f".lx-explorer-tab[data-view={name}]").click()
    expect(page.locator(f".lx-explorer[data-view={name}]")).to_be_visible()


def test_the_explorer_works_without_a_notebook_until_it_is_ended(page, tmp_path):
    path = tmp_path / "t.lance"
    for mode in ("create", "append", "append"):
        lance.write_dataset(pa.table({"n": [1, 2, 3]}), path, mode=mode)
    with opened(path) as (address, process):
        page.goto(address)
        expect(page).to_have_title("t.lance")
        expect(page.locator(".lx-overview[data-loaded='3']")).to_be_visible()
        tab(page, "time_travel")
        strip = page.locator(".lx-time-travel .lx-strip")
        expect(strip).to_have_attribute("data-drawn", "3")
        strip.press("ArrowLeft")
        expect(page.locator(".lx-version-heading h3")).to_have_text("Version 2")
        expect(page.locator(".lx-explorer-chip[data-choice=version]")).to_have_text("version 2")
        for name in ("changes", "row", "lineage", "encodings", "indices", "disk"):
            tab(page, name)
        expect(page.locator(".lx-disk-view[data-version='2']")).to_be_visible()
        page.get_by_role("button", name="Back").click()
        expect(page.locator(".lx-explorer[data-view=indices]")).to_be_visible()
        expect(page.locator(".lx-error")).to_have_count(0)
        assert end(process)[0] == 0
        expect(page.get_by_role("alert").first).to_contain_text("lance-explorer has ended")
