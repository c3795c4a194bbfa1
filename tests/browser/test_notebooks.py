"""The notebooks that have widgets, as a person sees them."""

import nbformat
import pytest

from tests.browser.lab import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.sampled(3)]


def cells_of(path):
    """Return the code of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "code"]


WITH_WIDGETS = {
    path.stem: cells
    for path in sorted(ROOT.glob("notebooks/*.ipynb"))
    for cells in [cells_of(path)]
    if any("lx.widgets." in cell or ".explore(" in cell for cell in cells)
}
"""Those that need a page; ``tests/notebooks`` runs all of them, each in a kernel of its own."""


def test_all_widgets_of_notebooks_are_seen():
    assert len(WITH_WIDGETS) >= 6


@pytest.mark.parametrize("name", WITH_WIDGETS)
def test_it_runs_and_draws_without_an_error(spare_notebook, name):
    spare_notebook.run_cells(*WITH_WIDGETS[name])
    spare_notebook.widgets(".lx").first.wait_for()
    spare_notebook.screenshot(f"notebook_{name}")
