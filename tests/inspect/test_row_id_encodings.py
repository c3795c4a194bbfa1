"""What sequences take against what they could take, really encoded."""

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from lance_explorer.errors import UnsupportedFeatureError
from lance_explorer.format.sequences import encode_row_id_sequence
from lance_explorer.history.reading.stored_sequences import read_row_ids
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import distinct_parts, understood
from lance_explorer.inspect.fragments import fragments
from lance_explorer.inspect.row_id_encodings import all_row_id_encodings, row_id_encodings
from lance_explorer.inspect.row_id_segments import row_id_segments, stored_row_ids
from lance_explorer.rowids.encoding import best_encoding, encode_segment
from lance_explorer.rowids.sequence import RowIdSequence
from tests.inspect.tables import rows_of, stored
from tests.stored_tables import has_row_ids, stored_check
from tests.synthetic import SyntheticTable

NO_ROW_IDS = "14.0.2/life_cycle.lance"


def row_ids_of(view: HistoryView, version: int) -> list[np.ndarray]:
    history = view.version(version)
    sequences, intervals = distinct_parts(history, stored_row_ids)
    read = sorted(understood(read_row_ids(view, history, sequences, intervals)))
    return [row_ids.values() for _, row_ids in read]


def encoded_size(*pieces: np.ndarray) -> int:
    """Return the bytes of row IDs, each piece in one segment of the smallest form."""
    segments = [best_encoding(encode_segment(piece)) for piece in pieces]
    return len(encode_row_id_sequence(RowIdSequence.of(segments)))


@stored_check(has_row_ids)
def check_sizes_are_those_of_sequences_that_are_encoded(asked):
    view = asked.view
    for version in asked.versions:
        frame = row_id_encodings(view, version)
        all_row_ids = row_ids_of(view, version)
        assert frame["num_values"].to_list() == [len(row_ids) for row_ids in all_row_ids]
        assert frame["one_segment_bytes"].to_list() == [encoded_size(ids) for ids in all_row_ids]
        runs = [int((np.diff(ids) != 1).sum()) + 1 for ids in all_row_ids]
        assert frame["num_runs"].to_list() == runs


@stored_check(has_row_ids)
def check_sizes_agree_with_the_segments_and_the_fragments(asked):
    view = asked.view
    for version in asked.versions:
        frame = row_id_encodings(view, version)
        segments = (
            row_id_segments(view, version)
            .group_by("fragment_id")
            .agg(pl.col("encoding").count(), pl.sum("encoded_bytes"), pl.sum("best_bytes"))
        )
        inline = frame.filter(storage="inline")
        columns = ("fragment_id", "num_segments", "encoded_bytes", "as_is_bytes")
        shown = segments.filter(pl.col("encoding") > 0)
        assert sorted(rows_of(inline, *columns)) == sorted(shown.rows())
        sizes = fragments(view, version).filter(row_ids_storage="inline")
        assert inline["encoded_bytes"].equals(sizes["row_ids_bytes"])


@stored_check(has_row_ids)
def check_the_best_is_the_fewest_and_the_saving_the_rest(asked):
    frame = all_row_id_encodings(asked.view)
    sizes = ("encoded_bytes", "as_is_bytes", "one_segment_bytes", "split_bytes")
    assert frame["best_bytes"].equals(frame.select(pl.min_horizontal(sizes)).to_series())
    inline = frame.filter(storage="inline")
    assert (inline["encoded_bytes"] - inline["best_bytes"]).equals(inline["saving_bytes"])
    assert (inline["saving_bytes"] >= 0).all()


@pytest.mark.drawn(1)
def test_scattered_updates_could_take_less_than_a_quarter(tmp_path, seed):
    ids = np.sort(np.random.default_rng(seed).permutation(6_000)[:1_800])
    table = SyntheticTable(tmp_path / "t").append(rows=6_000).update({0: ids.tolist()})
    [_, moved] = row_id_encodings(HistoryView.open(str(table.path)), 2).iter_rows(named=True)
    starts = [0, *(np.flatnonzero(np.diff(ids) != 1) + 1).tolist(), len(ids)]
    pieces = [ids[start:stop].astype(np.uint64) for start, stop in pairwise(starts)]
    assert moved["num_segments"] == moved["num_runs"] == len(pieces)
    assert moved["encoded_bytes"] == encoded_size(*pieces) > 10_000
    assert moved["best_bytes"] <= moved["one_segment_bytes"] == encoded_size(ids.astype(np.uint64))
    assert moved["best_bytes"] < moved["encoded_bytes"] / 4


def test_a_spilled_sequence_has_no_size_but_could_have_one():
    [spilled] = row_id_encodings(stored("14.0.2/spilled.lance"), 7).iter_rows(named=True)
    unknown = ("num_segments", "encoded_bytes", "as_is_bytes", "saving_bytes")
    assert [spilled[name] for name in unknown] == [None] * 4
    assert spilled["best_bytes"] == min(spilled["one_segment_bytes"], spilled["split_bytes"])


def test_without_stable_row_ids_there_is_nothing():
    assert row_id_encodings(stored(NO_ROW_IDS), 1).is_empty()
    assert all_row_id_encodings(stored(NO_ROW_IDS)).is_empty()


def test_versions_with_unknown_flags_tell_nothing(tmp_path):
    table = SyntheticTable(tmp_path / "t").append()
    table.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 512))
    view = HistoryView.open(str(table.path))
    with pytest.raises(UnsupportedFeatureError, match="version 1"):
        row_id_encodings(view, 1)
    assert all_row_id_encodings(view).is_empty()
