"""Record the moving picture of the README, and take the picture of a review, in Chromium.

Each step types or clicks, waits for what it asked for, and stands for as long as it takes to read.
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from PIL import Image  # noqa: E402
from playwright.sync_api import Page, ViewportSize  # noqa: E402

import lance_explorer as lx  # noqa: E402
from tests.browser.lab import chromium  # noqa: E402
from tests.serving import opened  # noqa: E402

IMAGES = ROOT / "docs" / "images"
SIZE: ViewportSize = {"width": 1120, "height": 700}
READ, TYPE = 2600, 90
"""Milliseconds for which a step and a typed letter stand."""


def main() -> None:
    """Write both pictures."""
    with TemporaryDirectory() as folder, chromium() as browser:
        archive = lx.demo.make_archive(f"{folder}/archive.lance")
        page = browser.new_page(viewport=SIZE)
        with opened(Path(archive)) as (address, _):
            page.goto(f"{address}#view=changes&version=58&from=52")
            frames = [*tour(page)]
        write(frames, IMAGES / "tour.webp")
        review = lx.open_table(archive).diff(52, 58).report(f"{folder}/review.html")
        page = browser.new_page(viewport={"width": 1000, "height": 1000})
        page.goto(review.as_uri())
        page.screenshot(path=IMAGES / "review.png")


def tour(page: Page) -> Iterator[tuple[bytes, int]]:
    """Yield frames, and for how many milliseconds each stands."""
    page.locator(".lx-changes .lx-rows:not(.lx-rows-coming)").first.wait_for()
    settle(page)
    yield shot(page), READ
    yield from ask(page, "who deleted photo_id = 42")
    yield from view(page, "lineage", ".lx-lineage-graph [data-drawn]")
    yield from ask(page, "undo 38")


def ask(page: Page, question: str) -> Iterator[tuple[bytes, int]]:
    """Type a question, word by word, and wait for its answer."""
    box = page.locator(".lx-explorer-search")
    box.fill("")
    words = question.split()
    for number in range(1, len(words) + 1):
        box.fill(" ".join(words[:number]))
        yield shot(page), TYPE * 3
    box.press("Enter")
    sentence = page.locator(".lx-search-sentence")
    sentence.wait_for()
    settle(page)
    yield shot(page), READ


def view(page: Page, name: str, ready: str) -> Iterator[tuple[bytes, int]]:
    """Show a view."""
    page.locator(f".lx-explorer-tab[data-view={name}]").click()
    page.locator(ready).first.wait_for()
    settle(page)
    yield shot(page), READ


def settle(page: Page) -> None:
    """Wait until the page has stopped to change."""
    before = b""
    while (now := shot(page)) != before:
        before = now
        page.wait_for_timeout(400)


def shot(page: Page) -> bytes:
    """Return a picture of the page."""
    return page.screenshot(animations="disabled", caret="hide")


def write(frames: list[tuple[bytes, int]], path: Path) -> None:
    """Write frames as one moving picture."""
    images = [Image.open(io.BytesIO(data)).convert("RGB") for data, _ in frames]
    durations = [milliseconds for _, milliseconds in frames]
    first, *others = images
    first.save(
        path,
        save_all=True,
        append_images=others,
        duration=durations,
        loop=0,
        quality=80,
        method=6,
    )
    print(f"{path}: {len(images)} frames, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
