"""However a feed is cut into batches and parts, it is the same feed."""

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.changes.change_feed import Changes
from lance_explorer.changes.row_shares import _borders
from lance_explorer.rowids.arrays import MAX_U64
from tests.changes.parts import as_parts_of
from tests.differential.twin import Keys, Twin

pytestmark = pytest.mark.sampled(3)

GAPS = {"all kept": [], "one gap": [3, 4, 5], "two gaps": [2, 3, 5, 7, 8], "no beginning": [1, 2]}
SIZES = (1, 1000)


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "plain"])
def twins(request, tmp_path_factory) -> dict[str, Twin]:
    """One life of every kind of commit, with other versions lost each time."""
    folder = tmp_path_factory.mktemp("parts")
    twins = {}
    for number, (name, lost) in enumerate(GAPS.items()):
        twin = Twin.create(str(folder / f"{number}.lance"), 6, stable_row_ids=request.param)
        twin.append(2)
        twin.update(Keys(4, 1))
        twin.upsert(Keys(5, 2), 1)
        twin.append(1)
        twin.update(Keys(3, 2))
        twin.delete(Keys(6, 5))
        twin.compact()
        twin.update(Keys(2, 0))
        twin.restore(6)
        twin.update(Keys(5, 0))
        if lost:
            twin.clean_up(versions=lost)
        twins[name] = twin
    return twins


def joined(changes: Changes, batch_size: int, num_rows: int | None = None) -> pl.DataFrame:
    """Return the batches of a feed, or of all its parts."""
    found = []
    for part in [None] if num_rows is None else changes.parts(num_rows):
        batches = [*changes.batches(batch_size, part=part, progress=False)]
        assert all(0 < len(batch) <= batch_size for batch in batches)
        found.append(pl.concat([changes.schema.to_frame(), *batches]))
    return found[0] if num_rows is None else as_parts_of(changes.to_polars(), found, changes.mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["net", "per_commit"])
@pytest.mark.parametrize("gap", GAPS)
def test_a_feed_is_the_same_in_batches_and_in_parts(twins, gap, mode):
    table = lx.open_table(twins[gap].uri)
    for begin in (0, 6):
        changes = table.changes(begin, mode=mode, include=("moved",))
        whole = changes.to_polars()
        assert len(whole)
        for size in SIZES:
            assert_frame_equal(joined(changes, size), whole)
        assert_frame_equal(joined(changes, 5, 3), whole)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["net", "per_commit"])
@pytest.mark.parametrize("gap", GAPS)
def test_values_do_not_depend_on_what_they_are_read_with(twins, gap, mode):
    table = lx.open_table(twins[gap].uri)
    first = int(table.versions()["version"][0])
    changes = table.changes(first, mode=mode, images="both", columns=["key", "value"])
    whole = changes.to_polars()
    for size, num_rows in ((1, None), (4, 3)):
        assert_frame_equal(joined(changes, size, num_rows), whole)


@pytest.mark.slow
@pytest.mark.parametrize("stable", [True, False])
@pytest.mark.parametrize("is_replaced", [True, False])
def test_rows_are_shared_out_where_they_tell_what_became_of_them(tmp_path, stable, is_replaced):
    path = str(tmp_path / "t.lance")
    table = lance.write_dataset(
        pa.table({"id": range(60), "x": [0] * 60}),
        path,
        max_rows_per_file=10,
        enable_stable_row_ids=stable,
    )
    table.update({"x": "x + 1"}, where="id % 7 = 0")
    table.delete("id % 11 = 1")
    table.optimize.compact_files(target_rows_per_fragment=25)
    if is_replaced:
        table.drop_columns(["x"])
        table.add_columns({"x": "id * 2"})
    table.insert(
        pa.table({"id": range(60, 75), "x": pa.array([1] * 15, table.schema.field("x").type)})
    )
    for begin in (0, 1, 3):
        for options in ({"images": "both"}, {"images": None, "include": ("moved",)}):
            changes = lx.open_table(path).changes(begin, **options)
            parts = changes.parts(3)
            assert len(parts) > 2
            assert all(part.share is not None for part in parts)
            assert_frame_equal(joined(changes, 5, 3), changes.to_polars())
            commits = lx.open_table(path).changes(begin, mode="per_commit", **options)
            large = [part for part in commits.parts(3) if part.share is not None]
            assert len(large) > 2
            assert {part.end - part.begin for part in large} == {1}
            assert_frame_equal(joined(commits, 5, 3), commits.to_polars())


