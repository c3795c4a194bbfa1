"""One page of the rows of a version, as text for the browser."""

from typing import Any

import polars as pl

from lance_explorer.errors import UnsupportedFeatureError
from lance_explorer.format.flags import STABLE_ROW_IDS, unreadable_flags
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.source import TableSource
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.values import SYSTEM_COLUMNS, read_rows
from lance_explorer.widgets.cell_text import sizes_of, text_of, unit_of

__all__ = ["row_page"]

_MOST_COLUMNS = 100
_MOST_CHARACTERS = 100
_MOST_ITEMS = 4  # of lists and vectors
_MOST_BYTES = 8  # of blobs


def row_page(source: TableSource, version: int, first: int, count: int) -> dict[str, Any]:
    """Return ``count`` rows from ``first`` on, in the order of a scan, with IDs and addresses.

    Raises
    ------
    UnsupportedFeatureError
        If a file lies where the table may not lead.
    """
    record = source.history.records[source.history.position(version)]
    all_flags = record.manifest.reader_feature_flags
    flags = unreadable_flags(all_flags)
    if flags:
        raise UnsupportedFeatureError(
            f"rows of version {version} cannot be read: unknown feature {', '.join(flags)}"
        )
    check_values(source, version)
    fields = [field for field in record.schema if field.parent_id == NO_PARENT]
    types = {field.name: field.logical_type for field in fields[:_MOST_COLUMNS]}
    columns = [*SYSTEM_COLUMNS, *types]
    rows = read_rows(
        value_root(source, version),
        version,
        columns,
        limit=count,
        offset=first,
        storage_options=source.storage.options,
    )
    rows = rows.select(columns)
    texts = [_summaries(rows[name]) for name in columns]
    return {
        "columns": [
            {"name": name, "type": types.get(name, "uint64"), "numeric": dtype.is_numeric()}
            for name, dtype in rows.schema.items()
        ],
        "num_columns": len(SYSTEM_COLUMNS) + len(fields),
        "first": first,
        "has_row_ids": bool(all_flags & STABLE_ROW_IDS),
        "cells": [list(row) for row in zip(*texts, strict=True)],
    }


def _summaries(column: pl.Series) -> list[str | None]:
    """Return values as short texts, which say what they leave out; null stays null."""
    match column.dtype:
        case pl.List() | pl.Array():
            most = _MOST_ITEMS
        case pl.Binary():
            most = _MOST_BYTES
        case _:
            most = _MOST_CHARACTERS
    sizes = sizes_of(column)
    texts = pl.DataFrame(
        {
            "text": text_of(column, most),
            "size": column.is_null().cast(pl.Int64) if sizes is None else sizes,
        }
    )
    text = pl.col("text")
    size = pl.format(" ({} {})", "size", pl.lit(unit_of(column.dtype)))
    shown = (
        pl.when(text.str.len_chars() > _MOST_CHARACTERS)
        .then(text.str.head(_MOST_CHARACTERS) + "…")
        .otherwise(text)
    )
    cut = (
        pl.when(pl.col("size") > most)
        .then(shown.str.strip_suffix("…") + "…" + size)
        .otherwise(shown)
    )
    return texts.select(cut).to_series().to_list()
