"""Bytes of manifests: the parts of a bar add up to the file."""

import polars as pl
import pytest

from lance_explorer.figures.manifest_bytes import manifest_bytes
from lance_explorer.figures.palette import PART_COLORS
from lance_explorer.inspect.manifests import MANIFESTS
from lance_explorer.table import open_table
from tests.figures.pictures import hovers, note, size_of
from tests.stored_tables import is_main, stored_check
from tests.synthetic import SyntheticTable


@pytest.fixture(scope="module")
def manifests(tmp_path_factory) -> pl.DataFrame:
    table = SyntheticTable(tmp_path_factory.mktemp("manifests")).append(rows=30)
    for _ in range(9):
        table.append(rows=2).delete({0: [table.version]})
    return open_table(table.path).inspect.manifests()


def repeated(manifests: pl.DataFrame, count: int) -> pl.DataFrame:
    copies = [
        manifests.with_columns(pl.col("version") + start)
        for start in range(0, count, len(manifests))
    ]
    return pl.concat(copies).head(count)


@pytest.mark.parametrize("count", [1, 19, 400])
def test_parts_of_a_bar_add_up_to_the_file(manifests, count):
    frame = repeated(manifests, count)
    bars = manifest_bytes(frame).data
    assert all(list(bar.x) == frame["version"].to_list() for bar in bars)
    sums = [sum(parts) for parts in zip(*(bar.y for bar in bars), strict=True)]
    assert sums == frame["manifest_bytes"].to_list()


def test_every_part_of_the_frame_has_a_colour():
    parts = [name for name in MANIFESTS.names if name.endswith("_bytes")]
    assert len(parts) - 1 == len(set(PART_COLORS.values())) == len(PART_COLORS)


def test_of_many_versions_the_last_of_several_is_drawn_and_the_picture_says_so(manifests):
    figure = manifest_bytes(repeated(manifests, 3_000))
    assert list(figure.data[0].x)[:3] == [8, 16, 24]
    assert note(figure).endswith("; 375 of them drawn, the last of every 8 versions")
    assert size_of(figure) < 300_000


def test_parts_that_are_nowhere_are_left_out(tmp_path):
    table = SyntheticTable(tmp_path, stable_row_ids=False).append().append()
    names = {bar.name for bar in manifest_bytes(open_table(table.path).inspect.manifests()).data}
    assert {"row IDs", "row versions", "indices"}.isdisjoint(names)
    assert {"fragments", "schema", "rest"} <= names


def test_pointing_at_a_part_tells_its_size(manifests):
    size, whole = manifests.select("fragments_bytes", "manifest_bytes").row(0)
    assert whole < 1_000
    assert hovers(manifest_bytes(manifests))[0] == (
        f"<b>version 1</b><br>fragments: {size} bytes of {whole} bytes"
    )


def test_no_manifests_are_an_empty_picture():
    assert note(manifest_bytes(MANIFESTS.polars_schema.to_frame())) == "0 manifests, 0 bytes"


@stored_check(is_main)
def check_every_stored_table_has_a_picture(asked):
    manifests = asked.table.inspect.manifests()
    assert list(manifest_bytes(manifests).data[0].x) == manifests["version"].to_list()
