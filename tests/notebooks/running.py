"""Run a notebook as a person would, and look at what its cells gave."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import polars as pl
from nbformat.v4 import new_code_cell

from tools.docs import notebooks

__all__ = ["RunNotebook", "run"]

_KEEP_FRAMES = """
for __number, __value in list(Out.items()):
    if hasattr(__value, "write_ipc"):
        __value.write_ipc(f"{__number}.arrow")
"""


@dataclass(frozen=True, slots=True)
class RunNotebook:
    """A notebook after it was run; a cell is named by a piece of its code, which no other has."""

    cells: list[Any]
    folder: Path

    def frame(self, code: str) -> pl.DataFrame:
        """Return the frame that a cell shows."""
        number = self._cell(code).execution_count
        return pl.read_ipc(self.folder / f"{number}.arrow")

    def text(self, code: str) -> str:
        """Return what a cell shows as text."""
        text: str = self.shown(code)["text/plain"]
        return text

    def shown(self, code: str) -> dict[str, Any]:
        """Return what a cell shows at last, by MIME type; before it, it may show progress."""
        outputs = [o for o in self._cell(code).outputs if o.output_type != "stream"]
        data: dict[str, Any] = outputs[-1].data
        return data

    def picture(self, code: str) -> Any:
        """Return the plotly figure that a cell shows, as plain values."""
        return self.shown(code)["application/vnd.plotly.v1+json"]

    def printed(self, code: str) -> list[str]:
        """Return the lines that a cell prints."""
        streams = [o for o in self._cell(code).outputs if o.output_type == "stream"]
        assert {stream.name for stream in streams} == {"stdout"}
        return "".join([stream.text for stream in streams]).splitlines()

    def _cell(self, code: str) -> Any:
        [cell] = [cell for cell in self.cells if code in cell.source]
        return cell


def run(path: Path, folder: Path, samples: Path | None = None) -> RunNotebook:
    """Run all cells of a notebook in an empty folder; an error in one is raised.

    With the folder of the sample tables, what it gave is kept for the documentation.
    """
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(new_code_cell(_KEEP_FRAMES))
    notebooks.run(notebook, folder)
    notebook.cells.pop()
    if samples:
        notebooks.keep(path, notebook, samples)
    return RunNotebook([c for c in notebook.cells if c.cell_type == "code"], folder)
