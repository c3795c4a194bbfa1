"""What searches through an index do not find, and what is said of indices that nobody tries."""

from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx

COUNT = 120

INDICES = [
    ("id", "BTREE"),
    ("id", "BITMAP"),
    ("id", "ZONEMAP"),
    ("id", "BLOOMFILTER"),
    ("word", "BTREE"),
    ("word", "NGRAM"),
    ("labels", "LABEL_LIST"),
    ("size", "ZONEMAP"),
    ("is_odd", "BITMAP"),
]


def rows(begin: int = 0) -> pa.Table:
    ids = range(begin, begin + COUNT)
    return pa.table(
        {
            "id": ids,
            "word": [f"it's{number}" if number % 2 else f"word{number}" for number in ids],
            "labels": [[f"label {number % 7}"] if number % 5 else [] for number in ids],
            "size": [number / 3 if number % 4 else None for number in ids],
            "is_odd": [number % 2 == 1 for number in ids],
            "day": pa.array(ids, pa.time32("s")),
        }
    )


@pytest.mark.parametrize("row_ids", [False, True])
@pytest.mark.parametrize(("column", "kind"), INDICES)
def test_an_index_that_finds_its_rows_is_tried_and_no_finding(
    column: str, kind: Any, row_ids: bool, tmp_path: Path
) -> None:
    path = str(tmp_path / "t.lance")
    lance.write_dataset(rows(), path, max_rows_per_file=25, enable_stable_row_ids=row_ids)
    lance.dataset(path).create_scalar_index(column, kind)
    lance.dataset(path).delete("id % 9 = 4")
    lance.write_dataset(rows(COUNT), path, mode="append")
    lance.dataset(path).optimize.optimize_indices()
    found = lx.open_table(path).check(depth="deep").filter(topic="indices")
    assert found.filter(subject_name=f"{column}_idx").is_empty(), found["statement"].to_list()


def test_a_zone_map_that_a_compaction_left_behind_finds_nothing() -> None:
    path = Path(__file__).parent / "known_bugs" / "zone_maps_left_behind-10.0.0.lance"
    dataset = lance.dataset(str(path))
    asked = [
        dataset.scanner(filter="day = 23", use_scalar_index=with_index).to_table().num_rows
        for with_index in (True, False)
    ]
    assert asked == [0, 1]
    [found] = lx.open_table(path).check(depth="deep", severity="error").to_dicts()
    assert (found["code"], found["subject_name"], found["columns"]) == (
        "index_misses_rows",
        "day_idx",
        ["day"],
    )
    assert "do not find 40 of 40 rows that a scan finds" in found["statement"]
    assert "8076" in found["known_bug"]


def test_an_index_that_is_not_tried_is_said(tmp_path: Path) -> None:
    path = str(tmp_path / "t.lance")
    lance.write_dataset(rows(), path)
    lance.dataset(path).create_scalar_index("day", "BTREE")
    found = lx.open_table(path).check(depth="deep").filter(topic="indices")
    assert found["code"].to_list() == ["not_checked"]
    assert "no filter is known for values of type Time" in found["statement"].item()
