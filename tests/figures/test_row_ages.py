"""Ages of rows: rows by the version that created, and last updated, them."""

import polars as pl
import pytest

from lance_explorer.figures.row_ages import row_ages
from lance_explorer.inspect.version_runs import VERSION_RUNS
from lance_explorer.table import Table, open_table
from tests.figures.pictures import note, size_of, titles
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable


def picture(table: Table):
    return row_ages(table.inspect.version_runs(), table.versions())


def rows_by_version(figure, row: int) -> dict[float, int]:
    """Return the rows of each bar of a panel by its version."""
    axis = "y" if row == 1 else f"y{row}"
    return {
        x: y
        for trace in figure.data
        if trace.yaxis == axis
        for x, y in zip(trace.x, trace.y, strict=True)
    }


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    table = SyntheticTable(tmp_path / "t.lance").append(rows=60).append(rows=20)
    return table.update({0: [1, 2, 3]}, inserted=4)


def test_rows_stand_at_the_versions_that_created_and_updated_them(table):
    figure = picture(open_table(table.path))
    # The three updated rows are still in the first fragment, though deleted there.
    assert rows_by_version(figure, 1) == {1: 60 + 3, 2: 20, 3: 4}
    assert rows_by_version(figure, 2) == {1: 60, 2: 20, 3: 7}
    assert note(figure) == "Version 3: 87 rows, deleted ones too"


def test_bars_have_the_kind_of_the_commit(table):
    figure = picture(open_table(table.path))
    assert {trace.name for trace in figure.data} == {"create", "append", "update"}
    assert sum(bool(trace.showlegend) for trace in figure.data) == 3


def test_a_version_that_is_gone_is_of_unknown_kind(table):
    figure = picture(open_table(table.remove(1).path))
    assert {trace.name for trace in figure.data if 1 in trace.x} == {"unknown"}


def test_both_panels_count_all_rows():
    table = open_table(DATA / "14.0.2" / "stable_row_ids.lance")
    figure = picture(table)
    physical = table.inspect.fragments()["physical_rows"].sum()
    assert [sum(rows_by_version(figure, row).values()) for row in (1, 2)] == [physical] * 2


def test_many_versions_share_bars_and_the_picture_says_so():
    runs = VERSION_RUNS.build(
        {
            "version": [3_000] * 3_000,
            "branch": [None] * 3_000,
            "fragment_id": range(3_000),
            "sequence": ["created_at"] * 3_000,
            "position": [0] * 3_000,
            "offset": [0] * 3_000,
            "num_rows": [2] * 3_000,
            "row_version": range(1, 3_001),
            "storage": ["inline"] * 3_000,
            "span_encoding": ["range"] * 3_000,
        }
    )
    versions = pl.DataFrame({"version": range(1, 3_001), "kind": ["append"] * 3_000}).cast(
        {"version": pl.UInt64}
    )
    figure = row_ages(runs, versions)
    assert note(figure).endswith("; a bar stands for 8 versions")
    assert set(rows_by_version(figure, 1).values()) == {16}
    assert size_of(figure) < 100_000


def test_a_table_without_row_versions_says_so(tmp_path):
    table = SyntheticTable(tmp_path, stable_row_ids=False).append(rows=4)
    figure = picture(open_table(table.path))
    assert note(figure) == "No row versions are stored"
    assert titles(figure) == ["rows created", "rows last updated"]
