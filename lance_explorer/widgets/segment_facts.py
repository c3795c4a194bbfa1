"""The row IDs of a table: encodings in numbers, growth, and the age of rows."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from lance_explorer.figures.encoding_rows import SPILLED
from lance_explorer.figures.palette import ENCODING_COLORS
from lance_explorer.figures.row_id_growth import row_id_growth
from lance_explorer.table import Table
from lance_explorer.widgets.arrays import floats
from lance_explorer.widgets.messages.base import BigUint64Array, Float64Array
from lance_explorer.widgets.messages.encodings import Ages, EncodingStatistics, Growth

__all__ = ["ages", "encoding_statistics", "growth"]


def encoding_statistics(segments: pl.DataFrame) -> list[EncodingStatistics]:
    """Return for each encoding that occurs its segments, row IDs, bytes, and bytes a row ID.

    Numbers are decimal strings, None where they are unknown.
    """
    names = [*ENCODING_COLORS, SPILLED]
    sums = segments.group_by(pl.col("encoding").cast(pl.String).fill_null(SPILLED)).agg(
        pl.len().alias("count"),
        pl.col("num_values").sum(),
        (pl.col("num_values") == 1).sum().alias("one_row"),
        pl.when(pl.col("encoded_bytes").null_count() == 0).then(pl.col("encoded_bytes").sum()),
    )
    by_encoding = {row["encoding"]: row for row in sums.iter_rows(named=True)}
    return [_statistics(name, by_encoding[name]) for name in names if name in by_encoding]


def _statistics(name: str, row: Mapping[str, Any]) -> EncodingStatistics:
    size, values = row["encoded_bytes"], row["num_values"]
    return EncodingStatistics(
        encoding=name,
        count=str(row["count"]),
        one_row=str(row["one_row"]),
        num_values=str(values),
        bytes=None if size is None else str(size),
        bytes_per_row=None if size is None or not values else size / values,
    )


def growth(table: Table) -> Growth:
    """Return for each kept version the bytes per row, now and at best, and all bytes.

    Unknown numbers are NaN.
    """
    sums = row_id_growth(table.inspect.row_id_totals(), table.inspect.all_row_id_encodings())
    return Growth(
        growth_now=floats(sums["bytes_per_row"]),
        growth_best=floats(sums["best_per_row"]),
        growth_bytes=floats(sums["row_ids_bytes"]),
        growth_segments=floats(sums["num_segments"]),
    )


def ages(runs: pl.DataFrame, versions: BigUint64Array) -> Ages:
    """Return how many rows each kept version created, and last updated, as far as it is stored.

    Rows of a missing version are counted in the next kept version.
    """

    def counted(name: str) -> Float64Array:
        some = runs.filter(sequence=name)
        at = np.searchsorted(versions, some["row_version"].to_numpy())
        rows = some["num_rows"].cast(pl.Float64).to_numpy()
        last = max(len(versions) - 1, 0)
        sums = np.bincount(np.minimum(at, last), rows, len(versions))
        return sums.astype(np.float64)

    return Ages(counted("created_at"), counted("last_updated_at"))
