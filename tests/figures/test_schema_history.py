"""Lanes of columns: what was renamed or cast stays in its lane, and each change has a mark."""

from typing import Any

import polars as pl
import pytest

from lance_explorer.figures.schema_history import schema_history
from lance_explorer.inspect.fields import ALL_FIELDS
from lance_explorer.table import open_table
from tests.figures.pictures import hovers, named, note, size_of, ticks
from tests.format.samples import DATA
from tests.stored_tables import is_main, stored_check
from tests.synthetic import SyntheticTable

CHANGES = ("added", "renamed", "cast", "altered", "dropped")


@pytest.fixture(scope="module")
def fields() -> pl.DataFrame:
    return open_table(DATA / "14.0.2" / "schema_changes.lance").inspect.all_fields()


def spans(figure: Any, lane: str) -> list[tuple[float, float]]:
    """Return the bars of a lane, from edge to edge."""
    place = ticks(figure.layout.yaxis).index(lane)
    bars = figure.data[0]
    return [
        (base, base + length)
        for y, base, length in zip(bars.y, bars.base, bars.x, strict=True)
        if y == place
    ]


def marks(figure: Any, change: str) -> list[tuple[str, float]]:
    trace = named(figure, change)
    lanes = ticks(figure.layout.yaxis)
    return [(lanes[y], x) for x, y in zip(trace.x, trace.y, strict=True)]


def test_a_column_has_a_bar_over_the_versions_that_have_it(fields):
    assert spans(schema_history(fields), "note") == [(1.5, 12.5)]


def test_a_renamed_column_stays_in_its_lane_under_its_latest_name(fields):
    figure = schema_history(fields)
    assert spans(figure, "body") == [(0.5, 4.5), (4.5, 10.5), (10.5, 14.5)]
    assert "text" not in ticks(figure.layout.yaxis)
    assert ("body", 5) in marks(figure, "renamed")


def test_a_cast_column_stays_in_its_lane_though_its_id_is_another(fields):
    figure = schema_history(fields)
    assert spans(figure, "double") == [(2.5, 3.5), (3.5, 5.5), (5.5, 6.5)]
    assert marks(figure, "cast") == [("double", 4)]


def test_an_id_that_is_used_again_is_another_column(fields):
    assert spans(schema_history(fields), "reused") == [(7.5, 12.5)]


def test_a_dropped_column_is_marked_in_the_version_that_dropped_it(fields):
    assert marks(schema_history(fields), "dropped") == [("note", 13), ("double", 7), ("reused", 13)]


def test_the_columns_of_the_first_version_are_no_news(fields):
    added = marks(schema_history(fields), "added")
    assert added == [("note", 2), ("double", 3), ("reused", 8)]


def test_a_column_that_came_back_is_in_its_lane(tmp_path):
    table = SyntheticTable(tmp_path).append().add_column("mood").restore(1).restore(2)
    figure = schema_history(open_table(table.path).inspect.all_fields())
    assert spans(figure, "mood") == [(1.5, 2.5), (3.5, 4.5)]


def test_nested_columns_have_lanes_of_their_own(fields):
    assert {"place", "place.longitude", "parts.item.n"} <= set(
        ticks(schema_history(fields).layout.yaxis)
    )


def test_of_many_columns_those_that_changed_are_shown(tmp_path):
    table = SyntheticTable(tmp_path).append()
    for number in range(70):
        table.add_column(f"column_{number}")
    figure = schema_history(
        open_table(table.rename_column("column_69", "last").path).inspect.all_fields()
    )
    assert len(ticks(figure.layout.yaxis)) == 60
    assert "last" in ticks(figure.layout.yaxis)
    assert note(figure) == "60 of 72 columns, those that changed most"


def test_few_columns_over_many_versions_are_a_small_picture(fields):
    later = fields.with_columns(pl.col("last_version") + 5_000)
    assert size_of(schema_history(later.filter(pl.col("ended_as").is_null()))) < 20_000


@pytest.mark.parametrize("column", ["path", "logical_type"])
@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "\x1b[31m", "\u202eevil"])
def test_hostile_names_and_types_are_no_markup(fields, column, text):
    figure = schema_history(fields.with_columns(pl.lit(text).alias(column)))
    shown = [*hovers(figure), *ticks(figure.layout.yaxis), *figure.data[0].text]
    assert not any("<script" in part for part in shown)
    assert all(part.isprintable() for part in shown)


def test_a_megabyte_is_cut(fields):
    figure = schema_history(fields.with_columns(logical_type=pl.lit("<&" * 500_000)))
    assert size_of(figure) < 50_000


def test_no_columns_are_an_empty_picture():
    assert note(schema_history(ALL_FIELDS.polars_schema.to_frame())) == "0 columns"


@stored_check(is_main)
def check_every_stored_table_has_each_of_its_states_once(asked):
    fields = asked.table.inspect.all_fields()
    figure = schema_history(fields)
    assert len(figure.data[0].x) == len(fields)
    assert {trace.name for trace in figure.data[1:]} <= set(CHANGES)
