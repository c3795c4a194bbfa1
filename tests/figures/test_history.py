"""The picture of a history: bounded, readable and the same for the same frame."""

import json
from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

from lance_explorer.figures.history import history
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.frames.columns import KIND
from lance_explorer.inspect.versions import VERSIONS
from lance_explorer.table import open_table
from tests.figures.pictures import titles, traces
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable

SCRIPT = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def versions(tmp_path_factory) -> pl.DataFrame:
    """The frame of a table with 45 versions of several kinds."""
    table = SyntheticTable(tmp_path_factory.mktemp("figures")).append(rows=90)
    for number in range(22):
        table.append(rows=2).delete({0: [number]})
    return open_table(table.path).versions()


def repeated(versions: pl.DataFrame, count: int) -> pl.DataFrame:
    """Return a frame of that many versions, made of copies of one."""
    copies = [
        versions.with_columns(pl.col("version") + start) for start in range(0, count, len(versions))
    ]
    return pl.concat(copies).head(count)


def hover_of(figure: Any) -> list[str]:
    return list(figure.data[0].hovertext)


def with_text(versions: pl.DataFrame, **columns: Any) -> pl.DataFrame:
    return versions.with_columns(
        [pl.lit(value, VERSIONS.polars_schema[name]).alias(name) for name, value in columns.items()]
    )


# -------------------------------------------------------------------------------------- its shape


def test_an_empty_frame_gives_empty_panels():
    figure = history(VERSIONS.polars_schema.to_frame())
    assert (len(figure.data), titles(figure)) == (0, ["rows", "data", "fragments", "commits"])


@pytest.mark.parametrize("count", [1, 3, 45, 3000])
def test_lines_go_through_every_version(versions, count):
    frame = repeated(versions, count)
    lines = traces(history(frame), "scatter")
    assert [list(line.x) for line in lines] == [frame["version"].to_list()] * 3
    columns = ["num_rows", "data_bytes", "num_fragments"]
    assert [list(line.y) for line in lines] == [frame[name].to_list() for name in columns]


@pytest.mark.parametrize("count", [1, 3, 45, 3000])
def test_bars_add_up_to_the_commits_of_their_kind(versions, count):
    frame = repeated(versions, count)
    bars = {bar.name: sum(bar.y) for bar in traces(history(frame), "bar")}
    kinds = frame["kind"].cast(pl.String).value_counts().rows()
    assert bars == dict(kinds)


@pytest.mark.parametrize("count", [45, 400])
def test_up_to_400_versions_have_a_bar_each(versions, count):
    figure = history(repeated(versions, count))
    assert sum(len(bar.x) for bar in traces(figure, "bar")) == count
    assert titles(figure)[3] == "commits"


@pytest.mark.parametrize(("count", "step"), [(401, 2), (800, 2), (801, 3), (3000, 8)])
def test_beyond_that_the_panel_says_what_a_bar_stands_for(versions, count, step):
    figure = history(repeated(versions, count))
    assert titles(figure)[3] == f"per {step} versions"
    assert all(len(bar.x) <= 400 for bar in traces(figure, "bar"))


@pytest.mark.slow
def test_a_bar_of_many_versions_says_which(versions):
    figure = history(repeated(versions, 3000))
    [creations] = [bar for bar in traces(figure, "bar") if bar.name == "create"]
    assert creations.hovertext[0] == "<b>1 commit of kind create</b><br>versions 1 to 8"


@pytest.mark.slow
def test_a_bar_stands_in_the_middle_of_its_versions(versions):
    figure = history(repeated(versions, 3000))
    appends = next(bar for bar in traces(figure, "bar") if bar.name == "append")
    assert list(appends.x[:2]) == [4.5, 12.5]


def test_few_versions_far_apart_have_few_bars(versions):
    numbers = pl.Series([1, 2**40, 2**63], dtype=pl.UInt64)
    figure = history(versions.head(3).with_columns(version=numbers))
    assert sum(len(bar.x) for bar in traces(figure, "bar")) == 3
    assert sum(sum(bar.y) for bar in traces(figure, "bar")) == 3


@pytest.mark.slow
def test_a_picture_of_many_versions_is_small(versions):
    assert len(history(repeated(versions, 3000)).to_json()) < 300_000


def test_some_rows_of_the_frame_are_a_picture_too(versions):
    figure = history(versions.filter(pl.col("kind") == "delete"))
    assert [bar.name for bar in traces(figure, "bar")] == ["delete"]


def test_every_kind_of_commit_has_a_colour():
    assert list(KIND_COLORS) == KIND.categories.to_list()
    assert len(set(KIND_COLORS.values())) == len(KIND_COLORS)


