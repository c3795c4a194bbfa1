"""Parts of a feed, put together."""

from collections.abc import Sequence

import polars as pl

__all__ = ["as_parts_of"]

_KEY = ["_change_type", "_event", "_rowid", "_rowaddr", "_rowaddr_before", "_rowaddr_after"]
_KEY += ["_commit_version"]
_TIME = "time"
"""How often a row was in such a line before: lost commits have no number."""


def as_parts_of(whole: pl.DataFrame, parts: Sequence[pl.DataFrame], mode: str) -> pl.DataFrame:
    """Return the lines of all parts in the order of the feed, if each is; so are commits."""
    together = pl.concat([whole.clear(), *parts])
    if mode != "net":
        assert together["_commit_version"].equals(whole["_commit_version"], null_equal=True)
    times = pl.int_range(pl.len()).over(_KEY).alias(_TIME)
    lines = whole.select(*_KEY, times).with_row_index("line")
    placed = together.with_columns(times).join(
        lines, [*_KEY, _TIME], how="left", nulls_equal=True, maintain_order="left"
    )
    begin = 0
    for part in parts:
        assert placed["line"].slice(begin, len(part)).is_sorted()
        begin += len(part)
    return placed.sort("line").drop("line", _TIME)
