"""Which columns some versions have, of whatever branches: one number for each column.

A column lives through renames, casts and restores. One that was dropped and one that was added
later are two, whatever they are called, and so are those before and after an Overwrite.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.ancestors import Place, ancestry
from lance_explorer.history.columns.fields_of_both import (
    doubtful_pairs,
    fields_of_both,
    forks_between,
)
from lance_explorer.history.columns.lives import Doubt, Stop, column_lives
from lance_explorer.history.paths import Line

__all__ = ["ColumnsAt", "Numbers", "columns_at"]

Numbers = Mapping[int, int]
"""The number of the column, or of the field inside of one, that each field ID of a version is."""

_Branch = str | None
_Link = tuple[Stop, Stop, Iterable[tuple[int, int]]]
"""Two versions, and the IDs in both of fields that both have."""


@dataclass(frozen=True, slots=True)
class ColumnsAt:
    """Which columns some versions have.

    Attributes
    ----------
    numbers : mapping of tuple to Numbers
        By the branch and the version; versions of one schema may share them.
    doubts : tuple of Doubt
        Columns that are two, and may be one, with their numbers.
    """

    numbers: Mapping[tuple[_Branch, int], Numbers]
    doubts: tuple[Doubt, ...]

    def of(self, stop: Stop) -> Numbers:
        """Return the numbers of a version."""
        return self.numbers[stop.line.view.branch, stop.record.version]

    def columns(self, stop: Stop) -> dict[str, int]:
        """Return the numbers of the columns of a version, by their names there."""
        numbers = self.of(stop)
        return {f.name: numbers[f.id] for f in stop.record.schema if f.parent_id == NO_PARENT}


def columns_at(stops: Sequence[Stop]) -> ColumnsAt:
    """Return which columns some versions have; the first of them is the last version."""
    lines = {stop.line.view.branch: stop.line for stop in reversed(stops)}
    links, doubts = list[_Link](), list[tuple[Stop, Stop, int, int]]()
    wanted = defaultdict[_Branch, set[int]](set)
    for stop in stops:
        wanted[stop.line.view.branch].add(stop.position)
    for branch, line in [*lines.items()]:
        if line is lines[stops[0].line.view.branch]:
            continue
        other = Stop(line, max(wanted[branch]))
        places = [Place(stop.line.view, stop.record.version) for stop in (other, stops[0])]
        try:
            common = ancestry(*places)
            kept = fields_of_both(common)
            links += [
                (_on(lines, parent), _on(lines, child), [(id_, id_) for id_ in ids])
                for parent, child, ids in forks_between(common)
            ]
            pairs = doubtful_pairs(common)
        except LanceExplorerError:  # how they come from each other is not known
            continue
        same_ids = [(field.id, field.id) for field in other.record.schema]
        links.append((other, stops[0], same_ids if kept is None else [*kept.items()]))
        doubts += [(other, stops[0], *pair) for pair in sorted(pairs)]
    for parent, child, _ in links:
        for stop in (parent, child):
            wanted[stop.line.view.branch].add(stop.position)
    lives = {branch: column_lives(lines[branch], wanted[branch]) for branch in wanted}
    same = _Same()
    for parent, child, both in links:
        old, new = parent.line.view.branch, child.line.view.branch
        had, has = lives[old].at[parent.position], lives[new].at[child.position]
        for one, id_ in both:
            if one in had and id_ in has:
                same.join((old, had[one]), (new, has[id_]))
    numbers = dict[tuple[_Branch, int], Numbers]()
    for branch, found in lives.items():
        shared = dict[int, Numbers]()
        for position, own in found.at.items():
            if id(own) not in shared:
                shared[id(own)] = {id_: same.number(branch, life) for id_, life in own.items()}
            version = lines[branch].history.records[position].version
            numbers[branch, version] = shared[id(own)]
    told = ColumnsAt(numbers, ())
    between = [_between(told, *doubt) for doubt in doubts]
    [within, *others] = [
        [_numbered(doubt, branch, same) for doubt in found.doubts]
        for branch, found in lives.items()
    ]
    return ColumnsAt(numbers, tuple(between if others else within))


class _Same:
    """Lives that are one column."""

    def __init__(self) -> None:
        self._of = dict[tuple[_Branch, int], tuple[_Branch, int]]()
        self._numbers = dict[tuple[_Branch, int], int]()

    def join(self, one: tuple[_Branch, int], other: tuple[_Branch, int]) -> None:
        """Take two for one."""
        one, other = self._first(one), self._first(other)
        if one != other:
            self._of[other] = one

    def number(self, branch: _Branch, life: int) -> int:
        """Return the number of the column that a life is of."""
        return self._numbers.setdefault(self._first((branch, life)), len(self._numbers))

    def _first(self, one: tuple[_Branch, int]) -> tuple[_Branch, int]:
        while one in self._of:
            one = self._of[one]
        return one


def _on(lines: dict[_Branch, Line], stop: Stop) -> Stop:
    """Return a version on the line that is given of its branch; one that is missing is added."""
    line = lines.setdefault(stop.line.view.branch, stop.line)
    version = np.uint64(stop.record.version)
    position = int(np.searchsorted(line.history.versions, version, side="right")) - 1
    return Stop(line, max(position, 0))


def _numbered(doubt: Doubt, branch: _Branch, same: _Same) -> Doubt:
    before, after = [
        None if life is None else same.number(branch, life) for life in (doubt.before, doubt.after)
    ]
    return doubt._replace(before=before, after=after)


def _between(told: ColumnsAt, one: Stop, other: Stop, old: int, new: int) -> Doubt:
    """Return that a field of one version may be one of another, of another branch."""
    before, after = told.of(one).get(old), told.of(other).get(new)
    return Doubt(new, one.record.version, "", other.record.version, "", before, after)
