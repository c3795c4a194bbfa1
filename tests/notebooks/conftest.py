"""Each notebook is run once, with sample tables made for these tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lance_explorer import demo
from tests.notebooks.running import RunNotebook, run
from tools.docs.notebooks import NOTEBOOKS, sample_folder


@pytest.fixture(scope="session")
def samples(tmp_path_factory) -> Iterator[list[Path]]:
    """The tables that notebooks find made: with and without stable row IDs."""
    folder = tmp_path_factory.mktemp("samples")
    with sample_folder(folder):
        yield demo.make_samples()


@pytest.fixture(scope="session")
def run_once(samples, tmp_path_factory) -> Callable[[str], RunNotebook]:
    """Run a notebook by name, or return what it gave before."""
    results: dict[str, RunNotebook] = {}

    def run_or_recall(name: str) -> RunNotebook:
        if name not in results:
            folder = tmp_path_factory.mktemp("notebook")
            results[name] = run(NOTEBOOKS / name, folder, samples[0].parent)
        return results[name]

    return run_or_recall
