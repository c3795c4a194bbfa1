"""Segments against the protobuf messages in stored manifests, and what is read to show them."""

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer.errors import CorruptFileError, StorageError, UnsupportedFeatureError
from lance_explorer.format._pb import row_ids_pb2
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragments import fragments
from lance_explorer.inspect.row_id_segments import all_row_id_segments, row_id_segments
from tests.format.samples import DATA, manifest_of, read_manifest
from tests.inspect.tables import rows_of, stored
from tests.stored_tables import has_row_ids, stored_check
from tests.synthetic import SyntheticTable, record
from tests.synthetic.sequences import row_id_sequence

UNKNOWN_FLAG = 4096


def messages(file: bytes):
    """Yield the fragment and the message of each segment that a manifest file holds."""
    for fragment in read_manifest(file).fragments:
        message = pb.DataFragment.FromString(fragment)
        sequence = row_ids_pb2.RowIdSequence.FromString(message.inline_row_ids)
        for segment in sequence.segments:
            yield message.id, segment


def described(fragment_id, segment):
    """Return what the frame should say, out of the message alone."""
    form = segment.WhichOneof("segment")
    content = getattr(segment, form)
    array = content.holes if form == "range_with_holes" else content
    width = None
    if "range" != form != "range_with_bitmap":
        width = int(array.WhichOneof("array")[1:3])
    start, stop = getattr(content, "start", None), getattr(content, "end", None)
    size = len(row_ids_pb2.RowIdSequence(segments=[segment]).SerializeToString())
    return fragment_id, form, width, start, stop, size


@stored_check(lambda asked: has_row_ids(asked) and asked.scenario != "spilled")
def check_segments_are_those_in_the_manifest(asked):
    view = asked.view
    for version in asked.versions:
        record = view.version(version).records[0]
        file = view.storage.get(record.file.path)
        expected = [described(*message) for message in messages(file)]
        frame = row_id_segments(view, version)
        columns = ("fragment_id", "encoding", "array_width", "start", "stop", "encoded_bytes")
        shown = [
            (*row[:3], *((None, None) if "array" in row[1] else row[3:5]), row[5])
            for row in rows_of(frame, *columns)
        ]
        assert shown == expected


@stored_check(has_row_ids)
def check_bytes_and_values_add_up_to_those_of_the_fragment(asked):
    view = asked.view
    for version in asked.versions:
        segments = row_id_segments(view, version)
        sums = segments.group_by("fragment_id").agg(pl.sum("encoded_bytes", "num_values"))
        frame = fragments(view, version).filter(pl.col("row_ids_storage").is_not_null())
        stored_rows = rows_of(frame, "fragment_id", "row_ids_bytes", "physical_rows")
        assert sorted(sums.rows()) == sorted(stored_rows)
        assert (segments["best_bytes"] <= segments["encoded_bytes"]).all()


def test_row_ids_are_within_the_hull_and_as_dense_as_it_says():
    path = "14.0.2/bitmap_deletions.lance"
    dataset = lance.dataset(DATA / path)
    row_ids = np.sort(dataset.to_table(columns=[], with_row_id=True)["_rowid"].to_numpy())
    frame = row_id_segments(stored(path), dataset.version)
    assert frame["encoding"].to_list() == ["range_with_bitmap", "range_with_holes"]
    for start, stop, count, holes, density in rows_of(
        frame, "start", "stop", "num_values", "num_holes", "density"
    ):
        inside = row_ids[(row_ids >= start) & (row_ids < stop)]
        assert len(inside) == count
        assert (inside[0], inside[-1] + 1) == (start, stop)
        assert holes == stop - start - count
        assert density == count / (stop - start)


def test_the_writer_does_not_always_choose_the_smallest_form(tmp_path):
    # Four bytes are estimated for each of 34 holes, two are stored; a bitmap has 125.
    table = lance.write_dataset(
        pa.table({"id": range(1_000)}), tmp_path / "t", enable_stable_row_ids=True
    )
    table.delete("id % 30 = 5")
    table.optimize.compact_files(materialize_deletions_threshold=0)
    [segment] = row_id_segments(stored(tmp_path / "t"), table.version).iter_rows(named=True)
    assert (segment["encoding"], segment["best_encoding"]) == (
        "range_with_bitmap",
        "range_with_holes",
    )
    assert segment["best_bytes"] < segment["encoded_bytes"] - 40


