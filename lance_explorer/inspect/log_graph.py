"""Branches as lanes of characters, beside the lines of the log."""

import polars as pl

__all__ = ["graph_cells"]


def graph_cells(log: pl.DataFrame) -> list[str]:
    """Return the text before each line of a log: its commit as a star, others as lanes.

    A cell has a second line above it if branches leave their parent there.

    Examples
    --------
    >>> from lance_explorer.inspect.log_graph import graph_cells
    >>> log = table.log()
    >>> for cell, version in zip(graph_cells(log), log["version"]):
    ...     print(f"{cell.splitlines()[-1]} {version}")
      * 2
    * | 7
    * | 6
    * | 5
    * | 4
    * | 3
    * 2
    * 1
    """
    columns = ("branch", "version", "lane", "parent_branch", "parent_version")
    rows = [*log.select(columns).iter_rows()]
    place = {(branch, version): row for row, (branch, version, *_) in enumerate(rows)}
    first, last, lanes = dict[str | None, int](), dict[str | None, int](), dict[str | None, int]()
    parents = dict[str | None, tuple[str | None, int | None]]()
    for row, (branch, _, lane, parent, parent_version) in enumerate(rows):
        first.setdefault(branch, row)
        last[branch] = row
        lanes[branch] = lane
        parents[branch] = parent, parent_version
    forks = dict[int, list[str | None]]()
    for branch, (parent, version) in parents.items():
        if version is None:  # it begins here
            continue
        fork = place.get((parent, version))
        last[branch] = len(rows) - 1 if fork is None else fork - 1
        if fork is not None:
            forks.setdefault(fork, []).append(branch)
    cells = list[str]()
    for row, (branch, *_) in enumerate(rows):
        live = {lanes[b] for b in first if first[b] <= row <= last[b]}
        drawn = _lane(live)
        drawn[2 * lanes[branch]] = "*"
        above = [_joint(live, lanes[b], lanes[branch]) for b in forks.get(row, ())]
        cells.append("\n".join([*above, "".join(drawn).rstrip()]))
    return cells


def _lane(live: set[int]) -> list[str]:
    drawn = [" "] * (2 * max(live, default=0) + 1)
    for lane in live:
        drawn[2 * lane] = "|"
    return drawn


def _joint(live: set[int], lane: int, parent: int) -> str:
    """Return a line on which a branch goes to its parent."""
    drawn = _lane(live | {parent, lane})
    drawn[2 * lane] = " "
    for column in range(2 * parent + 1, 2 * lane):
        if drawn[column] == " ":
            drawn[column] = "_"
    if lane > parent:
        drawn[2 * lane - 1] = "/"
    return "".join(drawn).rstrip()
