"""The log for the browser: arrays to draw the lanes of branches from, and a text for each line."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.widgets.arrays import codes, flags, floats, integers
from lance_explorer.widgets.messages.base import Int32Array
from lance_explorer.widgets.messages.log import LogAnswer

__all__ = ["MOST_LINES", "log_data", "parent_lines"]

MOST_LINES = 200_000
"""The most lines that are sent; a filter finds older ones."""

_KINDS = list(KIND_COLORS)
_NO_LINE = -1
_LONGEST = 500
_Place = tuple[str | None, int]


def log_data(commits: pl.DataFrame, every: pl.DataFrame, *, is_part: bool = False) -> LogAnswer:
    """Return the commits that are shown, of a whole log, or of its newest part.

    In arrays, an unknown number is NaN and no parent -1; texts are null where there are none.
    """
    shown = commits.head(MOST_LINES)
    return LogAnswer(
        is_part=is_part,
        kinds=_KINDS,
        counts=_counts(every),
        num_found=len(commits),
        num_commits=len(every),
        num_lanes=int(every["lane"].max() or 0) + 1 if len(every) else 1,  # type: ignore[arg-type]
        heads=shown["is_latest"].to_list(),
        branch=_short(shown["branch"]),
        operation=_short(shown["operation"]),
        words=_short(shown["words"]),
        message=_short(shown["message"]),
        author=_short(shown["author"]),
        job=_short(shown["job"]),
        run=_short(shown["run"]),
        properties=_short(shown["properties"]),
        tags=_names(shown["tags"]),
        branches_here=_names(shown["branches_here"]),
        columns=shown["columns"].to_list(),
        keeps_values=flags((~shown["changes_values"]).fill_null(False)),
        parent_versions=[None if v is None else str(v) for v in shown["parent_version"]],
        parent_branches=shown["parent_branch"].to_list(),
        versions=shown["version"].to_numpy(),
        lane=integers(shown["lane"]),
        kind=codes(shown["kind"], _KINDS),
        parent=parent_lines(shown, every),
        times=floats(shown["timestamp"].dt.timestamp("us") / 1000),
        lost=floats(shown["versions_lost"]),
        bytes_change=floats(shown["data_bytes_change"]),
        is_recorded=flags(shown["known_from"] == "ledger"),
        rows_added=floats(shown["rows_added"]),
        rows_updated=floats(shown["rows_updated"]),
        rows_deleted=floats(shown["rows_deleted"]),
        rows_overwritten=floats(shown["rows_overwritten"]),
        rows_restored=floats(shown["rows_restored"]),
    )


def parent_lines(shown: pl.DataFrame, every: pl.DataFrame) -> Int32Array:
    """Return for each shown commit the line of the nearest earlier commit that is shown, or -1.

    Parameters
    ----------
    shown : polars.DataFrame
        Some rows of the log, in its order.
    every : polars.DataFrame
        The whole log, which knows what lies between them.

    Examples
    --------
    >>> log = table.log(all_branches=False)
    >>> parent_lines(log[::3], log).tolist()
    [1, 2, -1]
    """
    keys = ("branch", "version")
    lines: dict[_Place, int] = {place: n for n, place in enumerate(shown.select(keys).iter_rows())}
    parents: Mapping[_Place, _Place] = {
        (branch, version): (parent, number)
        for branch, version, parent, number in every.select(
            *keys, "parent_branch", "parent_version"
        ).iter_rows()
    }
    nearest: dict[_Place, int] = {}
    # The oldest come first in the reversed log, so that what lies before a commit is known.
    for place in reversed([*parents]):
        before = parents[place]
        nearest[place] = lines.get(before, nearest.get(before, _NO_LINE))
    return np.array([nearest[place] for place in lines], dtype=np.int32)


def _counts(every: pl.DataFrame) -> dict[str, int]:
    """Return the number of commits of each kind, the most frequent first."""
    counted = every["kind"].cast(pl.String).value_counts(sort=True)
    return dict(counted.iter_rows())


def _short(texts: pl.Series) -> list[str | None]:
    return [
        text if text is None or len(text) <= _LONGEST else f"{text[:_LONGEST]}…" for text in texts
    ]


def _names(joined: pl.Series) -> list[list[str]]:
    return [text.split(", ") if text else [] for text in joined]
