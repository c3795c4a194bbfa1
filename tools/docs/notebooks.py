"""Run the notebooks, and keep what they gave for the gallery of the documentation.

A notebook that was run is kept in ``build/notebooks`` under a digest of itself and of the package,
so the tests of the notebooks and the documentation run each once. Of folders that only the run had,
no more than the name is kept.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import nbformat
from nbclient import NotebookClient

__all__ = ["NOTEBOOKS", "keep", "kept", "run", "run_all", "sample_folder"]

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
KEPT = ROOT / "build" / "notebooks"


def run(notebook: nbformat.NotebookNode, folder: Path) -> None:
    """Run all cells of a notebook in a folder; an error in one is raised."""
    resources = {"metadata": {"path": str(folder)}}
    quiet = ["--IPKernelApp.log_level=ERROR"]
    client = NotebookClient(notebook, resources=resources, extra_arguments=quiet)
    client.timeout, client.startup_timeout = 900, 300
    client.execute()


@contextmanager
def sample_folder(folder: Path) -> Iterator[Path]:
    """Let notebooks find their sample tables in a folder, and be small."""
    before = os.environ.copy()
    os.environ |= {"LANCE_EXPLORER_SAMPLES": str(folder), "LANCE_EXPLORER_SPARK_ROWS": "20000"}
    yield folder
    os.environ.clear()
    os.environ.update(before)


def keep(path: Path, notebook: nbformat.NotebookNode, samples: Path) -> None:
    """Keep a notebook that was run with the sample tables of a folder."""
    KEPT.mkdir(parents=True, exist_ok=True)
    for old in KEPT.glob(f"{path.stem}-*.ipynb"):
        old.unlink()
    text = nbformat.writes(notebook).replace(str(samples), "samples")
    _place(path).write_text(text.replace(f"{tempfile.gettempdir()}/", ""), encoding="utf-8")


def kept(path: Path) -> nbformat.NotebookNode | None:
    """Return what a notebook gave with the package as it is; None if it was not run."""
    place = _place(path)
    return nbformat.read(place, as_version=4) if place.exists() else None


def run_all() -> None:
    """Run the notebooks that were not run with the package as it is, and say so."""
    missing = [path for path in sorted(NOTEBOOKS.glob("*.ipynb")) if not _place(path).exists()]
    if not missing:
        return
    from lance_explorer import demo

    with tempfile.TemporaryDirectory() as name, sample_folder(Path(name) / "samples") as samples:
        print("Making the sample tables ...", flush=True)
        demo.make_samples()
        for number, path in enumerate(missing, 1):
            print(f"Running notebook {number} of {len(missing)}: {path.name} ...", flush=True)
            notebook = nbformat.read(path, as_version=4)
            run(notebook, Path(name))
            keep(path, notebook, samples)


def _place(path: Path) -> Path:
    digest = hashlib.sha256(path.read_bytes() + _package()).hexdigest()
    return KEPT / f"{path.stem}-{digest[:16]}.ipynb"


@cache
def _package() -> bytes:
    """Return a digest of the package."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "lance_explorer").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()
