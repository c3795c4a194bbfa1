"""Values of columns that were cast, renamed, swapped, dropped and added again: a few of each kind.

``python -m tests.differential.column_values --pairs --lives 200 --apart 200`` tries many.
"""

import pytest

from tests.differential.column_values import (
    check_pair,
    differences,
    live,
    live_apart,
    merge_differences,
)

PAIRS = [
    ("big", "float64"),
    ("uint64", "float32"),
    ("uint64", "int64"),
    ("fine", "float64"),
    ("list_int64", "list_float32"),
    ("struct", "struct_float"),
    ("struct", "struct_more"),
    ("int32", "float64"),
    ("timestamp_us", "timestamp_ns"),
    ("timestamp_utc", "timestamp_zone"),
    ("date64", "timestamp_ms"),
    ("bool", "int8"),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_column_of_two_types_shows_what_pylance_reads(tmp_path, one, other):
    for pair in ((one, other), (other, one)):
        path = str(tmp_path / f"{pair[0]}.lance")
        assert [*check_pair(path, *pair, stable=one < other)] == []


@pytest.mark.drawn(3)
def test_columns_of_random_tables_show_what_pylance_reads(tmp_path, seed):
    path = str(tmp_path / "t.lance")
    assert [*differences(path, live(path, seed))] == []


@pytest.mark.drawn(2)
def test_so_they_do_on_two_branches_and_in_the_preview_of_their_merge(tmp_path, seed):
    path = str(tmp_path / "t.lance")
    told = live_apart(path, seed)
    assert [*differences(path, told), *differences(path, told, "dev")] == []
    assert [*merge_differences(path, told)] == []
