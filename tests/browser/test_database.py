"""The explorer of a database in a page of its own: ``lance-explorer open FOLDER``."""

import random
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from playwright.sync_api import Page, expect

from tests.serving import opened

pytestmark = pytest.mark.browser


def write(path: Path, count: int) -> None:
    for version in range(count):
        mode = "append" if version else "create"
        lance.write_dataset(pa.table({"id": [version, version + 10]}), path, mode=mode)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three tables of one to three versions, and one that cannot be read."""
    for name, count in (("photos", 3), ("users", 1), ("team/logs", 2)):
        write(tmp_path / "db" / f"{name}.lance", count)
    lance.dataset(tmp_path / "db" / "photos.lance").tags.create("gold", 2)
    (tmp_path / "db" / "half.lance" / "data").mkdir(parents=True)
    return tmp_path / "db"


def line(page: Page, name: str):
    return page.locator(f".lx-db-line[data-table='{name}']")


def names(page: Page) -> list[str]:
    return page.locator(".lx-db-name").all_inner_texts()


def tab(page: Page, name: str) -> None:
    page.locator(f".lx-explorer-tab[data-view={name}]").click()


def test_a_table_of_the_list_opens_and_closes_in_the_same_place(page: Page, folder: Path) -> None:
    with opened(folder) as (address, _):
        page.goto(address)
        expect(page).to_have_title("db")
        expect(page.locator(".lx-db-above")).to_contain_text("4 tables, 12 rows")
        assert names(page)[0] == "half"
        expect(line(page, "half")).to_contain_text("cannot be read")
        expect(line(page, "photos").locator("[data-column=rows]")).to_have_text("6")
        page.locator(".lx-db-heads [data-column=rows] button").click()
        assert names(page)[0] == "photos"
        page.get_by_role("searchbox", name="Only tables").fill("team")
        expect(page.locator(".lx-db-name")).to_have_text(["team/logs"])
        line(page, "team/logs").click()
        expect(page.locator(".lx-overview[data-loaded='2']")).to_be_visible()
        tab(page, "time_travel")
        strip = page.locator(".lx-time-travel .lx-strip")
        expect(strip).to_have_attribute("data-drawn", "2")
        strip.press("ArrowLeft")
        expect(page.locator(".lx-explorer-chip[data-choice=version]")).to_have_text("version 1")
        page.get_by_role("button", name="All tables").click()
        expect(page.locator(".lx-time-travel")).to_have_count(0)
        line(page, "photos").click()
        expect(page.locator(".lx-overview[data-loaded='3']")).to_be_visible()
        expect(page.locator(".lx-explorer-chip[data-choice=version]")).to_have_text("version 3")
        expect(page.locator(".lx-error")).to_have_count(0)


def test_a_tag_shows_the_versions_of_all_tables_then_and_opens_them(
    page: Page, folder: Path
) -> None:
    with opened(folder) as (address, _):
        page.goto(address)
        page.locator(".lx-db[data-loaded~=tables]").wait_for()
        search = page.get_by_role("searchbox", name="Show all tables at a time")
        search.fill("gold")
        search.press("Enter")
        expect(page.locator(".lx-db-moment")).to_contain_text("a version of 1 table")
        expect(line(page, "photos").locator(".lx-db-then")).to_have_text("version 2, 4 rows")
        expect(line(page, "users").locator(".lx-db-then")).to_have_text("no version")
        line(page, "photos").click()
        expect(page.locator(".lx-explorer-chip[data-choice=version]")).to_have_text("version 2")
        page.get_by_role("button", name="All tables").click()
        search.fill("id = 11")
        search.press("Enter")
        answer = page.locator(".lx-search-answer")
        expect(answer).to_contain_text("2 rows found in 2 tables of 4")
        expect(page.locator(".lx-db-moment")).to_have_count(0)
        search.fill("id = ")
        search.press("Enter")
        expect(page.locator(".lx-db .lx-note").first).to_contain_text("Expected: an expression")
        expect(answer).to_have_count(0)


def test_each_commit_is_in_the_lane_of_its_table_and_leads_to_it(page: Page, folder: Path) -> None:
    with opened(folder, "--view", "log") as (address, _):
        page.goto(address)
        lanes = page.locator(".lx-db-lane[data-table]")
        expect(lanes).to_have_count(3)
        expect(page.locator(".lx-db-log")).to_contain_text("6 commits of 3 tables")
        expect(page.locator(".lx-db-lane[data-table=photos] circle")).to_have_count(3)
        page.locator(".lx-db-lane[data-table=photos] button").click()
        expect(page.locator(".lx-db-commit")).to_have_count(3)
        page.locator(".lx-db-commit").last.click()
        expect(page.locator(".lx-explorer-chip[data-choice=version]")).to_have_text("version 1")


def test_bars_are_as_long_as_tables_are_large(page: Page, folder: Path) -> None:
    with opened(folder, "--view", "disk") as (address, _):
        page.goto(address)
        expect(page.locator(".lx-db-bar-line")).to_have_count(4)
        page.get_by_role("button", name="any age").click()
        calls = page.locator(".lx-db-calls pre")
        expect(calls).to_contain_text("photos.lance")
        assert calls.inner_text().count("cleanup_old_versions") == 2  # one has but one version
        page.locator(".lx-db-bar-line").first.click()
        expect(page.locator(".lx-overview[data-loaded='3']")).to_be_visible()


def test_new_versions_and_tables_come_by_themselves(page: Page, folder: Path) -> None:
    with opened(folder, pace=0.05) as (address, _):
        page.goto(address)
        rows = line(page, "users").locator("[data-column=rows]")
        expect(rows).to_have_text("2")
        lance.write_dataset(pa.table({"id": [5]}), folder / "users.lance", mode="append")
        expect(rows).to_have_text("3")
        write(folder / "new.lance", 1)
        expect(line(page, "new").locator("[data-column=rows]")).to_have_text("2")


@pytest.mark.parametrize("width", [620, 960, 1600])
def test_nothing_is_wider_than_the_page(page: Page, folder: Path, width: int) -> None:
    chosen = random.Random(width)
    long = "".join(chosen.choice("abcdefgh_") for _ in range(120))
    write(folder / f"{long}.lance", 2)
    page.set_viewport_size({"width": width, "height": 800})
    with opened(folder) as (address, _):
        page.goto(address)
        for view in ("tables", "log", "disk"):
            tab(page, view)
            page.locator(f".lx-db[data-loaded~={view}]").wait_for()
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, view
