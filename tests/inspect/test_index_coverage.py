from dataclasses import replace
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from lance.file import LanceFileReader
from msgspec import structs

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.index_coverage import INDEX_COVERAGE, index_coverage
from tests.history.compactions import deferred_rounds, places
from tests.inspect.tables import rows_of, stored
from tests.stored_tables import stored_check

COUNTS = ("num_rows_answered", "num_rows_to_scan", "num_stale_entries")


def people(*ids: int) -> pa.Table:
    return pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "name": [f"name {id_}" for id_ in ids],
            "score": [float(id_) for id_ in ids],
        }
    )


class IndexedTable:
    """Rows 1, 2, 3 in fragment 0 and 4, 5 in fragment 1, with indices on name and id."""

    def __init__(self, path: str, *, stable: bool) -> None:
        self.path = path
        self.dataset: Any = lance.write_dataset(people(1, 2, 3), path, enable_stable_row_ids=stable)
        self.dataset.insert(people(4, 5))
        self.dataset.create_scalar_index("name", "BITMAP")
        self.dataset.create_scalar_index("id", "BTREE")

    def coverage(self, name: str, version: int | None = None) -> list[tuple[object, ...]]:
        """Return for each fragment: whether it is current, covered, and the three counts."""
        view = HistoryView.open(self.path)
        frame = index_coverage(view, version or view.latest_version).filter(name=name)
        return rows_of(frame, "fragment_id", "is_current", "is_covered", *COUNTS)

    def stale_in_file(self, name: str) -> int:
        """Count the entries of a BTREE whose row is not at its address any more."""
        entries = []
        for index in self.dataset.describe_indices():
            if index.name == name:
                for segment in index.segments:
                    file = f"{self.path}/_indices/{segment.uuid}/page_data.lance"
                    entries += LanceFileReader(file).read_all().to_table()["ids"].to_pylist()
        rows = self.dataset.scanner(columns=[], with_row_address=True).to_table()
        return len(set(entries) - set(rows["_rowaddr"].to_pylist()))


@pytest.fixture
def table(tmp_path):
    return IndexedTable(str(tmp_path / "stable"), stable=True)


@pytest.fixture
def table_of_addresses(tmp_path):
    return IndexedTable(str(tmp_path / "addresses"), stable=False)


# ------------------------------------------------------------ the two examples of the specification


def test_an_index_keeps_covering_a_row_that_was_updated_in_another_column(table):
    table.dataset.update({"score": "score + 100"}, where="id = 2")
    assert table.coverage("name_idx") == [
        (0, True, True, 2, 0, 0),
        (1, True, True, 2, 0, 0),
        (2, True, True, 1, 0, 0),
    ]


def test_an_index_does_not_cover_a_row_that_was_updated_in_its_column(table):
    table.dataset.update({"name": "'renamed'"}, where="id = 2")
    assert table.coverage("name_idx") == [
        (0, True, True, 2, 0, 1),
        (1, True, True, 2, 0, 0),
        (2, True, False, 0, 1, 0),
    ]


# ------------------------------------------------------------------------------- what else there is


def test_an_index_of_addresses_never_covers_an_updated_row(table, table_of_addresses):
    for each, name in ((table, "id_idx"), (table_of_addresses, "name_idx")):
        each.dataset.update({"score": "score + 100"}, where="id = 2")
        assert each.coverage(name) == [
            (0, True, True, 2, 0, 1),
            (1, True, True, 2, 0, 0),
            (2, True, False, 0, 1, 0),
        ]


def test_fragments_that_nobody_covers_have_no_segment(table):
    table.dataset.insert(people(6))
    frame = index_coverage(HistoryView.open(table.path), 5)
    assert set(frame.filter(~pl.col("is_covered"))["uuid"]) == {None}
    assert set(frame.filter(~pl.col("is_covered"))["fragment_id"]) == {2}


def test_each_segment_answers_for_its_own_fragments(table):
    table.dataset.insert(people(6))
    table.dataset.optimize.optimize_indices(num_indices_to_merge=0)
    frame = index_coverage(HistoryView.open(table.path), 6).filter(name="name_idx")
    assert frame["uuid"].n_unique() == 2
    assert frame["fragment_id"].to_list() == [0, 1, 2]
    assert frame["num_rows_to_scan"].sum() == 0


