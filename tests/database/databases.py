"""Folders of tables, made at random, and what they are found to hold by other means."""

import os
import random
import shutil
from datetime import timedelta
from pathlib import Path

import lance
import pyarrow as pa


def write(path: Path, ids: list[int], mode: str = "create") -> None:
    """Write rows into a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = pa.table({"id": ids, "x": [float(one) for one in ids]})
    lance.write_dataset(rows, str(path), mode=mode)


def grow(path: Path, chosen: random.Random) -> None:
    """Commit something to a table."""
    dataset = lance.dataset(str(path))
    match chosen.choice(
        ["append", "append", "delete", "update", "compact", "index", "tag", "clean"]
    ):
        case "append":
            write(path, [chosen.randrange(1000) for _ in range(chosen.randint(1, 20))], "append")
        case "delete":
            dataset.delete(f"id % 7 = {chosen.randrange(7)}")
        case "update":
            dataset.update({"x": "x + 1"}, where=f"id % 5 = {chosen.randrange(5)}")
        case "compact":
            dataset.optimize.compact_files()
        case "index":
            dataset.create_scalar_index("id", "BTREE", replace=True)
        case "tag":
            name = f"tag{chosen.randrange(3)}"
            if name not in dataset.tags.list():
                dataset.tags.create(name, dataset.version)
        case "clean":
            dataset.cleanup_old_versions(
                timedelta(0), retain_versions=3, error_if_tagged_old_versions=False
            )


def random_database(root: Path, chosen: random.Random, tables: int = 4) -> None:
    """Make a folder with tables: nested ones, renamed, broken, half dropped; and other files."""
    for number in range(tables):
        folder = chosen.choice(["", "team", "team/deep"])
        path = root / folder / f"t{number}.lance"
        write(path, [*range(chosen.randint(1, 30))])
        for _ in range(chosen.randint(0, 8)):
            grow(path, chosen)
    paths = sorted(root.rglob("*.lance/_versions"))
    for versions in chosen.sample(paths, min(len(paths), 2)):
        path = versions.parent
        match chosen.choice(["rename", "half", "manifest", "data", "stray", "none"]):
            case "rename":
                path.rename(path.with_name(f"renamed_{path.name}"))
            case "half":
                shutil.rmtree(path / "_versions")
            case "manifest":
                newest = min(versions.glob("*.manifest"))
                newest.write_bytes(newest.read_bytes()[: chosen.randint(0, 40)])
            case "data":
                next((path / "data").glob("*.lance")).unlink()
            case "stray":
                (path / "data" / "stray.lance").write_bytes(b"x" * 100)
    (root / "notes.txt").write_text("not a table" * chosen.randint(1, 9))
    (root / "_hidden").mkdir(exist_ok=True)
    (root / "_hidden" / "file.bin").write_bytes(b"1" * chosen.randint(1, 99))


def bytes_below(root: Path) -> int:
    """Return the size of all files below a folder."""
    return sum(
        (Path(folder) / name).stat().st_size for folder, _, names in os.walk(root) for name in names
    )
