"""The row-ID segments of a version as a raster of bounded size, however many there are."""

from typing import get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.figures.encoding_rows import SPILLED, encoding_rows
from lance_explorer.figures.palette import ENCODING_COLORS
from lance_explorer.rowids.arrays import MAX_U64
from lance_explorer.widgets.arrays import floats
from lance_explorer.widgets.messages.base import Uint8Array
from lance_explorer.widgets.messages.encodings import SegmentMode, Segments

__all__ = ["MODES", "segment_picture"]

MODES: tuple[SegmentMode, ...] = get_args(SegmentMode)
"""What runs to the right: positions in the sequence, or the row IDs themselves."""

_MOST_ROWS = 120
_BINS = 600
_KINDS = (*ENCODING_COLORS, SPILLED)
_NOTHING = 255
_FAINTEST = 48  # of 255


def segment_picture(segments: pl.DataFrame, encodings: pl.DataFrame, mode: SegmentMode) -> Segments:
    """Return the picture of segments; ``encodings`` gives the order of fragments.

    Fragments that share a row are drawn one after the other if positions run to the right, and on
    top of each other if row IDs do.
    """
    each = -(-len(encodings) // _MOST_ROWS) or 1
    rows, parts = encoding_rows(segments, encodings, each)
    fragments = encodings.select("fragment_id", row=pl.int_range(pl.len()) // each)
    placed = segments.select("fragment_id", "start", "stop", "num_values", "encoding").join(
        fragments, on="fragment_id", maintain_order="left"
    )
    num_rows = len(rows)
    kinds = _codes(placed["encoding"])
    row = placed["row"].to_numpy()
    begins, ends, edges = _by_position(placed) if mode == "position" else _by_row_id(placed)
    cells = row * len(_KINDS) + kinds
    values = placed["num_values"].to_numpy().astype(np.float64)
    counts = _spread(cells, values, begins, ends, num_rows * len(_KINDS))
    counts = counts.reshape(num_rows, len(_KINDS), _BINS)
    first = np.minimum(begins, _BINS - 1).astype(np.int64)
    begun = np.bincount(row * _BINS + first, minlength=num_rows * _BINS)
    part_cells = parts["row"].to_numpy() * len(_KINDS) + _codes(parts["encoding"])
    sizes = parts["encoded_bytes"].cast(pl.Float64).to_numpy()
    kind, fill = _raster(counts, (edges[1] - edges[0]) / _BINS)
    return Segments(
        rows=[
            (str(first), str(last), number)
            for first, last, number in rows.select("first", "last", "num_fragments").iter_rows()
        ],
        row_words=rows["words"].to_list(),
        row_sizes=rows["sizes"].to_list(),
        kinds=_KINDS,
        num_bins=_BINS,
        begin=str(edges[0]),
        end=str(edges[1]),
        kind=kind,
        fill=fill,
        begins=begun.astype(np.int32),
        bytes=np.bincount(part_cells, sizes, num_rows * len(_KINDS)).astype(np.float64),
        best=floats(rows["best_bytes"]),
    )


def _codes(encodings: pl.Series) -> NDArray[np.int64]:
    numbers = pl.Series(range(len(_KINDS)), dtype=pl.Int64)
    names = encodings.cast(pl.String).fill_null(SPILLED)
    return names.replace_strict(pl.Series(_KINDS), numbers, return_dtype=pl.Int64).to_numpy()


_Places = tuple[NDArray[np.float64], NDArray[np.float64], tuple[int, int]]


def _by_position(placed: pl.DataFrame) -> _Places:
    """Return where segments begin and end, in bins, and the values at the edges."""
    ends = placed.select(pl.col("num_values").cum_sum().over("row"))["num_values"]
    longest = int(ends.max() or 0)  # type: ignore[arg-type]
    scale = _BINS / max(longest, 1)
    begins = (ends - placed["num_values"]).to_numpy() * scale
    return begins, ends.to_numpy() * scale, (0, longest)


def _by_row_id(placed: pl.DataFrame) -> _Places:
    # Of an empty array there is no lowest row ID; 2^64, where a range may stop, is stored as null.
    has_values = placed["start"].is_not_null().to_numpy()
    start = placed["start"].fill_null(0).to_numpy()
    last = (placed["stop"] - 1).fill_null(MAX_U64).to_numpy()
    if not has_values.any():
        return np.zeros(len(placed)), np.zeros(len(placed)), (0, 0)
    lowest, highest = start[has_values].min(), last[has_values].max()
    edges = int(lowest), int(highest) + 1
    scale = _BINS / max(edges[1] - edges[0], 1)
    begins = np.where(has_values, (start - lowest).astype(np.float64), 0) * scale
    ends = np.where(has_values, (last - lowest).astype(np.float64) + 1, 0) * scale
    return begins, np.maximum(begins, ends), edges


def _spread(
    cells: NDArray[np.int64],
    values: NDArray[np.float64],
    begins: NDArray[np.float64],
    ends: NDArray[np.float64],
    num_cells: int,
) -> NDArray[np.float64]:
    """Return how many values of segments are in each bin of each cell, as if spread evenly."""
    first = np.minimum(begins, _BINS - 1).astype(np.int64)
    last = np.clip(np.ceil(ends) - 1, first, _BINS - 1).astype(np.int64)
    rate = values / np.maximum(ends - begins, 1e-300)
    is_within = first == last
    in_first = np.where(is_within, values, rate * (first + 1 - begins))
    in_last = np.where(is_within, 0, rate * (ends - last))
    between = np.where(last - first > 1, rate, 0)
    steps = np.zeros(num_cells * (_BINS + 1))
    for at, sign in ((first + 1, 1), (last, -1)):
        place = cells * (_BINS + 1) + np.minimum(at, _BINS)
        steps += sign * np.bincount(place, between, len(steps))
    counts = steps.reshape(num_cells, _BINS + 1).cumsum(axis=1)[:, :_BINS].ravel()
    for at, part in ((first, in_first), (last, in_last)):
        counts += np.bincount(cells * _BINS + at, part, len(counts))
    return counts


def _raster(counts: NDArray[np.float64], room: float) -> tuple[Uint8Array, Uint8Array]:
    """Return the most frequent encoding in each bin, and how much of ``room`` values it fills."""
    total = counts.sum(axis=1)
    is_there = total > 1e-6 * max(room, 1e-300)
    fill = np.clip(np.ceil(255 * total / max(room, 1e-300)), _FAINTEST, 255)
    kind = np.where(is_there, counts.argmax(axis=1), _NOTHING)
    return kind.astype(np.uint8), np.where(is_there, fill, 0).astype(np.uint8)
