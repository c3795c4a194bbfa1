"""Settings of indices as rows, and clusterings among the entries of a version."""

import json

import lance
import polars as pl

import lance_explorer as lx
from lance_explorer.format._pb import index_pb2, table_pb2
from tests.format import samples
from tests.synthetic.tables import SyntheticTable


def test_settings_of_a_vector_index_are_what_pylance_describes(tmp_path):
    table = lance.write_dataset(samples.rows(0, 300), tmp_path / "t.lance")
    table.create_index(
        "vector", "IVF_HNSW_PQ", name="near", num_partitions=1, num_sub_vectors=2, metric="dot"
    )
    [described] = table.describe_indices()
    settings = lx.open_table(tmp_path / "t.lance").inspect.index_settings()
    values = dict(settings.select("setting", "value").rows())
    assert set(settings["index_type"]) == {"IVF_HNSW_PQ"}
    assert values["metric_type"] == described.details["metric_type"] == "DOT"
    graph = described.details["hnsw"]
    assert int(values["hnsw.max_connections"]) == graph["max_connections"]
    assert values["compression.type"] == "pq"
    hints = described.details["runtime_hints"]
    assert {name: values[f"runtime_hints.{name}"] for name in hints} == hints


def test_each_segment_has_its_settings(tmp_path):
    path = tmp_path / "t.lance"
    table = lance.write_dataset(samples.rows(0, 300), path)
    table.create_scalar_index("kind", "INVERTED", name="words")
    lance.write_dataset(samples.rows(0, 300), path, mode="append")
    table = lance.dataset(path)
    table.optimize.optimize_indices(num_indices_to_merge=0)
    settings = lx.open_table(path).inspect.index_settings().filter(setting="stem")
    assert settings["name"].to_list() == ["words", "words"]
    assert settings["uuid"].n_unique() == 2
    assert settings["value"].to_list() == ["true", "true"]


def test_settings_that_cannot_be_read_have_no_rows(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3)
    table.create_index("a_idx", [0])
    frame = lx.open_table(table.path).inspect.index_settings()
    assert frame.is_empty()


def test_clusterings_are_entries_of_a_version(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance").append(rows=3)
    table.state.manifest.clustering.append(
        table_pb2.Clustering(id=4, columns=[0, 1], provider="hilbert", version=2)
    )
    table.append(rows=1)
    config = lx.open_table(table.path).inspect.config()
    [value] = config.filter(pl.col("map") == "clustering", key="4")["value"]
    assert json.loads(value) == {"id": 4, "columns": [0, 1], "provider": "hilbert", "version": 2}


def test_covering_fields_leave_rows_readable_and_are_named(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=3)
    table.create_index("a_idx", [0])
    index = table.state.indices[0]
    index.covering_fields.append(0)
    index.metadata["k"] = "v"
    section = index_pb2.IndexSection(indices=[index]).SerializeToString()

    def flag(message: table_pb2.ManifestEnvelope) -> None:
        message.reader_feature_flags |= 8192
        message.writer_feature_flags |= 8192

    table.amend(flag, index_section=section)
    opened = lx.open_table(table.path)
    [row] = opened.inspect.indices().rows(named=True)
    assert row["covering_fields"] == row["fields"] != []
    assert row["metadata"] == '{"k": "v"}'
    assert opened.at(-1).row_ids().height == 3
    assert "covering_fields" in opened.versions()["reader_flags"][-1]
