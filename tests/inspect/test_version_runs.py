"""Row versions against what pylance answers for the rows."""

import polars as pl
import pytest

from lance_explorer.errors import CorruptFileError, UnsupportedFeatureError
from lance_explorer.format._pb import row_ids_pb2
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.version_runs import all_version_runs, version_runs
from tests.format.samples import read_manifest
from tests.inspect.tables import rows_of, stored
from tests.stored_tables import has_row_ids, stored_check
from tests.synthetic import SyntheticTable, record

COLUMNS = {
    "created_at": "_row_created_at_version",
    "last_updated_at": "_row_last_updated_at_version",
}
OFFSET_BITS = 32


@stored_check(has_row_ids)
def check_rows_have_the_versions_that_pylance_tells(asked):
    view = asked.view
    for version in asked.versions:
        runs = version_runs(view, version)
        if runs.is_empty():
            continue
        rows = asked.dataset(version).to_table(
            columns=list(COLUMNS.values()), with_row_address=True
        )
        for sequence, column in COLUMNS.items():
            expected = dict(
                zip(rows["_rowaddr"].to_pylist(), rows[column].to_pylist(), strict=True)
            )
            shown = by_address(runs.filter(sequence=sequence))
            assert {address: shown[address] for address in expected} == expected


def by_address(runs: pl.DataFrame) -> dict[int, int]:
    """Return the version of every row that the runs tell of, deleted ones too."""
    return {
        (fragment_id << OFFSET_BITS) + offset + position: version
        for fragment_id, offset, count, version in rows_of(
            runs, "fragment_id", "offset", "num_rows", "row_version"
        )
        for position in range(count)
    }


@stored_check(has_row_ids)
def check_spans_have_the_form_that_the_manifest_has(asked):
    view = asked.view
    for version in asked.versions:
        file = view.storage.get(view.version(version).records[0].file.path)
        expected = []
        for data in read_manifest(file).fragments:
            fragment = pb.DataFragment.FromString(data)
            for sequence in COLUMNS:
                stored_bytes = getattr(fragment, f"inline_{sequence}")
                runs = row_ids_pb2.RowVersionSequence.FromString(stored_bytes).runs
                forms = [(run.span.WhichOneof("segment"), run.version) for run in runs]
                expected += [(fragment.id, sequence, *form) for form in forms]
        frame = version_runs(view, version).filter(storage="inline")
        columns = ("fragment_id", "sequence", "span_encoding", "row_version")
        assert rows_of(frame, *columns) == expected


@stored_check(has_row_ids)
def check_runs_follow_one_another_to_the_end_of_the_fragment(asked):
    view = asked.view
    sizes = {state.id: state.physical_rows for state in view.version(view.latest_version).states}
    frame = version_runs(view, view.latest_version)
    for (fragment_id, _), runs in frame.group_by("fragment_id", "sequence", maintain_order=True):
        ends = runs["num_rows"].cum_sum()
        assert runs["offset"].to_list() == [0, *ends.to_list()[:-1]]
        assert ends[-1] == sizes[fragment_id]
        assert runs["position"].to_list() == list(range(len(runs)))


def test_spilled_versions_have_runs_without_form():
    frame = version_runs(stored("14.0.2/spilled.lance"), 7)
    assert set(rows_of(frame, "storage", "span_encoding")) == {("spilled", None)}
    assert frame.group_by("sequence").agg(pl.sum("num_rows"))["num_rows"].to_list() == [13, 13]


def test_a_deletion_leaves_the_runs_and_a_column_makes_new_ones(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=3).delete({0: [1]}).add_column("c")
    frame = all_version_runs(HistoryView.open(str(table.path)))
    columns = ("sequence", "row_version", "first_version", "last_version")
    assert rows_of(frame, *columns) == [
        ("created_at", 1, 1, 3),
        ("last_updated_at", 1, 1, 2),
        ("last_updated_at", 3, 3, 3),
    ]


def test_without_stable_row_ids_there_is_nothing():
    assert version_runs(stored("14.0.2/life_cycle.lance"), 3).is_empty()


def test_a_damaged_sequence_is_an_error_in_its_version_and_left_out_of_all(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=2)
    message = pb.DataFragment()
    message.CopyFrom(table.state.fragments[0].message)
    message.inline_created_at = b"\x0a\x20???"
    table.amend(fragments=record(2, message.SerializeToString()))
    view = HistoryView.open(str(table.path))
    with pytest.raises(CorruptFileError, match="fragment 0"):
        version_runs(view, 1)
    assert all_version_runs(view)["sequence"].to_list() == ["last_updated_at"]


def test_versions_with_unknown_flags_tell_nothing(tmp_path):
    table = SyntheticTable(tmp_path / "t").append()
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 4096))
    view = HistoryView.open(str(table.path))
    with pytest.raises(UnsupportedFeatureError, match="version 1"):
        version_runs(view, 1)
    assert all_version_runs(view).is_empty()
