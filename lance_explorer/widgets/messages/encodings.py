"""The row-ID segments of a version, and what row IDs cost in all versions."""

from typing import Literal

from lance_explorer.widgets.messages.base import (
    Digits,
    Float64Array,
    Int32Array,
    Message,
    Uint8Array,
)
from lance_explorer.widgets.messages.versions import VersionData

__all__ = [
    "Ages",
    "EncodingStatistics",
    "EncodingsData",
    "EncodingsVersion",
    "Growth",
    "SegmentMode",
    "Segments",
]

SegmentMode = Literal["position", "row_id"]
"""The horizontal axis: positions of row IDs in the sequence, or the row IDs themselves."""


class EncodingsData(VersionData):
    """All versions, and the colours of encodings."""

    has_row_ids: bool
    growth_color: str
    colors: dict[str, str]


class Growth(Message):
    """For each version the bytes per row ID, now and at best, and all bytes; NaN is unknown."""

    growth_now: Float64Array
    growth_best: Float64Array
    growth_bytes: Float64Array
    growth_segments: Float64Array


class Ages(Message):
    """How many rows each version created, and last updated."""

    age_created_at: Float64Array
    age_last_updated_at: Float64Array


class Segments(Message):
    """A raster of segments: its rows are fragments, one each or several."""

    rows: list[tuple[Digits, Digits, int]]
    """First and last fragment, and their number."""
    row_words: list[list[str]]
    """The text of each row, in lines."""
    row_sizes: list[str]
    """The bytes of each row, now and at best."""
    kinds: tuple[str, ...]
    num_bins: int
    begin: Digits
    end: Digits
    """The values at the edges of the picture."""
    kind: Uint8Array
    """For each row and bin the most frequent encoding, a position in ``kinds``, or 255."""
    fill: Uint8Array
    """How much of the bin is filled, of 255."""
    begins: Int32Array
    """How many segments begin there."""
    bytes: Float64Array
    """The bytes of each row and encoding."""
    best: Float64Array
    """The bytes of each row at best; NaN if unknown."""


class EncodingStatistics(Message):
    """How often an encoding occurs, and what it takes."""

    encoding: str
    count: Digits
    one_row: Digits
    num_values: Digits
    bytes: Digits | None
    bytes_per_row: float | None


class EncodingsVersion(Message):
    """The data of a version; ``one`` is the chosen fragment."""

    words: list[str]
    statistics: list[EncodingStatistics]
    choices: list[Digits]
    """The fragments to choose from."""
    num_fragments: int
    mode: SegmentMode
    segments: Segments
    one: Segments | None
    ages: Ages
