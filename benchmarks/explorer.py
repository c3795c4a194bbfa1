"""The explorer from the cell that is run to its first picture, then each view, and moves in it.

``python -m benchmarks.explorer``. JupyterLab and Chromium run on this machine; the table has 5,000
versions and at last 5,000 fragments, and an index. With ``--sizes large`` it has 100,000 versions
of 10 fragments; to write it takes a quarter of an hour.
"""

import gzip
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from benchmarks.measuring import Numbers, Work, main, prepared, print_rows
from benchmarks.moving import (
    HEADINGS,
    IS_RESTING,
    MOVES,
    VERSION_KEYS,
    VERSIONS,
    in_cells,
    move,
    watch,
    write_edits,
)
from lance_explorer.widgets.session import STATIC
from tests.browser.lab import Lab, chromium, lab_server

WIDTH, HEIGHT = 1400, 1000
SIZES = {"small": VERSIONS, "large": 100_000}
ROWS = {VERSIONS: "row 5", SIZES["large"]: "row 1000"}
"""Rows to which something happened after they were created."""

FRESH_KERNELS = 3
LONGEST = 600  # seconds for a view to be drawn first

FIRST = " first seconds"

# What is there in one frame is on the screen when the next one begins.
WATCH_FIRST = """(parts) => {
    const begin = performance.now();
    const seen = {};
    window.firstSeen = seen;
    const isShown = (css) => [...document.querySelectorAll(css)].some(
        (part) => part.getClientRects().length > 0);
    const frame = () => {
        for (const [name, css] of parts) {
            if (name in seen || !isShown(css)) continue;
            seen[name] = null;
            requestAnimationFrame(() => { seen[name] = (performance.now() - begin) / 1000; });
        }
        if (window.firstSeen === seen) requestAnimationFrame(frame);
    };
    frame();
}"""
PARTS = (
    ("facts of the latest version", ".lx-overview .lx-card"),
    ("all versions", ".lx-overview .lx-strip[data-drawn]"),
)

NOTEBOOK = """
import lance_explorer as lx
explorer = lx.open_table({path!r}).explore()
explorer
"""

IS_LAST = "(slider) => slider.dataset.chosen && slider.ariaValueNow === slider.ariaValueMax"


@dataclass(frozen=True, slots=True)
class Moved:
    """A view: what takes the keys, and which attributes of which parts tell what is drawn."""

    label: str
    target: str
    parts: Sequence[tuple[str, str]]
    keys: Sequence[str] = VERSION_KEYS
    is_searched: bool = False
    whole: str = ""
    """What is there once all of it is read, if parts are shown before."""


MANIFESTS = ".lx-version-picture[aria-label^='Bytes of manifests']"

VIEWS = (
    Moved("Overview", ".lx-strip", [(".lx-strip", "data-drawn")]),
    Moved(
        "Log",
        ".lx-log-lines",
        [(".lx-log", "data-chosen")],
        ("ArrowDown", "PageDown", "ArrowUp"),
        whole=".lx-log[data-lines]",
    ),
    Moved("Time travel", ".lx-strip", [(".lx-strip", "data-drawn"), (".lx-map", "data-drawn")]),
    Moved("Changes", ".lx-handle >> nth=1", [(".lx-range", "data-drawn")]),
    Moved(
        "Row",
        ".lx-timeline",
        [(".lx-timeline", "data-chosen")],
        ("Home", "End"),
        is_searched=True,
    ),
    Moved(
        "Lineage",
        ".lx-lineage",
        [(".lx-lineage", "data-version")],
        ("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowRight"),
    ),
    Moved("Encodings", ".lx-version-picture", [(".lx-version-picture", "data-drawn")]),
    Moved("Indices", ".lx-version-picture", [(".lx-version-picture", "data-drawn")]),
    Moved("Disk", MANIFESTS, [(MANIFESTS, "data-drawn")]),
)


def write_cycles(path: str, count: int) -> Work:
    """Make a table in which rows come, are updated and compacted, and go, over and over."""
    from tests.synthetic import SyntheticTable

    def work() -> Numbers:
        table = SyntheticTable(Path(path), transaction_files=False).append(rows=100, fragments=10)
        table.create_index("id_idx")
        while table.version < count:
            table.append(rows=20)
            table.update({table.fragment_ids[-1]: range(5)})
            table.compact(table.fragment_ids[-2:])
            table.delete({table.fragment_ids[-1]: range(20)})
        return {"versions": table.version, "fragments": len(table.fragment_ids)}

    return work


def benchmark(folder: Path, count: int) -> None:
    """Write the table if it is missing in ``folder``, open it in JupyterLab, move, and print."""
    if count == VERSIONS:
        path = prepared(folder, f"indexed_{count}", write_edits, count)
    else:
        path = prepared(folder, f"cycles_{count}", write_cycles, count)
    script = (STATIC / "explorer.js").read_bytes()
    print(f"script: {len(script):,} bytes, {len(gzip.compress(script)):,} compressed")
    with (
        tempfile.TemporaryDirectory() as settings,
        chromium() as browser,
        lab_server(Path(settings)) as address,
    ):
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        lab = Lab(page, address, Path(settings))
        runs = []
        for number in range(FRESH_KERNELS):
            notebook = lab.open(lab.write(f"explorer {number}", NOTEBOOK.format(path=str(path))))
            page.evaluate(WATCH_FIRST, PARTS)
            notebook.run_all()
            page.wait_for_function(
                "(count) => Object.values(window.firstSeen).filter(Boolean).length === count",
                arg=len(PARTS),
                timeout=LONGEST * 1000,
            )
            runs.append(page.evaluate("window.firstSeen"))
            if number + 1 < FRESH_KERNELS:
                lab.close([notebook.path])
        for name, _ in PARTS:
            times = [run[name] for run in runs]
            each = ", ".join([f"{time:.2f}" for time in times])
            print(f"from the cell to {name}: {statistics.median(times):.2f} s (of {each})")
        page.locator(".lx-overview[data-loaded]").wait_for(timeout=LONGEST * 1000)
        last = notebook.value("explorer.state.version")
        print_rows([[*HEADINGS, FIRST]])
        for view in VIEWS:
            notebook.run(f"explorer.state.version = {last - 10}")
            first, times = _times(lab, view, ROWS[count])
            print_rows([[*in_cells(view.label, times), f"{first:.2f}".rjust(len(FIRST))]])


def _times(lab: Lab, view: Moved, row: str) -> tuple[float, list[float]]:
    """Show a view, and move in it; return the seconds of the one, and milliseconds of the other.

    A view that is searched for shows ``row``.
    """
    page = lab.page
    begin = time.perf_counter()
    if view.is_searched:
        box = page.get_by_role("combobox", name="Search for").first
        box.fill(row)
        box.press("Enter")
    else:
        page.get_by_role("tab", name=view.label, exact=True).click()
    panel = page.get_by_role("tabpanel", name=view.label, exact=True)
    for css, attribute in view.parts:
        part = panel.locator(f"{css}[{attribute}]:not([{attribute}=''])")
        part.wait_for(timeout=LONGEST * 1000)
    first = time.perf_counter() - begin
    if view.whole:
        panel.locator(view.whole).wait_for(timeout=LONGEST * 1000)
    target = panel.locator(view.target)
    target.press(view.keys[-1])
    page.wait_for_function(IS_LAST if view.is_searched else IS_RESTING, arg=target.element_handle())
    watch(target, *[(panel.locator(css), name) for css, name in view.parts])
    return first, move(page, list(islice(cycle(view.keys), MOVES)))


if __name__ == "__main__":
    main(__doc__, benchmark, SIZES)
