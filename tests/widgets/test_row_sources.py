import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.widgets.arranging import Sort, arrange
from lance_explorer.widgets.row_sources import SnapshotRows


@pytest.fixture(scope="module", params=[True, False], ids=["stable row IDs", "addresses"])
def dataset(request, tmp_path_factory):
    """Make a table of three fragments with deleted rows, one of them with nulls."""
    rows = pa.table({"n": [*range(29), None], "text": [f"row {i}" for i in range(30)]})
    made = lance.write_dataset(
        rows,
        tmp_path_factory.mktemp("rows") / "t.lance",
        max_rows_per_file=10,
        enable_stable_row_ids=request.param,
    )
    made.delete("n % 4 = 1")
    return made


@pytest.fixture
def expected(dataset):
    """Return all rows as pylance scans them."""
    return pl.from_arrow(dataset.to_table(columns=["_rowid", "_rowaddr", "n", "text"]))


@pytest.fixture
def source(dataset):
    return SnapshotRows(lx.open_table(dataset).latest)


def test_any_rows_of_a_version_can_be_had(source, expected):
    assert (source.num_rows, source.schema) == (expected.height, expected.schema)
    assert source.slice(5, 12).equals(expected.slice(5, 7))
    assert source.slice(20, 99).equals(expected.slice(20))
    assert source.slice(5, 5).equals(expected.clear())
    assert source.take(pl.Series([9, 0, 3])).equals(expected[[9, 0, 3]])
    assert source.read(["text"]).equals(expected.select("text"))


def test_rows_of_a_version_are_filtered_and_sorted(source, expected):
    shown = arrange(source, "n > 10 OR n IS NULL", (Sort("text", descending=True),), lambda: None)
    wanted = expected.filter((pl.col("n") > 10) | pl.col("n").is_null())
    assert shown.frame().equals(wanted.sort("text", descending=True))
    assert shown.rows(2, 4).equals(wanted.sort("text", descending=True).slice(2, 2))


def test_columns_can_be_chosen(dataset, expected):
    source = SnapshotRows(lx.open_table(dataset).latest, ["text", "_rowaddr"])
    assert source.slice(0, 3).equals(expected.select("text", "_rowaddr").head(3))
    with pytest.raises(InvalidArgumentError, match="no column 'nope'; it has n, text"):
        SnapshotRows(lx.open_table(dataset).latest, ["nope"])


def test_an_older_version_keeps_its_rows(dataset):
    first = SnapshotRows(lx.open_table(dataset).at(1))
    assert (first.num_rows, first.take(pl.Series([29]))["text"].item()) == (30, "row 29")
