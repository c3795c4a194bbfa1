"""The fragments of a version as columns side by side: their positions and texts.

``fragment_map.ts`` lays out the same in the browser, where a slider moves; what
``tests/figures/from_python.py`` writes is what the tests of both compare.
"""

from typing import Any, NamedTuple

import polars as pl

from lance_explorer.figures.labels import plural, text
from lance_explorer.frames.sizes import byte_size, percent

__all__ = ["FragmentColumns", "fragment_columns"]

_WIDTH = 800  # pixels
_NARROWEST = 2


class FragmentColumns(NamedTuple):
    """Columns, a fragment each or several.

    Attributes
    ----------
    columns : polars.DataFrame
        ``column``, ``first`` and ``last`` fragment, ``num_fragments``, ``rows`` with deleted ones;
        ``left`` and ``width`` as parts of the width of the picture; ``deleted``, the part of the
        height for deleted rows; and ``words``, lines that say all of it.
    parts : polars.DataFrame
        ``column``, ``created_by`` (null if unknown), how many rows are ``live``, and for which
        ``share`` of the height.
    num_each : int
        How many fragments a column stands for, at most.
    """

    columns: pl.DataFrame
    parts: pl.DataFrame
    num_each: int


def fragment_columns(origins: pl.DataFrame) -> FragmentColumns:
    """Lay out fragments, whose origins :func:`fragment_origins` returns.

    Examples
    --------
    >>> from lance_explorer.figures.fragment_origins import fragment_origins
    >>> frames = table.inspect
    >>> made = fragment_origins(frames.fragments(2), frames.all_fragments(), table.versions())
    >>> found = fragment_columns(made)
    >>> found.columns["words"][1].to_list()[:3]
    ['Fragment 1', 'made by Append in version 2', '2 rows, none deleted']
    """
    num_each = -(-len(origins) // (_WIDTH // _NARROWEST)) or 1
    rows = pl.col("physical_rows").fill_null(0)
    placed = origins.with_columns(
        column=pl.int_range(pl.len()) // num_each,
        rows=rows,
        live=rows - pl.col("num_deleted_rows").fill_null(0),
    )
    columns = placed.group_by("column", maintain_order=True).agg(
        pl.col("fragment_id").first().alias("first"),
        pl.col("fragment_id").last().alias("last"),
        pl.len().alias("num_fragments"),
        pl.col("rows", "live").sum(),
    )
    firsts = origins.gather_every(num_each).iter_rows(named=True)
    said = [
        _words(first) if column["num_fragments"] == 1 else _words_of_several(column)
        for first, column in zip(firsts, columns.iter_rows(named=True), strict=True)
    ]
    columns = columns.with_columns(words=pl.Series(said, dtype=pl.List(pl.String)))
    parts = placed.group_by("column", "created_by", maintain_order=True).agg(pl.col("live").sum())
    parts = parts.join(columns.select("column", "rows"), on="column", maintain_order="left")
    alone = 1 / pl.len().over("column")
    share = pl.when(pl.col("rows") > 0).then(pl.col("live") / pl.col("rows")).otherwise(alone)
    deleted = pl.when(pl.col("rows") > 0).then(1 - pl.col("live") / pl.col("rows")).otherwise(0.0)
    return FragmentColumns(
        columns.with_columns(_places(columns["rows"])).with_columns(deleted=deleted).drop("live"),
        parts.select("column", "created_by", "live", share=share),
        num_each,
    )


def _places(rows: pl.Series) -> list[pl.Series]:
    """Return the begins and widths of columns, in whole pixels of the picture."""
    count, total = len(rows), int(rows.sum())
    gap = 0 if count > _WIDTH / 5 else 1 if count > _WIDTH / 12 else 2
    spare = _WIDTH - count * (_NARROWEST + gap) + gap
    left, width, at = [], [], 0.0
    for number in rows.to_list():
        wide = _NARROWEST + (spare * number / total if total else spare / count)
        left.append(int(at + 0.5))
        width.append(max(1, int(at + wide + 0.5) - left[-1]))
        at += wide + gap
    return [pl.Series("left", left) / _WIDTH, pl.Series("width", width) / _WIDTH]


def _words(row: dict[str, Any]) -> list[str]:
    made = "made before the kept versions"
    if row["created_in"] is not None:
        operation = text(row["created_by_operation"] or "unknown operation")
        made = f"made by {operation} in version {row['created_in']:,}"
    size = "unknown size" if row["data_bytes"] is None else byte_size(row["data_bytes"])
    return [
        f"Fragment {row['fragment_id']:,}",
        made,
        _rows_words(row["physical_rows"], row["num_deleted_rows"]),
        f"{plural(row['num_data_files'], 'data file')}, {size}",
    ]


def _rows_words(rows: int | None, deleted: int | None) -> str:
    if rows is None:
        return "unknown number of rows"
    if deleted is None:
        return f"{plural(rows, 'row')}, an unknown number of them deleted"
    if not deleted:
        return f"{plural(rows, 'row')}, none deleted"
    return f"{plural(rows, 'row')}, {deleted:,} of them deleted ({percent(deleted / rows)})"


def _words_of_several(row: dict[str, Any]) -> list[str]:
    fragments, rows = plural(row["num_fragments"], "fragment"), plural(row["rows"], "row")
    return [
        f"Fragments {row['first']:,} to {row['last']:,}",
        f"{fragments}, {rows} with deleted ones",
    ]
