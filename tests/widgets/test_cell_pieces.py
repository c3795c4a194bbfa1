"""What cells show beside text."""

import polars as pl
import pytest

from lance_explorer.cells.text import digest_of
from lance_explorer.widgets import cell_pieces
from lance_explorer.widgets.cell_pieces import kind_of
from lance_explorer.widgets.messages.base import to_json

PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


def line_of(vector, **options):
    return to_json(cell_pieces.line_of(vector, **options))


def media_of(value):
    return to_json(cell_pieces.media_of(value))


def pieces_of(column):
    return to_json(cell_pieces.pieces_of(column))


@pytest.mark.parametrize(
    ("begin", "kind", "name"),
    [
        (b"\x89PNG\r\n\x1a\n", "image", "PNG image"),
        (b"\xff\xd8\xff\xe0", "image", "JPEG image"),
        (b"GIF89a", "image", "GIF image"),
        (b"RIFF\0\0\0\0WEBP", "image", "WebP image"),
        (b"RIFF\0\0\0\0WAVE", "audio", "WAV audio"),
        (b"OggS", "audio", "Ogg audio"),
        (b"ID3\4", "audio", "MP3 audio"),
        (b"\xff\xfb\x90\x00", "audio", "MP3 audio"),
    ],
)
def test_pictures_and_sounds_are_known_by_how_they_begin(begin, kind, name):
    found = media_of(begin + bytes(1_000))
    assert found is not None
    assert (found["kind"], found["words"]) == (
        kind,
        f"{name}, 1.0 kB, {digest_of(begin + bytes(1_000))}",
    )
    assert found["data"].startswith(f"data:{kind}/")


@pytest.mark.parametrize(
    "value",
    [None, b"", b"\xff\xd8", b"\xff\xfb", b"\xff\xfb\xff\xff", b"....\0\0\0\0WAVE", b"text"],
)
def test_other_bytes_are_bytes(value):
    assert media_of(value) is None
    assert pieces_of(pl.Series([value], dtype=pl.Binary)) is None


def test_large_pictures_and_all_sounds_are_named_and_come_when_asked_for(monkeypatch):
    monkeypatch.setattr(cell_pieces, "_MOST_PICTURE_BYTES", 200)
    monkeypatch.setattr(cell_pieces, "_MOST_COLUMN_BYTES", 250)
    pieces = pieces_of(pl.Series([PNG, PNG + bytes(500), None, PNG, PNG, b"OggS"]))
    assert pieces is not None
    has_data = [None if piece is None else piece["data"] is not None for piece in pieces]
    assert has_data == [True, False, None, True, False, False]
    assert pieces[1] is not None
    assert pieces[1]["size"] == 608
    assert pieces[1]["words"] == f"PNG image, 608 bytes, {digest_of(PNG + bytes(500))}"


def test_a_value_of_any_size_is_bounded(monkeypatch):
    monkeypatch.setattr(cell_pieces, "_MOST_WHOLE_BYTES", 100)
    found = media_of(PNG)
    assert found is not None
    assert (found["data"], found["size"]) == (None, 108)


def test_a_vector_is_a_line_with_gaps():
    line = line_of(pl.Series([1.0, None, 3.0, float("nan"), 2.0]))
    assert line is not None
    assert line["points"] == [0.0, None, 1.0, None, 0.5]
    assert line["words"] == "5 numbers from 1 to 3"


def test_of_a_long_vector_a_point_is_a_mean():
    line = line_of(pl.Series([*range(1_000)]).cast(pl.Float32))
    assert line is not None
    assert len(line["points"]) == 40
    assert line["points"] == sorted(line["points"])
    assert (line["points"][0], line["points"][-1]) == (0.012, 0.988)
    detail = line_of(pl.Series([*range(1_000)]).cast(pl.Float32), in_detail=True)
    assert detail is not None
    assert len(detail["points"]) == 600


@pytest.mark.parametrize("values", [[1.0, 2.0], [float("nan")] * 9, []])
def test_a_vector_that_shows_nothing_is_no_line(values):
    assert line_of(pl.Series(values, dtype=pl.Float32)) is None


@pytest.mark.parametrize(
    "values", [[7.0] * 9, [-1.7e308, 1.7e308, 0.0, 0.0, 0.0], [5e-324, 0, 0, 0, 0]]
)
def test_a_line_of_any_numbers_is_finite(values):
    line = line_of(pl.Series(values, dtype=pl.Float64))
    assert line is not None
    assert all(0 <= point <= 1 for point in line["points"])


def test_kinds():
    types = [pl.Int64(), pl.Binary(), pl.List(pl.Float32()), pl.Array(pl.Int8(), 3), pl.Struct({})]
    assert [kind_of(dtype) for dtype in types] == ["plain", "binary", "vector", "nested", "nested"]
