"""The documentation, built once; and the sample tables of its examples."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lance_explorer import demo
from tools.docs.notebooks import ROOT, sample_folder


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built documentation; a warning, as of a link that leads nowhere, fails."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the sample tables."""
    with sample_folder(tmp_path_factory.mktemp("samples")) as folder:
        demo.make_samples()
        yield folder
