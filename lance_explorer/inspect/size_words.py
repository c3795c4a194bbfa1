"""What made a table big, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from lance_explorer.frames.sizes import byte_size, percent

__all__ = ["Headline", "headline", "origin_note"]

_LARGE, _MOST = 0.1, 0.5
"""The share of all from which a version wrote much, and most."""


@dataclass(frozen=True, slots=True)
class Headline:
    """A sentence about what made a table big; ``link`` in its middle names the ``version``."""

    before: str
    link: str
    after: str
    version: int

    def __str__(self) -> str:
        return f"{self.before}{self.link}{self.after}"


def headline(origins: pl.DataFrame) -> Headline | None:
    """Return which version wrote most of the current data; None if there is none.

    By bytes; if writers recorded none, by rows.

    Parameters
    ----------
    origins : polars.DataFrame
        What :func:`~lance_explorer.inspect.size_origins.size_origins` gives.

    Examples
    --------
    >>> from lance_explorer.inspect.size_origins import size_origins
    >>> told = headline(size_origins(table._view))
    >>> told.link
    'Version 5'
    """
    measure, share = ("size_bytes", "size_share")
    if not origins[share].count():
        measure, share = ("num_rows", "row_share")
    known = origins.filter(pl.col(measure) > 0)
    if known.is_empty():
        return None
    first = known.sort(measure, descending=True, maintain_order=True).row(0, named=True)
    version, part = first["version"], first[share]
    if part < _LARGE:
        kinds = known.group_by("kind", maintain_order=True).agg(
            pl.col(measure, share).sum(), commits=pl.len()
        )
        kind = kinds.sort(measure, descending=True, maintain_order=True).row(0, named=True)
        commits = f"{kind['commits']:,} {kind['kind']} commit{'s' * (kind['commits'] != 1)}"
        before = (
            f"No single commit made it big: {commits} wrote {_much(kind, measure, share)}. The "
            f"largest single part, {percent(part)}, came with "
        )
        return Headline(before, f"version {version:,}", ".", version)
    after = _sentence(first, _much(first, measure, share), is_most=part >= _MOST)
    return Headline("", f"Version {version:,}", after, version)


def _much(row: Mapping[str, Any], measure: str, share: str) -> str:
    if measure == "size_bytes":
        return f"{percent(row[share])} of what is there now ({byte_size(row[measure])})"
    rows = "1 row" if row[measure] == 1 else f"{row[measure]:,} rows"
    return f"{percent(row[share])} of the rows that are there now ({rows})"


def _sentence(row: Mapping[str, Any], much: str, *, is_most: bool) -> str:
    """Return the words after the name of the version that wrote most."""
    match row["origin"]:
        case "compaction":
            return f", a compaction, wrote {much}; the rows were added in earlier versions."
        case "restore":
            return f" brought back {much}; the version that wrote it is not kept."
        case "fork":
            return f", where the branch or clone begins, had {much} already."
        case "unknown":
            return f", {_lost(row)}, wrote {much}."
    if row["kind"] == "create":
        return f", which created the table, wrote {much}."
    operation = row["operation"] or "a commit of unknown operation"
    return (
        f" made it big: {operation} wrote {much}." if is_most else f" ({operation}) wrote {much}."
    )


def _lost(row: Mapping[str, Any]) -> str:
    if row["after"] is None:
        return "or an earlier version, which is not kept"
    return f"or one of the lost versions after {row['after']:,}"


def origin_note(row: Mapping[str, Any]) -> str:
    """Return a note on a version besides what it wrote; "" if its commit wrote it.

    Parameters
    ----------
    row : mapping
        A row of :func:`~lance_explorer.inspect.size_origins.size_origins`.

    Examples
    --------
    >>> origin_note({"origin": "unknown", "after": 3})
    'or one of the lost versions after 3'
    """
    return {
        "commit": "",
        "compaction": "the rows were added in earlier versions",
        "restore": "brought back; the version that wrote it is not kept",
        "fork": "there already where the branch or clone begins",
        "unknown": _lost(row),
    }[row["origin"]]
