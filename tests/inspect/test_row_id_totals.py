"""Totals against the sums of the frames that they are the totals of."""

import lance
import polars as pl

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragments import fragments
from lance_explorer.inspect.row_id_encodings import row_id_encodings
from lance_explorer.inspect.row_id_segments import row_id_segments
from lance_explorer.inspect.row_id_totals import row_id_totals
from lance_explorer.row_index import SnapshotRowIdIndex
from tests.inspect.tables import rows_of, stored, write
from tests.inspect.test_row_id_segments import with_sequence
from tests.stored_tables import has_row_ids, stored_check
from tests.synthetic import SyntheticTable


@stored_check(has_row_ids)
def check_totals_are_sums_over_fragments_and_segments(asked):
    view = asked.view
    for total in row_id_totals(view).iter_rows(named=True):
        states = fragments(view, total["version"])
        segments = row_id_segments(view, total["version"]).filter(storage="inline")
        sizes = row_id_encodings(view, total["version"]).filter(storage="inline")
        assert total["num_rows"] == states["num_rows"].sum()
        assert total["num_segments"] == len(segments)
        assert total["num_holes"] == segments["num_holes"].sum()
        assert total["num_runs"] == sizes["num_runs"].sum()
        assert total["row_ids_bytes"] == states["row_ids_bytes"].sum()
        assert total["versions_bytes"] == states["versions_bytes"].sum()
        assert total["num_spilled"] == (states["row_ids_storage"] == "spilled").sum()


@stored_check()
def check_index_bytes_are_those_of_the_index_of_each_version(asked):
    view = asked.view
    for version, index_bytes, num_spilled in rows_of(
        row_id_totals(view), "version", "index_bytes", "num_spilled"
    ):
        index = SnapshotRowIdIndex(view, version)
        assert index_bytes == (None if num_spilled else index.nbytes)


def test_index_bytes_count_bitmaps_and_deletions(tmp_path):
    path = tmp_path / "t.lance"
    write(path, key=range(20_000)).delete("key % 3 = 1 AND key < 15000")
    lance.dataset(path).delete("key % 7 = 1")
    view = HistoryView.open(str(path))
    sizes = row_id_totals(view)["index_bytes"].to_list()
    assert sizes == [SnapshotRowIdIndex(view, version).nbytes for version in (1, 2, 3)]
    assert sizes[0] == 24
    assert sizes[2] > sizes[1] > 1000


def test_bytes_per_row_count_live_rows(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=4).delete({0: [0, 1, 2]}).delete({0: [3]})
    frame = row_id_totals(HistoryView.open(str(table.path)))
    assert rows_of(frame, "row_ids_bytes", "bytes_per_row") == [(6, 1.5), (6, 6.0), (0, None)]


def test_spilled_row_ids_have_no_size_for_each_row():
    frame = row_id_totals(stored("14.0.2/spilled.lance"))
    assert frame["num_spilled"].to_list() == [0, 0, 0, 1, 1, 1, 1, 1]
    assert (frame["bytes_per_row"].is_null() == (frame["num_spilled"] > 0)).all()


def test_a_damaged_sequence_makes_the_sums_of_its_versions_unknown(tmp_path):
    table = SyntheticTable(tmp_path / "t").append().append()
    with_sequence(table, b"\x0a\x20???").overwrite()
    frame = row_id_totals(HistoryView.open(str(table.path)))
    assert frame["num_segments"].to_list() == [1, None, 1]
    assert frame["index_bytes"].to_list() == [24, None, 24]
    assert frame["num_rows"].to_list() == [1, 2, 1]
    assert frame["row_ids_bytes"].to_list() == [6, 11, 8]


def test_versions_with_unknown_flags_show_sizes_alone(tmp_path):
    table = SyntheticTable(tmp_path / "t").append().append()
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 1 << 20))
    frame = row_id_totals(HistoryView.open(str(table.append().path)))
    assert frame["row_ids_bytes"].null_count() == 0
    unknown = frame.filter(version=2).select(
        "num_rows", "num_segments", "num_runs", "num_holes", "bytes_per_row", "index_bytes"
    )
    assert unknown.row(0) == (None,) * 6
    assert frame.filter(pl.col("version") != 2)["num_segments"].to_list() == [1, 3]


def test_all_versions_cost_as_many_manifests_as_hold_all_sequences(tmp_path):
    table = SyntheticTable(tmp_path / "t").append()
    for _ in range(30):
        table.append()
    view = HistoryView.open(str(table.path))
    _ = view.history
    before = view.storage.io.requests
    assert row_id_totals(view)["num_segments"].to_list() == list(range(1, 32))
    assert view.storage.io.requests == before + 1