def test_a_key_pairs_rows_of_all_parts(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(60), "x": [0] * 60}), path, max_rows_per_file=10)
    table = lance.write_dataset(
        pa.table({"id": range(30, 90), "x": [1] * 60}), path, mode="overwrite"
    )
    changes = lx.open_table(path).changes(1, key="id", images="both")
    assert_frame_equal(joined(changes, 5, 7), changes.to_polars())
    assert len(changes.parts(7)) > len(changes.without_values().parts(7)) == 1
    assert len(changes.to_polars().filter(_change_type="update_postimage")) == 30
    from_nothing = lx.open_table(path).changes(0, key="id")
    assert all(part.share is not None for part in from_nothing.parts(7))
    assert_frame_equal(joined(from_nothing, 5, 7), from_nothing.to_polars())
    assert table.count_rows() == len(from_nothing.to_polars())


@pytest.mark.parametrize("gap", GAPS)
def test_commits_are_in_order_and_both_images_name_the_same_columns(twins, gap):
    table = lx.open_table(twins[gap].uri)
    lines = table.changes(0, mode="per_commit", images="both").to_polars()
    assert lines["_commit_version"].drop_nulls().is_sorted()
    images = lines.filter(pl.col("_change_type").cast(pl.String).str.starts_with("update"))
    keys = ("_commit_version", "_rowaddr_before", "_rowaddr_after")
    assert set(
        images.group_by(keys).agg(pl.col("changed_columns").n_unique())["changed_columns"]
    ) <= {1}
    known = images.filter(pl.col("_rowaddr_before").is_not_null())
    assert known["changed_columns"].null_count() == 0
    unknown = images.filter(pl.col("_rowaddr_before").is_null())
    assert unknown["changed_columns"].null_count() == len(unknown)


@pytest.mark.parametrize("num_rows", [1, 2, 3, 8])
def test_parts_of_commits_follow_one_another_and_none_is_empty(twins, num_rows):
    parts = lx.open_table(twins["all kept"].uri).changes(0, mode="per_commit").parts(num_rows)
    stretches = [*dict.fromkeys((part.begin, part.end) for part in parts)]
    assert all(begin < end for begin, end in stretches)
    assert [end for _, end in stretches[:-1]] == [begin for begin, _ in stretches[1:]]


def test_rows_from_before_a_lost_compaction_that_a_restore_brings_back_are_uncertain(tmp_path):
    twin = Twin.create(str(tmp_path / "t.lance"), 10, stable_row_ids=False)
    twin.compact()
    twin.append(6)
    twin.clean_up(versions=[2])
    twin.compact()
    twin.restore(4)
    twin.clean_up(versions=[3, 4])
    twin.restore(1)
    found = lx.open_table(twin.uri).changes(7, 8).to_polars()
    came = found.filter(pl.col("_change_type") == "insert")
    assert (len(came), came["is_uncertain"].all()) == (10, True)
    gone = found.filter((pl.col("_change_type") == "delete") & (pl.col("key") < 10))
    assert (len(gone), gone["is_uncertain"].all()) == (10, True)


def test_rows_are_shared_out_however_large_their_row_ids_are():
    top = (1 << 64) - 2
    low = np.array([0, top - 1, top], dtype=np.uint64)
    high = np.array([9, top - 1, top], dtype=np.uint64)
    borders = _borders(low, high, np.array([10.0, 1.0, 1.0]), 5)
    assert borders == sorted({*borders})
    assert all(0 < border < MAX_U64 for border in borders)
    assert 5 in borders