def test_deleted_rows_leave_stale_entries(table, table_of_addresses):
    for each in (table, table_of_addresses):
        each.dataset.delete("id IN (1, 4)")
        for name in ("name_idx", "id_idx"):
            assert each.coverage(name) == [(0, True, True, 2, 0, 1), (1, True, True, 1, 0, 1)]


def test_rows_deleted_before_an_index_was_built_have_no_entries(table):
    table.dataset.delete("id = 1")
    table.dataset.create_scalar_index("name", "BITMAP", replace=True)
    table.dataset.delete("id = 2")
    assert table.coverage("name_idx")[0] == (0, True, True, 1, 0, 1)
    assert table.coverage("id_idx")[0] == (0, True, True, 1, 0, 2)


def test_a_fragment_that_is_gone_follows_with_its_entries(table):
    table.dataset.update({"score": "score + 100"}, where="id = 4")
    table.dataset.delete("id = 5")
    assert table.coverage("name_idx") == [
        (0, True, True, 3, 0, 0),
        (2, True, True, 1, 0, 0),
        (1, False, False, 0, 0, 1),
    ]
    assert table.coverage("id_idx")[-1] == (1, False, False, 0, 0, 2)


def test_stale_entries_of_addresses_are_those_in_the_index_file(table, table_of_addresses):
    for each in (table, table_of_addresses):
        for predicate in ("id = 1", "id = 2", "id IN (4, 5)"):
            each.dataset.delete(predicate)
            stale = sum(row[-1] for row in each.coverage("id_idx"))
            assert stale == each.stale_in_file("id_idx") > 0


def test_stale_entries_are_at_most_what_is_told_once_segments_are_merged(table_of_addresses):
    table = table_of_addresses
    table.dataset.insert(people(6, 7, 8))
    table.dataset.delete("id IN (1, 7)")
    table.dataset.optimize.optimize_indices()
    told = sum(row[-1] for row in table.coverage("id_idx"))
    assert table.stale_in_file("id_idx") == 1 <= told == 2


@pytest.mark.parametrize("stable", [True, False])
def test_a_compaction_carries_the_coverage_on(tmp_path, stable):
    table = IndexedTable(str(tmp_path / "t"), stable=stable)
    table.dataset.delete("id IN (1, 4)")
    table.dataset.optimize.compact_files()
    for name in ("name_idx", "id_idx"):
        assert table.coverage(name) == [(2, True, True, 3, 0, 0)]


def test_a_zone_map_loses_its_coverage_in_a_compaction_and_has_no_entries(table_of_addresses):
    table = table_of_addresses
    table.dataset.create_scalar_index("score", "ZONEMAP")
    table.dataset.delete("id = 1")
    assert table.coverage("score_idx")[0] == (0, True, True, 2, 0, None)
    table.dataset.optimize.compact_files()
    current, *past = table.coverage("score_idx")
    assert current == (2, True, False, 0, 4, 0)
    assert past == [(0, False, False, 0, 0, None), (1, False, False, 0, 0, None)]


def test_earlier_versions_are_as_they_were(table):
    table.dataset.update({"name": "'renamed'"}, where="id = 2")
    assert table.coverage("name_idx", 4) == [(0, True, True, 3, 0, 0), (1, True, True, 2, 0, 0)]
    assert table.coverage("id_idx", 3) == []


def test_stale_entries_are_unknown_where_the_version_of_the_build_is_gone(table):
    table.dataset.delete("id = 1")
    view = HistoryView.open(table.path)
    built = index_coverage(view, 5).filter(name="name_idx")
    assert built["num_stale_entries"].to_list() == [1, 0]
    Path(table.path, view.listing.versions[1].path).unlink()
    left = index_coverage(HistoryView.open(table.path), 5).filter(name="name_idx")
    assert left["num_stale_entries"].to_list() == [None, 0]


def test_stale_entries_are_unknown_where_a_deletion_file_is_missing(table):
    table.dataset.delete("id = 1")
    [file] = Path(table.path, "_deletions").iterdir()
    file.unlink()
    assert table.coverage("name_idx")[0] == (0, True, True, 2, 0, None)
    assert table.coverage("id_idx")[0] == (0, True, True, 2, 0, 1)  # the manifest says how many


