"""How much indices covered over all versions adds up to what is told of each version."""

import polars as pl

from lance_explorer.inspect.all_index_coverage import all_index_coverage
from lance_explorer.inspect.index_coverage import index_coverage
from tests.history.compactions import deferred_rounds
from tests.inspect.tables import stored, versions_of
from tests.stored_tables import stored_check

NUMBERS = [
    "num_fragments_covered",
    "num_fragments_to_scan",
    "num_rows_answered",
    "num_rows_to_scan",
]


def assert_adds_up(source):
    everything = all_index_coverage(source)
    for version in versions_of(source):
        lines = index_coverage(source, version).filter("is_current")
        expected = lines.group_by("name").agg(
            pl.col("fragment_id").filter("is_covered").n_unique().alias("covered"),
            pl.col("fragment_id").filter(~pl.col("is_covered")).n_unique().alias("to_scan"),
            pl.sum("num_rows_answered"),
            pl.sum("num_rows_to_scan"),
        )
        then = everything.filter(pl.lit(version).is_between("first_version", "last_version"))
        with_rows = then.filter(
            pl.col("num_fragments_covered") + pl.col("num_fragments_to_scan") > 0
        )
        ours = with_rows.select("name", *NUMBERS)
        assert sorted(ours.rows()) == sorted(expected.rows()), version


@stored_check()
def check_numbers_are_those_of_each_version(asked):
    assert_adds_up(asked.view)


def test_numbers_go_through_the_reuse_history(tmp_path):
    source = deferred_rounds(tmp_path).view
    assert_adds_up(source)
    assert not all_index_coverage(source).is_empty()


def test_there_is_a_new_row_only_where_the_coverage_changed():
    frame = all_index_coverage(stored("14.0.2/deferred_remap.lance"))
    assert frame.filter(name="id_idx").select("first_version", "last_version", *NUMBERS).rows() == [
        (2, 2, 2, 0, 12, 0),
        (3, 4, 2, 2, 12, 12),
        (5, 6, 2, 2, 10, 11),
        (7, 7, 1, 1, 10, 11),
        (8, 8, 1, 1, 9, 10),
        (9, 11, 1, 2, 8, 11),
        (12, 12, 1, 3, 8, 14),
    ]
