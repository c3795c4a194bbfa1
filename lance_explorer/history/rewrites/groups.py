"""The record of one group of fragments that a compaction rewrote, and a pool of groups."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from pyroaring import BitMap64

from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.format.fragments import Fragment
from lance_explorer.history.evidence import Evidence

__all__ = ["RewriteGroup", "RewritePool", "num_live"]


@dataclass(frozen=True, slots=True)
class RewriteGroup:
    """Fragments whose live rows became those of other fragments, in one commit.

    Attributes
    ----------
    version : int
        The commit in which the old fragments gave way to the new ones; it need not be kept.
    group : int
        The number of the group within the commit, from 0.
    old, new : tuple of FragDigest
        The fragments before and after, in the order in which the rows run. The new ones have no
        deleted rows yet.
    evidence : Evidence
        How well this is known.
    source : str
        Where it is recorded, or how it was inferred.
    surviving : BitMap64, optional
        The addresses of the old rows that were carried on, where something tells them directly.
    in_order : bool
        Whether the live rows of ``old``, in order, are the rows of ``new``, in order.
    note : str, optional
        Why the rows cannot be paired, or what else is in doubt.
    recorded : tuple of Fragment
        The old fragments with the deletion files that the rewrite saw; empty where nothing has
        them.
    row_map : str, optional
        Where the file is that says into which new fragment each row went, if not in order.
    """

    version: int
    group: int
    old: tuple[FragDigest, ...]
    new: tuple[FragDigest, ...]
    evidence: Evidence
    source: str
    surviving: BitMap64 | None = field(default=None, repr=False, compare=False)
    in_order: bool = True
    note: str | None = None
    recorded: tuple[Fragment, ...] = field(default=(), repr=False, compare=False)
    row_map: str | None = None

    @property
    def old_ids(self) -> tuple[int, ...]:
        """The IDs of the old fragments."""
        return tuple([fragment.id for fragment in self.old])

    @property
    def new_ids(self) -> tuple[int, ...]:
        """The IDs of the new fragments."""
        return tuple([fragment.id for fragment in self.new])

    def rows_moved(self) -> Iterator[tuple[int, int, int | None]]:
        """Yield how many rows went from which old fragment to which new one, in order.

        Pairs without rows are left out. If the rows are not in order, or a count is unknown, every
        pair is returned, with None.
        """
        before = [num_live(fragment) for fragment in self.old]
        after = [fragment.physical_rows for fragment in self.new]
        left = [count for count in before if count is not None]
        room = [count for count in after if count is not None]
        if not self.in_order or len(left) + len(room) < len(before) + len(after):
            yield from [(old, new, None) for old in self.old_ids for new in self.new_ids]
            return
        place = 0
        for fragment, rows in zip(self.old, left, strict=True):
            while rows and place < len(room):
                moved = min(rows, room[place])
                if moved:
                    yield fragment.id, self.new[place].id, moved
                rows, room[place] = rows - moved, room[place] - moved
                place += not room[place]


def num_live(fragment: FragDigest) -> int | None:
    """Return the rows of a fragment that are not deleted; None if that is unknown."""
    if fragment.physical_rows is None or fragment.num_deleted_rows is None:
        return None
    return fragment.physical_rows - fragment.num_deleted_rows


_Fragments = tuple[frozenset[int], frozenset[int]]


class RewritePool:
    """Groups from several sources: descriptions of the same group are merged.

    Add the most trustworthy source first.
    """

    def __init__(self) -> None:
        self._groups: list[RewriteGroup] = []
        self._places: dict[_Fragments, list[int]] = {}

    def __iter__(self) -> Iterator[RewriteGroup]:
        return iter(self._groups)

    def find(self, old: Iterable[int], new: Iterable[int], first: int, last: int) -> int | None:
        """Return the version, within bounds, in which some fragments are known to become others."""
        place = self._place(old, new, first, last)
        return None if place is None else self._groups[place].version

    def add(self, group: RewriteGroup) -> None:
        """Add a group, or facts about a known one."""
        place = self._place(group.old_ids, group.new_ids, group.version, group.version)
        if place is not None:
            self._groups[place] = _merged(self._groups[place], group)
            return
        key = frozenset(group.old_ids), frozenset(group.new_ids)
        self._places.setdefault(key, []).append(len(self._groups))
        self._groups.append(group)

    def in_order(self) -> tuple[RewriteGroup, ...]:
        """Return all groups by version, those of each version numbered from 0."""
        ordered, numbers = list[RewriteGroup](), dict[int, int]()
        for group in sorted(self._groups, key=lambda group: group.version):
            number = numbers.setdefault(group.version, 0)
            numbers[group.version] += 1
            ordered.append(group if group.group == number else replace(group, group=number))
        return tuple(ordered)

    def _place(self, old: Iterable[int], new: Iterable[int], first: int, last: int) -> int | None:
        for place in self._places.get((frozenset(old), frozenset(new)), []):
            if first <= self._groups[place].version <= last:
                return place
        return None


def _merged(known: RewriteGroup, more: RewriteGroup) -> RewriteGroup:
    """Return what is known of a group, with additional facts: counts, and surviving rows."""
    uncounted = any(num_live(fragment) is None for fragment in (*known.old, *known.new))
    return replace(
        known,
        old=more.old if uncounted else known.old,
        new=more.new if uncounted else known.new,
        surviving=known.surviving if known.surviving is not None else more.surviving,
    )