def with_indices(view, version, change):
    """Change what the source has loaded of a version's indices."""
    history = view.version(version)
    [record] = history.records
    changed = tuple(change(index) for index in record.indices)
    view._single[version] = replace(history, records=(structs.replace(record, indices=changed),))
    return index_coverage(view, version)


@pytest.mark.parametrize("bitmap", [None, b"\x00garbage"])
def test_unknown_coverage_is_null(table, bitmap):
    def forget(index):
        return replace(index, fragment_bitmap=bitmap) if index.name == "name_idx" else index

    frame = with_indices(HistoryView.open(table.path), 4, forget)
    unknown = frame.filter(name="name_idx")
    assert rows_of(unknown, "fragment_id", "is_covered", *COUNTS) == [
        (0, None, None, None, None),
        (1, None, None, None, None),
    ]
    assert unknown["uuid"].null_count() == 0
    assert frame.filter(name="id_idx")["is_covered"].all()


def test_the_reuse_history_maps_what_a_segment_lists():
    view = stored("14.0.2/deferred_remap.lance")
    segment = view.version(7).records[0].indices[0]
    assert list(segment.fragment_ids() or []) == [0, 1]
    frame = index_coverage(view, 7).filter(name=segment.name)
    assert rows_of(frame, "fragment_id", "is_current", "is_covered") == [
        (4, True, True),
        (5, True, False),
    ]


def test_indices_of_the_system_are_left_out():
    view = stored("14.0.2/deferred_remap.lance")
    assert set(index_coverage(view, 12)["name"]) == {"id_idx", "name_idx"}


def test_a_table_without_indices_makes_an_empty_frame():
    frame = index_coverage(stored("14.0.2/one_version.lance"), 1)
    assert frame.is_empty()
    assert frame.schema == INDEX_COVERAGE.polars_schema


@stored_check()
def check_rows_answered_and_to_scan_are_those_of_pylance(asked):
    view = asked.view
    for version in asked.versions:
        frame = index_coverage(view, version)
        dataset = asked.dataset(version)
        for (name,), lines in frame.group_by("name"):
            statistics = dataset.stats.index_stats(name)
            covered = lines.filter("is_covered")
            assert covered["fragment_id"].n_unique() == statistics["num_indexed_fragments"]
            assert lines["num_rows_answered"].sum() == statistics["num_indexed_rows"]
            assert lines["num_rows_to_scan"].sum() == statistics["num_unindexed_rows"]
            by_segment = dict(covered.group_by("uuid").agg(pl.sum("num_rows_answered")).rows())
            assert sorted(by_segment.values()) == sorted(
                rows for rows in statistics["num_indexed_rows_per_delta"] if rows
            )


# -------------------------------------------------------------------- through the reuse history


@pytest.fixture(scope="module")
def deferred(tmp_path_factory):
    return deferred_rounds(tmp_path_factory.mktemp("t"))


def test_coverage_is_that_of_pylance_after_each_of_several_deferred_rounds(deferred):
    for version in range(2, deferred.version + 1):
        dataset: Any = lance.dataset(deferred.uri, version=version)
        frame = index_coverage(deferred.view, version)
        for name in frame["name"].unique():
            told = frame.filter(name=name).select("num_rows_answered", "num_rows_to_scan").sum()
            statistics = dataset.stats.index_stats(name)
            expected = statistics["num_indexed_rows"], statistics["num_unindexed_rows"]
            assert told.row(0) == expected
        assert frame["is_current"].all()


def test_stale_entries_are_those_that_the_reuse_history_leads_to_no_row(deferred):
    for version in range(3, deferred.version + 1):
        dataset: Any = lance.dataset(deferred.uri, version=version)
        [index] = [index for index in dataset.describe_indices() if index.name == "key_idx"]
        [segment] = index.segments
        file = f"{deferred.uri}/_indices/{segment.uuid}/page_data.lance"
        entries = LanceFileReader(file).read_all().to_table()["ids"].cast(pa.uint64())
        remapped = dataset.remap_row_addrs(entries.combine_chunks())
        there = set((entries if remapped is None else remapped).to_pylist()) - {None}
        frame = index_coverage(deferred.view, version).filter(name="key_idx")
        assert frame["num_stale_entries"].sum() == len(there - set(places(deferred.uri, version)))
