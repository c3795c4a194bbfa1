"""How far vectors and numbers moved, against NumPy on what pylance reads of both versions."""

from pathlib import Path
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.profiles import drift

KINDS = pytest.mark.parametrize("stable", [True, False], ids=["stable row IDs", "addresses"])


FLOATS = pa.float32()


def vectors(rng: np.random.Generator, count: int, kind: pa.DataType = FLOATS) -> pa.Array:
    values = pa.array(rng.normal(size=count * 4)).cast(kind, safe=False)
    return pa.FixedSizeListArray.from_arrays(values, 4)


def compared(uri: str, begin: int, end: int, column: str) -> dict[int, tuple[float, float]]:
    """Return the distance and the cosine of each key that both versions have."""
    both = [
        dict(zip(t["key"].to_pylist(), t[column].to_pylist(), strict=True))
        for t in (lance.dataset(uri, version=version).to_table() for version in (begin, end))
    ]
    found = {}
    for key in both[0].keys() & both[1].keys():
        old, new = (np.array(one[key], np.float64) for one in both)
        lengths = float(np.linalg.norm(old) * np.linalg.norm(new))
        found[key] = float(np.linalg.norm(new - old)), float(np.sum(old * new)) / lengths
    return found


def keyed(uri: str, found: drift.Drift, version: int) -> pl.DataFrame:
    rows = lx.open_table(uri).at(version).read(["key", "_rowaddr"])
    return found.to_polars().join(rows, left_on="_rowaddr_after", right_on="_rowaddr", how="left")


@KINDS
@pytest.mark.parametrize("at_once", [1, 1 << 30], ids=["row by row", "all at once"])
def test_distances_are_those_of_numpy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stable: bool, at_once: int
):
    monkeypatch.setattr(drift, "_BYTES_AT_ONCE", at_once * 7)
    uri, rng = str(tmp_path / "t.lance"), np.random.default_rng(5)
    rows = pa.table({"key": range(60), "v": vectors(rng, 60), "n": rng.normal(size=60)})
    lance.write_dataset(rows, uri, max_rows_per_file=25, enable_stable_row_ids=stable)
    lance.dataset(uri).delete("key % 7 = 3")
    new = rows.take(rng.permutation(60)[:40]).set_column(1, "v", vectors(rng, 40))
    lance.dataset(uri).merge_insert("key").when_matched_update_all().execute(new)
    lance.dataset(uri).update({"n": "n + 2.5"}, where="key = 0")
    new = pa.table({"key": [100], "v": vectors(rng, 1), "n": [0.0]})
    lance.write_dataset(new, uri, mode="append")
    lance.dataset(uri).optimize.compact_files()
    lance.dataset(uri).delete("key = 59")
    end = lance.dataset(uri).version
    for column in ("v", "n"):
        found = lx.open_table(uri).changes(2, end, key=None if stable else ["key"])
        told = found.drift(column)
        theirs = compared(uri, 2, end, column)
        ours = {
            key: (l2, cosine)
            for key, l2, cosine in keyed(uri, told, end).select("key", "l2", "cosine").rows()
        }
        moved = {key: pair for key, pair in theirs.items() if pair[0] > 0}
        assert moved.keys() <= ours.keys() <= theirs.keys()
        for key, (l2, cosine) in ours.items():
            assert l2 == pytest.approx(theirs[key][0], rel=1e-5, abs=1e-6)
            if column == "v":
                assert cosine == pytest.approx(theirs[key][1], rel=1e-5, abs=1e-6)
        facts = told.summary().row(0, named=True)
        assert facts["num_rows"] == len(theirs)
        assert facts["num_moved"] == len(moved)
        assert facts["num_unchanged"] == len(theirs) - len(moved)
        assert facts["l2_mean"] == pytest.approx(
            np.mean([l2 for l2, _ in moved.values()]), rel=1e-5
        )
        furthest = max(moved, key=lambda key: moved[key][0])
        assert told.top(1)["l2"].item() == pytest.approx(moved[furthest][0], rel=1e-5)
        assert told.histogram()["num_rows"].sum() == len(moved)


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64(), pa.uint8()], ids=str)
def test_vectors_of_all_numbers_are_compared(tmp_path: Path, kind: pa.DataType):
    uri, rng = str(tmp_path / "t.lance"), np.random.default_rng(5)
    old, new = (vectors(rng, 8, kind) for _ in range(2))
    lance.write_dataset(pa.table({"key": range(8), "v": old}), uri, enable_stable_row_ids=True)
    changed = pa.table({"key": range(8), "v": new})
    lance.dataset(uri).merge_insert("key").when_matched_update_all().execute(changed)
    found = lx.open_table(uri).changes(1, 2).drift("v")
    both = [np.array(one.to_pylist(), np.float64) for one in (old, new)]
    theirs = np.sort(np.linalg.norm(both[1] - both[0], axis=1))
    assert np.allclose(np.sort(found.to_polars()["l2"].to_numpy()), theirs, rtol=1e-3)
    away = both[1].mean(axis=0) - both[0].mean(axis=0)
    assert found.summary()["centroid_l2"].item() == pytest.approx(np.linalg.norm(away), rel=1e-3)


