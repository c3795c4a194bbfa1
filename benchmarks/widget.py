"""Moves of the version slider in a browser, from the key to the picture on the screen.

``python -m benchmarks.widget``. JupyterLab and Chromium run on this machine; the table has 5,000
versions and at last 5,000 fragments, which were in 10,000 states.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

from benchmarks.history import Work, prepared, print_rows
from benchmarks.measuring import Numbers
from tests.browser.lab import Lab, chromium, lab_server

VERSIONS = 5_000
MOVES = 50
KEYS = ("PageDown", "ArrowLeft", "ArrowRight", "ArrowLeft", "ArrowDown")
WIDTH, HEIGHT = 1400, 1000

NOTEBOOK = """
import lance_explorer as lx
widget = lx.widgets.TimeTravel(lx.open_table({path!r}))
widget
"""

# A frame in which strip and map are drawn is on the screen when the next one begins.
LISTEN = """(strip) => {
    window.moves = [];
    const map = strip.parentElement.querySelector(".lx-map");
    strip.addEventListener("keydown", ({ timeStamp }) => {
        const frame = () => {
            const wanted = strip.getAttribute("aria-valuetext").match(/version (\\d+)/)[1];
            const isDrawn = [strip, map].every(({ dataset }) => dataset.drawn === wanted);
            if (!isDrawn) requestAnimationFrame(frame);
            else requestAnimationFrame(() => window.moves.push(performance.now() - timeStamp));
        };
        requestAnimationFrame(frame);
    });
}"""

IS_RESTING = """() => !document.querySelector(".lx-time-travel .lx-stale")"""


def write_edits(path: str, count: int) -> Work:
    """Make a table in which every second commit adds two fragments, the others mask rows in two."""
    from tests.synthetic import SyntheticTable

    def work() -> Numbers:
        table = SyntheticTable(Path(path), transaction_files=False).append(rows=100, fragments=2)
        chance = np.random.default_rng(0)
        untouched = list(table.fragment_ids)
        while table.version < count:
            one, two = [untouched.pop(chance.integers(len(untouched))) for _ in range(2)]
            table.delete({one: [1, 2, 3], two: range(50)})
            if table.version < count:
                table.append(rows=int(chance.integers(100, 1000)), fragments=2)
                untouched += table.fragment_ids[-2:]
        return {"versions": table.version, "fragments": len(table.fragment_ids)}

    return work


def move(page: Page, keys: Sequence[str], rest: bool) -> list[float]:
    """Press keys, each when the picture of the one before is there; return milliseconds."""
    page.evaluate("() => { window.moves.length = 0; }")
    for done, key in enumerate(keys, start=1):
        page.keyboard.press(key)
        page.wait_for_function("(done) => window.moves.length === done", arg=done)
        if rest:
            page.wait_for_function(IS_RESTING)
    times: list[float] = page.evaluate("() => window.moves")
    return times


def benchmark(folder: Path) -> None:
    """Write the table if it is missing in ``folder``, open it in JupyterLab, move, and print."""
    path = prepared(folder, f"fragments_{VERSIONS}", write_edits, VERSIONS)
    with (
        tempfile.TemporaryDirectory() as settings,
        chromium() as browser,
        lab_server(Path(settings)) as address,
    ):
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        lab = Lab(page, address, Path(settings))
        notebook = lab.open(lab.write("widget", NOTEBOOK.format(path=str(path))))
        begin = time.perf_counter()
        notebook.run_all()
        strip = notebook.widgets(".lx-strip[data-drawn]")
        strip.wait_for()
        print(f"from running the cell to the first picture: {time.perf_counter() - begin:.1f} s")
        strip.evaluate(LISTEN)
        strip.focus()
        keys = (KEYS * MOVES)[:MOVES]
        rows = [["", "moves", "median ms", "95th percentile ms", "slowest ms"]]
        for name, rest in (("one after the other", False), ("each at rest", True)):
            times = move(page, keys, rest)
            figures = [np.median(times), np.percentile(times, 95), max(times)]
            rows.append([name, str(len(times)), *[f"{figure:.1f}" for figure in figures]])
        print_rows(rows)


def main() -> None:
    """Run the benchmark from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="where the table is kept for the next run")
    options = parser.parse_args()
    if options.folder is not None:
        options.folder.mkdir(parents=True, exist_ok=True)
        benchmark(options.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        benchmark(Path(folder))


if __name__ == "__main__":
    main()
