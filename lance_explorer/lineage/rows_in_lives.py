"""Which fragments (lives of fragments) rows were in, derived from their events."""

import polars as pl

from lance_explorer.arguments import of_kind, shown
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.rowids.addresses import FRAGMENT_BITS

__all__ = ["visits"]

_COLUMNS = ("branch", "version", "event", "_rowaddr_before", "_rowaddr_after")


def visits(fragments: pl.DataFrame, events: pl.DataFrame) -> pl.DataFrame:
    """Return which lives of fragments rows left and entered with each event.

    Parameters
    ----------
    fragments : polars.DataFrame
        The nodes of a lineage.
    events : polars.DataFrame
        What ``table.row(id).history()`` or ``table.follow(ids)`` gives.

    Returns
    -------
    polars.DataFrame
        One row an event, in the same order: ``_rowid`` (null for a single row), ``version``,
        ``event``, ``from_node`` and ``to_node``, null where the row was not live, and where no
        kept version has the fragment.
    """
    names = of_kind("events", events, pl.DataFrame, "what table.row(id).history() gives").columns
    if missing := [name for name in _COLUMNS if name not in names]:
        raise InvalidArgumentError(
            "events is the result of table.row(id).history() or table.follow(ids), and this has "
            f"no column {missing[0]}:  {shown(names)}"
        )
    row = pl.col("_rowid") if "_rowid" in events.columns else pl.lit(None, pl.UInt64)
    numbered = events.select(
        row.alias("_rowid"),
        "branch",
        "version",
        "event",
        *[
            (pl.col(f"_rowaddr_{side}") // (1 << FRAGMENT_BITS)).alias(side)
            for side in ("before", "after")
        ],
    ).with_row_index()
    lives = fragments.filter(pl.col("table").is_null()).select(
        "node", "branch", "fragment_id", "first_version", "last_version"
    )
    left = _lives(numbered, lives, "before").filter(pl.col("first_version") < pl.col("version"))
    entered = _lives(numbered, lives, "after").filter(pl.col("last_version") >= pl.col("version"))
    latest = left.sort("first_version").group_by("index").last()
    earliest = entered.sort("first_version").group_by("index").first()
    return (
        numbered.join(
            latest.select("index", pl.col("node").alias("from_node")), on="index", how="left"
        )
        .join(earliest.select("index", pl.col("node").alias("to_node")), on="index", how="left")
        .sort("index")
        .select("_rowid", "version", "event", "from_node", "to_node")
    )


def _lives(numbered: pl.DataFrame, lives: pl.DataFrame, side: str) -> pl.DataFrame:
    """Return the lives of the branch that have the fragment IDs of one side of the events."""
    return numbered.filter(pl.col(side).is_not_null()).join(
        lives, left_on=["branch", side], right_on=["branch", "fragment_id"], nulls_equal=True
    )
