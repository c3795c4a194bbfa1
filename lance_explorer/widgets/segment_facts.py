"""What is said of the row IDs of a table: encodings in numbers, growth, and the age of rows."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.figures.palette import ENCODING_COLORS
from lance_explorer.table import Table

__all__ = ["ages", "encoding_statistics", "growth"]

_SPILLED = "spilled"


def encoding_statistics(segments: pl.DataFrame) -> list[dict[str, Any]]:
    """Return for each encoding that occurs its segments, row IDs, bytes, and bytes a row ID.

    Numbers are decimal strings, None where they are unknown.
    """
    names = [*ENCODING_COLORS, _SPILLED]
    sums = segments.group_by(pl.col("encoding").cast(pl.String).fill_null(_SPILLED)).agg(
        pl.len().alias("count"),
        pl.col("num_values").sum(),
        (pl.col("num_values") == 1).sum().alias("one_row"),
        pl.when(pl.col("encoded_bytes").null_count() == 0).then(pl.col("encoded_bytes").sum()),
    )
    found = {row["encoding"]: row for row in sums.iter_rows(named=True)}
    return [_statistics(name, found[name]) for name in names if name in found]


def _statistics(name: str, row: dict[str, Any]) -> dict[str, Any]:
    size, values = row["encoded_bytes"], row["num_values"]
    return {
        "encoding": name,
        "count": str(row["count"]),
        "one_row": str(row["one_row"]),
        "num_values": str(values),
        "bytes": None if size is None else str(size),
        "bytes_per_row": None if size is None or not values else size / values,
    }


def growth(table: Table) -> dict[str, NDArray[Any]]:
    """Return for each kept version the bytes of a row, now and at best, and all bytes.

    What is unknown is NaN.
    """
    totals = table.inspect.row_id_totals()
    versions = totals["version"].to_numpy()
    best = _best_bytes(table.inspect.all_row_id_encodings(), versions)
    rows = _floats(totals["num_rows"])
    has_ratio = totals["bytes_per_row"].is_not_null().to_numpy()
    ratio = np.divide(best, rows, out=np.full(len(rows), np.nan), where=has_ratio & (rows > 0))
    return {
        "growth_now": _floats(totals["bytes_per_row"]),
        "growth_best": ratio,
        "growth_bytes": _floats(totals["row_ids_bytes"]),
        "growth_segments": _floats(totals["num_segments"]),
    }


def _best_bytes(encodings: pl.DataFrame, versions: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the fewest bytes that the inline row IDs of each version could take."""
    inline = encodings.filter(storage="inline")
    begin = np.searchsorted(versions, inline["first_version"].to_numpy())
    end = np.searchsorted(versions, inline["last_version"].to_numpy()) + 1
    sizes = inline["best_bytes"].cast(pl.Float64).to_numpy()
    begun, ended = [np.bincount(at, sizes, len(versions) + 1) for at in (begin, end)]
    return (begun - ended).cumsum()[:-1]


def ages(runs: pl.DataFrame, versions: NDArray[np.uint64]) -> dict[str, NDArray[np.float64]]:
    """Return how many rows each kept version created, and last updated, as far as that is stored.

    Rows of versions that are not kept count for the next one that is.
    """
    counts = {}
    for name in ("created_at", "last_updated_at"):
        some = runs.filter(sequence=name)
        at = np.searchsorted(versions, some["row_version"].to_numpy())
        rows = some["num_rows"].cast(pl.Float64).to_numpy()
        last = max(len(versions) - 1, 0)
        sums = np.bincount(np.minimum(at, last), rows, len(versions))
        counts[f"age_{name}"] = sums.astype(np.float64)
    return counts


def _floats(values: pl.Series) -> NDArray[np.float64]:
    return values.cast(pl.Float64).fill_null(float("nan")).to_numpy()
