"""A feed in parts that can be made apart from one another: some commits, or some lines of one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.arguments import of_kind
from lance_explorer.changes.steps import VersionRange
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.history import History
from lance_explorer.history.paths import EMPTY
from lance_explorer.history.steps import states_between

__all__ = ["ChangePart", "check_part", "commit_parts", "net_parts"]

_COMMITS_IN_A_PART = 50


@dataclass(frozen=True, slots=True)
class ChangePart:
    """A part of a feed; all parts, one after the other, are the feed.

    Attributes
    ----------
    begin, end : int
        Positions in the history: the commits after the first, up to the second.
    number, count : int
        Which part of the lines of all these commits, of how many parts, from 0.
    """

    begin: int
    end: int
    number: int = 0
    count: int = 1

    def lines(self, num_lines: int) -> tuple[int, int]:
        """Return which lines of so many are in the part: the first, and the one after the last."""
        return (
            num_lines * self.number // self.count,
            num_lines * (self.number + 1) // self.count,
        )


def check_part(versions: VersionRange, part: ChangePart) -> None:
    """Raise InvalidArgumentError unless a part is one of a feed."""
    part = of_kind("part", part, ChangePart, "one of Changes.parts")
    is_inside = versions.begin <= part.begin <= part.end <= versions.end
    if not is_inside or not 0 <= part.number < part.count:
        raise InvalidArgumentError(f"part is one of Changes.parts of these changes, not {part!r}")


def net_parts(versions: VersionRange, num_rows: int) -> list[ChangePart]:
    """Return the parts of a net comparison, of about so many rows each."""
    rows, begin, end = versions.rows, versions.begin, versions.end
    kept = begin if versions.begin_is_kept else EMPTY
    about = _about(rows.history, *states_between(rows.history, kept, end))
    return [*_split(begin, end, about, num_rows)]


def commit_parts(versions: VersionRange, num_rows: int) -> list[ChangePart]:
    """Return the parts of a feed of commits: some commits each, or one that changed many rows."""
    history = versions.rows.history
    parts, begin, filled = list[ChangePart](), versions.begin, 0
    for position in range(versions.begin + 1, versions.end + 1):
        removed, added = history.states_removed(position), history.states_added(position)
        count = _about(history, removed, added)
        is_full = filled + count > num_rows or position - begin > _COMMITS_IN_A_PART
        if is_full and begin < position - 1:
            parts.append(ChangePart(begin, position - 1))
            begin, filled = position - 1, 0
        if count > num_rows:
            parts += _split(begin, position, count, num_rows)
            begin, filled = position, 0
        else:
            filled += count
    if begin < versions.end:
        parts.append(ChangePart(begin, versions.end))
    return parts


def _split(begin: int, end: int, about: int, num_rows: int) -> Iterator[ChangePart]:
    count = max(-(-about // num_rows), 1)
    for number in range(count):
        yield ChangePart(begin, end, number, count)


def _about(history: History, removed: NDArray[np.int64], added: NDArray[np.int64]) -> int:
    """Return about how many rows changed: deletions are counted, other changes are all rows."""
    fragments = history.states
    before, after = history.by_id(removed), history.by_id(added)
    total = 0
    for fragment in before.keys() | after.keys():
        old, new = before.get(fragment), after.get(fragment)
        if old is not None and new is not None and fragments[old].files == fragments[new].files:
            deleted = history.num_deleted_rows[[old, new]]
            total += int(np.ptp(deleted))
        else:
            total += max([fragments[s].physical_rows or 0 for s in (old, new) if s is not None])
    return total
