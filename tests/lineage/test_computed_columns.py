"""Computed columns and views of LanceDB in OpenLineage events, and their files on disk."""

import json
from typing import Any

import lancedb
import pyarrow as pa
import pytest
from openlineage.client.serde import Serde

import lance_explorer as lx


@pytest.fixture
def database(tmp_path) -> Any:
    options = {"new_table_enable_stable_row_ids": "true"}
    database = lancedb.connect(tmp_path, storage_options=options)
    table = database.create_table("t", pa.table({"x": [1, 2, 3], "y": [1.0, 2.0, 3.0]}))
    table.add_columns(computed={"c": "x * 2"})
    table.refresh_column("c")
    return database


def events(uri: Any) -> list[Any]:
    found = lx.open_table(uri).lineage().to_openlineage("team")
    return [json.loads(Serde.to_json(event)) for event in found]


def test_columns_name_the_columns_that_they_are_made_of(database, tmp_path):
    first, *later = events(tmp_path / "t.lance")
    assert "columnLineage" not in first["outputs"][0]["facets"]
    for event in later:
        [output] = event["outputs"]
        fields = output["facets"]["columnLineage"]["fields"]
        assert list(fields) == ["c"]
        [made_of] = fields["c"]["inputFields"]
        assert (made_of["namespace"], made_of["name"]) == (output["namespace"], output["name"])
        assert made_of["field"] == "x"
        assert made_of["transformations"][0]["description"] == "x * 2"


def test_the_source_of_a_view_is_an_input_where_it_was_computed(database, tmp_path):
    view = database.create_materialized_view("v", "t", select=["x"], where="x > 1")
    database.open_table("t").add(pa.table({"x": [9], "y": [9.0]}))
    view.refresh()
    source = str(tmp_path / "t.lance")
    read = [
        facets["version"]["datasetVersion"]
        for event in events(tmp_path / "v.lance")
        for name, facets in [(one["name"], one["facets"]) for one in event["inputs"]]
        if name == source
    ]
    assert read == ["4", "5"]


def test_signatures_belong_to_the_versions_that_name_them(database, tmp_path):
    table = database.open_table("t")
    table.add(pa.table({"x": [9], "y": [9.0]}))
    table.refresh_column("c")
    files = lx.open_table(tmp_path / "t.lance").inspect.storage().filter(kind="computed")
    assert sorted(files["status"]) == ["live", "old"]
    assert files["path"].str.starts_with("_computed/").all()
    assert len(files) == len(list((tmp_path / "t.lance/_computed").iterdir()))
