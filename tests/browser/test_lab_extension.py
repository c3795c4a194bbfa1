"""The explorer from the file browser of JupyterLab."""

import json
from collections.abc import Iterator
from urllib.parse import quote

import lance
import pyarrow as pa
import pytest
from playwright.sync_api import Locator, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from tests.browser.lab import PATIENCE, Lab

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def folder(lab: Lab) -> Iterator[str]:
    """A folder of the lab with two tables and something that is none."""
    top = lab.folder / "notebooks" / "tables of the lab"
    for name in ("first.lance", "second.lance"):
        lance.write_dataset(pa.table({"id": range(4)}), top / name)
        lance.write_dataset(pa.table({"id": range(3)}), top / name, mode="append")
    (top / "empty.lance").mkdir()
    (top / "other").mkdir()
    for name in ("photos.lance", "users.lance"):
        lance.write_dataset(pa.table({"id": range(4)}), top / "database" / name)
    yield top.name
    tabs = lab.page.locator("#jp-main-dock-panel .lm-TabBar-tab").filter(has_text=".lance")
    while tabs.count():
        tabs.first.locator(".lm-TabBar-tabCloseIcon").click()
    lab.page.evaluate("window.jupyterapp.shell.collapseLeft()")


@pytest.fixture
def listing(lab: Lab, folder: str) -> Locator:
    """The file browser in that folder."""
    go_to(lab, folder)
    found = lab.page.locator("#filebrowser .jp-DirListing")
    item(found, "first.lance").wait_for()
    return found


def go_to(lab: Lab, folder: str) -> None:
    lab.page.evaluate(
        """async (folder) => {
            const app = window.jupyterapp;
            await app.commands.execute("filebrowser:activate");
            await app.commands.execute("filebrowser:go-to-path", {path: folder});
        }""",
        folder,
    )


def item(listing: Locator, name: str) -> Locator:
    return listing.locator(".jp-DirListing-item").filter(has_text=name)


def tab(lab: Lab, name: str) -> Locator:
    """A tab of the main area, which is the one that is shown."""
    return lab.page.locator("#jp-main-dock-panel .lm-mod-current").filter(has_text=name)


def shown(lab: Lab, selector: str) -> Locator:
    return lab.page.locator(selector).filter(visible=True).first


def test_a_double_click_on_a_table_opens_it_and_says_where_there_is_none(
    lab: Lab, listing: Locator
) -> None:
    item(listing, "first.lance").dblclick()
    tab(lab, "first.lance").wait_for()
    expect(shown(lab, ".lx-story")).to_contain_text("rows in 2 fragments")
    shown(lab, "[data-view=time_travel]").click()
    shown(lab, ".lx-strip[data-drawn]").wait_for()
    item(listing, "second.lance").click()
    lab.page.keyboard.press("Enter")
    tab(lab, "second.lance").wait_for()
    expect(shown(lab, ".lx-story")).to_contain_text("rows in 2 fragments")
    item(listing, "first.lance").dblclick()  # it is there already
    tab(lab, "first.lance").wait_for()
    shown(lab, ".lx-strip[data-drawn]").wait_for()
    expect(item(listing, "first.lance")).to_be_visible()
    item(listing, "empty.lance").dblclick()
    tab(lab, "empty.lance").wait_for()
    said = lab.page.get_by_role("alert").filter(visible=True)
    expect(said).to_contain_text("no Lance table at")


def test_a_double_click_on_a_folder_of_tables_opens_them_all(
    lab: Lab, folder: str, listing: Locator
) -> None:
    item(listing, "database").dblclick()
    tab(lab, "database").wait_for()
    expect(shown(lab, ".lx-db-above")).to_contain_text("2 tables, 8 rows")
    shown(lab, ".lx-db-line[data-table=users]").click()
    expect(shown(lab, ".lx-story")).to_contain_text("4 rows in 1 fragment")
    expect(item(listing, "first.lance")).to_be_visible()
    lab.page.locator("#jp-main-dock-panel .lm-mod-current .lm-TabBar-tabCloseIcon").click()
    item(listing, "other").click(button="right")
    lab.page.get_by_role("menuitem", name="Explore Lance Tables in Folder").click()
    tab(lab, "other").wait_for()
    said = lab.page.get_by_role("alert").filter(visible=True)
    expect(said).to_contain_text("no Lance table")
    lab.page.locator("#jp-main-dock-panel .lm-mod-current .lm-TabBar-tabCloseIcon").click()


def test_other_folders_open_as_ever_and_tables_by_the_menu(
    lab: Lab, folder: str, listing: Locator
) -> None:
    item(listing, "first.lance").click(button="right")
    lab.page.get_by_role("menuitem", name="Explore Lance Table").click()
    tab(lab, "first.lance").wait_for()
    item(listing, "first.lance").click(button="right")
    menu = lab.page.get_by_role("menuitem", name="Open", exact=True)
    menu.first.click()
    item(listing, "_versions").wait_for()
    lab.page.keyboard.press("Escape")
    go_to(lab, folder)
    item(listing, "other").dblclick()
    expect(item(listing, "first.lance")).to_have_count(0)


def test_a_link_opens_what_it_was_copied_from(lab: Lab, folder: str, listing: Locator) -> None:
    item(listing, "first.lance").dblclick()
    tab(lab, "first.lance").wait_for()
    shown(lab, ".lx-explorer-tab[data-view=log]").click()
    shown(lab, ".lx-log-line[data-version='1']").click()
    expect(shown(lab, ".lx-explorer-chip[data-choice=version]")).to_have_text("version 1")
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown(lab, "button:text-is('Copy link')").click()
    shown(lab, "button:text-is('Copied')").wait_for()
    link = lab.page.evaluate("navigator.clipboard.readText()")
    place = f"/lab/tree/{quote(folder)}/first.lance#view=log&version=1"
    assert link == f"{lab.address}{place}"
    other = lab.page.context.new_page()
    other.goto(link)
    expect(other.locator(".lx-explorer[data-view=log]")).to_be_visible(timeout=PATIENCE * 1000)
    expect(other.locator(".lx-explorer-chip[data-choice=version]")).to_have_text("version 1")
    other.close()


def test_only_tables_below_the_folder_of_the_server_are_opened(lab: Lab, folder: str) -> None:
    for path in ("../..", "..", "other/../../x.lance", "nothing.lance"):
        address = f"{lab.address.replace('http', 'ws')}/lance-explorer/socket?path={quote(path)}"
        with connect(address, origin=Origin(lab.address)) as page:
            told = json.loads(page.recv(PATIENCE))
        assert told["method"] == "failure", path
        assert ("not below the folder" in told["content"]) == (".." in path), path


def test_another_site_gets_nothing(lab: Lab) -> None:
    address = f"{lab.address.replace('http', 'ws')}/lance-explorer/socket?path=x.lance"
    with pytest.raises(InvalidStatus, match="403"):
        connect(address, origin=Origin("http://example.org"))
