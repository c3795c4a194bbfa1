"""What a cell shows besides text: pictures and sound for the browser, vectors as lines."""

import base64

import numpy as np
import polars as pl

from lance_explorer.cells.text import digest_of
from lance_explorer.frames.sizes import byte_size
from lance_explorer.widgets.messages.rows import (
    AudioPiece,
    CellKind,
    CellPiece,
    ImagePiece,
    LinePiece,
)

__all__ = ["kind_of", "line_of", "media_of", "pieces_of"]

_MOST_PICTURE_BYTES = 256 << 10
"""The most bytes of one picture in a cell; larger ones are sent on request."""

_MOST_COLUMN_BYTES = 4 << 20
"""The most bytes of all pictures in the cells of a page of a column."""

_MOST_WHOLE_BYTES = 16 << 20

_LEAST_ITEMS = 5
"""The fewest items of a vector that is drawn; shorter ones are easier to read as text."""

_POINTS_IN_CELL, _POINTS_IN_DETAIL = 40, 600

_MEDIA = (
    (b"\x89PNG\r\n\x1a\n", 0, "PNG image", "image/png"),
    (b"\xff\xd8\xff", 0, "JPEG image", "image/jpeg"),
    (b"GIF87a", 0, "GIF image", "image/gif"),
    (b"GIF89a", 0, "GIF image", "image/gif"),
    (b"WEBP", 8, "WebP image", "image/webp"),
    (b"WAVE", 8, "WAV audio", "audio/wav"),
    (b"OggS", 0, "Ogg audio", "audio/ogg"),
    (b"ID3", 0, "MP3 audio", "audio/mpeg"),
    (b"\xff\xfb", 0, "MP3 audio", "audio/mpeg"),
    (b"\xff\xf3", 0, "MP3 audio", "audio/mpeg"),
    (b"\xff\xf2", 0, "MP3 audio", "audio/mpeg"),
)
"""How files begin: the bytes at a position, the name of the format, and its MIME type."""

_LONGEST_BEGIN = 12
_FRAME_MARK = 2


def kind_of(dtype: pl.DataType) -> CellKind:
    """Return how cells of a type are shown: ``plain``, ``binary``, ``vector`` or ``nested``."""
    match dtype:
        case pl.Binary():
            return "binary"
        case pl.List(inner=inner) | pl.Array(inner=inner) if inner.is_float():
            return "vector"
        case _:
            return "nested" if dtype.is_nested() else "plain"


def pieces_of(column: pl.Series) -> list[CellPiece | None] | None:
    """Return what each cell of a column shows besides its text; None if nothing.

    The size of pictures is bounded: of a larger one only format and size are sent.
    """
    match kind_of(column.dtype):
        case "binary":
            pieces = _pictures(column)
        case "vector":
            pieces = [None if vector is None else line_of(vector) for vector in column]
        case _:
            return None
    return pieces if any(piece is not None for piece in pieces) else None


def media_of(value: bytes | None) -> ImagePiece | AudioPiece | None:
    """Return a picture or a sound, whole unless it is very large; None of other bytes."""
    if value is None or (media := _detected(value[:_LONGEST_BEGIN])) is None:
        return None
    return _media(media, value, _MOST_WHOLE_BYTES)


def line_of(vector: pl.Series, *, in_detail: bool = False) -> LinePiece | None:
    """Return a vector as a line: heights from 0 to 1, null for a gap, and its ends as text.

    If a vector has more items than points, each point is the mean of some items.
    """
    if len(vector) < _LEAST_ITEMS:
        return None
    numbers = vector.cast(pl.Float64).fill_null(float("nan")).to_numpy()
    finite = np.isfinite(numbers)
    if not finite.any():
        return None
    least, most = numbers[finite].min(), numbers[finite].max()
    points = min(_POINTS_IN_DETAIL if in_detail else _POINTS_IN_CELL, len(numbers))
    begins = np.arange(points) * len(numbers) // points
    counts = np.add.reduceat(finite.astype(np.int64), begins)
    height = np.where(finite, (numbers / 2 - least / 2) / max(most / 2 - least / 2, 1e-300), 0.0)
    sums = np.add.reduceat(height, begins)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return LinePiece(
        [None if np.isnan(mean) else round(float(mean), 3) for mean in means],
        f"{len(vector):,} numbers from {least:.4g} to {most:.4g}",
    )


def _pictures(column: pl.Series) -> list[CellPiece | None]:
    begins = column.bin.head(_LONGEST_BEGIN).to_list()
    media_of_cells = [None if begin is None else _detected(begin) for begin in begins]
    pieces: list[CellPiece | None] = []
    left = _MOST_COLUMN_BYTES
    for place, media in enumerate(media_of_cells):
        if media is None:
            pieces.append(None)
            continue
        is_picture = media[1].startswith("image/")
        most = min(left, _MOST_PICTURE_BYTES) if is_picture else 0
        piece = _media(media, column[place], most)
        left -= 0 if piece.data is None else piece.size
        pieces.append(piece)
    return pieces


def _detected(begin: bytes) -> tuple[str, str] | None:
    for mark, place, name, media_type in _MEDIA:
        if begin[place : place + len(mark)] == mark and (not place or begin[:4] == b"RIFF"):
            is_frame = len(mark) == _FRAME_MARK
            return None if is_frame and not _is_frame(begin) else (name, media_type)
    return None


def _is_frame(begin: bytes) -> bool:
    """Tell whether two bytes, which other files may have, too, begin a frame of MP3."""
    if len(begin) <= _FRAME_MARK:
        return False
    rates = begin[_FRAME_MARK]
    return rates >> 4 not in (0, 15) and rates >> 2 & 3 != 3


def _media(detected: tuple[str, str], value: bytes, most: int) -> ImagePiece | AudioPiece:
    """Return a picture or a sound as a data URL, unless it is too large."""
    name, media_type = detected
    is_small = len(value) <= most
    encoded = base64.b64encode(value).decode() if is_small else None
    kind = ImagePiece if media_type.startswith("image/") else AudioPiece
    return kind(
        None if encoded is None else f"data:{media_type};base64,{encoded}",
        len(value),
        f"{name}, {byte_size(len(value))}, {digest_of(value)}",
    )
