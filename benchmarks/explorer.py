"""Moves in each view of the explorer, from the key to the picture on the screen.

``python -m benchmarks.explorer``. JupyterLab and Chromium run on this machine; the table has 5,000
versions and at last 5,000 fragments, and an index.
"""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from benchmarks.measuring import main, prepared, print_rows
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
from tests.browser.lab import PATIENCE, Lab, chromium, lab_server

WIDTH, HEIGHT = 1400, 1000
ROW = "row 5"

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
    search: str = ""


VIEWS = (
    Moved("Overview", ".lx-strip", [(".lx-strip", "data-drawn")]),
    Moved(
        "Log", ".lx-log-lines", [(".lx-log", "data-chosen")], ("ArrowDown", "PageDown", "ArrowUp")
    ),
    Moved("Time travel", ".lx-strip", [(".lx-strip", "data-drawn"), (".lx-map", "data-drawn")]),
    Moved("Changes", ".lx-handle >> nth=1", [(".lx-range", "data-drawn")]),
    Moved(
        "Row",
        ".lx-timeline",
        [(".lx-timeline", "data-chosen")],
        ("Home", "End"),
        ROW,
    ),
    Moved(
        "Lineage",
        ".lx-lineage",
        [(".lx-lineage", "data-version")],
        ("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowRight"),
    ),
    Moved("Encodings", ".lx-version-picture", [(".lx-version-picture", "data-drawn")]),
    Moved("Indices", ".lx-version-picture", [(".lx-version-picture", "data-drawn")]),
    Moved("Disk", ".lx-version-picture >> nth=0", [(".lx-version-picture", "data-drawn")]),
)


def benchmark(folder: Path) -> None:
    """Write the table if it is missing in ``folder``, open it in JupyterLab, move, and print."""
    path = prepared(folder, f"indexed_{VERSIONS}", write_edits, VERSIONS)
    with (
        tempfile.TemporaryDirectory() as settings,
        chromium() as browser,
        lab_server(Path(settings)) as address,
    ):
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        lab = Lab(page, address, Path(settings))
        notebook = lab.open(lab.write("explorer", NOTEBOOK.format(path=str(path))))
        begin = time.perf_counter()
        notebook.run_all()
        page.locator(".lx-strip[data-drawn]").wait_for()
        print(f"from running the cell to the first picture: {time.perf_counter() - begin:.1f} s")
        print_rows([HEADINGS])
        for view in VIEWS:
            notebook.run(f"explorer.state.version = {VERSIONS - 10}")
            print_rows([in_cells(view.label, _times(lab, view))])


def _times(lab: Lab, view: Moved) -> list[float]:
    """Show a view, and move in it."""
    page = lab.page
    if view.search:
        box = page.get_by_role("searchbox").first
        box.fill(view.search)
        box.press("Enter")
    else:
        page.get_by_role("tab", name=view.label, exact=True).click()
    panel = page.get_by_role("tabpanel", name=view.label, exact=True)
    for css, attribute in view.parts:
        part = panel.locator(f"{css}[{attribute}]:not([{attribute}=''])")
        part.wait_for(timeout=5 * PATIENCE * 1000)
    target = panel.locator(view.target)
    target.press(view.keys[-1])
    page.wait_for_function(IS_LAST if view.search else IS_RESTING, arg=target.element_handle())
    watch(target, *[(panel.locator(css), name) for css, name in view.parts])
    return move(page, list(islice(cycle(view.keys), MOVES)))


if __name__ == "__main__":
    main(__doc__, benchmark)
