"""Which commits made a table large."""

import polars as pl

from lance_explorer.frames.columns import BYTES, ID, TEXT, TIME, Column, FrameSchema
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.catalogue import frame
from lance_explorer.report.facts import WHAT_IT_DID, Facts

__all__ = ["GROWTH", "growth"]

_MOST_COMMITS = 10

GROWTH = FrameSchema(
    "growth",
    (
        Column("version", ID, "version that the commit made"),
        Column("timestamp", TIME, "when it was committed", nullable=True),
        Column(WHAT_IT_DID, TEXT, "in words"),
        Column("added_bytes", BYTES, "by how much the table's data grew", unit="bytes"),
        Column("written_bytes", BYTES, "size of its new data files", nullable=True, unit="bytes"),
        Column("data_bytes", BYTES, "size of the table's data after it", unit="bytes"),
    ),
)


def growth(facts: Facts) -> pl.DataFrame:
    """Return the commits that made the data of a table larger, at most ten, the largest first.

    Examples
    --------
    >>> sorted(growth(Facts(table.source))["version"])
    [1, 2, 3]
    """
    is_first, is_next = pl.col("version") == 1, pl.col("version").diff() == 1
    before = pl.when(is_first).then(0).when(is_next).then(pl.col("data_bytes").shift())
    steps = facts.versions.with_columns(added_bytes=pl.col("data_bytes") - before)
    largest = steps.filter(pl.col("added_bytes") > 0).top_k(_MOST_COMMITS, by="added_bytes")
    every = largest.join(_written(facts.source), on="version", how="left", maintain_order="left")
    return every.sort("added_bytes", descending=True).select(GROWTH.names)


def _written(source: TableSource) -> pl.DataFrame:
    """Return the size of the data files that first were in each version; null if one is unknown."""
    states = frame(source, "all_data_files")
    files = states.group_by("base_id", "path").agg(
        pl.col("size_bytes").first(), version=pl.col("first_version").min()
    )
    size = pl.col("size_bytes")
    return files.group_by("version").agg(
        written_bytes=pl.when(size.null_count() == 0).then(size.sum())
    )
