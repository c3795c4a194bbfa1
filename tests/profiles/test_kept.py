"""Profiles that are kept in the cache: they are those that would be made, and no others."""

from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.profiles import reading


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
