"""What Python says and lays out, for the unit tests of the browser's half to compare.

``python -m tests.figures.from_python`` writes it; the tests of both halves read it.
"""

import json
from base64 import b64encode
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from lance_explorer.figures.fragment_columns import fragment_columns
from lance_explorer.figures.fragment_origins import fragment_origins
from lance_explorer.figures.labels import per_row
from lance_explorer.figures.row_id_growth import growth_words, row_id_growth
from lance_explorer.frames.sizes import byte_size, percent
from lance_explorer.table import Table, open_table
from lance_explorer.widgets.version_data import version_data
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable

__all__ = ["WRITTEN", "from_python"]

_MAPPED = (
    "14.0.2/stable_row_ids.lance",
    "14.0.2/spilled.lance",
    "14.0.2/empty.lance",
    "0.10.18/life_cycle.lance",
    "1.0.4/cleaned_stable_row_ids.lance",
)

WRITTEN = Path(__file__).parents[2] / "frontend" / "tests" / "from_python.json"


def from_python() -> str:
    """Return all of it as JSON."""
    told = {
        "sizes": _sizes(),
        "shares": _shares(),
        "per_row": _per_row(),
        "maps": [*map(_map, _MAPPED), _map_of_many()],
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


def _map(name: str) -> dict[str, Any]:
    """Return all versions of a table as the browser gets them, and the map of each."""
    return _map_of(open_table(DATA / name), name)


def _map_of_many() -> dict[str, Any]:
    """Return the same of a table whose fragments share columns."""
    with TemporaryDirectory() as folder:
        written = SyntheticTable(Path(folder) / "many.lance").append(rows=3, fragments=205)
        written.append(rows=7, fragments=206).delete({3: [0, 2], 205: [4]})
        return _map_of(open_table(written.path), "many fragments")


def _map_of(table: Table, name: str) -> dict[str, Any]:
    versions, all_fragments = table.versions(), table.inspect.all_fragments()
    reply = version_data(table)
    return {
        "name": name,
        "history": reply.content,
        "buffers": [b64encode(buffer).decode() for buffer in reply.buffers],
        "versions": [
            _columns(fragment_origins(table.inspect.fragments(version), all_fragments, versions))
            for version in versions["version"]
        ],
    }


def _columns(origins: pl.DataFrame) -> list[dict[str, Any]]:
    columns, parts, _ = fragment_columns(origins)
    shares = parts.partition_by("column", as_dict=True)
    return [
        {
            "left": round(800 * column["left"]),
            "width": round(800 * column["width"]),
            "shares": {
                part["made_by"] or "unknown": part["share"]
                for part in shares[(column["column"],)].iter_rows(named=True)
            },
            "words": column["words"],
        }
        for column in columns.iter_rows(named=True)
    ]


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
