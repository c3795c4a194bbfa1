"""The fragments of a lineage picture: those in its versions, but not too many."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from lance_explorer.errors import FragmentNotFoundError

__all__ = ["REST", "Selection", "node_of", "related", "select", "with_origins"]

REST = "rest"
"""Stands for all fragments of the picture without a lane of their own."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What to draw.

    Attributes
    ----------
    lanes : polars.DataFrame
        The fragments with a lane each, in their order: the columns of ``lineage().fragments()``,
        with ``begin`` and ``end``, the versions that are shown of each.
    steps : polars.DataFrame
        How their rows changed: ``node``, ``begin``, ``end`` (the last version), ``num_rows``; those
        of the rest, as one, have ``num_fragments`` too.
    edges : polars.DataFrame
        The edges between lanes, and between lanes and the rest.
    begin, end : int
        The versions that are shown.
    num_fragments : int
        How many fragments there are in these versions, with a lane or not.
    """

    lanes: pl.DataFrame
    steps: pl.DataFrame
    edges: pl.DataFrame
    begin: int
    end: int
    num_fragments: int


def select(
    fragments: pl.DataFrame,
    edges: pl.DataFrame,
    states: pl.DataFrame,
    span: tuple[int, int] | None,
    focus: str | None,
    most_lanes: int,
) -> Selection:
    """Choose what to draw.

    Parameters
    ----------
    fragments, edges, states : polars.DataFrame
        The frames of a lineage.
    span : tuple of int, optional
        The first version and the last; all by default.
    focus : str, optional
        A node: only what leads to it, and what comes of it.
    most_lanes : int
        Of more fragments, those with the most rows for the longest time have lanes.
    """
    lives = _with_ends(fragments, edges)
    if focus is not None:
        lives = lives.filter(pl.col("node").is_in(sorted(related(edges, focus))))
    begin, end = span or _whole_span(lives)
    lives = lives.filter(pl.col("begin") <= end, pl.col("end") >= begin).with_columns(
        pl.col("begin").clip(lower_bound=begin), pl.col("end").clip(upper_bound=end)
    )
    steps = _steps(lives, states)
    lanes = lives
    if len(lives) > most_lanes:
        lanes = _largest(lives, steps, most_lanes)
        steps = _with_rest(steps, lanes)
    else:
        steps = steps.with_columns(num_fragments=pl.lit(1, pl.Int64))
    return Selection(lanes, steps, _edges(edges, lives, lanes, begin, end), begin, end, len(lives))


def node_of(fragments: pl.DataFrame, fragment: str | int) -> str:
    """Return the node of a name, or that of the latest life of a fragment."""
    column = "node" if isinstance(fragment, str) else "fragment_id"
    lives = fragments.filter(pl.col(column) == fragment)["node"]
    if len(lives) == 0:
        raise FragmentNotFoundError(f"there is no fragment {fragment} in this lineage")
    return str(lives[-1])


def with_origins(versions: pl.DataFrame, branch: str | None) -> pl.DataFrame:
    """Return versions in order with ``is_own``: whether they are of the branch, or inherited."""
    is_own = pl.col("branch").eq_missing(pl.lit(branch, pl.String))
    return versions.sort("version", maintain_order=True).with_columns(is_own.alias("is_own"))


def related(edges: pl.DataFrame, node: str) -> set[str]:
    """Return a node with all its ancestors and descendants."""
    after: Mapping[str, list[str]] = defaultdict(list)
    before: Mapping[str, list[str]] = defaultdict(list)
    for start, end in edges.select("from_node", "to_node").iter_rows():
        after[start].append(end)
        before[end].append(start)
    return _reached(node, after) | _reached(node, before)


def _whole_span(lives: pl.DataFrame) -> tuple[int, int]:
    begin, end = lives.select(pl.col("begin").min(), pl.col("end").max()).row(0)
    return begin or 1, end or 1


def _with_ends(fragments: pl.DataFrame, edges: pl.DataFrame) -> pl.DataFrame:
    """Add the versions of each life; one that no kept version contains ends when rewritten."""
    left = edges.filter(pl.col("from_node") != pl.col("to_node"))
    left = left.group_by("from_node").agg((pl.col("version").max() - 1).alias("left"))
    return (
        fragments.join(
            left, left_on="node", right_on="from_node", how="left", maintain_order="left"
        )
        .with_columns(
            pl.col("first_version").cast(pl.Int64).alias("begin"),
            pl.coalesce("last_version", pl.max_horizontal("left", "first_version"), "first_version")
            .cast(pl.Int64)
            .alias("end"),
        )
        .drop("left")
    )


def _reached(start: str, ways: Mapping[str, list[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for node in ways[waiting.pop()]:
            if node not in reached:
                reached.add(node)
                waiting.append(node)
    return reached


def _steps(lives: pl.DataFrame, states: pl.DataFrame) -> pl.DataFrame:
    """Return the states of lives within the shown versions; for unseen ones what is known."""
    known = (
        states.select(
            "node",
            pl.col("first_version").cast(pl.Int64).alias("since"),
            pl.col("last_version").cast(pl.Int64).alias("until"),
            "num_rows",
        )
        .join(lives.select("node", "begin", "end"), on="node", maintain_order="left")
        .filter(pl.col("since") <= pl.col("end"), pl.col("until") >= pl.col("begin"))
        .select(
            "node",
            pl.max_horizontal("since", "begin").alias("begin"),
            pl.min_horizontal("until", "end").alias("end"),
            "num_rows",
        )
    )
    unseen = lives.join(known, on="node", how="anti").select("node", "begin", "end", "num_rows")
    return pl.concat([known, unseen])


def _largest(lives: pl.DataFrame, steps: pl.DataFrame, most: int) -> pl.DataFrame:
    areas = steps.group_by("node").agg(
        ((pl.col("end") - pl.col("begin") + 1) * pl.col("num_rows").fill_null(0))
        .sum()
        .alias("area")
    )
    ranked = lives.join(areas, on="node", how="left", maintain_order="left").with_row_index()
    chosen = ranked.sort("area", "index", descending=[True, False]).head(most)
    return ranked.filter(pl.col("index").is_in(chosen["index"].implode())).drop("index", "area")


def _with_rest(steps: pl.DataFrame, lanes: pl.DataFrame) -> pl.DataFrame:
    """Return the steps of lanes, and the sums of all others as steps of the rest."""
    own = steps.join(lanes, on="node", how="semi", maintain_order="left")
    others = steps.join(lanes, on="node", how="anti", maintain_order="left")
    rows = others["num_rows"].fill_null(0)
    changes = pl.DataFrame(
        {
            "begin": pl.concat([others["begin"], others["end"] + 1]),
            "num_rows": pl.concat([rows, -rows]),
            "num_fragments": np.repeat([1, -1], len(others)),
        }
    )
    sums = (
        changes.group_by("begin")
        .sum()
        .sort("begin")
        .with_columns(pl.col("num_rows", "num_fragments").cum_sum())
        .with_columns((pl.col("begin").shift(-1) - 1).alias("end"))
        .filter(pl.col("num_fragments") > 0)
        .select(pl.lit(REST).alias("node"), "begin", "end", "num_rows", "num_fragments")
    )
    return pl.concat([own.with_columns(num_fragments=pl.lit(1, pl.Int64)), sums])


def _edges(
    edges: pl.DataFrame, lives: pl.DataFrame, lanes: pl.DataFrame, begin: int, end: int
) -> pl.DataFrame:
    """Return edges with lanes or the rest at their ends, merged by kind and commit."""
    everywhere, drawn = lives["node"].implode(), lanes["node"].implode()
    shown = edges.filter(
        pl.col("from_node").is_in(everywhere),
        pl.col("to_node").is_in(everywhere),
        pl.col("version").is_between(begin, end),
    ).with_columns(
        [
            pl.when(pl.col(name).is_in(drawn)).then(name).otherwise(pl.lit(REST)).alias(name)
            for name in ("from_node", "to_node")
        ]
    )
    between = shown.filter((pl.col("from_node") != REST) | (pl.col("to_node") != REST))
    return between.group_by("from_node", "to_node", "kind", "version", maintain_order=True).agg(
        pl.when(pl.col("rows").null_count() == 0).then(pl.col("rows").sum()).alias("rows"),
        pl.col("evidence").max(),
        pl.len().alias("num_edges"),
    )
