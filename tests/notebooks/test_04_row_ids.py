"""What the second notebook shows, against pylance's scans of the same versions."""

import json
from collections.abc import Callable

import lance
import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer.rowids.index import RowAddress
from tests.notebooks.running import RunNotebook

SYSTEM = ["_rowid", "_rowaddr", "_row_created_at_version", "_row_last_updated_at_version"]


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("04_row_ids.ipynb")


@pytest.fixture(scope="module")
def path(samples) -> str:
    return str(samples[0])


def scan(path, version=None) -> pl.DataFrame:
    return pl.DataFrame(lance.dataset(path, version=version).to_table(columns=SYSTEM))


def place_of_42(path, version=None) -> RowAddress:
    return RowAddress.of(scan(path, version).filter(_rowid=42)["_rowaddr"].item())


def test_rows_begin_like_a_scan(notebook, path):
    shown = notebook.frame("rows.with_columns(")
    assert shown.select("_rowid", "_rowaddr").equals(scan(path).select("_rowid", "_rowaddr").head())
    places = [RowAddress.of(address) for address in shown["_rowaddr"]]
    fragments, offsets = shown["fragment"].to_list(), shown["offset"].to_list()
    assert [RowAddress(*place) for place in zip(fragments, offsets, strict=True)] == places


def test_the_index_has_all_rows(notebook, path):
    assert f"{len(scan(path)):,} rows" in notebook.text("index = table.latest")


def test_row_42_is_where_pylance_has_it(notebook, path):
    assert notebook.text("index.locate(42)") == repr(place_of_42(path))
    expected = []
    for version in (1, 6, 11, 14, 22, 28, 44):
        place = place_of_42(path, version)
        expected.append(f"version {version:2}: fragment {place.fragment_id}, offset {place.offset}")
    assert notebook.printed("place = table.at(version)") == expected


def test_many_rows_are_found_at_once_or_null(notebook, path):
    addresses = dict(scan(path).select("_rowid", "_rowaddr").rows())
    shown = notebook.text("locate_many([42, 43, 999_999])")
    assert str(pl.Series("_rowaddr", [addresses[42], addresses.get(43), None], pl.UInt64)) == shown
    assert 999_999 not in addresses


def test_the_reason_why_a_row_is_gone_is_told(notebook, path):
    [message] = notebook.printed("except lx.RowNotFoundError")
    assert message.startswith("row 42 ")
    assert "version 26 by Delete" in message
    assert 42 not in scan(path, 26)["_rowid"]


def test_pictures_are_of_the_table(notebook, path):
    table = lx.open_table(path)
    pictures = {
        "lx.figures.row_ages": lx.figures.row_ages(table),
        "lx.figures.encoding_bytes": lx.figures.encoding_bytes(table),
        "lx.figures.encoding_growth": lx.figures.encoding_growth(table),
    }
    for code, figure in pictures.items():
        assert notebook.picture(code)["data"] == json.loads(figure.to_json())["data"]


def test_segments_hold_the_row_ids_of_physical_rows(notebook, path):
    physical = {f.fragment_id: f.physical_rows for f in lance.dataset(path).get_fragments()}
    segments = notebook.frame("row_id_segments().head(10)")
    whole = segments["fragment_id"].unique().sort()[:-1]  # the last one may be cut off
    counts = segments.group_by("fragment_id").agg(pl.col("num_values").sum())
    assert len(segments) == 10
    assert len(whole) > 1
    assert dict(counts.filter(pl.col("fragment_id").is_in(whole.implode())).rows()) == {
        fragment_id: physical[fragment_id] for fragment_id in whole
    }


def test_deletions_are_those_of_pylance(notebook, path):
    deletions = {
        fragment.fragment_id: fragment.num_deletions
        for fragment in lance.dataset(path).get_fragments()
        if fragment.num_deletions
    }
    shown = notebook.frame("table.inspect.deletions()")
    assert dict(shown.select("fragment_id", "num_deleted_rows").rows()) == deletions
    offsets = notebook.frame("deletion_history(19)")
    assert 0 < len(offsets) <= deletions[19]


def test_nothing_is_wrong_with_row_ids(notebook):
    assert "error" not in notebook.frame("check_row_ids()")["severity"]


def test_without_stable_row_ids_the_index_says_so(notebook):
    assert "row IDs are addresses" in notebook.text("make_photos_without_stable_row_ids")
