"""The lineage picture: lanes and ribbons in place, bounded, and the same for the same frames."""

import json
from datetime import UTC, datetime
from typing import Any, NamedTuple

import plotly.graph_objects as go
import polars as pl
import pytest

from lance_explorer.errors import FragmentNotFoundError
from lance_explorer.figures.lineage import lineage as draw
from lance_explorer.figures.lineage_layout import MOST_LANES, REST, LineageLayout, lay_out
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.inspect.versions import VERSIONS
from lance_explorer.lineage.following import follow
from lance_explorer.lineage.graph import Lineage, LineageFrames
from lance_explorer.lineage.graph import lineage as lineage_of
from lance_explorer.table import Table, open_table
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable

SCRIPT = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory) -> SyntheticTable:
    """Two fragments of 40 rows that were compacted into one; of that an update took 8 rows."""
    table = SyntheticTable(tmp_path_factory.mktemp("lineage") / "t.lance")
    table.append(rows=40, fragments=2).delete({1: range(20)}).compact([0, 1])
    return table.update({2: range(8)}).add_column("more").tag("gold", 4)


@pytest.fixture(scope="module")
def table(synthetic) -> Table:
    return open_table(synthetic.path)


@pytest.fixture(scope="module")
def story(table) -> Lineage:
    return lineage_of(table._view)


class Long(NamedTuple):
    """The frames of a table of 3,004 versions with a compaction each 11."""

    frames: LineageFrames
    versions: pl.DataFrame

    def draw(self, **options: Any) -> go.Figure:
        return draw(*self.frames, self.versions, **options)


@pytest.fixture(scope="module")
def long(tmp_path_factory) -> Long:
    path = tmp_path_factory.mktemp("long") / "t.lance"
    written = SyntheticTable(path, transaction_files=False).append(rows=500)
    while written.version < 3000:
        fresh = [written.append(rows=3 + written.version % 7).fragment_ids[-1] for _ in range(8)]
        written.update({fresh[0]: [0]}).compact([*fresh, written.fragment_ids[-1]])
    table = open_table(path)
    return Long(lineage_of(table._view).frames, table.versions())


def picture(table: Table, **options: Any) -> go.Figure:
    return draw(*lineage_of(table._view).frames, table.versions(inherited=True), **options)


def lanes(layout: LineageLayout) -> dict[str, dict[str, Any]]:
    return {lane["node"]: lane for lane in layout.lanes.iter_rows(named=True)}


def words(figure: go.Figure) -> list[str]:
    return [note.text for note in figure.layout.annotations]


def hovers(figure: go.Figure) -> list[str]:
    return [text for trace in figure.data if trace.hovertext for text in trace.hovertext]


# ------------------------------------------------------------------------------ in place


def test_a_lane_is_as_long_as_its_life_and_as_thick_as_it_has_rows(story):
    layout = lay_out(*story.frames, rows_height=80)
    steps = layout.steps.filter(lane=1).select("begin", "end", "thickness", "num_rows")
    assert steps.rows() == [(1, 1, 40, 40), (2, 3, 20, 20)]
    assert lanes(layout)["0@1"]["thickness"] == 40
    assert (layout.begin, layout.end) == (1, 6)


def test_a_lane_gets_thinner_where_rows_are_deleted_at_its_lower_edge(story):
    layout = lay_out(*story.frames, rows_height=80)
    first, second = layout.steps.filter(lane=1).iter_rows(named=True)
    assert first["x1"] == second["x0"] < 2
    assert second["thickness"] < first["thickness"]


def test_ribbons_fill_the_ends_that_they_join(story):
    layout = lay_out(*story.frames, rows_height=80)
    compaction = layout.ribbons.filter(kind="rewrite").sort("y1")
    place = lanes(layout)
    assert compaction["width0"].to_list() == compaction["width1"].to_list() == [40, 20]
    assert compaction["y0"].to_list() == [place["0@1"]["y"], place["1@1"]["y"]]
    top = place["2@4"]["y"]
    assert compaction["y1"].to_list() == [top, top + 40]
    assert (compaction["x0"] == place["0@1"]["x1"]).all()
    assert (compaction["x1"] == place["2@4"]["x0"]).all()


