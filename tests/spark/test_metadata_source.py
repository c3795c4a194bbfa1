"""Metadata of one table and of many, decoded in the tasks."""

import json
import shutil
from dataclasses import replace

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.inspect.catalogue import FRAMES
from lance_explorer.spark.metadata_source import MetadataSource, _MetadataReader
from tests.spark.engines import Local, OnSpark

pytestmark = pytest.mark.sampled(3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Five tables of one to five versions."""
    folder = tmp_path_factory.mktemp("tables")
    for number in range(1, 6):
        path = folder / f"table_{number}.lance"
        for _ in range(number):
            lance.write_dataset(pa.table({"id": [1, 2]}), str(path), mode="append")
    return folder


@pytest.mark.parametrize("name", FRAMES)
def test_every_frame_is_the_same_on_spark(name, folder):
    path = str(folder / "table_5.lance")
    source = MetadataSource({"path": path, "frame": name})
    reader = source.reader(source.schema())
    [piece] = reader.partitions()
    batches = list(reader.read(piece))
    expected = Local().frame(path, name)
    assert sum([batch.num_rows for batch in batches]) == len(expected)
    assert source.schema().names == ["table", *expected.columns]


@pytest.mark.parametrize("name", ["versions", "all_fragments", "transactions", "findings"])
def test_values_are_the_same_on_spark(spark, folder, name):
    path = str(folder / "table_5.lance")
    assert OnSpark(spark).frame(path, name).equals(Local().frame(path, name))


def test_versions_that_are_detached_are_exact(spark, request):
    path = str(request.config.rootpath / "tests" / "data" / "14.0.2" / "detached.lance")
    found = lx.spark.metadata(spark, path, "detached").select("version").collect()
    expected = Local().frame(path, "detached")["version"].to_list()
    assert [int(row["version"]) for row in found] == expected
    assert min(expected) >= 2**63


def test_a_folder_of_tables_is_one_frame(spark, folder):
    found = pl.DataFrame(lx.spark.metadata(spark, str(folder), "versions").toArrow())
    counts = found.group_by("table").len().sort("table")
    assert counts.rows() == [(str(folder / f"table_{n}.lance"), n) for n in range(1, 6)]


def test_tables_can_be_listed_by_uri(spark, folder):
    paths = [str(folder / f"table_{n}.lance") for n in (4, 2)]
    found = lx.spark.metadata(spark, paths, "fragments").groupBy("table").count()
    assert dict(found.collect()) == dict(zip(paths, (4, 2), strict=True))


def test_small_tables_share_a_task_and_a_large_one_has_its_own(folder):
    source = MetadataSource({"path": str(folder), "frame": "versions"})
    [together] = source.reader(source.schema()).partitions()
    sizes = [replace(piece, manifest_bytes=n << 20) for n, piece in enumerate(together.value, 30)]
    grouped = _MetadataReader("versions", sizes, 32, source.schema()).partitions()
    assert [len(group.value) for group in grouped] == [2, 1, 1, 1]
    by_two = MetadataSource({"path": str(folder), "frame": "versions", "tables_per_partition": "2"})
    groups = by_two.reader(by_two.schema()).partitions()
    assert [len(group.value) for group in groups] == [2, 2, 1]


def test_a_version_is_looked_at_as_if_it_were_the_latest(spark, folder):
    reader = spark.read.format("lance_explorer.metadata").options(frame="fragments", version=2)
    assert reader.load(str(folder / "table_5.lance")).count() == 2


def test_a_table_that_cannot_be_opened_is_a_finding(spark, folder, tmp_path):
    shutil.copytree(folder / "table_3.lance", tmp_path / "good.lance")
    (tmp_path / "bad.lance").mkdir()
    found = lx.spark.metadata(spark, str(tmp_path), "findings").collect()
    bad = [row for row in found if row["table"].endswith("bad.lance")]
    assert [row["code"] for row in bad] == ["unreadable_table"]
    with pytest.raises(Exception, match=r"bad\.lance: no Lance table"):
        lx.spark.metadata(spark, str(tmp_path), "versions").collect()


def test_lines_of_tables_are_those_of_the_database(spark, folder, tmp_path):
    for number in (1, 2):
        shutil.copytree(folder / f"table_{number}.lance", tmp_path / f"t{number}.lance")
    (tmp_path / "bad.lance").mkdir()
    database = lx.open_database(tmp_path)
    found = lx.spark.metadata(spark, str(tmp_path), "tables").collect()
    lines = {row["name"]: row.asDict() for row in found}
    for line in database.tables().iter_rows(named=True):
        told = lines.pop(line["name"])
        assert told["table"] == line["uri"]
        for name in ("num_rows", "size_bytes", "live_bytes", "num_versions", "worst", "growth"):
            assert told[name] == line[name], name
        assert (told["problem"] is None) == (line["problem"] is None)
    assert lines == {}
    good = [str(tmp_path / f"t{number}.lance") for number in (1, 2)]
    usage = lx.spark.metadata(spark, good, "disk_usage").collect()
    kinds = database.disk_usage().kinds().filter(pl.col("name") != "bad")
    assert sum(row["size_bytes"] for row in usage) == kinds["size_bytes"].sum()


def test_options_that_do_not_fit_are_told_at_once(folder, tmp_path):
    for options, message in (
        ({"path": str(folder)}, "needs frame"),
        ({"path": str(folder), "frame": "rows"}, "no frame 'rows'"),
        ({"path": str(folder), "frame": "versions", "version": "1"}, "these are several"),
        ({"path": json.dumps([]), "frame": "versions"}, "no table in the list"),
    ):
        with pytest.raises(lx.InvalidArgumentError, match=message):
            MetadataSource(options)
    with pytest.raises(lx.TableNotFoundError):
        MetadataSource({"path": str(tmp_path), "frame": "versions"})


def test_checks_look_as_deep_as_they_are_asked_to(spark, folder):
    path = str(folder / "table_5.lance")
    found = lx.spark.metadata(spark, path, "checks", depth="values")
    expected = lx.open_table(path).check(depth="values")
    assert sorted(row.code for row in found.collect()) == sorted(expected["code"])
    many = MetadataSource({"path": str(folder), "frame": "checks", "depth": "values"})
    assert len(many.reader(many.schema()).partitions()) == 5


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"frame": "versions", "depth": "deep"}, "depth is only for the frame checks"),
        ({"frame": "checks", "depth": "deeper"}, "depth is one of"),
    ],
)
def test_a_depth_that_does_not_fit_is_told(folder, options, told):
    with pytest.raises(lx.InvalidArgumentError, match=told):
        MetadataSource({"path": str(folder), **options})