@stored_check(has_row_ids)
def check_another_form_is_best_only_if_it_is_smaller(asked):
    view = asked.view
    for version in asked.versions:
        segments = row_id_segments(view, version).filter(
            pl.col("encoding") != pl.col("best_encoding")
        )
        assert (segments["best_bytes"] < segments["encoded_bytes"]).all()


def test_what_is_spilled_has_no_form_but_could_have_one():
    view = stored("14.0.2/spilled.lance")
    frame = row_id_segments(view, 8)
    [spilled] = frame.filter(storage="spilled").iter_rows(named=True)
    rows = lance.dataset(DATA / "14.0.2/spilled.lance").to_table(with_row_id=True)
    row_ids = rows["_rowid"].to_pylist()[: spilled["num_values"]]
    assert (spilled["start"], spilled["stop"]) == (min(row_ids), max(row_ids) + 1)
    assert [spilled[name] for name in ("encoding", "array_width", "encoded_bytes")] == [None] * 3
    assert (spilled["best_encoding"], spilled["best_bytes"]) == ("array", 34)


@pytest.mark.drawn(1)
def test_a_scattered_merge_makes_a_segment_for_each_run(tmp_path, seed):
    ids = np.random.default_rng(seed).permutation(20_000)
    data = pa.table({"id": np.arange(20_000), "n": np.arange(20_000)})
    table = lance.write_dataset(data, tmp_path / "t", enable_stable_row_ids=True)
    merge = table.merge_insert("id").when_matched_update_all()
    merge.execute(data.take(ids[:6_000]))
    frame = row_id_segments(stored(tmp_path / "t"), 2).filter(fragment_id=1)
    fragment = pb.DataFragment.FromString(read_manifest(manifest_of(tmp_path / "t")).fragments[1])
    sequence = row_ids_pb2.RowIdSequence.FromString(fragment.inline_row_ids)
    assert len(frame) == len(sequence.segments) > 1_000
    assert frame["start"].to_list() == [segment.range.start for segment in sequence.segments]
    assert frame["stop"].to_list() == [segment.range.end for segment in sequence.segments]
    assert frame["encoded_bytes"].sum() == len(fragment.inline_row_ids)
    assert frame["position"].to_list() == list(range(len(frame)))


def test_each_sequence_is_read_once_however_many_versions_have_it(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5)
    for number in range(20):
        table.append(rows=3).delete({number + 1: [0]})
    view = HistoryView.open(str(tmp_path / "t"))
    _ = view.history
    before = view.storage.io.requests
    frame = all_row_id_segments(view)
    assert view.storage.io.requests - before == 1
    assert len(frame) == 21
    assert frame["versions_kept"].sum() == sum(range(1, 42, 2)) + 20