def test_a_ribbon_leaves_a_lane_that_goes_on_where_that_gets_thinner(story):
    layout = lay_out(*story.frames, rows_height=80)
    [update] = layout.ribbons.filter(kind="update").iter_rows(named=True)
    lane = lanes(layout)["2@4"]
    before, after = layout.steps.filter(lane=2).head(2).iter_rows(named=True)
    assert update["x0"] == pytest.approx(after["x0"])
    assert update["y0"] == pytest.approx(lane["y"] + after["thickness"])
    assert update["y0"] + update["width0"] == pytest.approx(lane["y"] + before["thickness"])


def test_columns_written_anew_are_marks_on_lanes(story):
    layout = lay_out(*story.frames)
    assert layout.rewrites.select("lane", "version", "rows").rows() == [(2, 6, 52), (3, 6, 8)]


def test_what_a_compaction_wrote_stands_where_its_first_rows_were(story):
    place = lanes(lay_out(*story.frames))
    assert place["0@1"]["track"] == place["2@4"]["track"] == 0
    assert place["1@1"]["track"] == 1


def test_a_restored_fragment_stands_where_it_was(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=3)
    table.compact([1, 2]).restore(1)
    place = lanes(lay_out(*lineage_of(open_table(table.path)._view).frames))
    assert place["1@1"]["track"] == place["1@4"]["track"] == 1


def test_a_branch_goes_on_in_the_lanes_of_its_parent(tmp_path):
    main = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=3).append()
    branch = main.branch("dev").append()
    layout = lay_out(*lineage_of(open_table(branch.path)._view).frames)
    place = lanes(layout)
    for fragment in range(3):
        parent, child = place[f"{fragment}@1"], place[f"dev:{fragment}@2"]
        assert parent["track"] == child["track"]
        assert parent["x1"] <= child["x0"]


@stored_check()
def check_nothing_overlaps(asked):
    layout = lay_out(*asked.lineage.frames)
    for track in layout.lanes.filter(pl.col("node") != REST).partition_by("track"):
        ordered = track.sort("begin")
        assert (ordered["x1"][:-1] <= ordered["x0"][1:] + 0.3).all()
        assert ordered["y"].n_unique() == 1
    heights = layout.lanes.group_by("track").agg(pl.col("y").first(), pl.col("thickness").max())
    heights = heights.sort("track")
    assert (heights["y"][1:] >= (heights["y"] + heights["thickness"])[:-1]).all()
    assert (layout.ribbons["x0"] <= layout.ribbons["x1"]).all()
    assert (layout.steps["thickness"] > 0).all()


# ------------------------------------------------------------------------------- bounded


@pytest.mark.slow
def test_beyond_200_fragments_the_rest_is_one_lane_and_the_picture_says_so(long):
    layout = lay_out(*long.frames)
    assert len(layout.lanes) == MOST_LANES + 1
    assert layout.lanes["node"][-1] == REST
    total = len(long.frames.fragments)
    assert layout.num_fragments == total
    note = long.draw().layout.title.text
    assert note.startswith(f"200 of {total:,} fragments in versions 1 to ")
    assert ", the rest in grey" in note


@pytest.mark.slow
def test_lanes_and_the_rest_have_all_rows_of_every_version(long):
    versions = long.versions.select("version", "num_rows").filter(pl.col("version") % 100 == 7)
    steps = lay_out(*long.frames).steps
    for version, rows in versions.iter_rows():
        here = steps.filter(pl.col("begin") <= version, pl.col("end") >= version)
        assert here["num_rows"].sum() == rows


@pytest.mark.slow
def test_the_lanes_are_those_with_the_most_rows_for_the_longest_time(long):
    assert "0@1" in lanes(lay_out(*long.frames, most_lanes=1))


@pytest.mark.slow
def test_a_long_history_is_a_small_file(long):
    assert len(long.draw().to_json()) < 2_000_000


@pytest.mark.slow
def test_versions_can_be_chosen(long):
    figure = long.draw(between=(100, 140))
    assert figure.layout.title.text.endswith("versions 100 to 140")
    assert not figure.layout.title.text.startswith("200 of")
    low, high = figure.layout.xaxis.range
    assert (round(low), round(high)) == (100, 140)


