"""Parts of a feed, put together."""

from collections.abc import Sequence

import polars as pl

__all__ = ["as_parts_of"]

_KEY = ["_change_type", "_event", "_rowid", "_rowaddr", "_rowaddr_before", "_rowaddr_after"]
_KEY += ["_commit_version"]


def as_parts_of(whole: pl.DataFrame, parts: Sequence[pl.DataFrame], mode: str) -> pl.DataFrame:
    """Return the lines of all parts in the order of the feed, if each is; so are commits."""
    together = pl.concat([whole.clear(), *parts])
    if mode != "net":
        assert together["_commit_version"].equals(whole["_commit_version"], null_equal=True)
    lines = whole.select(_KEY).with_row_index("line")
    for part in parts:
        own = part.select(_KEY).join(
            lines, _KEY, how="left", nulls_equal=True, maintain_order="left"
        )
        assert own["line"].is_sorted()
    placed = together.join(lines, _KEY, how="left", nulls_equal=True)
    return placed.sort("line").drop("line")
