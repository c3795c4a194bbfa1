"""The page for a review: what two versions differ in, with values as old → new."""

import re
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.figures.distributions import Bars, bars_of, bars_picture
from lance_explorer.report import diff_page


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.lance"
    written: Any = lance.write_dataset(
        pa.table({"id": [1, 2, 3], "name": ["a<b>", "b", "c"], "score": [1.0, 2.0, 3.0]}),
        path,
        enable_stable_row_ids=True,
    )
    written.update({"name": "'<script>'"}, where="id = 1")
    written.update({"name": "'b'"}, where="id = 2")
    written.delete("id = 3")
    written.insert(pa.table({"id": [4], "name": ["d"], "score": [4.0]}))
    written.alter_columns({"path": "score", "name": "points"})
    written.update_config({"owner": "us"})
    return lx.open_table(path)


def page_of(diff, tmp_path):
    page: str = diff.report(tmp_path / "page.html").read_text()
    return page


def test_values_are_told_as_old_and_new(table, tmp_path):
    page = page_of(table.diff(1, -1), tmp_path)
    assert "name: a&lt;b&gt; → &lt;script&gt;" in page
    assert "<script" not in page
    assert "1 row was written again with the values that it had" in page
    assert "id: 4; name: d; points: 4.0" in page
    assert "id: 3; name: c; points: 3.0" in page
    assert "<code>name</code> changed in 1 row, grey before and blue after:" in page
    for words in ("renamed", "owner", "UpdateConfig", "1 inserted", "1 deleted", "2 updated"):
        assert words in page, words


def test_the_page_is_well_formed_and_needs_nothing(table, tmp_path):
    page = page_of(table.diff(1, -1), tmp_path)
    body = page[page.index("<main>") : page.index("</main>") + len("</main>")]
    ET.fromstring(re.sub(r"&nbsp;", " ", body))
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "")


def test_equal_versions_differ_in_nothing(table, tmp_path):
    page = page_of(table.diff(2, 2), tmp_path)
    assert "Rows: 3 unchanged." in page
    assert page.count("Nothing differs.") == 3
    assert "No commit lies between both." in page


def test_so_many_rows_are_only_counted(table, tmp_path, monkeypatch):
    monkeypatch.setattr(diff_page, "_MOST_VALUES_READ", 1)
    page = page_of(table.diff(1, -1), tmp_path)
    assert "their values are not read for a page" in page
    assert "→" not in page


def test_other_branches_and_tables(table, tmp_path):
    lance.dataset(table.uri).create_branch("dev", 2)
    page = page_of(table.refresh().diff(1, "dev@-1"), tmp_path)
    assert "<h1>t.lance: 1 to dev:2</h1>" in page
    other = tmp_path / "other.lance"
    lance.write_dataset(pa.table({"id": [1]}), other)
    page = page_of(table.diff(1, lx.open_table(other).latest), tmp_path)
    assert "This cannot be shown" in page


def test_bars_of_values_of_all_types():
    days = pl.Series([datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 31)])
    found = bars_of(days, days[:3])
    assert found is not None
    assert (sum(found.before), sum(found.after)) == (30, 3)
    assert found.labels[0].startswith("2026-01-01")
    numbers = pl.Series([float(n) for n in range(100)] + [float("nan"), float("inf"), None])
    found = bars_of(numbers, numbers.clear())
    assert found is not None
    assert (sum(found.before), found.labels[-2:]) == (103, ("not finite", "null"))
    words = pl.Series([f"word {n}" for n in range(50)])
    found = bars_of(words, words)
    assert found is not None
    assert found.labels[-1] == "40 others"
    assert sum(found.before) == 50
    assert bars_of(pl.Series([2, 10, 2]), pl.Series([1])) == Bars(
        ("1", "2", "10"), (0, 2, 1), (1, 0, 0)
    )
    assert bars_of(pl.Series([[1]]), pl.Series([[1]])) is None
    assert bars_of(pl.Series([b"a"]), pl.Series([b"a"])) is None


def test_a_picture_of_bars_says_what_they_are():
    svg = ET.fromstring(bars_picture("a<b", Bars(("x", "y"), (1, 0), (0, 3))))
    titles = [title.text for title in svg.iter("title")]
    assert titles == ["x: 1 before", "x: 0 after", "y: 0 before", "y: 3 after"]
    assert svg.get("aria-label") == "a<b, before and after"
