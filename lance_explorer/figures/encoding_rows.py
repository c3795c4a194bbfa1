"""The bytes of row IDs of fragments by encoding, in numbers and words, for figures and browser."""

from typing import Any, NamedTuple

import polars as pl

from lance_explorer.figures.labels import plural, size
from lance_explorer.figures.palette import ENCODING_COLORS

__all__ = ["SPILLED", "EncodingRows", "encoding_rows"]

SPILLED = "spilled"
"""Stands for the encoding of row IDs that are in a column of a data file."""


class EncodingRows(NamedTuple):
    """Rows of a picture, with one fragment each or several.

    Attributes
    ----------
    rows : polars.DataFrame
        ``row``, the first and the last fragment of it, ``num_fragments``; ``encoded_bytes`` and
        ``best_bytes``, null where all is spilled; ``words``, lines that say all of it, and
        ``sizes``, how much it is now and at best.
    parts : polars.DataFrame
        ``row``, ``encoding``, and the segments, row IDs and bytes (0 if spilled) of both.
    """

    rows: pl.DataFrame
    parts: pl.DataFrame


def encoding_rows(
    segments: pl.DataFrame, encodings: pl.DataFrame, num_each: int = 1
) -> EncodingRows:
    """Return the bytes of row IDs of fragments, ``num_each`` fragments of ``encodings`` together.

    Parameters
    ----------
    segments : polars.DataFrame
        What ``table.inspect.row_id_segments()`` gives for a version.
    encodings : polars.DataFrame
        What ``table.inspect.row_id_encodings()`` gives for the same version, or some of its rows.
    num_each : int
        How many fragments a row has.

    Examples
    --------
    >>> frames = table.inspect
    >>> found = encoding_rows(frames.row_id_segments(), frames.row_id_encodings())
    >>> found.rows["words"][0].to_list()
    ['Fragment 0: 1 segment', '6 bytes now, 6 bytes at best', 'range: 6 bytes for 4 row IDs']
    """
    fragments = encodings.select(
        "fragment_id",
        "encoded_bytes",
        row=pl.int_range(pl.len()) // num_each,
        best_bytes=pl.when(pl.col("encoded_bytes").is_not_null()).then("best_bytes"),
    )
    parts = (
        segments.join(fragments.select("fragment_id", "row"), on="fragment_id")
        .with_columns(encoding=pl.col("encoding").cast(pl.String).fill_null(SPILLED))
        .group_by("row", "encoding")
        .agg(pl.len().alias("num_segments"), pl.col("num_values", "encoded_bytes").sum())
        .sort("row", pl.col("encoding").cast(pl.Enum([*ENCODING_COLORS, SPILLED])))
    )
    some = [
        pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name)
        for name in ("encoded_bytes", "best_bytes")
    ]
    rows = fragments.group_by("row", maintain_order=True).agg(
        pl.col("fragment_id").first().alias("first"),
        pl.col("fragment_id").last().alias("last"),
        pl.len().alias("num_fragments"),
        *some,
    )
    by_row = parts.partition_by("row", as_dict=True)
    words, sizes = [], []
    for row in rows.iter_rows(named=True):
        row_parts = by_row.get((row["row"],), parts.clear())
        words.append(_words(row, row_parts))
        sizes.append(_sizes(row["encoded_bytes"], row["best_bytes"]))
    texts = [pl.Series("words", words, pl.List(pl.String)), pl.Series("sizes", sizes, pl.String)]
    return EncodingRows(rows.with_columns(texts), parts)


def _words(row: dict[str, Any], parts: pl.DataFrame) -> list[str]:
    name = f"Fragment {row['first']:,}"
    if row["num_fragments"] > 1:
        name = f"Fragments {row['first']:,} to {row['last']:,} ({row['num_fragments']:,})"
    lines = [f"{name}: {plural(int(parts['num_segments'].sum()), 'segment')}"]
    if row["encoded_bytes"] is not None:
        lines.append(f"{size(row['encoded_bytes'])} now, {size(row['best_bytes'])} at best")
    for part in parts.iter_rows(named=True):
        row_ids = plural(part["num_values"], "row ID")
        lines.append(
            f"{SPILLED} into a column of a data file: {row_ids}"
            if part["encoding"] == SPILLED
            else f"{part['encoding'].replace('_', ' ')}: {size(part['encoded_bytes'])} "
            f"for {row_ids}"
        )
    return lines


def _sizes(now: int | None, best: int | None) -> str:
    if now is None:
        return SPILLED
    return size(now) if size(now) == size(best) else f"{size(now)} → {size(best)}"
