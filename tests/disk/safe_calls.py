"""Random tables with branches and clones under several names, cleaned up with what is offered.

``python -m tests.disk.safe_calls --lives 200`` makes some, runs the calls that previews of cleanups
offer, and fails if a branch, a tag or a clone reads other rows than before. It also runs the call
alone on a copy, and counts how often that breaks something: then the preview must have said so.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path

import lance
import pyarrow as pa

import lance_explorer as lx
from lance_explorer.disk.cleanup_preview import CleanupPreview

__all__ = ["check_life"]

_STEPS = 12


def check_life(folder: Path, seed: int) -> bool:
    """Check the calls for one table; return whether the call alone would break something."""
    chosen = random.Random(seed)
    root = folder / "real" / "t.lance"
    (folder / "real").mkdir()
    (folder / "linked").symlink_to("real")
    names = [str(root), str(folder / "linked" / "t.lance"), f"{root}/", f"file://{root}"]
    branches = _live(names, chosen)
    clone = folder / "clone.lance"
    version = chosen.choice(lance.dataset(str(root)).versions())["version"]
    lance.dataset(str(root), version=version).shallow_clone(str(clone), version)
    branch = chosen.choice([None, None, *branches])
    table = lx.open_table(chosen.choice(names), branch)
    older = chosen.choice([timedelta(0), timedelta(0), None])
    retain = chosen.choice([None, 1, 3]) if older else chosen.choice([1, 2, 4])
    preview = table.cleanup_preview(older, retain, chosen.random() < 0.2, clones=[clone])
    before = _rows(root, branches, clone)
    shutil.copytree(root, folder / "kept", symlinks=True)
    try:
        _run(root, preview._call)
        is_broken = any(_rows(root, branches, clone)[name] != before[name] for name in before)
    finally:
        shutil.rmtree(root)
        shutil.move(folder / "kept", root)
    assert not is_broken or preview.breaks, "it breaks something, and nobody said so"
    if preview.breaks and preview.instead is None:
        return is_broken
    _run(root, preview.code)
    after = _rows(root, branches, clone)
    assert {name: after[name] for name in before} == before, (preview.breaks, preview.code)
    _check_freed(preview, root)
    return is_broken


def _live(names: list[str], chosen: random.Random) -> list[str]:
    """Write versions, branches and tags, under one of the names each; return the branches."""
    lance.write_dataset(
        pa.table({"id": range(12)}), names[0], max_rows_per_file=5, enable_stable_row_ids=True
    )
    branches = list[str]()
    for step in range(_STEPS):
        dataset = lance.dataset(chosen.choice(names))
        on = chosen.choice([None, None, *branches])
        if on is not None:
            dataset = dataset.checkout_version((on, None))
        match chosen.randrange(7):
            case 0 | 1:
                dataset.insert(pa.table({"id": range(100 * step, 100 * step + 4)}))
            case 2:
                dataset.delete(f"id % 7 = {chosen.randrange(7)}")
            case 3:
                dataset.update({"id": "id + 1000"}, where=f"id % 5 = {chosen.randrange(5)}")
            case 4:
                dataset.optimize.compact_files()
            case 5:
                name = f"b{step}"
                dataset.create_branch(name, (on, dataset.version) if on else dataset.version)
                branches.append(name)
            case 6:
                dataset.tags.create(f"t{step}", (on, dataset.version) if on else dataset.version)
    return branches


def _rows(root: Path, branches: list[str], clone: Path) -> dict[str, list[int] | str]:
    """Return the rows of the latest version, of each branch, tag and clone, or an error."""
    dataset = lance.dataset(str(root))
    found = {"main": _ids(lambda: dataset), "clone": _ids(lambda: lance.dataset(str(clone)))}
    for name in branches:
        found[name] = _ids(partial(dataset.checkout_version, (name, None)))
    for name in dataset.tags.list():
        if name.startswith("t"):
            found[name] = _ids(partial(dataset.checkout_version, name))
    return found


def _ids(opened: Callable[[], lance.LanceDataset]) -> list[int] | str:
    try:
        ids: list[int] = sorted(opened().to_table(columns=["id"])["id"].to_pylist())
    except (OSError, ValueError) as error:
        return f"{type(error).__name__}"
    return ids


def _run(root: Path, code: str) -> None:
    exec(code, {"dataset": lance.dataset(str(root)), "timedelta": timedelta})


def _check_freed(preview: CleanupPreview, root: Path) -> None:
    """Check that what the offered calls remove is what was said of them."""
    done = preview.instead or preview
    gone = done.files()["path"].to_list()
    assert not [path for path in gone if (root / path).exists()]


def main() -> None:
    """Check many tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lives", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    broken = 0
    for seed in range(given.seed, given.seed + given.lives):
        with tempfile.TemporaryDirectory() as folder:
            try:
                broken += check_life(Path(folder), seed)
            except Exception:
                sys.stderr.write(f"seed {seed}\n")
                raise
    sys.stdout.write(f"{given.lives} tables; the call alone would have broken {broken} of them\n")


if __name__ == "__main__":
    main()
