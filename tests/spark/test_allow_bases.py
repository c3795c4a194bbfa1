"""Tables whose files lie elsewhere: refused by each source, and read where it is allowed."""

import json
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException

import lance_explorer as lx

SOURCES = {
    "rows": {},
    "content": {},
    "changes": {"begin_version": "0", "images": "after"},
}


@pytest.fixture(scope="module")
def places(tmp_path_factory) -> tuple[str, str]:
    """A table, and the folder elsewhere that its rows are in."""
    folder = tmp_path_factory.mktemp("bases")
    path, files = folder / "tables" / "t.lance", folder / "files"
    base = lance.DatasetBasePath(str(files), name="files")
    for each in (path.parent, files):
        each.mkdir()
    rows = pa.table({"id": [1, 2, 3]})
    table = lance.write_dataset(rows, path, initial_bases=[base], target_bases=["files"])
    table.delete("id = 2")
    return str(path), str(files)


def read(spark, source: str, path: str, **options: str):
    reader = spark.read.format(f"lance_explorer.{source}").options(**options)
    return reader.load(path).collect()


@pytest.mark.parametrize("source", SOURCES)
def test_a_source_refuses_rows_elsewhere_and_reads_them_where_it_is_allowed(spark, places, source):
    path, files = places
    with pytest.raises(PySparkException, match=r"base path 1 of the manifest: .*not opened"):
        read(spark, source, path, **SOURCES[source])
    allowed = json.dumps([files])
    assert read(spark, source, path, allow_bases=allowed, **SOURCES[source])
    assert read(spark, source, path, allow_bases=files, **SOURCES[source])


def test_metadata_show_and_findings_tell(spark, places):
    path, files = places
    assert lx.spark.metadata(spark, [path], "versions").count() == 2
    codes = [row["code"] for row in lx.spark.metadata(spark, [path], "findings").collect()]
    assert codes == ["base_not_allowed"]
    allowed = lx.spark.metadata(spark, [path], "findings", allow_bases=[files])
    assert allowed.count() == 0


def test_changes_take_their_leave_along(spark, places):
    path, files = places
    changes = lx.open_table(Path(path), allow_bases=[files]).changes(0, images="after")
    rows = lx.spark.changes_to_spark(spark, changes).select("id").collect()
    assert sorted(row["id"] for row in rows) == [1, 3]


def test_what_is_no_clear_place_is_refused(spark, places):
    with pytest.raises(PySparkException, match="not clear which place 'file:/etc' is"):
        read(spark, "rows", places[0], allow_bases="file:/etc")
