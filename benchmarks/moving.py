"""Moves by key in a page of Chromium, and how long each takes until it is on the screen."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from playwright.sync_api import Locator, Page

from benchmarks.measuring import Numbers, Work

__all__ = [
    "HEADINGS",
    "IS_RESTING",
    "MOVES",
    "VERSIONS",
    "VERSION_KEYS",
    "in_cells",
    "move",
    "watch",
    "write_edits",
]

VERSIONS = 5_000
MOVES = 50
HEADINGS = [" " * 18, "moves", "median ms", "95th percentile ms", "slowest ms"]
INDEXED_EVERY = 500

VERSION_KEYS = ("PageDown", "ArrowLeft", "ArrowLeft", "PageUp", "ArrowLeft")
"""Keys each of which leads to another version, near and far, from the latest one on."""

# A frame in which all parts have changed is on the screen when the next one begins. Pictures are
# drawn within a frame, so each is looked at when it is over.
WATCH = """([target, ...parts]) => {
    window.moves = [];
    const values = () => parts.map(([element, attribute]) => element.getAttribute(attribute));
    const { port1: overHere, port2: overThere } = new MessageChannel();
    const whenOver = (listener) => requestAnimationFrame(() => {
        overHere.onmessage = listener;
        overThere.postMessage(null);
    });
    const listen = ({ key, timeStamp }) => {
        if (key === "Shift") return;
        const before = values();
        const look = () => {
            const isDrawn = values().every((value, part) => value && value !== before[part]);
            if (!isDrawn) whenOver(look);
            else requestAnimationFrame(() => window.moves.push(performance.now() - timeStamp));
        };
        whenOver(look);
    };
    window.stopWatching?.();
    target.addEventListener("keydown", listen, { capture: true });
    window.stopWatching = () => target.removeEventListener("keydown", listen, { capture: true });
}"""

IS_RESTING = """() => [...document.querySelectorAll(".lx-stale")]
    .every((part) => part.getClientRects().length === 0)"""


def write_edits(path: str, count: int) -> Work:
    """Make a table in which every second commit adds two fragments, the others mask rows in two.

    One of its columns is indexed, and again every 500 versions.
    """
    from tests.synthetic import SyntheticTable

    def work() -> Numbers:
        table = SyntheticTable(Path(path), transaction_files=False).append(rows=100, fragments=2)
        chance = np.random.default_rng(0)
        untouched = list(table.fragment_ids)
        while table.version < count:
            if table.version % INDEXED_EVERY == 1:
                table.create_index("id_idx")
                continue
            one, two = [untouched.pop(chance.integers(len(untouched))) for _ in range(2)]
            table.delete({one: [1, 2, 3], two: range(50)})
            if table.version < count:
                table.append(rows=int(chance.integers(100, 1000)), fragments=2)
                untouched += table.fragment_ids[-2:]
        return {"versions": table.version, "fragments": len(table.fragment_ids)}

    return work


def watch(target: Locator, *parts: tuple[Locator, str]) -> None:
    """Time the keys that come to an element, each until an attribute of all parts has changed."""
    handles = [[part.element_handle(), attribute] for part, attribute in parts]
    target.page.evaluate(WATCH, [target.element_handle(), *handles])
    target.focus()


def move(page: Page, keys: Sequence[str], *, rest: bool = False) -> list[float]:
    """Press keys, each when the picture of the one before is there; return milliseconds."""
    page.evaluate("() => { window.moves.length = 0; }")
    for done, key in enumerate(keys, start=1):
        page.keyboard.press(key)
        page.wait_for_function("(done) => window.moves.length === done", arg=done)
        if rest:
            page.wait_for_function(IS_RESTING)
    times: list[float] = page.evaluate("() => window.moves")
    return times


def in_cells(name: str, times: Sequence[float]) -> list[str]:
    """Return a line of a table with :data:`HEADINGS`."""
    figures = [np.median(times), np.percentile(times, 95), max(times)]
    cells = [str(len(times)), *[f"{figure:.1f}" for figure in figures]]
    return [
        name.ljust(len(HEADINGS[0])),
        *[cell.rjust(len(heading)) for cell, heading in zip(cells, HEADINGS[1:], strict=True)],
    ]