def test_colours_of_bars_are_those_of_their_kinds(versions):
    bars = traces(history(versions), "bar")
    assert {bar.name: bar.marker.color for bar in bars} == {
        bar.name: KIND_COLORS[bar.name] for bar in bars
    }


def test_few_versions_have_a_tick_each(versions):
    assert {axis.dtick for axis in history(versions.head(9)).select_xaxes()} == {1}


def test_the_first_and_the_last_bar_are_inside(versions):
    low, high = next(history(versions.head(1)).select_xaxes()).range
    assert low < 0.5
    assert high > 1.5


@pytest.mark.parametrize("largest", [1, 7, 10, 999, 1000, 5 * 10**12, 2**62])
def test_ticks_of_sizes_are_few_and_reach_the_largest(versions, largest):
    frame = with_text(versions.head(2), data_bytes=largest)
    axis = list(history(frame).select_yaxes())[1]
    assert 2 <= len(axis.tickvals) == len(axis.ticktext) <= 7
    assert axis.tickvals[-2] <= largest <= axis.tickvals[-1]


# --------------------------------------------------------------------------------- what is unknown


def test_what_is_unknown_is_a_hole_in_the_line(versions):
    unknown = ["num_fragments", "timestamp", "operation", "num_rows", "data_bytes", "message"]
    frame = versions.with_columns([pl.lit(None).alias(name) for name in unknown])
    frame = frame.cast(dict(VERSIONS.polars_schema))
    figure = history(frame)
    assert [set(line.y) for line in traces(figure, "scatter")] == [{None}] * 3
    assert hover_of(figure)[0] == (
        "<b>Version 1 · unknown operation</b><br>at an unknown time<br>an unknown number of rows "
        "in an unknown number of fragments, data of unknown size"
    )


def test_a_size_that_is_unknown_in_one_version_leaves_the_ticks(versions):
    first = pl.col("version") == 1
    frame = versions.with_columns(data_bytes=pl.when(~first).then("data_bytes"))
    axis = list(history(frame).select_yaxes())[1]
    assert axis.ticktext[0] == "0"


# ------------------------------------------------------------------------------------ what it says


def test_hovering_tells_what_happened(versions):
    frame = with_text(
        versions.head(1),
        timestamp=datetime(2026, 1, 1, 9, 30, tzinfo=UTC),
        message="first light",
        num_rows=1234,
    )
    [text] = hover_of(history(frame))
    assert text.split("<br>") == [
        "<b>Version 1 · Overwrite</b>",
        "2026-01-01 09:30:00 UTC",
        "1,234 rows in 1 fragment, 1.7 kB of data",
        "“first light”",
    ]


@pytest.mark.parametrize("column", ["message", "operation"])
def test_hostile_text_is_no_markup(versions, column):
    frame = with_text(versions.head(2), **{column: SCRIPT})
    [text, _] = hover_of(history(frame))
    assert "&lt;script&gt;" in text
    assert "<script" not in text


def test_control_characters_are_spelled_out(versions):
    frame = with_text(versions.head(1), message="\x1b[31m\n\u202eevil")
    assert hover_of(history(frame))[0].endswith(r"<br>“\x1b[31m\n\u202eevil”")


def test_a_megabyte_is_cut(versions):
    frame = with_text(versions, message="<&" * 500_000)
    assert len(history(frame).to_json()) < 100_000


def test_tags_stand_over_their_versions(versions):
    frame = with_text(versions.head(3), tags="")
    tags = pl.Series(["", f"gold, {SCRIPT}", ""])
    [note] = history(frame.with_columns(tags=tags)).layout.annotations
    assert (note.x, note.text) == (2, "gold, &lt;script&gt;alert(...")


@pytest.mark.slow
def test_of_many_tags_the_latest_are_shown(versions):
    frame = with_text(versions, tags="x")
    notes = history(frame).layout.annotations
    assert [note.x for note in notes] == list(range(34, 46))


# ------------------------------------------------------------------------------------- as a whole


def test_the_same_frame_gives_the_same_picture(versions):
    assert history(versions).to_json() == history(versions.clone()).to_json()


def test_the_frame_stays_as_it_was(versions):
    before = versions.clone()
    history(versions)
    assert versions.equals(before)


def test_a_picture_is_valid_json(versions):
    figure = json.loads(history(repeated(versions, 3000)).to_json())
    assert figure["layout"]["barmode"] == "stack"


@pytest.mark.parametrize(
    "name", ["0.10.18/cleaned", "0.32.1/stable_row_ids", "14.0.2/life_cycle", "14.0.2/empty"]
)
def test_tables_of_all_ages_have_a_picture(name):
    versions = open_table(DATA / f"{name}.lance").versions()
    figure = history(versions)
    assert sum(sum(bar.y) for bar in traces(figure, "bar")) == len(versions)