def test_nulls_and_zeros_have_no_distance_or_no_cosine(tmp_path: Path):
    uri, kind = str(tmp_path / "t.lance"), pa.list_(pa.float32(), 2)
    old = pa.array([[1, 0], [0, 0], None, [3, 4]], kind)
    new = pa.array([None, [3, 4], [1, 1], [3, 4]], kind)
    lance.write_dataset(pa.table({"key": range(4), "v": old}), uri, enable_stable_row_ids=True)
    changed = pa.table({"key": range(4), "v": new})
    lance.dataset(uri).merge_insert("key").when_matched_update_all().execute(changed)
    found = lx.open_table(uri).changes(1, 2).drift("v")
    lines = keyed(uri, found, 2).sort("key").select("key", "l2", "cosine")
    assert lines.rows() == [(0, None, None), (1, 5.0, None), (2, None, None), (3, 0.0, 1.0)]
    facts = found.summary().row(0, named=True)
    assert (facts["num_null"], facts["num_moved"], facts["num_unchanged"]) == (2, 1, 1)


def test_a_few_rows_of_many_are_taken(tmp_path: Path):
    uri = str(tmp_path / "t.lance")
    rows = pa.table({"key": range(5_000), "n": np.arange(5_000.0)})
    lance.write_dataset(rows, uri, enable_stable_row_ids=True)
    lance.dataset(uri).update({"n": "n * 2"}, where="key % 1000 = 1")
    found = lx.open_table(uri).changes(1, 2).drift("n").to_polars()
    assert sorted(found["l2"].to_list()) == [1.0, 1001.0, 2001.0, 3001.0, 4001.0]


def test_a_renamed_column_is_followed(tmp_path: Path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"a": [1.0, 2.0]}), uri, enable_stable_row_ids=True)
    rename: Any = {"path": "a", "name": "b"}
    lance.dataset(uri).alter_columns(rename)
    lance.dataset(uri).update({"b": "b + 3"})
    assert lx.open_table(uri).changes(1).drift("b").to_polars()["l2"].to_list() == [3.0, 3.0]


@pytest.mark.parametrize(
    ("begin", "options", "column", "says"),
    [
        (1, {}, "text", "vectors and numbers"),
        (1, {}, "nope", "nope"),
        (1, {}, "late", "version 1 has no column 'late'"),
        (1, {"mode": "per_commit"}, "n", "mode='net'"),
        (0, {}, "n", "begin_version is 1 or later"),
        (1, {}, "v", "4 dimensions in version 1 and 2 in version 3"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    tmp_path: Path, begin: int, options: Any, column: str, says: str
):
    uri, rng = str(tmp_path / "t.lance"), np.random.default_rng(5)
    rows = pa.table({"n": [1.0, 2.0], "text": ["a", "b"], "v": vectors(rng, 2)})
    lance.write_dataset(rows, uri, enable_stable_row_ids=True)
    lance.dataset(uri).add_columns({"late": "n * 2"})
    short = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 3.0, 4.0], pa.float32()), 2)
    rows = rows.set_column(2, "v", short).append_column("late", pa.array([1.0, 2.0]))
    if column == "v":
        lance.write_dataset(rows, uri, mode="overwrite", enable_stable_row_ids=True)
    with pytest.raises(lx.InvalidArgumentError, match=says):
        lx.open_table(uri).changes(begin, **options).drift(column)
