import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError, UnsupportedFeatureError
from lance_explorer.history.view import HistoryView
from lance_explorer.widgets import row_sources
from lance_explorer.widgets.arranging import Sort, arrange
from lance_explorer.widgets.row_sources import VersionRows
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


def latest(dataset, columns=None):
    """Return the rows of the latest version."""
    view = lx.open_table(dataset)._view
    return VersionRows(view, view.latest_version, columns)


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
    return pl.from_arrow(dataset.to_table(columns=["n", "text", "_rowid", "_rowaddr"]))


@pytest.fixture
def view(dataset):
    return latest(dataset)


def test_any_rows_of_a_version_can_be_had(view, expected):
    assert (view.num_rows, view.schema) == (expected.height, expected.schema)
    assert view.slice(5, 12).equals(expected.slice(5, 7))
    assert view.slice(20, 99).equals(expected.slice(20))
    assert view.slice(5, 5).equals(expected.clear())
    assert view.take(pl.Series([9, 0, 3])).equals(expected[[9, 0, 3]])
    assert view.read(["text"]).equals(expected.select("text"))


def test_rows_that_were_read_are_not_read_again(view, expected, monkeypatch):
    assert view.slice(0, 9).equals(expected.head(9))
    with monkeypatch.context() as without:
        without.setattr(row_sources, "take_rows", None)
        assert view.slice(3, 7, ["text", "n"]).equals(expected.slice(3, 4).select("text", "n"))
    assert view.take(pl.Series([8, 9])).equals(expected[[8, 9]])
    assert view.take(pl.Series([9, 8])).equals(expected[[9, 8]])


def test_rows_of_a_version_are_filtered_and_sorted(view, expected):
    shown = arrange(view, "n > 10 OR n IS NULL", (Sort("text", descending=True),), lambda: None)
    wanted = expected.filter((pl.col("n") > 10) | pl.col("n").is_null())
    assert shown.frame().equals(wanted.sort("text", descending=True))
    assert shown.rows(2, 4).equals(wanted.sort("text", descending=True).slice(2, 2))


def test_columns_can_be_chosen(dataset, expected):
    view = latest(dataset, ["text", "_rowaddr"])
    assert view.slice(0, 3).equals(expected.select("text", "_rowaddr").head(3))
    with pytest.raises(InvalidArgumentError, match="no column 'nope'; it has n, text"):
        latest(dataset, ["nope"])


def test_an_older_version_keeps_its_rows(dataset):
    first = VersionRows(lx.open_table(dataset)._view, 1)
    assert (first.num_rows, first.take(pl.Series([29]))["text"].item()) == (30, "row 29")


def test_only_the_columns_that_are_asked_for_are_read(view, expected, dataset):
    assert view.slice(2, 5, ["text"]).equals(expected.select("text").slice(2, 3))
    assert view.take(pl.Series([4, 1]), ["_rowaddr"]).equals(expected.select("_rowaddr")[[4, 1]])
    assert view.slice(2, 5, []).columns == []
    assert view.first_columns(3) == ["n", "_rowid", "_rowaddr"]
    wide = latest(dataset, ["text", "_row_created_at_version"])
    assert wide.slice(0, 1, ["_row_created_at_version"]).shape == (1, 1)


@stored_check()
def check_ids_and_addresses_are_those_of_pylance(asked):
    view = asked.view
    versions = asked.versions
    for version in {versions[0], versions[-1]}:
        rows = VersionRows(view, version).slice(2, 7, ["_rowid", "_rowaddr"])
        dataset = lance.dataset(view.storage.uri, version=version)
        theirs = dataset.to_table(columns=["_rowid", "_rowaddr"], limit=5, offset=2)
        assert rows.equals(pl.DataFrame(theirs))


def test_an_unknown_reader_flag_is_refused_by_name(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3)
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    with pytest.raises(UnsupportedFeatureError, match="unknown_1048576"):
        VersionRows(HistoryView.open(str(table.path)), 1)


def test_types_are_those_of_the_schema_of_the_version(tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"n": [1, 2]}), path)
    lance.dataset(path).delete("n = 1")
    lance.dataset(path).add_columns({"twice": "n * 2"})
    view = lx.open_table(path)._view
    names = [[*VersionRows(view, version).schema][:-2] for version in (1, 2, 3, 2)]
    assert names == [["n"], ["n"], ["n", "twice"], ["n"]]
    assert VersionRows(view, 3).slice(0, 5, ["twice"]).rows() == [(4,)]
