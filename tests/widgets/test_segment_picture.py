"""Segments as a raster: nothing is lost, however many there are."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from lance_explorer.figures.palette import ENCODING_COLORS
from lance_explorer.inspect.row_id_encodings import ROW_ID_ENCODINGS, row_id_encodings
from lance_explorer.inspect.row_id_segments import ROW_ID_SEGMENTS, row_id_segments
from lance_explorer.widgets.segment_picture import segment_picture
from tests.stored_tables import has_row_ids, stored_check

KINDS = [*ENCODING_COLORS, "spilled"]
BINS = 600


def segments_of(*rows: tuple[Any, ...]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return segments (fragment, encoding, start, stop, values) as a frame, and their fragments."""
    frame = pl.DataFrame(
        rows,
        schema={
            "fragment_id": pl.UInt64,
            "encoding": pl.String,
            "start": pl.UInt64,
            "stop": pl.UInt64,
            "num_values": pl.Int64,
        },
        orient="row",
    ).with_columns(encoded_bytes=pl.lit(10))
    fragments = frame.unique("fragment_id", maintain_order=True).select(
        "fragment_id", encoded_bytes=pl.lit(20), best_bytes=pl.lit(10)
    )
    return frame, fragments


def kinds_in(picture, row):
    """Return the encodings in a row as (encoding, first bin, bin after the last)."""
    codes = picture.kind.reshape(-1, BINS)[row]
    ends = [*np.flatnonzero(np.diff(codes)) + 1, BINS]
    begins = [0, *ends[:-1]]
    return [
        (KINDS[codes[begin]], int(begin), int(end))
        for begin, end in zip(begins, ends, strict=True)
        if codes[begin] != 255
    ]


def test_segments_stand_one_behind_the_other():
    segments = segments_of(
        (3, "range", 50, 350, 300), (3, "array", 0, 10, 100), (5, "range", 0, 200, 200)
    )
    picture = segment_picture(*segments, mode="position")
    assert picture.rows == [("3", "3", 1), ("5", "5", 1)]
    assert (picture.begin, picture.end) == ("0", "400")
    assert kinds_in(picture, 0) == [("range", 0, 450), ("array", 450, 600)]
    assert kinds_in(picture, 1) == [("range", 0, 300)]
    begins = np.flatnonzero(picture.begins).tolist()
    assert begins == [0, 450, 600]


def test_segments_stand_where_their_row_ids_are():
    segments = segments_of((0, "range", 1000, 1200, 200), (1, "array", 1300, 1600, 30))
    picture = segment_picture(*segments, mode="row_id")
    assert (picture.begin, picture.end) == ("1000", "1600")
    assert kinds_in(picture, 0) == [("range", 0, 200)]
    assert kinds_in(picture, 1) == [("array", 300, 600)]
    fill = picture.fill.reshape(2, BINS)
    assert fill[0, 100] == 255
    assert fill[1, 400] == 48  # a tenth of the row IDs there, but to be seen


def test_the_encoding_of_most_row_ids_has_the_bin():
    rows = [(0, "range", 0, 600_000, 600_000)]
    many = [(1, "range", i * 3, i * 3 + 1, 1) for i in range(200)]
    picture = segment_picture(*segments_of(*rows, *many, (1, "array", 0, 5, 900)), mode="row_id")
    assert kinds_in(picture, 1) == [("array", 0, 1)]
    assert picture.begins.reshape(2, BINS)[1, 0] == 201


def test_edges_of_64_bits_are_places_like_others():
    top = 2**64 - 600
    segments = segments_of((0, "range", top, None, 600), (1, "array", None, None, 0))
    picture = segment_picture(*segments, mode="row_id")
    assert (picture.begin, picture.end) == (str(top), str(2**64))
    assert kinds_in(picture, 0) == [("range", 0, 600)]
    assert kinds_in(picture, 1) == []


def test_many_fragments_share_rows():
    segments = segments_of(*[(i, "range", 10 * i, 10 * i + 10, 10) for i in range(1000)])
    picture = segment_picture(*segments, mode="position")
    assert len(picture.rows) == 112
    assert picture.rows[0] == ("0", "8", 9)
    assert sum(number for _, _, number in picture.rows) == 1000
    assert picture.end == "90"
    assert picture.begins.sum() == 1000
    assert picture.best.tolist()[0] == 90


def test_bytes_are_those_of_the_segments_and_spilled_ones_have_none():
    frame, fragments = segments_of((0, "range", 0, 5, 5), (1, None, 5, 9, 4))
    frame = frame.with_columns(
        encoded_bytes=pl.when(pl.col("encoding").is_not_null()).then("encoded_bytes")
    )
    fragments = fragments.with_columns(encoded_bytes=pl.Series([20, None]))
    picture = segment_picture(frame, fragments, "position")
    sizes = picture.bytes.reshape(2, len(KINDS))
    assert sizes[0, KINDS.index("range")] == 10
    assert sizes[1].sum() == 0
    assert np.isnan(picture.best).tolist() == [False, True]
    assert kinds_in(picture, 1)[0][0] == "spilled"


@pytest.mark.parametrize("mode", ["position", "row_id"])
def test_of_no_segments_there_is_an_empty_picture(mode):
    segments, encodings = [
        schema.polars_schema.to_frame() for schema in (ROW_ID_SEGMENTS, ROW_ID_ENCODINGS)
    ]
    picture = segment_picture(segments, encodings, mode)
    assert picture.rows == []
    assert (picture.begin, picture.end) == ("0", "0")
    arrays = (picture.kind, picture.fill, picture.begins, picture.bytes, picture.best)
    assert all(len(array) == 0 for array in arrays)


@stored_check(has_row_ids)
def check_every_fragment_of_a_real_table_is_there(asked):
    view = asked.view
    segments = row_id_segments(view, view.latest_version)
    encodings = row_id_encodings(view, view.latest_version)
    for mode in ("position", "row_id"):
        picture = segment_picture(segments, encodings, mode)
        assert [int(first) for first, _, _ in picture.rows] == encodings["fragment_id"].to_list()
        assert picture.begins.sum() == len(segments)
        shown = picture.kind.reshape(-1, BINS)
        assert ((shown != 255).any(axis=1) == (encodings["num_values"] > 0).to_numpy()).all()
        total = np.nansum(picture.bytes)
        assert total == segments["encoded_bytes"].sum()


def test_every_one_of_a_million_segments_is_in_the_picture():
    count = 1_000_000
    start = np.arange(count, dtype=np.uint64) * 3
    frame = pl.DataFrame(
        {
            "fragment_id": start // 3_000,
            "encoding": ["range"] * count,
            "start": start,
            "stop": start + 1,
            "num_values": np.ones(count, np.int64),
            "encoded_bytes": np.full(count, 6),
        }
    )
    fragments = frame.unique("fragment_id", maintain_order=True).select(
        "fragment_id", encoded_bytes=pl.lit(1), best_bytes=pl.lit(1)
    )
    picture = segment_picture(frame, fragments, "row_id")
    assert picture.begins.sum() == count
    assert len(picture.kind) <= 120 * BINS
