"""What Python says and lays out, for the unit tests of the browser's half to compare.

``python -m tests.figures.from_python`` writes it; the tests of both halves read it.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from lance_explorer.figures.labels import per_row
from lance_explorer.figures.row_id_growth import growth_words, row_id_growth
from lance_explorer.frames.sizes import byte_size, percent
from lance_explorer.table import open_table
from tests.format.samples import DATA

__all__ = ["WRITTEN", "from_python"]

WRITTEN = Path(__file__).parents[2] / "frontend" / "tests" / "from_python.json"


def from_python() -> str:
    """Return all of it as JSON."""
    told = {
        "sizes": _sizes(),
        "shares": _shares(),
        "per_row": _per_row(),
        "growth": [_growth(name) for name in ("stable_row_ids", "spilled", "empty")],
    }
    return json.dumps(told, ensure_ascii=False) + "\n"


def _sizes() -> list[Any]:
    chosen = Random(7)
    edges = [factor * 1000**power for power in range(6) for factor in (1, 9.95, 999.5, 999.95)]
    ties = [1250, 1350, 1750, 1_250_000, 999_250]
    anything = [10 ** chosen.uniform(0, 17) for _ in range(200)]
    sizes = [0, *ties, *[int(each) + step for each in edges for step in (-1, 0, 1)]]
    return [[size, byte_size(size)] for size in [*sizes, *map(int, anything)]]


def _shares() -> list[Any]:
    shares = [0, 0.0001, 0.0099, 0.01, 0.125, 0.135, 0.673, 0.99, 0.994, 0.995, 0.996, 0.9999, 1]
    return [[share, percent(share)] for share in shares]


def _per_row() -> list[Any]:
    sizes = [0, 0.0099, 0.01, 0.42, 1.125, 1.375, 9.995, 9.999, 10, 12.25, 12.35, 12.75, 1e6, None]
    return [[size, per_row(size)] for size in sizes]


def _growth(name: str) -> dict[str, Any]:
    inspect = open_table(DATA / "14.0.2" / f"{name}.lance").inspect
    found = row_id_growth(inspect.row_id_totals(), inspect.all_row_id_encodings())
    columns = {
        "growth_now": "bytes_per_row",
        "growth_best": "best_per_row",
        "growth_bytes": "row_ids_bytes",
        "growth_segments": "num_segments",
    }
    return {
        "arrays": {name: found[column].to_list() for name, column in columns.items()},
        "words": [growth_words(row) for row in found.iter_rows(named=True)],
    }


if __name__ == "__main__":
    WRITTEN.write_text(from_python(), encoding="utf-8")
