"""What the first notebook shows, against the table, pylance and the story of the sample."""

import ast
import json
from collections import Counter
from collections.abc import Callable

import lance
import polars as pl
import pytest

import lance_explorer as lx
from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("01_explore_a_table.ipynb")


@pytest.fixture(scope="module")
def path(samples) -> str:
    return str(samples[0])


def photos_of(path, version=None) -> pl.DataFrame:
    return pl.DataFrame(lance.dataset(path, version=version).to_table())


def test_the_explorer_begins_with_the_latest_version(notebook, path):
    chosen = ast.literal_eval(notebook.text("explorer.selection"))
    assert (chosen.pop("view"), chosen.pop("version")) == ("overview", lance.dataset(path).version)
    assert not any(chosen.values())


def test_versions_are_those_of_the_table(notebook, path):
    shown = notebook.frame('"rows_deleted",\n    "message"')
    assert shown.equals(lx.open_table(path).versions().select(shown.columns))
    assert shown["num_rows"][-1] == lance.dataset(path).count_rows()


def test_the_picture_has_every_version(notebook, path):
    figure = notebook.picture("lx.figures.history(table)")
    drawn = json.dumps(figure["data"])
    assert len(figure["data"]) > 1
    for message in lx.open_table(path).versions()["message"].drop_nulls():
        assert message in drawn


def test_growth_by_kind_adds_up_to_the_table(notebook, path):
    by_kind = notebook.frame('sort("growth_bytes"')
    versions = lx.open_table(path).versions()
    assert by_kind["commits"].sum() == len(versions)
    assert by_kind["rows_added"].sum() == versions["rows_added"].sum()
    assert by_kind["rows_deleted"].sum() == versions["rows_deleted"].sum()
    assert by_kind["growth_bytes"].sum() == versions["data_bytes"][-1]
    assert by_kind["growth_bytes"].is_sorted(descending=True)


def test_the_tag_opens_its_version(notebook, path):
    version = lance.dataset(path).tags.list()["backup"]["version"]
    assert str(version) in notebook.text('table.at("backup")')


def test_photo_42_has_the_values_that_it_had_in_each_version(notebook, path):
    expected = []
    for version in (5, 11, 25, 26, 28):
        photo = photos_of(path, version).filter(photo_id=42)
        values = photo.select("photo_id", "place", "rating").to_dicts()
        expected.append(f"version {version}: {values or 'not there'}")
    assert notebook.printed("photo_id = 42") == expected
    assert expected[3].endswith("not there")


def test_fragments_have_all_rows(notebook, path):
    now = notebook.frame("table.inspect.fragments()")
    fragments = lance.dataset(path).get_fragments()
    assert now["fragment_id"].to_list() == [fragment.fragment_id for fragment in fragments]
    assert now["num_rows"].to_list() == [fragment.count_rows() for fragment in fragments]
    ever = notebook.frame('"num_deleted_rows", "data_bytes"')
    assert set(now["fragment_id"]) < set(ever["fragment_id"])


def test_states_that_came_back_have_several_intervals(notebook):
    back = notebook.frame('pl.col("state_id").is_duplicated()')
    first, last = back["first_version"].to_list(), back["last_version"].to_list()
    assert len(back) >= 2
    assert all(a <= b for a, b in zip(first, last, strict=True))
    assert 28 in first


def test_data_files_and_columns_are_those_of_pylance(notebook, path):
    files = notebook.frame("table.inspect.data_files()")
    theirs = [file.path for f in lance.dataset(path).get_fragments() for file in f.data_files()]
    assert [p.removeprefix("data/") for p in files["path"]] == theirs
    fields = notebook.frame("all_fields()").filter(pl.col("last_version") == 45)
    assert set(lance.dataset(path).schema.names) <= set(fields["path"])


def test_manifests_are_the_last_five_files(notebook, samples):
    shown = notebook.frame("manifests().tail(5)")
    sizes = [(samples[0] / file).stat().st_size for file in shown["path"]]
    assert shown["manifest_bytes"].to_list() == sizes
    assert shown["version"].to_list() == [41, 42, 43, 44, 45]


def test_queries_count_what_pylance_counts(notebook, path):
    by_operation = notebook.frame("GROUP BY operation")
    versions = lx.open_table(path).versions()
    assert dict(by_operation.select("operation", "commits").rows()) == Counter(
        versions["operation"]
    )
    by_album = notebook.frame("GROUP BY album")
    photos = photos_of(path).group_by("album").agg(pl.len(), pl.col("rating").mean())
    assert sorted(by_album.rows()) == sorted(photos.rows())


def test_the_branch_has_its_own_versions(notebook, path):
    shown = notebook.frame("faces.versions()")
    branch = lance.dataset(path).checkout_version(("faces", None))
    assert shown["version"].to_list() == [version["version"] for version in branch.versions()]
    assert shown["num_rows"][-1] == branch.count_rows()
    assert set(shown["branch"]) == {"faces"}


def test_nothing_is_missing_and_nothing_is_wrong(notebook):
    assert notebook.frame("table.inspect.gaps()").is_empty()
    assert "error" not in notebook.frame("table.inspect.findings()")["severity"]
