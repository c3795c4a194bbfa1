"""What Python says and lays out, for the unit tests of the browser's half to compare.

``python -m tests.figures.from_python`` writes it; the tests of both halves read it.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from lance_explorer.figures.commit_bars import commit_bars
from lance_explorer.figures.fragment_columns import fragment_columns
from lance_explorer.figures.fragment_origins import fragment_origins
from lance_explorer.figures.labels import per_row
from lance_explorer.figures.lineage_places import (
    bar_of,
    is_crowded,
    mark_size,
    named_commits,
    place_tags,
)
from lance_explorer.figures.lineage_ticks import tick_versions, time_format, time_title
from lance_explorer.figures.lineage_words import note
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.figures.row_id_growth import growth_words, row_id_growth
from lance_explorer.figures.version_words import version_words
from lance_explorer.frames.columns import KIND
from lance_explorer.frames.sizes import byte_size, percent
from lance_explorer.table import Table, open_table
from lance_explorer.widgets.messages.base import pack, to_json
from lance_explorer.widgets.segment_facts import growth
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

_CASES = 60

WRITTEN = Path(__file__).parents[2] / "frontend" / "tests" / "from_python.json"


def from_python() -> str:
    """Return all of it as JSON."""
    told = {
        "sizes": _sizes(),
        "shares": _shares(),
        "per_row": _per_row(),
        "maps": [*map(_map, _MAPPED), _map_of_many()],
        "versions": _versions(),
        "bars": _many(_bars),
        "names": _many(_names),
        "tags": _many(_tags),
        "ticks": _many(_ticks),
        "times": _many(_times),
        "notes": _many(_note),
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
    return {
        "name": name,
        "history": to_json(pack(version_data(table))),
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
                part["created_by"] or "unknown": part["share"]
                for part in shares[(column["column"],)].iter_rows(named=True)
            },
            "words": column["words"],
        }
        for column in columns.iter_rows(named=True)
    ]


def _many(case: Callable[[Random], dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what random cases come to."""
    return [case(Random(seed)) for seed in range(_CASES)]


def _versions() -> list[dict[str, Any]]:
    """Return what is said of versions: of stored tables, and of random facts."""
    stored = [
        _version(row, None)
        for name in _MAPPED
        for row in open_table(DATA / name).versions().iter_rows(named=True)
    ]
    return stored + [_version(*_random_version(Random(seed))) for seed in range(_CASES)]


def _version(row: dict[str, Any], origin: str | None) -> dict[str, Any]:
    time = row["timestamp"]
    told = ("num_rows", "num_fragments", "data_bytes")
    return {
        "version": str(row["version"]),
        "origin": origin,
        "operation": row["operation"],
        "time": None if time is None else time.isoformat(),
        "counts": [row[name] for name in told] if "num_rows" in row else None,
        "tags": [tag for tag in row["tags"].split(", ") if tag],
        "message": row["message"],
        "isRecorded": row["known_from"] == "ledger",
        "words": version_words(row, origin),
    }


def _random_version(chosen: Random) -> tuple[dict[str, Any], str | None]:
    texts = [None, "", "Append", "a" * 300, "x\u202e\n\x07y", "schöne Bilder ✓ 写真", "<b>&amp;"]
    row: dict[str, Any] = {
        "version": chosen.choice([1, 999, 1000, 2**53 + 1, 2**64 - 1]),
        "operation": chosen.choice(texts),
        "timestamp": chosen.choice([None, _time(chosen)]),
        "tags": ", ".join([text for text in texts[2:] if text and chosen.random() < 0.3]),
        "message": chosen.choice(texts),
        "known_from": chosen.choice(["live", "ledger"]),
    }
    if chosen.random() < 0.7:
        for name in ("num_rows", "num_fragments", "data_bytes"):
            row[name] = chosen.choice([None, 0, 1, 2, chosen.randrange(10**10)])
    return row, chosen.choice([None, "dev", "b" * 60])