def test_as_few_manifests_are_read_as_hold_all_sequences(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(fragments=2).append().overwrite().append()
    table.overwrite().update_config(a="b").restore(2)
    view = HistoryView.open(str(tmp_path / "t"))
    _ = view.history
    before = view.storage.io.requests
    frame = all_row_id_segments(view)
    assert view.storage.io.requests - before == 3
    firsts = frame.select("fragment_id", "first_version", "last_version")
    assert firsts.rows() == [
        *[(0, 1, 2), (1, 1, 2), (2, 2, 2), (3, 3, 4), (4, 4, 4), (5, 5, 6)],
        *[(0, 7, 7), (1, 7, 7), (2, 7, 7)],
    ]


def with_sequence(table: SyntheticTable, data: bytes) -> SyntheticTable:
    """Give the last fragment of the latest version another row-ID sequence."""
    *others, last = [table.state.fragments[key] for key in table.fragment_ids]
    message = pb.DataFragment()
    message.CopyFrom(last.message)
    message.inline_row_ids = data
    records = [*[other.record for other in others], record(2, message.SerializeToString())]
    return table.amend(fragments=b"".join(records))


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        ([0, 1, (1 << 64) - 1], ("sorted_array", 64, 0, None, 3, None)),
        ([5, 3, 70_000], ("array", 32, 3, 70_001, 3, None)),
        ([2**63, 2**63 + 1, 2**63 + 2], ("range", None, 2**63, 2**63 + 3, 3, 0)),
        ([0, 1, 2, 3, 4, 5, 6, 8], ("range_with_bitmap", None, 0, 9, 8, 1)),
    ],
)
def test_large_and_scattered_row_ids(tmp_path, ids, expected):
    data = row_id_sequence([np.array(ids, dtype=np.uint64)])
    with_sequence(SyntheticTable(tmp_path / "t").append(rows=len(ids)), data)
    frame = row_id_segments(HistoryView.open(str(tmp_path / "t")), 1)
    columns = ("encoding", "array_width", "start", "stop", "num_values", "num_holes")
    assert rows_of(frame, *columns) == [expected]
    assert frame["encoded_bytes"].to_list() == [len(data)]
    assert frame["density"][0] == pytest.approx(len(ids) / (max(ids) + 1 - min(ids)))


def test_segments_without_row_ids(tmp_path):
    empty_range = bytes.fromhex("0a020a00")
    empty_array = bytes.fromhex("0a042a021a00")
    with_sequence(SyntheticTable(tmp_path / "t").append(), empty_range + empty_array)
    frame = row_id_segments(HistoryView.open(str(tmp_path / "t")), 1)
    columns = ("encoding", "start", "stop", "num_values", "density", "encoded_bytes")
    assert rows_of(frame, *columns) == [
        ("range", 0, 0, 0, None, 4),
        ("array", None, None, 0, None, 6),
    ]


def test_an_external_sequence_is_read_from_its_file(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=3)
    message = pb.DataFragment()
    message.CopyFrom(table.state.fragments[0].message)
    message.external_row_ids.CopyFrom(pb.ExternalFile(path="ids", offset=2, size=8))
    table.amend(fragments=record(2, message.SerializeToString()))
    view = HistoryView.open(str(tmp_path / "t"))
    with pytest.raises(StorageError, match="ids is missing"):
        row_id_segments(view, 1)
    (tmp_path / "t" / "ids").write_bytes(b"??" + row_id_sequence([np.arange(7, 10, dtype="u8")]))
    for frame in (row_id_segments(view, 1), all_row_id_segments(view)):
        assert rows_of(frame, "storage", "encoding", "start") == [("external", "range", 7)]


def test_a_damaged_sequence_is_an_error_in_its_version_and_left_out_of_all(tmp_path):
    table = SyntheticTable(tmp_path / "t").append().append()
    with_sequence(table, b"\x0a\x20???").delete({1: [0]}).append()
    view = HistoryView.open(str(tmp_path / "t"))
    with pytest.raises(CorruptFileError, match="fragment 1: a record of 32 bytes") as refusal:
        row_id_segments(view, 2)
    manifest = view.storage.get(str(refusal.value.path))
    assert manifest[refusal.value.offset :].startswith(b"\x0a\x20???")
    assert rows_of(all_row_id_segments(view), "fragment_id", "last_version") == [(0, 4), (2, 4)]


def test_versions_with_unknown_flags_tell_no_row_ids(tmp_path):
    table = SyntheticTable(tmp_path / "t").append().append()
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 2 | UNKNOWN_FLAG))
    view = HistoryView.open(str(tmp_path / "t"))
    with pytest.raises(UnsupportedFeatureError, match="fragment_tree"):
        row_id_segments(view, 2)
    frame = all_row_id_segments(view)
    assert rows_of(frame, "fragment_id", "last_version", "is_current") == [(0, 1, False)]
    assert rows_of(all_row_id_segments(grown(table)), "first_version", "proven", "is_current") == [
        (1, False, True),
        (3, True, True),
        (3, True, True),
    ]


def grown(table: SyntheticTable) -> HistoryView:
    """Commit once more; the flags of that version are known."""
    return HistoryView.open(str(table.append().path))
