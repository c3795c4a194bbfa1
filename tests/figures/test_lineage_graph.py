"""The lineage as nodes and edges: what is drawn, what it says, and how much of it at most."""

import plotly.graph_objects as go
import polars as pl
import pytest

from lance_explorer.errors import FragmentNotFoundError
from lance_explorer.figures.lineage_graph import MOST_NODES, lineage_graph
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.lineage.graph import Lineage, lineage
from lance_explorer.table import open_table
from tests.figures.pictures import hovers, note, size_of
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "addresses"])
def story(request, tmp_path_factory) -> Lineage:
    """Fragments 0 and 1 were compacted into 2, of which an update wrote rows into 3; 4 is alone."""
    path = tmp_path_factory.mktemp("graph") / "t.lance"
    table = SyntheticTable(path, stable_row_ids=request.param).append(rows=40, fragments=2)
    table.delete({1: range(20)}).compact([0, 1]).update({2: range(8)}).add_column("more").append()
    return open_table(table.path).lineage()


def draw(part: Lineage, **options) -> go.Figure:
    return lineage_graph(part.frames.fragments, part.frames.edges, **options)


def named(figure: go.Figure) -> dict[str, tuple[float, float]]:
    """Return where each node is, by its name."""
    return {
        name: (x, y)
        for trace in figure.data
        for name, x, y in zip(trace.text or (), trace.x, trace.y, strict=False)
    }


def said_above(figure: go.Figure) -> list[str]:
    return [words.text for words in figure.layout.annotations]


def lines(figure: go.Figure) -> list[go.Scatter]:
    return [trace for trace in figure.data if trace.mode == "lines" and trace.hoverinfo == "skip"]


def test_rows_go_from_left_to_right(story):
    at = named(draw(story))
    assert at.keys() == {"0 · 40 rows", "1 · 20 rows", "2 · 52 rows", "3 · 8 rows", "4 · 1 row"}
    columns = [at[name][0] for name in ("0 · 40 rows", "1 · 20 rows", "2 · 52 rows", "3 · 8 rows")]
    assert columns == [0, 0, 1, 2]


def test_edges_are_named_by_what_was_done_in_which_version(story):
    figure = draw(story)
    assert said_above(figure) == ["compact 4", "update 5"]
    assert note(figure) == "5 fragments · 5 edges"
    assert any("<b>20 rows compacted in version 4</b>" in said for said in hovers(figure))
    assert any("<b>Fragment 2</b><br>52 rows in version" in said for said in hovers(figure))


def test_colours_are_those_of_the_kinds_of_commits(story):
    figure = draw(story)
    assert {line.line.color for line in lines(figure)} == {
        KIND_COLORS["compact"],
        KIND_COLORS["update"],
    }
    legend = {trace.name for trace in figure.data if trace.name}
    assert {"made by create", "made by compact", "made by update", "made by append"} <= legend


def test_wider_edges_stand_for_more_rows(story):
    widths: dict[str, list[float]] = {}
    for line in lines(draw(story)):
        widths.setdefault(line.line.color, []).append(line.line.width)
    assert max(widths[KIND_COLORS["compact"]]) > max(widths[KIND_COLORS["update"]])


def test_what_is_inferred_is_dashed(story):
    is_inferred = "inferred" in story.edges()["evidence"].to_list()
    dashes = {line.line.color: line.line.dash for line in lines(draw(story))}
    assert dashes[KIND_COLORS["compact"]] == "solid"
    assert dashes[KIND_COLORS["update"]] == ("dash" if is_inferred else "solid")


def test_a_ring_tells_of_columns_written_anew(story):
    [rings] = [trace for trace in draw(story).data if trace.name == "columns rewritten"]
    assert len(rings.x) == 2
    assert rings.hovertext[0].startswith("<b>Columns rewritten in version 6</b>")


def test_a_fragment_is_drawn_with_what_led_to_it_and_what_came_of_it(story):
    assert named(draw(story, fragment=1)).keys() == {"1 · 20 rows", "2 · 52 rows", "3 · 8 rows"}
    assert named(draw(story, fragment="4@7")).keys() == {"4 · 1 row"}
    with pytest.raises(FragmentNotFoundError):
        draw(story, fragment=77)


def test_a_part_is_drawn_alone(story):
    assert note(draw(story.between(0, 2))) == "2 fragments · 2 edges"


def test_of_many_fragments_the_latest_are_drawn_and_counted(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", transaction_files=False)
    while table.version < 300:
        fresh = [table.append().fragment_ids[-1] for _ in range(4)]
        table.compact(fresh)
    whole = lineage(open_table(table.path)._view)
    fragments, edges, _ = whole.frames
    figure = draw(whole)
    drawn = fragments.sort("first_version", maintain_order=True).tail(MOST_NODES)["node"].implode()
    shown = edges.filter(pl.col("from_node").is_in(drawn) & pl.col("to_node").is_in(drawn))
    assert len(named(figure)) == MOST_NODES < len(fragments)
    assert note(figure).startswith(
        f"the latest 200 of {len(fragments)} fragments · {len(shown)} of {len(edges)} edges"
    )
    assert size_of(figure) < 300_000


def test_text_of_files_is_no_markup(story):
    script = "<script>alert('x')</script>"
    fragments = story.frames.fragments.with_columns(
        pl.lit(script).alias("branch"), pl.lit(script).alias("operation"), table=pl.lit(script)
    )
    figure = lineage_graph(fragments, story.frames.edges)
    assert "<script" not in str([*hovers(figure), *named(figure), *said_above(figure)])


@stored_check()
def check_all_stored_tables_are_drawn(asked):
    part = asked.lineage
    drawn = [name for trace in draw(part).data for name in trace.text or ()]
    assert len(drawn) == min(len(part.fragments()), MOST_NODES)
