"""What is on disk, as a picture: the parts of a bar add up to the bytes of its kind."""

import polars as pl

import lance_explorer as lx
from lance_explorer.disk.owners import STATUSES
from lance_explorer.figures.disk_usage import disk_growth, disk_usage
from lance_explorer.figures.palette import STATUS_COLORS
from tests.format.samples import DATA


def test_parts_add_up_to_the_bytes_of_each_kind() -> None:
    summary = lx.open_table(DATA / "14.0.2" / "branches.lance").disk_usage().summary()
    bars = disk_usage(summary).data
    kinds = list(bars[0].y)
    sums = [sum(parts) for parts in zip(*(bar.x for bar in bars), strict=True)]
    expected = summary.group_by("kind").agg(pl.col("size_bytes").sum())
    assert dict(zip(kinds, sums, strict=True)) == dict(
        expected.select(pl.col("kind").cast(pl.String), "size_bytes").iter_rows()
    )


def test_each_status_that_takes_space_has_a_colour() -> None:
    assert {*STATUS_COLORS} == {*STATUSES} - {"missing"}


def test_nothing_is_drawn_of_nothing() -> None:
    summary = lx.open_table(DATA / "14.0.2" / "one_version.lance").disk_usage().summary()
    assert not disk_usage(summary.clear()).data


def test_areas_over_versions_add_up_to_what_versions_need() -> None:
    versions = lx.open_table(DATA / "14.0.2" / "branches.lance").disk_usage().versions()
    known = versions.drop_nulls("version")
    areas = disk_growth(versions).data
    assert list(areas[0].x) == known["version"].to_list()
    sums = [sum(parts) for parts in zip(*(area.y for area in areas), strict=True)]
    assert sums == known["total_bytes"].to_list()
