"""The map of fragments: widths, shares and colours say what the frames say."""

import polars as pl
import pytest

from lance_explorer.figures.fragment_map import fragment_map
from lance_explorer.figures.fragment_origins import fragment_origins
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.table import Table, open_table
from tests.figures.pictures import hovers, named, note, size_of, ticks
from tests.format.samples import DATA
from tests.stored_tables import is_main, stored_check
from tests.synthetic import SyntheticTable


def opened(table: SyntheticTable) -> Table:
    return open_table(table.path)


def picture(table: Table, version: int | None = None):
    return fragment_map(
        table.inspect.fragments(version), table.inspect.all_fragments(), table.versions()
    )


def origins(table: Table, version: int | None = None) -> list[tuple[int, int | None, str | None]]:
    made = fragment_origins(
        table.inspect.fragments(version), table.inspect.all_fragments(), table.versions()
    )
    return made.select("fragment_id", "created_in", "created_by").rows()


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """Fragments 0, 1, 2: made by a creation of 60, an append of 20 and an update of 2 rows."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=60).append(rows=20)
    return table.update({0: [1, 2]}).delete({1: range(15)})


# ------------------------------------------------------------------------------- what made them


def test_a_fragment_is_made_by_the_commit_that_it_came_with(table):
    assert origins(opened(table)) == [(0, 1, "create"), (1, 2, "append"), (2, 3, "update")]


def test_a_delete_does_not_make_a_fragment(table):
    table.delete({0: [5]}).delete({0: [6]})
    assert origins(opened(table))[0] == (0, 1, "create")


def test_a_version_of_the_past_has_its_own_fragments(table):
    assert origins(opened(table), 2) == [(0, 1, "create"), (1, 2, "append")]


def test_a_compaction_makes_its_fragments(table):
    assert [kind for _, _, kind in origins(opened(table.compact([0, 1, 2])))] == ["compact"]


def test_a_restore_makes_those_that_had_gone_and_keeps_the_others(table):
    table.compact([1, 2]).restore(2)
    assert origins(opened(table)) == [(0, 1, "create"), (1, 7, "restore")]


def test_an_overwrite_makes_a_fragment_of_the_same_id_anew(table):
    table.state.manifest.ClearField("max_fragment_id")  # as writers up to 8.0.1 began again
    table.overwrite(rows=4).delete({0: [1]})
    assert origins(opened(table)) == [(0, 5, "overwrite")]


def test_what_made_a_fragment_of_before_a_cleanup_is_not_known(table):
    table.append(rows=3).remove(1, 2, 3)
    assert origins(opened(table)) == [
        (0, None, None),
        (1, None, None),
        (2, None, None),
        (3, 5, "append"),
    ]


@stored_check()
def check_the_map_and_the_graph_of_fragments_know_the_same_lives(asked):
    table = asked.table
    nodes = (
        table.lineage()
        .fragments()
        .filter(pl.col("table").is_null() & pl.col("branch").eq_missing(pl.lit(table.branch)))
    )
    made = pl.when(pl.col("first_version_exact"))
    for version in table.versions()["version"].to_list():
        of_graph = nodes.filter(
            (pl.col("first_version") <= version) & (pl.col("last_version") >= version)
        ).select(
            "fragment_id",
            created_in=made.then("first_version"),
            created_by=made.then(pl.col("kind").cast(pl.String)),
        )
        assert sorted(origins(table, version)) == sorted(of_graph.rows())


# ---------------------------------------------------------------------------------- the picture


def test_columns_are_as_wide_as_their_rows(table):
    figure = picture(opened(table))
    widths = [named(figure, kind).width[0] for kind in ("create", "append", "update")]
    assert widths == pytest.approx([60 / 82, 20 / 82, 2 / 82], abs=0.008)


def test_columns_stand_side_by_side_in_the_order_of_a_scan(table):
    figure = picture(opened(table))
    centers = [named(figure, kind).x[0] for kind in ("create", "append", "update")]
    assert centers == pytest.approx([30 / 82, 70 / 82, 81 / 82], abs=0.005)
    assert ticks(figure.layout.xaxis) == ["0", "1", "2"]


def test_deleted_rows_stand_above_the_live_ones(table):
    figure = picture(opened(table))
    assert named(figure, "append").y[0] == pytest.approx(5 / 20)
    assert list(named(figure, "deleted").y) == pytest.approx([2 / 60, 15 / 20])


def test_columns_have_the_colour_of_what_made_them(table):
    figure = picture(opened(table))
    assert named(figure, "update").marker.color == KIND_COLORS["update"]


def test_a_single_row_beside_a_million_can_be_seen(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=1_000_000).append(rows=1)
    assert named(picture(opened(table)), "append").width[0] >= 0.001


def test_pointing_at_a_fragment_tells_its_numbers(table):
    assert hovers(picture(opened(table)))[1].split("<br>")[:3] == [
        "<b>Fragment 1</b>",
        "made by Append in version 2",
        "20 rows, 15 of them deleted (75 %)",
    ]


def test_the_picture_says_what_it_shows(table):
    assert note(picture(opened(table))) == "Version 4: 3 fragments, 82 rows, 17 of them deleted"


def test_many_fragments_share_columns_and_the_picture_says_so(tmp_path):
    table = opened(SyntheticTable(tmp_path).append(rows=3, fragments=5_000))
    figure = picture(table)
    assert figure.layout.xaxis.title.text.startswith("first of 13 fragments;")
    assert len(named(figure, "create").x) == 385
    assert hovers(figure)[1] == (
        "<b>Fragments 13 to 25</b><br>13 fragments, 39 rows with deleted ones"
    )
    assert size_of(figure) < 100_000


def test_a_column_of_many_fragments_tells_what_made_each_of_them(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=3, fragments=600).append(rows=1)
    figure = picture(opened(table.update({0: [0]})))
    shares = [named(figure, kind).y[-1] for kind in ("append", "update")]
    assert shares == pytest.approx([1 / 2, 1 / 2])


def test_rows_that_are_not_known_are_said_to_be_unknown():
    table = open_table(DATA / "0.10.18" / "life_cycle.lance")
    frame = table.inspect.fragments()
    unknown = frame.with_columns(
        [pl.lit(None, pl.Int64).alias(n) for n in ("num_rows", "physical_rows", "num_deleted_rows")]
    )
    figure = fragment_map(unknown, table.inspect.all_fragments(), table.versions())
    assert "unknown rows" in note(figure)
    assert "unknown number of rows" in hovers(figure)[0]


def test_a_version_without_fragments_is_an_empty_picture():
    figure = picture(open_table(DATA / "14.0.2" / "empty.lance"))
    assert (len(figure.data), note(figure)) == (0, "0 fragments, 0 rows")


@stored_check(is_main)
def check_every_stored_table_has_a_map_of_all_its_fragments(asked):
    table = asked.table
    figure = picture(table)
    shown = sum(len(trace.x) for trace in figure.data if trace.name != "deleted")
    assert shown == len(table.inspect.fragments())


def test_the_same_frames_give_the_same_picture(table):
    assert picture(opened(table)).to_json() == picture(opened(table)).to_json()
