"""A feed in parts that can be computed independently: some commits, some rows, some lines."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.arguments import of_kind
from lance_explorer.changes.replaced_columns import ReplacedColumns
from lance_explorer.changes.row_shares import RowShare, changed_rows, row_shares
from lance_explorer.changes.steps import VersionRange, is_known_by_itself, is_known_by_rows
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.paths import EMPTY
from lance_explorer.history.steps import states_between
from lance_explorer.rowids.arrays import MAX_U64

__all__ = [
    "ChangePart",
    "CommitSize",
    "check_part",
    "commit_parts",
    "commit_sizes",
    "net_parts",
    "parts_of_commit",
]

_COMMITS_IN_A_PART = 50


@dataclass(frozen=True, slots=True)
class ChangePart:
    """All parts together are the feed. All parts together are the feed.

    In parts by rows, only the rows of each part are ordered. In those of the rows of a commit, or
    of a net comparison, each part is in order.

    Attributes
    ----------
    begin, end : int
        Positions in the history: the commits after the first, up to the second.
    number, count : int
        Which part of the lines of all these commits, of how many parts, from 0.
    share : RowShare, optional
        The rows that a part of a net comparison, or of one commit, reports; all by default.
    """

    begin: int
    end: int
    number: int = 0
    count: int = 1
    share: RowShare | None = None

    def lines(self, num_lines: int) -> tuple[int, int]:
        """Return the range of lines in the part: the first, and the one after the last."""
        return (
            num_lines * self.number // self.count,
            num_lines * (self.number + 1) // self.count,
        )


def check_part(versions: VersionRange, part: ChangePart) -> None:
    """Raise InvalidArgumentError unless a part belongs to a feed."""
    part = of_kind("part", part, ChangePart, "one of Changes.parts")
    is_inside = versions.begin <= part.begin <= part.end <= versions.end
    if not is_inside or not 0 <= part.number < part.count:
        raise InvalidArgumentError(f"part is one of Changes.parts of these changes, not {part!r}")


def net_parts(
    versions: VersionRange, num_rows: int, *, has_key: bool, has_values: bool
) -> list[ChangePart]:
    """Return the parts of a net comparison, of about this many rows each.

    Each compares its own rows, if they can be compared independently. Otherwise, and with a key,
    one part compares all rows; if values are read, each part does so, and contains some of the
    lines.
    """
    rows, begin, end = versions.rows, versions.begin, versions.end
    kept = begin if versions.begin_is_kept else EMPTY
    removed, added = states_between(rows.history, kept, end)
    changed = changed_rows(rows.history, removed, added, range(begin + 1, end + 1))
    is_paired = has_key and kept != EMPTY
    if is_paired or not is_known_by_rows(versions, added):
        return _lines_of(begin, end, sum(changed.values()) if has_values else 0, num_rows)
    states = np.concatenate([removed, added])
    if kept != EMPTY and ReplacedColumns.between(rows.history, begin, end):
        states = np.concatenate([removed, rows.history.intervals.at(end)])
        every = changed_rows(rows.history, states[:0], rows.history.intervals.at(end), range(0))
        changed = {**every, **changed}
    return _rows_of(begin, end, row_shares(rows, states, changed, num_rows))


def commit_parts(
    versions: VersionRange, num_rows: int, *, has_key: bool, has_values: bool
) -> list[ChangePart]:
    """Return the parts of a feed of commits: some commits each, or a share of a large one.

    Each share of a large commit compares its own rows, if no version before it is lost and no key
    pairs them; otherwise it is divided like a net comparison.
    """
    parts, begin, filled = list[ChangePart](), versions.begin, 0
    for position in range(versions.begin + 1, versions.end + 1):
        states, changed = _changed_by(versions, position)
        count = sum(changed.values())
        is_full = filled + count > num_rows or position - begin > _COMMITS_IN_A_PART
        if is_full and begin < position - 1:
            parts.append(ChangePart(begin, position - 1))
            begin, filled = position - 1, 0
        if count > num_rows:
            if has_key or not is_known_by_itself(versions, position):
                parts += _lines_of(begin, position, count if has_values else 0, num_rows)
            else:
                shares = row_shares(versions.rows, states, changed, num_rows)
                parts += _rows_of(begin, position, shares)
            begin, filled = position, 0
        else:
            filled += count
    if begin < versions.end:
        parts.append(ChangePart(begin, versions.end))
    return parts


@dataclass(frozen=True, slots=True)
class CommitSize:
    """The size of a commit, as far as metadata shows it.

    Attributes
    ----------
    position : int
        Its position in the history.
    num_rows : int
        About how many rows.
    num_bytes : int
        About how many bytes of data files they have.
    """

    position: int
    num_rows: int
    num_bytes: int


def commit_sizes(versions: VersionRange) -> Iterator[CommitSize]:
    """Yield the size of each commit, in order."""
    history = versions.rows.history
    for position in range(versions.begin + 1, versions.end + 1):
        states, changed = _changed_by(versions, position)
        physical = np.maximum(history.states.physical_rows[states], 1)
        row_bytes = history.states.data_bytes[states] / physical
        widest = dict[int, float]()
        for fragment, size in zip(history.states.ids[states].tolist(), row_bytes, strict=True):
            widest[fragment] = max(widest.get(fragment, 0.0), float(size))
        yield CommitSize(
            position,
            sum(changed.values()),
            int(sum([count * widest[fragment] for fragment, count in changed.items()])),
        )


def parts_of_commit(
    versions: VersionRange, position: int, num_rows: int, start: int, stop: int | None
) -> list[ChangePart]:
    """Return the parts of one commit that contain the rows of a range of identities.

    If a feed is cut between two rows, the identities do not depend on the size of the parts.

    Parameters
    ----------
    versions : VersionRange
        The versions.
    position : int
        Which commit; what it did to a row must be known without other rows.
    num_rows : int
        About how many rows a part has.
    start, stop : int
        The identities, half open; None is up to the last one.
    """
    states, changed = _changed_by(versions, position)
    shares = row_shares(versions.rows, states, changed, num_rows)
    if not shares:
        shares = [RowShare(0, MAX_U64, tuple(sorted(changed)), is_first=True)]
    end = MAX_U64 if stop is None else stop
    some = [
        replace(
            share,
            start=max(share.start, start),
            stop=min(share.stop, end),
            is_first=share.is_first and not start,
        )
        for share in shares
        if share.stop > start and share.start < end
    ]
    return [ChangePart(position - 1, position, share=share) for share in some]


def _changed_by(versions: VersionRange, position: int) -> tuple[NDArray[np.int64], dict[int, int]]:
    """Return the states that a commit removed and added, and how many rows of which fragments."""
    history = versions.rows.history
    removed, added = history.states_removed(position), history.states_added(position)
    changed = changed_rows(history, removed, added, range(position, position + 1))
    return np.concatenate([removed, added]), changed


def _rows_of(begin: int, end: int, shares: list[RowShare]) -> list[ChangePart]:
    return [ChangePart(begin, end, share=one) for one in shares] or [ChangePart(begin, end)]


def _lines_of(begin: int, end: int, about: int, num_rows: int) -> list[ChangePart]:
    count = max(-(-about // num_rows), 1)
    return [ChangePart(begin, end, number, count) for number in range(count)]
