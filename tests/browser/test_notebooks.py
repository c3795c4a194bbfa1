"""The notebooks as a person opens them."""

import re

import nbformat
import pytest

from tests.browser.lab import ROOT

pytestmark = pytest.mark.browser


SHOWING = [
    path
    for path in sorted(ROOT.glob("notebooks/*.ipynb"))
    if re.search(r"lx\.(?:widgets|figures)\.", path.read_text(encoding="utf-8"))
]
"""Those with something to draw; ``tests/notebooks`` runs all of them."""


@pytest.mark.parametrize("path", SHOWING, ids=lambda path: path.stem)
def test_it_runs_and_draws_without_an_error(lab, path):
    notebook = lab.open(lab.add(path.name, nbformat.read(path, as_version=4)))
    notebook.run_all()
    assert notebook.failures() == []
    notebook.widgets(".jp-OutputArea-output").first.wait_for()
    notebook.screenshot(f"notebook_{path.stem}")
    lab.close([notebook.path])
