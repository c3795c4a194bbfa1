"""Each notebook is run once, with sample tables made for these tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lance_explorer import demo
from tests.notebooks.running import NOTEBOOKS, RunNotebook, run


@pytest.fixture(scope="session")
def samples(tmp_path_factory) -> Iterator[list[Path]]:
    """The tables that notebooks find made: with and without stable row IDs."""
    folder = tmp_path_factory.mktemp("samples")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LANCE_EXPLORER_SAMPLES", str(folder))
        environment.setenv("LANCE_EXPLORER_SPARK_ROWS", "20000")
        yield demo.make_samples()


@pytest.fixture(scope="session")
def run_once(samples, tmp_path_factory) -> Callable[[str], RunNotebook]:
    """Run a notebook by name, or return what it gave before."""
    results: dict[str, RunNotebook] = {}

    def run_or_recall(name: str) -> RunNotebook:
        if name not in results:
            results[name] = run(NOTEBOOKS / name, tmp_path_factory.mktemp("notebook"))
        return results[name]

    return run_or_recall
