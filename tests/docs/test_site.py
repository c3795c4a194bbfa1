"""The built pages lead nowhere that is not there, and load nothing from a network."""

import re
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Literal
from urllib.parse import unquote, urlsplit

import pytest

from tests.browser.lab import chromium

LOADS = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
IMPORTED = re.compile(r"""(?:@import|url\()\s*['"]?(?:https?:)?//""")


class References(HTMLParser):
    """What a page loads, where it leads, and which places it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.places: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places |= {values.get("id", ""), values.get("name", "")}
        if tag == "link" and values.get("rel") in {"canonical", "next", "prev"}:
            return
        if tag in LOADS and LOADS[tag] in values:
            self.loads.append(values[LOADS[tag]])
        elif tag == "a" and "href" in values:
            self.leads.append(values["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, References]:
    return {page: References(page) for page in sorted(site.rglob("*.html"))}


def test_there_are_pages_of_all_kinds(site, pages):
    names = {str(page.relative_to(site)) for page in pages}
    assert {"index.html", "FORMAT.html", "ARCHITECTURE.html", "guides/coming-from.html"} <= names
    assert {"reference/table.html", "notebooks/01_explore_a_table.html"} <= names


def test_nothing_is_loaded_from_elsewhere(site, pages):
    for page, found in pages.items():
        assert found.loads
        for address in found.loads:
            parts = urlsplit(address)
            assert (parts.scheme, parts.netloc) in {("", ""), ("data", "")}, (page, address)
            if parts.path and not parts.scheme and page.name != "404.html":
                assert (page.parent / unquote(parts.path)).exists(), (page, address)
    for sheet in site.rglob("*.css"):
        assert not IMPORTED.search(sheet.read_text(encoding="utf-8")), sheet


def test_links_lead_to_what_is_there(site, pages):
    for page, found in pages.items():
        if page.name == "404.html":
            continue
        for address in found.leads:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.exists(), (page, address)
            if parts.fragment and target in pages:
                assert unquote(parts.fragment) in pages[target].places, (page, address)


def test_notebooks_show_their_pictures(site):
    text = (site / "notebooks" / "01_explore_a_table.html").read_text(encoding="utf-8")
    assert text.count("data-figure=") >= 1
    assert "<svg" in text
    assert "<!-- output" not in text


class Quiet(SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


THEMES: list[Literal["light", "dark"]] = ["light", "dark"]
SHOWN = {
    "index.html": "img",
    "guides/why-is-it-big.html": "pre",
    "reference/frames.html": "table",
    "notebooks/index.html": ".lx-card .plot-container",
    "notebooks/02_follow_a_row.html": ".lx-figure .plot-container",
    "FORMAT.html": "table",
}


@pytest.mark.browser
def test_pages_are_drawn_and_ask_for_nothing_outside(address):
    asked: list[str] = []
    complaints: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        for name, css in SHOWN.items():
            page.goto(f"{address}/{name}")
            for theme, width in product(THEMES, [620, 1400]):
                page.emulate_media(color_scheme=theme)
                page.set_viewport_size({"width": width, "height": 1000})
                page.locator(css).first.wait_for()
                page.wait_for_function("document.documentElement.scrollWidth <= innerWidth")
    assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []
    assert complaints == []
