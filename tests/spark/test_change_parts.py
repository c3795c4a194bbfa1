"""Parts of a feed: whatever their size, together they are the feed."""

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.spark.change_parts import ChangesQuery
from lance_explorer.spark.changes_source import ChangesSource, _ChangesReader
from tests.changes.parts import as_parts_of

pytestmark = pytest.mark.sampled(3)


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("changes") / "t.lance")
    table = lance.write_dataset(
        pa.table({"id": range(100), "x": [0.5] * 100}),
        path,
        max_rows_per_file=30,
        enable_stable_row_ids=True,
    )
    table.update({"x": "x + 1"}, where="id % 3 = 0")
    table.delete("id % 10 = 1")
    table.insert(pa.table({"id": range(100, 150), "x": [1.5] * 50}))
    table.optimize.compact_files()
    lance.dataset(path, version=3).restore()
    return path


@pytest.mark.parametrize("size", [1, 7, 40, 10_000])
@pytest.mark.parametrize("mode", ["net", "per_commit"])
@pytest.mark.parametrize("begin", [0, 1, 4])
def test_parts_are_the_feed(path, size, mode, begin):
    changes = lx.open_table(path).changes(begin, mode=mode, images="both", include=("moved",))
    whole = changes.to_polars()
    parts = [
        pl.concat([whole.clear(), *changes.batches(5, progress=False, part=part)])
        for part in changes.parts(size)
    ]
    assert as_parts_of(whole, parts, changes.mode).equals(whole)


def test_small_parts_are_many(path):
    changes = lx.open_table(path).changes(0, mode="per_commit")
    assert len(changes.parts(10)) > len(changes.parts(60)) > len(changes.parts(10_000)) == 1


def test_a_part_that_is_read_twice_is_the_same(path):
    source = ChangesSource({"path": path, "begin_version": "1", "rows_per_partition": "20"})
    reader = source.reader(source.schema())
    pieces = reader.partitions()
    assert len(pieces) > 1
    for piece in pieces:
        assert list(reader.read(piece)) == list(reader.read(piece))


def test_columns_that_have_other_names_in_the_feed_are_read(tmp_path):
    for tags in (["a"], [["b"]]):
        rows = pa.table({"evidence": ["mine"], "tags": tags})
        lance.write_dataset(rows, tmp_path, mode="overwrite")
    source = ChangesSource({"path": str(tmp_path), "begin_version": "1", "images": "both"})
    names = ["_change_type", "evidence", "evidence_", "tags", "tags@1"]
    whole = source.schema()
    reader = source.reader(type(whole)([whole[name] for name in names]))
    [piece] = reader.partitions()
    lines = pl.concat([pl.DataFrame(batch) for batch in reader.read(piece)])
    assert lines.rows() == [
        ("delete", "recorded", "mine", None, "a"),
        ("insert", "recorded", "mine", ["b"], None),
    ]


def query_of(source: ChangesSource) -> ChangesQuery:
    reader = source.reader(source.schema())
    assert isinstance(reader, _ChangesReader)
    return reader._query


def test_a_worker_keeps_an_answer_while_its_table_stays(path):
    source = ChangesSource({"path": path, "begin_version": "1"})
    query = query_of(source)
    kept = query.changes()
    assert query.changes() is kept
    other = ChangesSource({"path": path, "begin_version": "1", "end_version": "2"})
    assert query_of(other).changes().end_version == 2
    assert query.changes() is not kept
    assert query.changes().to_polars().equals(kept.to_polars())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs begin_version"),
        ({"begin_version": "1", "max_versions_per_batch": "2"}, "is for streams"),
        ({"begin_version": "1", "mode": "gross"}, "mode is one of"),
        ({"begin_version": "1", "tolerance": "much"}, "tolerance is a number"),
        ({"begin_version": "3", "end_version": "2"}, "swap them"),
        ({"begin_version": "1", "images": "after", "columns": "y"}, "no column 'y'"),
    ],
)
def test_options_that_do_not_fit_are_told_before_a_task_runs(path, options, message):
    def ask():
        source = ChangesSource({"path": path, **options})
        source.reader(source.schema())

    with pytest.raises(lx.LanceExplorerError, match=message):
        ask()
