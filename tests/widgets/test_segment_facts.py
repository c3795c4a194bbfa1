"""What is said of row IDs: encodings in numbers, growth over versions, age of rows."""

import numpy as np
import pytest

from lance_explorer.table import open_table
from lance_explorer.widgets.segment_facts import ages, encoding_statistics, growth
from tests.synthetic import SyntheticTable


@pytest.fixture
def table(tmp_path):
    """Version 1: 10,000 rows; 2: every fifth is updated; 3: three more."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=10_000)
    return open_table(table.update({0: range(0, 10_000, 5)}).append(rows=3).path)


def test_statistics_add_up_to_the_segments(table):
    segments = table.inspect.row_id_segments()
    statistics = encoding_statistics(segments)
    assert sum(int(row.count) for row in statistics) == len(segments)
    assert sum(int(row.num_values) for row in statistics) == segments["num_values"].sum()
    assert sum(int(row.bytes or 0) for row in statistics) == segments["encoded_bytes"].sum()
    [ranges] = statistics
    assert (ranges.encoding, ranges.one_row) == ("range", "2000")
    assert ranges.bytes_per_row == int(ranges.bytes or 0) / 12_003


def test_spilled_row_ids_have_no_bytes(table):
    import polars as pl

    spilled = table.inspect.row_id_segments().with_columns(
        encoding=pl.lit(None, pl.String), encoded_bytes=pl.lit(None, pl.Int64)
    )
    [row] = encoding_statistics(spilled)
    assert (row.encoding, row.bytes, row.bytes_per_row) == ("spilled", None, None)


def test_growth_is_that_of_the_totals_and_never_below_the_best(table):
    found = growth(table)
    totals = table.inspect.row_id_totals()
    assert found.growth_now.tolist() == totals["bytes_per_row"].to_list()
    assert found.growth_bytes.tolist() == totals["row_ids_bytes"].to_list()
    best = [table.inspect.row_id_encodings(version)["best_bytes"].sum() for version in (1, 2, 3)]
    assert found.growth_best.tolist() == [
        size / rows for size, rows in zip(best, totals["num_rows"], strict=True)
    ]
    assert (found.growth_best <= found.growth_now).all()


def test_without_stable_row_ids_nothing_grows(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4).append()
    found = growth(open_table(table.path))
    assert found.growth_bytes.tolist() == [0, 0]


def test_ages_count_rows_by_the_version_that_wrote_them(table):
    runs = table.inspect.version_runs()
    found = ages(runs, np.array([1, 2, 3], np.uint64))
    assert found.age_created_at.tolist() == [12_000, 0, 3]  # with the 2,000 that were replaced
    assert found.age_last_updated_at.tolist() == [10_000, 2_000, 3]


def test_rows_of_versions_that_are_not_kept_count_for_the_next_one(table):
    runs = table.inspect.version_runs()
    found = ages(runs, np.array([2, 3], np.uint64))
    assert found.age_created_at.tolist() == [12_000, 3]


def test_ages_of_no_versions_are_empty(table):
    runs = table.inspect.version_runs().clear()
    assert ages(runs, np.empty(0, np.uint64)).age_created_at.tolist() == []
