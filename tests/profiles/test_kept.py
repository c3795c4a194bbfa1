"""Profiles that are kept in the cache: they are those that would be made, and no others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.profiles import reading
from tests.profiles.test_profile import every_type


@pytest.fixture
def uri(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("LANCE_EXPLORER_CACHE", str(tmp_path / "cache"))
    uri = str(tmp_path / "t.lance")
    rows = pa.table({"a": range(9), "b": ["x", "y", "z"] * 3})
    lance.write_dataset(rows, uri)
    lance.dataset(uri).delete("a = 3")
    return uri


def kept(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").rglob("profile-*.parquet"))


def test_a_profile_is_read_once(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    made = lx.open_table(uri).profile()
    assert made.bytes_read > 0
    assert len(kept(tmp_path)) == 1
    monkeypatch.setattr(reading, "ProfileRows", None)
    again = lx.open_table(uri).profile()
    assert again.bytes_read == 0
    assert again.to_polars().equals(made.to_polars())
    assert (again.columns, again.versions) == (["a", "b"], [1, 2])
    assert again.is_complete
    assert again.go_on() is again
    assert again.sentence == made.sentence
    assert again.shifts().equals(made.shifts())


def test_others_are_made_for_other_questions(uri: str, tmp_path: Path):
    whole = lx.open_table(uri).profile()
    assert lx.open_table(uri).profile("a").columns == ["a"]
    assert lx.open_table(uri).profile(versions=[1]).versions == [1]
    lance.dataset(uri).delete("a = 4")
    later = lx.open_table(uri).profile()
    assert later.versions == [1, 2, 3]
    assert (
        later.to_polars()
        .head(4)
        .drop("bin_edges", "bin_counts")
        .equals(whole.to_polars().drop("bin_edges", "bin_counts"))
    )
    assert len(kept(tmp_path)) == 4


def test_what_is_not_whole_is_not_kept(uri: str, tmp_path: Path):
    part = lx.open_table(uri).profile(max_bytes=0)
    assert kept(tmp_path) == []
    assert part.go_on().is_complete
    assert len(kept(tmp_path)) == 1
    for file in Path(uri, "data").iterdir():
        file.unlink()
    lx.clear_cache()
    assert not lx.open_table(uri).profile().findings().is_empty()
    assert kept(tmp_path) == []


def test_a_damaged_file_is_made_anew(uri: str, tmp_path: Path):
    made = lx.open_table(uri).profile()
    [file] = kept(tmp_path)
    file.write_bytes(file.read_bytes()[:100])
    assert lx.open_table(uri).profile().to_polars().equals(made.to_polars())


@pytest.mark.parametrize("stable", [True, False])
def test_a_new_commit_costs_what_it_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stable: bool
):
    uri, rows = str(tmp_path / "life.lance"), every_type()
    cache = str(tmp_path / "cache")
    few = rows.set_column(0, "key", [[10, 11, 12, 13]])
    many = pa.concat_tables([rows] * 1_500)  # more than stay values
    commits: list[Callable[[], object]] = [
        lambda: lance.write_dataset(many, uri, enable_stable_row_ids=stable),
        lambda: lance.write_dataset(few, uri, mode="append"),
        lambda: lance.write_dataset(many.slice(0, 5_000), uri, mode="append"),
        lambda: lance.dataset(uri).delete("key = 11"),
        lambda: lance.dataset(uri).alter_columns(rename),
        lambda: lance.dataset(uri).update({"f64": "9.75"}, where="key = 12"),
        lambda: lance.dataset(uri).optimize.compact_files(num_threads=1),
        lambda: lance.dataset(uri).checkout_version(2).restore(),
    ]
    rename: Any = {"path": "text", "name": "words"}
    read = list[int]()
    for commit in commits:
        commit()
        monkeypatch.setenv("LANCE_EXPLORER_CACHE", cache)
        found = lx.open_table(uri).profile()
        read.append(found.bytes_read)
        monkeypatch.setenv("LANCE_EXPLORER_CACHE", "off")
        whole = lx.open_table(uri).profile()
        estimates = ["quantiles", "bin_edges", "bin_counts", "shift", "shift_of"]
        alike = [frame.to_polars().drop(estimates) for frame in (found, whole)]
        assert_frame_equal(*alike, rel_tol=1e-9)
        assert found.columns == whole.columns
    assert read[4] == read[7] == 0  # a rename, and a restore of what was read
    assert all(read[place] < whole.bytes_read / 3 for place in (1, 2))
    assert read[3] < whole.bytes_read


def test_damaged_summaries_are_read_anew(uri: str, tmp_path: Path):
    lx.open_table(uri).profile()
    [file] = (tmp_path / "cache").rglob("summaries-*.parquet")
    file.write_bytes(file.read_bytes()[:100])
    assert lx.open_table(uri).profile("a").bytes_read > 0
    assert lx.open_table(uri).profile("b", versions=[1]).to_polars()["num_rows"].to_list() == [9]


def test_many_files_of_summaries_become_one(uri: str, tmp_path: Path):
    for number in range(20):
        lance.write_dataset(pa.table({"a": [number], "b": ["w"]}), uri, mode="append")
        lx.open_table(uri).profile()
    assert len([*(tmp_path / "cache").rglob("summaries-*.parquet")]) < 10
    lance.dataset(uri).update_config({"some": "value"})
    assert lx.open_table(uri).profile().bytes_read == 0


@pytest.mark.parametrize("begin", range(3))  # names of files, and so their order, differ
def test_summaries_of_other_deletions_do_not_mix(uri: str, begin: int):
    rows = pa.table({"a": range(begin, begin + 5_000), "b": ["x"] * 5_000})
    lance.write_dataset(rows, uri, mode="overwrite")
    for commit in (f"a < {begin}", f"a >= {begin + 100}", "a < 0"):
        lance.dataset(uri).delete(commit)
        lx.open_table(uri).profile("a")
    for last in (1, 2, 3):
        versions = [*range(-last, 0)]
        lines = lx.open_table(uri).profile("a", versions=versions).to_polars()
        expected = [lance.dataset(uri, version=v).count_rows() for v in lines["version"].to_list()]
        assert lines["num_rows"].to_list() == expected


def test_a_fragment_with_more_values_than_are_held_is_kept(
    uri: str, monkeypatch: pytest.MonkeyPatch
):
    rows = pa.table({"a": range(100_000), "b": [f"text {n % 90}" for n in range(100_000)]})
    lance.write_dataset(rows, uri, mode="overwrite")
    lance.dataset(uri).delete("a % 1000 = 7")
    monkeypatch.setattr(reading, "_BYTES_HELD", 1 << 16)
    whole = lx.open_table(uri).profile(versions=[-2, -1])
    lance.write_dataset(rows.slice(0, 5), uri, mode="append")
    later = lx.open_table(uri).profile(versions=[-3, -2, -1])
    assert later.bytes_read < whole.bytes_read / 100
    columns = ["column", "num_rows", "num_nulls", "min", "max", "mean", "num_distinct"]
    lines = later.to_polars().filter(pl.col("version").is_in(whole.versions))
    assert_frame_equal(lines.select(columns), whole.to_polars().select(columns), rel_tol=1e-9)
