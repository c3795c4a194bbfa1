"""Take the pictures of the README, and of the widgets in the notebooks, in a real JupyterLab.

Needs Chromium, as the browser tests do. Words on the command line choose pictures by their names.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import nbformat  # noqa: E402
from playwright.sync_api import Locator  # noqa: E402

from tests.browser.lab import Lab, chromium, lab_server  # noqa: E402

IMAGES = ROOT / "docs" / "images"
WIDTH = 1300
HEIGHT = 3000
NOTEBOOK_WIDTH = 1160
TALLEST = 1000
"""Pixels of what is tall; the rest is below."""
WIDGET = ".jp-OutputArea-output:has(.lx)"
SETTLES = 3000
"""Milliseconds until a widget of a small table has shown all of it."""

OPEN = "import lance_explorer as lx\ntable = lx.open_table(lx.demo.make_photos())"

ARCHIVE = "lx.open_table(lx.demo.make_archive()).explore()"
DOCUMENTS = 'lx.open_table(lx.demo.make_documents()).explore("columns")'
EXPLORER = ".jp-OutputArea-output:has(.lx-explorer)"


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
    typed: str = ""
    """What is typed into the search box."""
    tall: int = TALLEST
    theme: str = "light"


PICTURES = (
    Picture("explorer", ARCHIVE, EXPLORER, ready=".lx-first-rows tbody"),
    Picture(
        "time_travel",
        "shown = lx.widgets.TimeTravel(table)\nshown",
        ".lx",
        before="shown.state.version = 26",
        ready="td",
    ),
    Picture("who-deleted", ARCHIVE, EXPLORER, typed="who deleted photo_id = 42", tall=330),
    Picture("undo", ARCHIVE, EXPLORER, typed="undo 38", tall=600),
    Picture("columns", DOCUMENTS, EXPLORER, ready=".lx-values[data-shown]", tall=900),
    Picture("merge-preview", ARCHIVE, EXPLORER, typed="merge faces", tall=420),
    Picture(
        "lineage",
        "lx.figures.lineage(table, path=table.row(42))",
        ".jp-RenderedPlotly",
    ),
)


def main() -> None:
    """Take all pictures, or those that the command line chooses."""
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
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    chosen = [path for path in notebooks if not wanted or path.stem in wanted]
    with TemporaryDirectory() as folder, lab_server(Path(folder)) as address, chromium() as browser:
        lab = Lab(browser.new_page(), address, Path(folder))
        lab.set_width(NOTEBOOK_WIDTH, HEIGHT)
        for path in chosen:
            if "lx.widgets." in path.read_text(encoding="utf-8"):
                take_widgets(lab, path)


def take_widgets(lab: Lab, path: Path) -> None:
    """Run a notebook up to its last widget, and take its widgets one after the other."""
    (IMAGES / "notebooks").mkdir(exist_ok=True)
    content = nbformat.read(path, as_version=4)
    cells = enumerate(content.cells, 1)
    last = max(number for number, cell in cells if "lx.widgets." in cell.source)
    content.cells = content.cells[:last]
    notebook = lab.open(lab.add(path.name, content))
    notebook.run_all()
    for number, shown in enumerate(notebook.widgets(WIDGET).all(), 1):
        shown.evaluate("element => element.scrollIntoView({ block: 'start' })")
        shown.locator(".lx").first.wait_for()
        lab.page.wait_for_load_state("networkidle")
        lab.page.wait_for_timeout(SETTLES)
        target = IMAGES / "notebooks" / f"{path.stem}-{number}.png"
        photograph(shown, target)
        print(target)
    lab.close([notebook.path])


def take(lab: Lab, picture: Picture) -> None:
    """Run the cells of a picture in a notebook of its own, and take it."""
    lab.set_theme(picture.theme)
    notebook = lab.open(lab.write(picture.name, OPEN, picture.code))
    notebook.run_all()
    shown = notebook.widgets(f".jp-OutputArea {picture.element}").last
    shown.wait_for()
    if picture.before:
        notebook.run(picture.before)
    if picture.typed:
        box = shown.locator(".lx-explorer-search")
        box.fill(picture.typed)
        box.press("Enter")
        shown.locator(".lx-search-sentence").wait_for()
    if picture.ready:
        shown.locator(picture.ready).first.wait_for()
    lab.page.wait_for_load_state("networkidle")
    lab.page.wait_for_timeout(SETTLES)
    lab.page.mouse.move(0, 0)
    photograph(shown, IMAGES / f"{picture.name}.png", picture.tall)
    lab.close([notebook.path])


def photograph(shown: Locator, target: Path, tall: int = TALLEST) -> None:
    """Take a picture of the upper part of an element."""
    box = shown.bounding_box()
    if box is None:
        raise RuntimeError(f"{target.stem} is not to be seen")
    box["height"] = min(box["height"], tall)
    shown.page.screenshot(path=target, animations="disabled", clip=box)


if __name__ == "__main__":
    main()