def _time(chosen: Random) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=chosen.randrange(10**8))


def _bars(chosen: Random) -> dict[str, Any]:
    begin, unit = chosen.uniform(-3, 3), chosen.choice([0.01, 0.3, 1, 1.7, 9])
    versions = sorted(chosen.choices(range(1, 3000), k=chosen.randrange(60)))
    codes = [chosen.randrange(len(KIND_COLORS)) for _ in versions]
    dark = [chosen.random() < 0.5 for _ in versions]
    bins = [bar_of(version, begin, unit) for version in versions]
    kinds = pl.Series([[*KIND_COLORS][code] for code in codes], dtype=KIND)
    parts = commit_bars(pl.Series(bins, dtype=pl.Int64), kinds, pl.Series(dark, dtype=pl.Boolean))
    code = pl.col("kind").to_physical()
    return {
        "begin": begin,
        "unit": unit,
        "versions": versions,
        "kinds": codes,
        "dark": dark,
        "parts": parts.with_columns(kind=code).to_dicts(),
    }


def _names(chosen: Random) -> dict[str, Any]:
    versions = sorted(chosen.choices(range(1, 80), k=chosen.randrange(40)))
    names = [chosen.choice(["append", "delete", "update", "compact"]) for _ in versions]
    names = [name if chosen.random() < 0.9 else "reserve" for name in names]
    unit = chosen.choice([0.5, 2.875, 4, 11.5, 12, 40, 66, 70])
    named, is_airy = named_commits(versions, names, unit)
    return {
        "versions": versions,
        "names": names,
        "unit": unit,
        "named": named,
        "is_airy": is_airy,
        "is_crowded": is_crowded(len(versions), 20 * unit),
        "mark_size": mark_size(unit),
    }


def _tags(chosen: Random) -> dict[str, Any]:
    places = sorted([round(chosen.uniform(0, 600), 1) for _ in range(chosen.randrange(12))])
    tags = [(at, round(chosen.uniform(15, 160), 1)) for at in places]
    rows = chosen.randrange(1, 4)
    return {"tags": tags, "rows": rows, "placed": place_tags(tags, 600, rows)}


def _ticks(chosen: Random) -> dict[str, Any]:
    begin = chosen.choice([0.72, chosen.uniform(0, 1000), 10.0 ** chosen.randrange(7)])
    end = begin + 0.28 + 10 ** chosen.uniform(0, 6)
    width = chosen.choice([60, 184, 276, 596, 876, 1376])
    return {"begin": begin, "end": end, "width": width, "ticks": tick_versions(begin, end, width)}


def _times(chosen: Random) -> dict[str, Any]:
    first = _time(chosen)
    last = first + timedelta(seconds=int(10 ** chosen.uniform(0, 8)))
    between = [first, first + (last - first) / 3, last]
    form = time_format(first, last)
    return {
        "times": [int(time.timestamp() * 1000) for time in between],
        "words": [f"{time:{form}}" for time in between],
        "title": time_title(first, last),
    }


def _note(chosen: Random) -> dict[str, Any]:
    fragments, ribbons = chosen.randrange(5000), chosen.randrange(1000)
    begin = chosen.randrange(1, 3000)
    told = [
        chosen.choice([fragments, min(fragments, 200)]),
        fragments,
        chosen.choice([ribbons, min(ribbons, 250)]),
        ribbons,
        begin,
        begin + chosen.choice([0, 1, chosen.randrange(100_000)]),
    ]
    return {"told": told, "words": note(*told)}


def _growth(name: str) -> dict[str, Any]:
    table = open_table(DATA / "14.0.2" / f"{name}.lance")
    inspect = table.inspect
    found = row_id_growth(inspect.row_id_totals(), inspect.all_row_id_encodings())
    return {
        "growth": to_json(pack(growth(table))),
        "words": [growth_words(row) for row in found.iter_rows(named=True)],
    }


if __name__ == "__main__":
    WRITTEN.write_text(from_python(), encoding="utf-8")
