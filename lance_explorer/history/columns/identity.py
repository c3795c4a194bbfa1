"""Column identity in some versions, on any branches: one number for each column.

A column lives through renames, casts and restores. A dropped column and a later added one are two,
whatever their names, and so are those before and after an Overwrite. All answers are folds over the
graph of commits (:mod:`lance_explorer.history.columns.lives`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from propcache.api import cached_property

from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.ancestors import BranchVersion, TableCommits, commits_of
from lance_explorer.history.columns.lives import ByName, ColumnLives, Doubt, Lives, fold_columns
from lance_explorer.history.graph.commits import Commit
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.paths import Branch, Line, Stop

__all__ = ["ColumnsAt", "FieldsBefore", "FieldsOfBoth", "columns_at", "fields_of_both"]

_Branch = str | None


class ColumnsAt(NamedTuple):
    """Which columns some versions have.

    Attributes
    ----------
    numbers : mapping of tuple to Lives
        By the branch and the version: the number of the column, or of the field inside of one, that
        each field ID is; versions of one schema may share them.
    doubts : tuple of Doubt
        Columns that are two, and may be one, with their numbers.
    """

    numbers: Mapping[tuple[_Branch, int], Lives]
    doubts: tuple[Doubt, ...]

    def of(self, stop: Stop) -> Lives:
        """Return the numbers of a version."""
        return self.numbers[stop.line.view.branch, stop.record.version]

    def columns(self, stop: Stop) -> dict[str, int]:
        """Return the numbers of the columns of a version, by their names there."""
        numbers = self.of(stop)
        return {f.name: numbers[f.id] for f in stop.record.schema if f.parent_id == NO_PARENT}


class FieldsOfBoth(NamedTuple):
    """The fields that two versions share.

    ``shared`` has their IDs in the second, by those in the first; ``doubtful`` the IDs of fields
    that may be one, or two: lost versions would tell.
    """

    shared: Mapping[int, int]
    doubtful: frozenset[tuple[int, int]]


def columns_at(stops: Sequence[Stop]) -> ColumnsAt:
    """Return the columns of some versions; the first version is the latest."""
    lines = {stop.line.view.branch: stop.line for stop in reversed(stops)}
    first, numbers = stops[0].line.view.branch, count().__next__
    at, doubts = dict[tuple[_Branch, int], Lives](), tuple[Doubt, ...]()
    for related in _related(lines, first):
        own = [stop for stop in stops if stop.line.view.branch in related.identities]
        commits = {_key(stop): related.commit(*_key(stop)) for stop in own}
        lives = fold_columns(related.graph, related.histories, commits.values(), numbers=numbers)
        at |= {key: lives.at[commit] for key, commit in commits.items()}
        if first in related.identities:
            doubts = lives.doubts
            if len(related.identities) > 1:
                doubts = tuple(_between_branches(lives, own, commits))
    return ColumnsAt(at, doubts)


def fields_of_both(
    one: BranchVersion, other: BranchVersion, by_name: ByName = ByName.NEVER
) -> FieldsOfBoth:
    """Return which fields two versions share, on any branches.

    Parameters
    ----------
    one, other : BranchVersion
        The versions.
    by_name : ByName
        Where names prove it, too.

    Raises
    ------
    RefNotFoundError
        If it is unknown from which version a branch was created.
    """
    lines = {place.view.branch: Branch(place.view, place.view.history) for place in (one, other)}
    related = commits_of(lines.values())
    ends = [related.commit(place.view.branch, place.version) for place in (one, other)]
    lives = fold_columns(related.graph, related.histories, ends, by_name)
    return FieldsOfBoth(_shared(lives, *ends), frozenset(_doubtful(lives, *ends)))


class FieldsBefore:
    """Which fields versions of a branch share with a later one, on it or on a branch of it.

    Parameters
    ----------
    line : Line
        The branch.
    now : BranchVersion
        The later version.
    """

    def __init__(self, line: Line, now: BranchVersion) -> None:
        self._branch = line.view.branch
        self._history = line.history
        self._now = now
        lines = {now.view.branch: Branch(now.view, now.view.history), self._branch: line}
        try:
            self._related: TableCommits | None = commits_of(lines.values())
        except LanceExplorerError:  # their relation is unknown
            self._related = None
        self._folds = dict[ByName, ColumnLives]()

    def later_ids(self, version: int) -> Mapping[int, int]:
        """Return the current IDs of the fields of a version."""
        return self._matched(version, ByName.NEVER)

    def earlier_columns(self, version: int) -> Mapping[int, int]:
        """Return the IDs that current columns had in a version, if names show more than IDs."""
        return {now: then for then, now in self._matched(version, ByName.SEAMS).items()}

    def guessed(self, version: int) -> frozenset[int]:
        """Return the current IDs of columns whose identity lost versions leave uncertain."""
        sure = self._matched(version, ByName.OVERWRITES).values()
        return frozenset(self._matched(version, ByName.SEAMS).values()) - frozenset(sure)

    def in_doubt(self, version: int) -> frozenset[int]:
        """Return the current IDs of fields that a version may have had, as far as is known."""
        if self._related is None:
            return frozenset()
        pairs = _doubtful(self._fold(ByName.NEVER), *self._ends(version))
        return frozenset([now for _, now in pairs])

    def _matched(self, version: int, by_name: ByName) -> Mapping[int, int]:
        if self._related is not None:
            return _shared(self._fold(by_name), *self._ends(version))
        if by_name is not ByName.SEAMS:
            return {}
        here = _columns(self._history.records[self._history.position(version)])
        now = _columns(self._record_now)
        return {id_: now[name] for name, id_ in here.items() if name in now}

    @cached_property
    def _record_now(self) -> VersionRecord:
        history, position = self._now.view.found(self._now.version)
        return history.records[position]

    def _ends(self, version: int) -> tuple[Commit, Commit]:
        assert self._related is not None
        now = self._related.commit(self._now.view.branch, self._now.version)
        return self._related.commit(self._branch, version), now

    def _fold(self, by_name: ByName) -> ColumnLives:
        assert self._related is not None
        if by_name not in self._folds:
            graph, histories, _ = self._related
            versions = self._history.versions.tolist()
            ends = [commit for version in versions for commit in self._ends(version)]
            self._folds[by_name] = fold_columns(graph, histories, {*ends}, by_name)
        return self._folds[by_name]


def _columns(record: VersionRecord) -> dict[str, int]:
    return {one.name: one.id for one in record.schema if one.parent_id == NO_PARENT}


def _key(stop: Stop) -> tuple[_Branch, int]:
    return stop.line.view.branch, stop.record.version


def _related(lines: Mapping[_Branch, Line], first: _Branch) -> Iterator[TableCommits]:
    """Yield the commits of branches, together if their relation is known."""
    together = {first: lines[first]}
    for branch, line in lines.items():
        try:
            commits_of({**together, branch: line}.values())
        except LanceExplorerError:
            yield commits_of([line])
        else:
            together[branch] = line
    yield commits_of(together.values())


def _between_branches(
    column_lives: ColumnLives, stops: Sequence[Stop], commits: Mapping[tuple[_Branch, int], Commit]
) -> Iterator[Doubt]:
    """Yield the doubts between the first version and the latest of each other branch."""
    first, latest = stops[0], dict[_Branch, Stop]()
    for stop in sorted(stops, key=lambda stop: stop.record.version):
        latest[stop.line.view.branch] = stop
    for stop in [one for one in latest.values() if one.line.view.branch != first.line.view.branch]:
        ends = commits[_key(stop)], commits[_key(first)]
        for old, new in sorted(_doubtful(column_lives, *ends)):
            lives = column_lives.at[ends[0]][old], column_lives.at[ends[1]][new]
            yield Doubt(new, stop.record.version, "", first.record.version, "", *lives)


def _shared(lives: ColumnLives, one: Commit, other: Commit) -> dict[int, int]:
    later = {life: id_ for id_, life in lives.at[other].items()}
    return {id_: later[life] for id_, life in lives.at[one].items() if life in later}


def _doubtful(lives: ColumnLives, one: Commit, other: Commit) -> Iterator[tuple[int, int]]:
    """Yield the IDs of fields of two versions that are shown as two, but may be one."""
    old, new = lives.at[one], lives.at[other]
    both = {*old.values()} & {*new.values()}
    near = _Neighbours(lives.doubts)
    for id_, life in old.items():
        reached = near.reached(life) if life not in both else ()
        for there, also in new.items():
            if also in reached and also not in both:
                yield id_, there


class _Neighbours:
    """Lives that may be one."""

    def __init__(self, doubts: Iterable[Doubt]) -> None:
        self._of = dict[int, set[int]]()
        for doubt in doubts:
            if doubt.before is not None and doubt.after is not None:
                self._of.setdefault(doubt.before, set()).add(doubt.after)
                self._of.setdefault(doubt.after, set()).add(doubt.before)

    def reached(self, life: int) -> set[int]:
        """Return the lives that a life may equal, directly or over others."""
        reached, pending = {life}, [life]
        while pending:
            more = self._of.get(pending.pop(), set()) - reached
            reached |= more
            pending += more
        return reached
