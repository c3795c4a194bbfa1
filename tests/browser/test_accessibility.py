"""What axe-core finds in each view of the explorer, light and dark."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from lance_explorer.widgets.explorer import TABS
from tests.browser.lab import open_view
from tests.serving import opened

_ROOT = Path(__file__).parents[2]
_AXE = _ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
_RUN = """async () => {
    const found = await axe.run();
    return found.violations.map(({ id, impact, nodes }) => [impact, id, nodes[0].html]);
}"""
_READY = {
    "overview": ".lx-overview[data-loaded] .lx-first-rows tbody",
    "log": ".lx-log[data-lines]",
    "time_travel": ".lx-time-travel .lx-rows:not(.lx-rows-coming)",
    "changes": ".lx-changes .lx-rows:not(.lx-rows-coming)",
}
"""Where it is not enough that the view is there."""


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core; it is a package of the frontend."""
    if not _AXE.is_file():
        subprocess.run(
            [sys.executable, _ROOT / "tools" / "build_frontend.py", "--check"], check=True
        )
    return _AXE.read_text(encoding="utf-8")


def violations(page: Page, axe: str) -> list[Any]:
    page.evaluate(axe)
    found: list[Any] = page.evaluate(_RUN)
    return [one for one in found if one[0] in ("serious", "critical")]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_view_keeps_anybody_out(
    browser: Browser, photos_path: Path, axe: str, scheme: Any
) -> None:
    with opened(photos_path) as (address, _):
        # What fades in has little contrast until it is there.
        context = browser.new_context(color_scheme=scheme, reduced_motion="reduce", bypass_csp=True)
        page = context.new_page()
        page.goto(address)
        found = {}
        for name in TABS:
            open_view(page, name)
            page.locator(_READY.get(name, ".lx[role=tabpanel]")).filter(
                visible=True
            ).first.wait_for()
            found[name] = violations(page, axe)
        context.close()
    assert found == {name: [] for name in TABS}
