"""What Python says and lays out, for the unit tests of the browser's half to compare.

``python -m tests.figures.from_python`` writes it; the tests of both halves read it.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from lance_explorer.frames.sizes import byte_size, percent

__all__ = ["WRITTEN", "from_python"]

WRITTEN = Path(__file__).parents[2] / "frontend" / "tests" / "from_python.json"


def from_python() -> str:
    """Return all of it as JSON."""
    return json.dumps({"sizes": _sizes(), "shares": _shares()}, ensure_ascii=False) + "\n"


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


if __name__ == "__main__":
    WRITTEN.write_text(from_python(), encoding="utf-8")
