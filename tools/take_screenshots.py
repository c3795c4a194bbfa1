"""Take the pictures of the README from the sample table, in a real JupyterLab.

Needs Chromium, as the browser tests do.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser.lab import Lab, chromium, lab_server  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WIDTH = 1300
HEIGHT = 2000

OPEN = "import lance_explorer as lx\ntable = lx.open_table(lx.demo.make_photos())"


@dataclass(frozen=True, slots=True)
class Picture:
    """What to show in a cell, and the element of it that a picture is taken of.

    ``ready`` is what the element has in it when all of it is there.
    """

    name: str
    code: str
    element: str
    before: str = ""
    ready: str = ""
    theme: str = "light"


PICTURES = (
    Picture("explorer", "table.explore()", ".jp-OutputArea-output:has(.lx-explorer)"),
    Picture(
        "time_travel",
        "shown = lx.widgets.TimeTravel(table)\nshown",
        ".lx",
        before="shown.state.version = 26",
        ready="td",
    ),
    Picture(
        "lineage",
        "lx.figures.lineage(table, path=table.row(42))",
        ".jp-RenderedPlotly",
    ),
)


def main() -> None:
    """Take all pictures, or those that the command line names."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    wanted = set(sys.argv[1:])
    with TemporaryDirectory() as folder, lab_server(Path(folder)) as address, chromium() as browser:
        page = browser.new_page(device_scale_factor=1.5)
        lab = Lab(page, address, Path(folder))
        lab.set_width(WIDTH, HEIGHT)
        for picture in PICTURES:
            if not wanted or picture.name in wanted:
                take(lab, picture)
                print(IMAGES / f"{picture.name}.png")


def take(lab: Lab, picture: Picture) -> None:
    """Run the cells of a picture in a notebook of its own, and take it."""
    lab.set_theme(picture.theme)
    notebook = lab.open(lab.write(picture.name, OPEN, picture.code))
    notebook.run_all()
    shown = notebook.widgets(f".jp-OutputArea {picture.element}").last
    shown.wait_for()
    if picture.before:
        notebook.run(picture.before)
    if picture.ready:
        shown.locator(picture.ready).first.wait_for()
    lab.page.wait_for_load_state("networkidle")
    lab.page.mouse.move(0, 0)
    shown.screenshot(path=IMAGES / f"{picture.name}.png", animations="disabled")
    notebook.close()


if __name__ == "__main__":
    main()
