"""A frame that each fragment tells alone: tasks make it of some fragments each."""

import polars as pl
import pytest

from lance_explorer.spark.metadata_frames import BY_FRAGMENT, SERVED
from lance_explorer.spark.metadata_source import MetadataSource
from tests.spark.engines import Local, OnSpark, as_local
from tests.stored_tables import parts_of
from tests.synthetic.tables import SyntheticTable

pytestmark = pytest.mark.sampled(3)


def in_parts(path: str, name: str, **options: str) -> list[pl.DataFrame]:
    """Return what each task reads, of about two fragments."""
    given = {"path": path, "frame": name, "fragments_per_partition": "2", **options}
    source = MetadataSource(given)
    reader = source.reader(source.schema())
    tasks = [list(reader.read(piece)) for piece in reader.partitions()]
    frames = [pl.concat([pl.DataFrame(batch) for batch in task]) for task in tasks if task]
    return [frame.drop("table") for frame in frames]


def lines(frame: pl.DataFrame, schema: pl.Schema) -> list[str]:
    return sorted(map(repr, frame.cast(schema).rows()))


def test_parts_add_up_to_the_whole(stored_table):
    for root in parts_of(stored_table):
        for frame in sorted(BY_FRAGMENT):
            expected = Local().frame(str(root), frame)
            parts = in_parts(str(root), frame)
            found = pl.concat(parts) if parts else expected.clear()
            assert lines(found, expected.schema) == lines(expected, expected.schema), frame


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> str:
    """A table of nine fragments, of which some changed."""
    table = SyntheticTable(tmp_path_factory.mktemp("many") / "t.lance")
    for _ in range(9):
        table.append(rows=4)
    table.delete({0: [1], 5: [2, 3], 8: [0]})
    return str(table.path)


def test_each_task_has_some_fragments(many):
    parts = in_parts(many, "row_id_segments")
    assert [frame["fragment_id"].unique().sort().to_list() for frame in parts] == [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
        [8],
    ]


def test_an_earlier_version_is_shared_out_too(many):
    found = pl.concat(in_parts(many, "fragments", version="7"))
    assert found["fragment_id"].sort().to_list() == list(range(7))
    assert found["num_deleted_rows"].sum() == 0


@pytest.mark.parametrize("name", ["all_fragments", "row_id_encodings", "all_deletions"])
def test_spark_makes_one_frame_of_the_parts(spark, many, name):
    reader = spark.read.format("lance_explorer.metadata").option("fragments_per_partition", 2)
    found = reader.option("frame", name).load(many)
    assert found.rdd.getNumPartitions() > 2
    expected = Local().frame(many, name)
    schema = pl.Schema({"table": pl.String(), **expected.schema})
    assert lines(as_local(found, schema).drop("table"), expected.schema) == lines(
        expected, expected.schema
    )


def test_the_graph_and_all_checks_are_frames_too(spark, many):
    import lance_explorer as lx

    table = lx.open_table(many)
    for name, expected in (
        ("lineage_edges", table.lineage().edges()),
        ("lineage_states", table.lineage().states()),
        ("checks", table.check()),
    ):
        found = lx.spark.metadata(spark, many, name)
        schema = pl.Schema({"table": pl.String(), **SERVED[name].polars_schema})
        assert as_local(found, schema).drop("table").equals(expected), name


def test_the_same_engine_reads_every_frame_by_fragment(spark, many):
    for name in ("fragments", "data_files"):
        assert OnSpark(spark).frame(many, name).equals(Local().frame(many, name))
