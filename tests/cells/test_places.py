"""What places of the product say of values of many types; ``places`` asks about all by hand."""

import math

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance.blob import blob_array, blob_field

import lance_explorer as lx
from lance_explorer.cells.csv import csv_of
from lance_explorer.errors import StorageError
from lance_explorer.values.opening import to_polars
from tests.cells.every_type import columns_of
from tests.cells.places import commands, other_places, pairs, writable, write

_SOME = ("half", "binary", "time64_ns", "time_us_+05:30", "duration_us", "decimal256")


@pytest.mark.slow
def test_what_changed_reads_differently_wherever_both_are_shown(tmp_path):
    columns = writable(columns_of(iter(_SOME)), "2.2")
    table = write(tmp_path / "t.lance", columns, "2.2")
    found = [*pairs(table)]
    assert {place for place, *_ in found} == {"blame", "merge", "json"}
    assert len(found) > 2 * len(columns)
    assert not [(place, name) for place, name, one, other in found if one == other]
    commands(table)
    other_places(table, tmp_path)


def test_a_word_is_found_beside_blobs(tmp_path):
    schema = pa.schema([pa.field("word", pa.string()), blob_field("photo")])
    rows = pa.table([pa.array(["hello", "other"]), blob_array([b"a", b"b"])], schema=schema)
    lance.write_dataset(rows, tmp_path / "t.lance", data_storage_version="2.2")
    table = lx.open_table(tmp_path / "t.lance")
    assert table.find("hello").to_polars()["word"].to_list() == ["hello"]
    assert commands(table, ("find", "hello"), ("sql", "SELECT * FROM dataset"))


def test_times_in_seconds_that_polars_cannot_hold_are_an_error_and_no_other_time():
    seconds = pa.array([2**63 - 1]).view(pa.timestamp("s"))
    with pytest.raises(StorageError, match="too far from 1970"):
        to_polars(pa.table({"at": seconds}))


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_a_spreadsheet_takes_no_text_of_csv_for_a_formula(begin):
    frame = pl.DataFrame({f"{begin}head": [f"{begin}1+1", f"'{begin}1+1", None], "n": [-1, 1, -1]})
    head, first, second, third = csv_of(frame).replace('"', "").strip("\n").split("\n")
    assert head == f"'{begin}head,n"
    assert (first, second, third) == (f"'{begin}1+1,-1", f"''{begin}1+1,1", ",-1")


def test_csv_leaves_numbers_and_other_texts_as_they_are():
    frame = pl.DataFrame({"x": [-1.5, -math.inf], "text": ["a=1", "'quoted"]})
    assert csv_of(frame) == "x,text\n-1.5,a=1\n-inf,'quoted\n"
