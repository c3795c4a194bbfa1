"""The bytes of row IDs of each version, now and at best, in numbers and words."""

from typing import Any, Literal

import polars as pl

from lance_explorer.figures.labels import per_row, plural, size

__all__ = ["growth_words", "row_id_growth"]


def row_id_growth(totals: pl.DataFrame, all_encodings: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the bytes of row IDs of each version, now and at best.

    Parameters
    ----------
    totals : polars.DataFrame
        What ``table.inspect.row_id_totals()`` gives, or some of its rows.
    all_encodings : polars.DataFrame, optional
        What ``table.inspect.all_row_id_encodings()`` gives; without it the best is not known.

    Returns
    -------
    polars.DataFrame
        ``version``, ``row_ids_bytes``, ``num_segments`` and ``bytes_per_row`` of ``totals``,
        ``best_bytes``, and ``best_per_row``, which is null where ``bytes_per_row`` is.

    Examples
    --------
    >>> frames = table.inspect
    >>> found = row_id_growth(frames.row_id_totals(), frames.all_row_id_encodings())
    >>> growth_words(found.row(0, named=True))
    'Row IDs: 6 bytes in 1 segment; 1.50 B a row, at best 1.50 B'
    """
    best = pl.Series([None] * len(totals), dtype=pl.Int64)
    if all_encodings is not None:
        inline = all_encodings.filter(pl.col("storage") == "inline")
        begun = _sum_until(inline, "first_version", totals["version"], "right")
        best = begun - _sum_until(inline, "last_version", totals["version"], "left")
    has_ratio = pl.col("bytes_per_row").is_not_null() & (pl.col("num_rows") > 0)
    return totals.select(
        "version",
        "row_ids_bytes",
        "num_segments",
        "bytes_per_row",
        best_bytes=best,
        best_per_row=pl.when(has_ratio).then(best / pl.col("num_rows")),
    )


def growth_words(row: dict[str, Any]) -> str:
    """Say what row IDs take in a version, a row of :func:`row_id_growth`; "" if unknown."""
    if row["row_ids_bytes"] is None:
        return ""
    segments, best = row["num_segments"], row["best_per_row"]
    stored = "" if segments is None else f" in {plural(segments, 'segment')}"
    at_best = "" if best is None else f", at best {per_row(best)}"
    taken, each = size(row["row_ids_bytes"]), per_row(row["bytes_per_row"])
    return f"Row IDs: {taken}{stored}; {each} a row{at_best}"


def _sum_until(
    encodings: pl.DataFrame, column: str, versions: pl.Series, side: Literal["left", "right"]
) -> pl.Series:
    """Return the best bytes of all rows whose ``column`` is below, or up to, each version."""
    ordered = encodings.sort(column)
    sums = pl.concat([pl.Series([0]), ordered["best_bytes"].cum_sum()])
    return sums.gather(ordered[column].search_sorted(versions, side=side))