def test_a_fragment_can_be_chosen_with_all_that_led_to_it_and_came_of_it(story, table):
    layout = lay_out(*story.frames, focus="1@1")
    assert sorted(lanes(layout)) == ["1@1", "2@4", "3@5"]
    assert picture(table, fragment=1).layout.title.text.startswith("3 fragments")


@pytest.mark.parametrize("options", [{"fragment": 77}, {"fragment": "x"}])
def test_what_is_not_there_cannot_be_chosen(table, options):
    with pytest.raises(FragmentNotFoundError):
        picture(table, **options)


# ---------------------------------------------------------------------------- what it says


def test_lanes_commits_and_tags_are_named(table):
    said = words(picture(table))
    assert {"fragment 0 · 40 rows", "fragment 2 · 60 rows", "gold"} <= set(said)
    names = ["create", "delete", "reserve", "compact", "update", "schema"]
    assert [name for name in said if name in names] == names


@pytest.mark.slow
def test_long_histories_name_no_commit_but_show_shares_of_kinds(long):
    figure = long.draw()
    assert "append" not in words(figure)
    bars = {trace.name: trace for trace in figure.data if trace.type == "bar"}
    assert set(bars) == {"create", "append", "update", "compact"}
    assert len(bars["append"].x) <= 141


def test_versions_have_their_times(table):
    axis = picture(table).layout.xaxis
    assert axis.ticktext[0] == "1<br>00:01:00"
    assert axis.title.text == "version and its time on 1 Jan 2026 (UTC)"


def test_hovering_tells_the_facts(table):
    said = hovers(picture(table))
    assert (
        "<b>Fragment 0</b><br>40 rows in versions 1 to 3<br>940 bytes of data<br>"
        "made in version 1 by Overwrite<br>last in version 3, then removed by a compaction"
    ) in said
    assert (
        "<b>20 rows compacted in version 4</b><br>from fragment 1 to fragment 2<br>"
        "recorded in a file of the table"
    ) in said
    assert "<b>Columns rewritten in version 6</b><br>52 rows" in said


def test_every_colour_is_explained(tmp_path):
    main = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=3).append()
    branch = main.branch("dev").append()
    figure = picture(open_table(branch.path))
    assert {"create", "append", "branch"} <= {trace.name for trace in figure.data}


@pytest.fixture(scope="module")
def branch(tmp_path_factory) -> Table:
    """Versions 3 and 4 of a branch of the main branch's version 3."""
    main = SyntheticTable(tmp_path_factory.mktemp("branch") / "t.lance").append(rows=4)
    branch = main.delete({0: [0]}).append().branch("dev")
    return open_table(branch.update({0: [1]}).path)


def marks(figure: go.Figure, symbol: str) -> list[tuple[int, str]]:
    """Return the versions and kinds of the commits that are drawn with a symbol."""
    drawn = [trace for trace in figure.data if trace.mode == "markers" and trace.hovertext]
    return sorted(
        (version, trace.name)
        for trace in drawn
        if trace.marker.symbol == symbol
        for version in trace.x
    )


def test_versions_that_a_branch_inherited_are_hollow(branch):
    figure = picture(branch)
    assert marks(figure, "square-open") == [(1, "create"), (2, "delete"), (3, "append")]
    assert marks(figure, "square") == [(3, "branch"), (4, "update")]
    named = [said for said in words(figure) if said in {*KIND_COLORS}]
    assert named == ["create", "delete", "branch", "update"]
    assert "versions inherited from main" in {trace.name for trace in figure.data}
    assert any("<b>Version 2 of main · Delete</b>" in said for said in hovers(figure))


def test_of_a_long_history_inherited_versions_are_pale(tmp_path):
    main = SyntheticTable(tmp_path / "t.lance", transaction_files=False).append()
    while main.version < 200:
        main.update_config(n=str(main.version))
    branch = main.branch("dev")
    while branch.version < 300:
        branch.update_config(n=str(branch.version))
    figure = picture(open_table(branch.path))
    [bars] = [trace for trace in figure.data if trace.type == "bar" and trace.name == "config"]
    drawn = [*zip(bars.x, bars.marker.opacity, strict=True)]
    pale = {x < 199 for x, opacity in drawn if opacity < 1}
    dark = {x + bars.width[0] > 199 for x, opacity in drawn if opacity == 1}
    assert pale == dark == {True}


