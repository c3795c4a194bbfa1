"""Moves of the version slider in a browser, from the key to the picture on the screen.

``python -m benchmarks.widget``. JupyterLab and Chromium run on this machine; the table has 5,000
versions and at last 5,000 fragments, which were in 10,000 states.
"""

import tempfile
import time
from pathlib import Path

from benchmarks.measuring import main, prepared, print_rows
from benchmarks.moving import (
    HEADINGS,
    MOVES,
    VERSION_KEYS,
    VERSIONS,
    in_cells,
    move,
    watch,
    write_edits,
)
from tests.browser.lab import Lab, chromium, lab_server

WIDTH, HEIGHT = 1400, 1000

NOTEBOOK = """
import lance_explorer as lx
widget = lx.widgets.TimeTravel(lx.open_table({path!r}))
widget
"""


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
        notebook = lab.open(lab.write("widget", NOTEBOOK.format(path=str(path))))
        begin = time.perf_counter()
        notebook.run_all()
        strip, fragments = notebook.widgets(".lx-strip"), notebook.widgets(".lx-map")
        notebook.widgets(".lx-strip[data-drawn]").wait_for()
        print(f"from running the cell to the first picture: {time.perf_counter() - begin:.1f} s")
        watch(strip, (strip, "data-drawn"), (fragments, "data-drawn"))
        keys = (VERSION_KEYS * MOVES)[:MOVES]
        rows = [HEADINGS]
        for name, rest in (("one after the other", False), ("each at rest", True)):
            rows.append(in_cells(name, move(page, keys, rest=rest)))
        print_rows(rows)


if __name__ == "__main__":
    main(__doc__, benchmark)
