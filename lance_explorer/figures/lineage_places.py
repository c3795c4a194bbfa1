"""What fits above a lineage picture: names of commits, and tags.

``lineage_places.ts`` does the same in the browser, where the picture is zoomed; what
``tests/figures/from_python.py`` writes is what the tests of both compare.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import floor

__all__ = ["BAR_WIDTH", "bar_of", "is_crowded", "mark_size", "named_commits", "place_tags"]

BAR_WIDTH = 6
"""The width of a mark for several commits, in pixels."""

_NARROWEST_MARK = 4  # pixels
_NARROWEST_NAME = 11.5  # pixels between vertical names
_WIDEST_NAME = 66  # pixels
_BETWEEN_TAGS = 4  # pixels


def is_crowded(commits: int, width: float) -> bool:
    """Return whether there are too many commits for a mark each."""
    return commits * _NARROWEST_MARK > width


def mark_size(unit: float) -> float:
    """Return the size of the mark of a commit if a version has this many pixels."""
    return min(max(0.8 * unit, 2.5), 9)


def bar_of(version: int, begin: float, unit: float) -> int:
    """Return the bar of a version, with ``begin`` at the left."""
    return floor((version - begin) * unit / BAR_WIDTH)


def named_commits(
    versions: Sequence[int], names: Sequence[str], unit: float
) -> tuple[list[int], bool]:
    """Return the positions of commits with a name, and whether names fit side by side.

    All commits of one kind get a name, or none: the rarest first, as long as names do not touch. If
    two commits have one version, as at a fork, the second gets the name.

    Examples
    --------
    >>> named_commits([1, 2, 3, 4], ["create", "append", "append", "append"], 10)
    ([0], True)
    """
    by_name: dict[str, list[int]] = {}
    for place, (version, name) in enumerate(zip(versions, names, strict=True)):
        if place + 1 == len(versions) or versions[place + 1] != version:
            by_name.setdefault(name, []).append(place)
    chosen: list[int] = []
    for places in sorted(by_name.values(), key=len):
        more = sorted([*chosen, *places])
        if _narrowest(versions, more) * unit >= _NARROWEST_NAME:
            chosen = more
    return chosen, _narrowest(versions, chosen) * unit > _WIDEST_NAME


def _narrowest(versions: Sequence[int], places: list[int]) -> float:
    """Return the least distance of neighbours, in versions."""
    gaps = [versions[after] - versions[before] for before, after in pairwise(places)]
    return min(gaps, default=float("inf"))


def place_tags(
    tags: Iterable[tuple[float, float]], width: float, most_rows: int
) -> list[tuple[float, int | None]]:
    """Return the left of each tag and its row; the row is None if there is no room.

    Parameters
    ----------
    tags : iterable of tuple
        Where the version of each tag is, and how wide its name, in pixels.
    width : float
        How wide the picture is.
    most_rows : int
        How many rows there may be.

    Examples
    --------
    >>> place_tags([(10, 50), (30, 50), (40, 50), (95, 50)], width=100, most_rows=2)
    [(10, 0), (30, 1), (40, None), (50, None)]
    """
    ends = [float("-inf")] * most_rows
    placed: list[tuple[float, int | None]] = []
    for at, wide in tags:
        left = min(at, width - wide)
        row = next((row for row, end in enumerate(ends) if end < left - _BETWEEN_TAGS), None)
        if row is not None:
            ends[row] = left + wide
        placed.append((left, row))
    return placed