def test_colours_are_those_of_the_kinds_of_commits(table):
    fills = {trace.fillcolor for trace in picture(table).data if trace.fill}
    assert {KIND_COLORS[kind] for kind in ("create", "compact", "update")} <= fills


def test_hostile_text_is_no_markup(story, table):
    versions = table.versions().with_columns(
        pl.lit(SCRIPT).alias("message"),
        pl.lit(SCRIPT).alias("tags"),
        pl.lit(SCRIPT).alias("operation"),
    )
    fragments = story.frames.fragments.with_columns(
        pl.lit(SCRIPT).alias("branch"), pl.lit(SCRIPT).alias("operation"), table=pl.lit(SCRIPT)
    )
    figure = draw(fragments, story.frames.edges, story.frames.states, versions)
    assert not any("<script" in said for said in [*words(figure), *hovers(figure)])


# ------------------------------------------------------------------------------- the row


def paths(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.name and trace.name.startswith("row ")]


def test_the_way_of_a_row_goes_through_the_lanes_that_it_was_in(table):
    events = follow(table._view, [45, 71])
    figure = picture(table, path=events)
    _, line, marks, *_ = paths(figure)
    assert (marks.name, list(marks.marker.symbol)) == ("row 45", ["circle", "x"])
    assert line.x[-1] < 2
    *_, marks = paths(figure)
    said = [text.split(" in version ") for text in marks.hovertext]
    assert said == [
        ["<b>Row 71 created", "1</b>"],
        ["<b>Row 71 moved", "4</b>"],
        ["<b>Row 71 column added", "6</b>"],
    ]


def test_the_way_stays_inside_its_lanes(table, story):
    figure = picture(table, path=follow(table._view, [71]))
    *_, marks = paths(figure)
    layout = lay_out(*story.frames)
    top = marks.y[0] - layout.y_at("1@1", 3)
    place = lanes(layout)
    for y, node in zip(marks.y, ("1@1", "2@4", "2@4"), strict=True):
        assert 0 < y - top - place[node]["y"] < place[node]["thickness"]


def test_the_way_of_a_row_goes_on_on_a_branch(tmp_path):
    main = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=3).append()
    table = open_table(main.branch("dev").append().path)
    *_, marks = paths(picture(table, path=follow(table._view, [5])))
    assert len(marks.x) == 2
    assert "taken over by the branch in version 2" in marks.hovertext[1]


# ------------------------------------------------------------------------------ as a whole


def test_nothing_gives_an_empty_picture(story: Lineage):
    frames = story.subgraph([]).frames
    figure = draw(*frames, VERSIONS.polars_schema.to_frame())
    assert figure.layout.title.text == "0 fragments · version 1"


def test_without_versions_there_are_lanes_alone(story: Lineage):
    figure = draw(*story.frames, VERSIONS.polars_schema.to_frame())
    assert figure.layout.xaxis.title.text == "version"
    assert figure.layout.title.text == "4 fragments · versions 1 to 6"


def test_the_same_frames_give_the_same_picture(table):
    assert picture(table).to_json() == picture(table).to_json()


@pytest.mark.slow
def test_a_picture_is_valid_json(long):
    figure = json.loads(long.draw().to_json())
    assert figure["layout"]["hovermode"] == "closest"


def test_times_far_apart_are_days(story: Lineage, table: Table):
    times = [datetime(2024 + n, 5, 6, 7, 8, tzinfo=UTC) for n in range(6)]
    versions = table.versions().with_columns(pl.Series("timestamp", times).dt.cast_time_unit("us"))
    axis = draw(*story.frames, versions).layout.xaxis
    assert axis.ticktext[0] == "1<br>6 May 2024"


@stored_check()
def check_tables_of_all_ages_have_a_picture(asked):
    view = asked.view
    figure = picture(Table(view))
    assert figure.layout.height < 1200
