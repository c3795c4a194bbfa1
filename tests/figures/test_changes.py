"""Changes over time, and churn by fragment."""

import polars as pl
import pytest

from lance_explorer.changes.frame import COMMIT_SUMMARY
from lance_explorer.figures.changes import changes_over_time, churn
from lance_explorer.table import open_table
from tests.figures.pictures import hovers, named, note, size_of, titles
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable


@pytest.fixture
def written(tmp_path) -> SyntheticTable:
    table = SyntheticTable(tmp_path / "t.lance").append(rows=60).append(rows=20)
    return table.update({0: [1, 2, 3]}, inserted=4).delete({0: range(10, 15)}).compact([0, 1])


def over_time(table):
    return changes_over_time(table.changes(0, mode="per_commit").summary())


def feed(table, **options):
    return table.changes(0, mode="per_commit", include=("moved",), **options).to_polars()


def bars(figure, name: str):
    trace = named(figure, name)
    return dict(zip(trace.x, trace.y, strict=True))


def test_each_commit_has_its_changed_rows(written):
    figure = over_time(open_table(written.path))
    assert bars(figure, "created") == {1: 60, 2: 20, 3: 4}
    assert bars(figure, "updated") == {3: 3}
    assert bars(figure, "deleted") == {4: -5}
    assert note(figure) == "5 commits changed rows"
    assert "<b>version 4</b><br>5 rows deleted" in hovers(figure)


def test_rows_with_the_same_values_have_a_panel_of_their_own(written):
    figure = over_time(open_table(written.path))
    assert titles(figure) == ["rows changed", "same values"]
    assert bars(figure, "moved") == {6: 52 + 20}
    assert named(figure, "moved").yaxis == "y2"


def test_bars_are_the_counts_of_the_summary():
    table = open_table(DATA / "14.0.2" / "stable_row_ids.lance")
    summary = table.changes(0, mode="per_commit").summary()
    figure = over_time(table)
    drawn = {trace.name: sum(map(abs, trace.y)) for trace in figure.data}
    for name, rows in drawn.items():
        column = "restored" if name.startswith("restored") else name.replace(" ", "_")
        assert summary[column].sum() == rows > 0


def test_lost_versions_are_a_line_and_a_sentence(written):
    figure = over_time(open_table(written.remove(2).path))
    assert "what 1 lost version did is not known" in note(figure)
    assert [shape.x0 for shape in figure.layout.shapes] == [2.5, 2.5]


def test_many_commits_share_bars_and_the_picture_says_so():
    counts = {name: [0] * 3_000 for name in COMMIT_SUMMARY.names}
    columns = {
        **counts,
        "version": range(1, 3_001),
        "timestamp": [None] * 3_000,
        "operation": ["Append"] * 3_000,
        "evidence": ["derived"] * 3_000,
        "created": [2] * 3_000,
        "known_from": ["live"] * 3_000,
    }
    figure = changes_over_time(COMMIT_SUMMARY.build(columns))
    assert note(figure) == "3,000 commits changed rows; a bar stands for 8 versions"
    assert set(bars(figure, "created").values()) == {16}
    assert "<b>versions 1 to 8</b><br>16 rows created, in 8 commits" in hovers(figure)
    assert size_of(figure) < 100_000


def test_an_empty_table_makes_empty_pictures(tmp_path):
    table = open_table(SyntheticTable(tmp_path / "t.lance").overwrite(fragments=0).path)
    assert note(over_time(table)) == "0 commits changed rows"
    assert note(churn(feed(table))) == "0 fragments with rows added or removed"


def test_churn_counts_rows_that_came_and_rows_that_went(written):
    figure = churn(feed(open_table(written.path)))
    added = [t for t in figure.data if t.name == "moved" and max(t.y) > 0]
    removed = [t for t in figure.data if t.name == "moved" and min(t.y) < 0]
    assert [dict(zip(t.x, t.y, strict=True)) for t in added] == [{"3": 72}]
    assert [dict(zip(t.x, t.y, strict=True)) for t in removed] == [{"0": -52, "1": -20}]
    updated = [dict(zip(t.x, t.y, strict=True)) for t in figure.data if t.name == "updated"]
    assert updated == [{"2": 3}, {"0": -3}]
    assert bars(figure, "deleted") == {"0": -5}
    assert sum(trace.showlegend for trace in figure.data if trace.name == "moved") == 1


def test_what_comes_and_goes_adds_up_to_the_rows_of_fragments(written):
    table = open_table(written.path)
    figure = churn(feed(table))
    sums: dict[str, int] = {}
    for trace in figure.data:
        for fragment, rows in zip(trace.x, trace.y, strict=True):
            sums[fragment] = sums.get(fragment, 0) + rows
    fragments = table.inspect.fragments()
    live = fragments.select("fragment_id", pl.col("num_rows")).rows()
    assert {int(name): rows for name, rows in sums.items() if rows} == dict(live)


@pytest.mark.slow
def test_both_images_of_an_update_count_once():
    table = open_table(DATA / "14.0.2" / "stable_row_ids.lance")
    assert churn(feed(table, images="both")) == churn(feed(table))


def test_of_many_fragments_those_with_most_rows_are_shown(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=9, fragments=90)
    table.append(rows=500)
    figure = churn(feed(open_table(table.path)))
    assert note(figure).startswith("60 of 91 fragments")
    assert len(named(figure, "created").x) == 60
    assert "90" in named(figure, "created").x
