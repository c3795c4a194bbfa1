"""One row for each index of a version: its coverage, and what is missing."""

import polars as pl

from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    ID,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.history.memories import notes
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.index_coverage import index_coverage
from lance_explorer.inspect.indices import indices

__all__ = ["INDEX_SUMMARY", "index_summary"]

INDEX_SUMMARY = FrameSchema(
    "index_summary",
    (
        VERSION,
        BRANCH,
        Column("name", TEXT, "name of the index"),
        Column("index_type", TEXT, "index type, such as BTREE; unknown if the writer stored none"),
        Column("fields", pl.List(TEXT), "paths of its fields; null: dropped from the schema"),
        Column("num_segments", COUNT, "how many segments it has"),
        Column("built_from", ID, "the earliest version that a segment was built from"),
        Column("size_bytes", BYTES, "size of its files", nullable=True, unit="bytes"),
        Column("num_fragments_covered", COUNT, "fragments that some segment covers", nullable=True),
        Column("num_fragments_to_scan", COUNT, "fragments that no segment covers", nullable=True),
        Column(
            "num_fragments_removed",
            COUNT,
            "fragments that a segment still lists, and the version does not have",
        ),
        Column("num_rows_answered", COUNT, "live rows that it finds", nullable=True, unit="rows"),
        Column(
            "num_rows_to_scan", COUNT, "live rows that no segment finds", nullable=True, unit="rows"
        ),
        Column(
            "num_stale_entries",
            COUNT,
            "upper bound of entries for rows that were masked since the segments were built",
            nullable=True,
        ),
    ),
)
"""The columns of ``inspect.index_summary()``. What is unknown of one segment is null."""

_COUNTS = ("num_rows_answered", "num_rows_to_scan", "num_stale_entries")


def index_summary(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each index of a version, in the order of the manifest.

    A fragment that two segments of an index cover counts once. If one part is unknown, so is the
    whole. The result for the last requested version is kept.

    Examples
    --------
    >>> index_summary(table._view, 7).select("name", "num_fragments_covered").rows()
    [('id_idx', 3)]
    """
    last = _last(view)
    summary = last.get(version)
    if summary is None:
        summary = _summary(view, version)
        last.clear()
        last[version] = summary
    return summary


_last = notes(dict[int, pl.DataFrame], are_carried=True)


def _summary(view: HistoryView, version: int) -> pl.DataFrame:
    segments = indices(view, version).filter(~pl.col("is_system"))
    lines = index_coverage(view, version)
    by_name = segments.group_by("name", maintain_order=True).agg(
        pl.len().alias("num_segments"),
        pl.col("index_type").first(),
        pl.col("fields").first(),
        pl.col("dataset_version").min().alias("built_from"),
        _sum("size_bytes"),
    )
    fragments = lines.group_by("name", "fragment_id", "is_current").agg(
        pl.col("is_covered").any(ignore_nulls=False),
        pl.col("num_rows_answered").max(),
        pl.col("num_rows_to_scan").max(),
        pl.col("num_rows_answered", "num_rows_to_scan").null_count().name.suffix("_unknown"),
        pl.col("num_stale_entries").sum(),
        pl.col("num_stale_entries").null_count().alias("num_stale_entries_unknown"),
    )
    counts = fragments.group_by("name").agg(
        _if_known("is_covered", _current(pl.col("is_covered")).sum()).alias(
            "num_fragments_covered"
        ),
        _if_known("is_covered", _current(~pl.col("is_covered")).sum()).alias(
            "num_fragments_to_scan"
        ),
        (~pl.col("is_current")).sum().alias("num_fragments_removed"),
        *[
            pl.when(pl.col(f"{name}_unknown").sum() == 0).then(pl.col(name).sum())
            for name in _COUNTS
        ],
    )
    frame = by_name.join(counts, on="name", how="left", maintain_order="left")
    empty = pl.col("num_fragments_removed").is_null()  # a version without fragments has no lines
    names = [name for name in counts.columns if name != "name"]
    frame = frame.with_columns(pl.when(empty).then(0).otherwise(pl.col(names)).name.keep())
    columns = {name: frame[name] for name in INDEX_SUMMARY.names[2:]}
    constant = {"version": [version] * len(frame), "branch": [view.branch] * len(frame)}
    return INDEX_SUMMARY.build({**constant, **columns})


def _sum(name: str) -> pl.Expr:
    """Return the sum of a column, null if a part is unknown."""
    return pl.when(pl.col(name).null_count() == 0).then(pl.col(name).sum())


def _current(expression: pl.Expr) -> pl.Expr:
    return expression.filter(pl.col("is_current"))


def _if_known(name: str, expression: pl.Expr) -> pl.Expr:
    return pl.when(_current(pl.col(name)).null_count() == 0).then(expression)
