"""A profile as a frame: one line for each version and column."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.cells.text import briefs_of
from lance_explorer.frames.columns import (
    COUNT,
    ID,
    KNOWN_FROM,
    TEXT,
    TIME,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.frames.known_from import known_from
from lance_explorer.profiles.digests import Digest
from lance_explorer.profiles.folding import folded
from lance_explorer.profiles.measures import MEASURES, Leaf, text_of
from lance_explorer.profiles.reading import ProfileRows
from lance_explorer.profiles.shift import NO_SHIFT, SHIFTED, Shift, shift_between

__all__ = ["PROFILE", "RANKS", "profile_frame"]

RANKS = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
"""The quantiles of a profile: minimum, ..., median, ..., maximum."""

_NUMBER = pl.Float64()
_NUMBERS = pl.List(pl.Float64())
_MOST_BINS = 24
_VALUES_SHOWN = 10
_LONGEST_VALUE = 200

PROFILE = FrameSchema(
    "profile",
    (
        VERSION,
        Column("timestamp", TIME, "when the version was committed", nullable=True),
        Column("column", TEXT, "path of the column, or of a field inside of one"),
        Column("type", TEXT, "its type in that version"),
        Column("measure", pl.Enum(MEASURES), "what the statistics measure of each value"),
        Column("num_rows", COUNT, "live rows; null: values are lost or not read", nullable=True),
        Column("num_nulls", COUNT, "rows in which it is null", nullable=True),
        Column("num_nan", COUNT, "rows in which it is not a number (NaN)", nullable=True),
        Column(
            "min", TEXT, "least value; null if there is none, or they have no order", nullable=True
        ),
        Column("max", TEXT, "largest value, likewise", nullable=True),
        Column("mean", _NUMBER, "mean of the measured numbers", nullable=True),
        Column("std", _NUMBER, "their standard deviation, as of a sample", nullable=True),
        Column("quantiles", _NUMBERS, f"numbers at the ranks {', '.join(map(str, RANKS))}"),
        Column(
            "quantile_error",
            _NUMBER,
            "rank error of the quantiles, as a part of 1; 0: exact",
            nullable=True,
        ),
        Column(
            "num_distinct",
            COUNT,
            "distinct values; NaN counts as one, null does not",
            nullable=True,
        ),
        Column(
            "distinct_error",
            _NUMBER,
            "relative standard error of the number of distinct values; 0: exact",
            nullable=True,
        ),
        Column(
            "top_values",
            pl.List(pl.Struct({"value": TEXT, "count": COUNT})),
            "the most frequent values, at most 10",
        ),
        Column(
            "top_values_error",
            COUNT,
            "by how much each count may be too small; 0: exact",
            nullable=True,
        ),
        Column("bin_edges", _NUMBERS, "edges of a histogram, the same in all versions"),
        Column("bin_counts", pl.List(COUNT), "measured numbers between two edges each"),
        Column("centroid", _NUMBERS, "mean of the finite vectors", nullable=True),
        Column("from_version", ID, "version of the profile before", nullable=True),
        Column(
            "shift",
            _NUMBER,
            "how far the values moved since `from_version`: from 0 (same distribution) to 1",
            nullable=True,
        ),
        Column("shift_of", SHIFTED, "what moved that far", nullable=True),
        Column(
            "centroid_cosine",
            _NUMBER,
            "cosine between the centroid and that of `from_version`",
            nullable=True,
        ),
        KNOWN_FROM,
    ),
)
"""The columns of ``Profile.to_polars()``."""

_STATISTICS = PROFILE.names[5:21]
_SHIFTS = PROFILE.names[21:25]


@dataclass(frozen=True, slots=True)
class _Line:
    """A column in a version: its summary, and how far its values moved."""

    place: int
    leaf: Leaf
    digest: Digest | None
    from_place: int | None
    shift: Shift


def profile_frame(profiled: ProfileRows) -> pl.DataFrame:
    """Return the lines of a profile, in the order of versions and of their columns."""
    records = profiled.rows.history.records
    versions = [records[position].version for position in profiled.positions]
    times = [records[position].manifest.timestamp for position in profiled.positions]
    data: dict[str, list[Any]] = {name: [] for name in PROFILE.names if name != "known_from"}
    order = list[tuple[int, int]]()
    number = 0
    for column in profiled.names:
        for lines, edges in _paths(profiled, column):
            statistics = _remembering(edges)
            for line in lines:
                values = statistics(line)
                data["version"].append(versions[line.place])
                data["timestamp"].append(times[line.place])
                data["column"].append(line.leaf.name)
                data["type"].append(_type_text(line.leaf.dtype, line.leaf.measure))
                data["measure"].append(line.leaf.measure)
                for name, value in zip(_STATISTICS, values, strict=True):
                    data[name].append(value)
                data["from_version"].append(
                    None if line.from_place is None else versions[line.from_place]
                )
                for name, value in zip(_SHIFTS[1:], line.shift, strict=True):
                    data[name].append(value)
                order.append((line.place, number))
            number += 1
    data["known_from"] = known_from(profiled.rows.view, data["version"]).to_list()
    keys = np.array(order, dtype=np.int64).reshape(-1, 2)
    return PROFILE.build(data)[np.lexsort((keys[:, 1], keys[:, 0]))]


def _paths(
    profiled: ProfileRows, column: str
) -> Iterator[tuple[list[_Line], NDArray[np.float64] | None]]:
    """Yield the lines of a column and of its nested fields, with the edges of histograms."""
    at = {
        place: profiled.columns[column][position].leaves
        for place, position in enumerate(profiled.positions)
        if position in profiled.columns[column]
    }
    unknown = profiled.unknown_places(column)
    leaves = dict.fromkeys([leaf for leaves in at.values() for leaf in leaves])
    digests: dict[Leaf, list[Digest]] = {}
    for leaf in leaves:
        own = list[Digest]()
        for first, last, digest in folded(
            profiled.parts(column, leaf), 0, len(profiled.positions) - 1, partial(_digest, leaf)
        ):
            own += [digest] * (last - first + 1)
        digests[leaf] = own
    for path in dict.fromkeys([leaf.path for leaf in leaves]):
        lines = list[_Line]()
        for place, there in at.items():
            for leaf in [one for one in there if one.path == path]:
                known = None if place in unknown else digests[leaf][place]
                lines.append(_line(place, leaf, known, lines[-1] if lines else None))
        yield lines, _edges(lines)


def _digest(leaf: Leaf, values: list[pl.Series]) -> Digest:
    return leaf.digest(pl.concat(values, rechunk=True))


def _line(place: int, leaf: Leaf, digest: Digest | None, before: _Line | None) -> _Line:
    if before is None:
        return _Line(place, leaf, digest, None, NO_SHIFT)
    shift = NO_SHIFT
    if before.digest and digest and before.leaf.measure == leaf.measure:
        shift = shift_between(before.digest, digest)
    return _Line(place, leaf, digest, before.place, shift)


def _edges(lines: Sequence[_Line]) -> NDArray[np.float64] | None:
    """Return the edges of histograms; None where there are no numbers, or infinite ones."""
    digests = {id(line.digest): line.digest for line in lines if line.digest and line.digest.count}
    ends = [digest.quantiles([0.0, 1.0]) for digest in digests.values()]
    if not ends:
        return None
    low, high = min([low for low, _ in ends]), max([high for _, high in ends])
    if not np.isfinite(high - low):
        return None
    leaf = lines[-1].leaf
    is_whole = leaf.measure in ("characters", "bytes", "items") or (
        leaf.measure == "value" and not (leaf.dtype.is_float() or leaf.dtype.is_decimal())
    )
    if is_whole and high - low < _MOST_BINS:
        return np.arange(low, high + 2)
    if low == high:
        return np.array([low, np.nextafter(low, np.inf)])
    edges: NDArray[np.float64] = np.linspace(low, high, _MOST_BINS + 1)
    return edges if (edges[1:] > edges[:-1]).all() else None


def _remembering(edges: NDArray[np.float64] | None) -> Any:
    """Return what determines the statistics of a line; neighbouring lines often share it."""
    known: dict[tuple[int, Leaf], tuple[Any, ...]] = {}
    texts = cache(_text)  # frequent values are mostly those of the version before

    def statistics(line: _Line) -> tuple[Any, ...]:
        if line.digest is None:
            return _UNKNOWN
        key = id(line.digest), line.leaf
        if key not in known:
            known[key] = _statistics(line.digest, line.leaf, edges, texts)
        return known[key]

    return statistics


_UNKNOWN: tuple[Any, ...] = (*[None] * 7, [], None, None, None, [], None, [], [], None)


def _statistics(
    digest: Digest,
    leaf: Leaf,
    edges: NDArray[np.float64] | None,
    texts: Callable[[Any, pl.DataType], str | None],
) -> tuple[Any, ...]:
    is_measured, are_compared = leaf.measure != "nothing", leaf.are_compared
    top = digest.frequent(_VALUES_SHOWN)
    ends = digest.least, digest.most
    least, most, *values = [texts(one, leaf.dtype) for one in (*ends, *[value for value, _ in top])]
    num_vectors = digest.count if digest.centre is not None else 0
    return (
        digest.num_rows,
        digest.num_nulls,
        digest.num_nan if is_measured else 0,
        least,
        most,
        digest.mean,
        digest.deviation,
        digest.quantiles(RANKS),
        digest.quantile_error if is_measured else None,
        digest.num_distinct if are_compared else None,
        digest.distinct_error if are_compared else None,
        [{"value": v, "count": n} for v, (_, n) in zip(values, top, strict=True)],
        digest.missed if are_compared else None,
        [] if edges is None else edges.tolist(),
        _bin_counts(digest, edges),
        (digest.centre / num_vectors).tolist()
        if digest.centre is not None and num_vectors
        else None,
    )


def _bin_counts(digest: Digest, edges: NDArray[np.float64] | None) -> list[int]:
    """Return how many numbers are in each bin, without its upper edge, except for the last."""
    if edges is None:
        return []
    inner = np.nextafter(edges[1:-1], -np.inf)
    below = digest.shares_below(inner) if len(inner) else np.empty(0)
    counts: list[int] = np.diff(
        np.round(np.concatenate([[0.0], below * digest.count, [digest.count]])).astype(np.int64)
    ).tolist()
    return counts


def _text(value: Any, dtype: pl.DataType) -> str | None:
    text = text_of(value, dtype)
    if text is None or len(text) <= _LONGEST_VALUE:
        return text
    brief: str = briefs_of(pl.Series([text]), _LONGEST_VALUE)[0].item()
    return brief


@cache
def _type_text(dtype: pl.DataType, measure: str) -> str:
    match dtype:
        case pl.Struct() if measure == "bytes":
            return "Blob"
        case pl.Datetime():
            zone = f", {dtype.time_zone}" if dtype.time_zone else ""
            return f"Datetime({dtype.time_unit}{zone})"
        case pl.Array(inner=inner, shape=(size,)):
            return f"Array({inner}, {size})"
    return str(dtype)
