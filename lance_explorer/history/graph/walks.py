"""Walks over the graph of commits."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TypeVar

from lance_explorer.history.evidence import Evidence
from lance_explorer.history.graph.commits import Commit, CommitKind, CommitLine, Edge, EdgeKind

__all__ = ["CommitGraph", "Path"]

_S = TypeVar("_S")

_Order = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Path:
    """The commits between two versions.

    Attributes
    ----------
    undone : tuple of Commit
        Those that only the first version comes from, itself among them, latest first.
    done : tuple of Commit
        Those that only the second version comes from, earliest first.
    common : Commit or None
        The last commit that both come from; None for the empty table.
    seams : frozenset of Commit
        Those of all these where the walk leaves what can be read: gaps, detached versions, and
        commits that come from another branch.
    """

    undone: tuple[Commit, ...]
    done: tuple[Commit, ...]
    common: Commit | None
    seams: frozenset[Commit]


class CommitGraph:
    """The graph of commits of some branches.

    Parameters
    ----------
    lines : iterable of CommitLine
        The branches. A missing branch has no readable versions, and no parent.
    """

    def __init__(self, lines: Iterable[CommitLine]) -> None:
        self._lines = {line.branch: line for line in lines}
        self._places = {
            branch: {version: place for place, version in enumerate(line.versions)}
            for branch, line in self._lines.items()
        }
        self._depths = dict[str, int]()

    def commit(self, branch: str, version: int) -> Commit | None:
        """Return the commit of a version; for a lost one its gap; None for the empty table."""
        line = self._lines.get(branch)
        if version <= 0:
            return None
        if line is None or version in self._places[branch] or version in line.built_on:
            return Commit(branch, version)
        place = bisect_left(line.versions, version)
        return Commit(branch, line.versions[place - 1] + 1 if place else line.begin)

    def kind(self, commit: Commit) -> CommitKind:
        """Return where a version is."""
        line = self._lines.get(commit.branch)
        if line is None:
            return CommitKind.GAP
        if commit.version in self._places[commit.branch]:
            is_recorded = commit.version in line.recorded
            return CommitKind.RECORDED if is_recorded else CommitKind.KEPT
        return CommitKind.DETACHED if commit.version in line.built_on else CommitKind.GAP

    def can_be_read(self, commit: Commit) -> bool:
        """Return whether a commit is a readable version of its branch."""
        return commit.version in self._places.get(commit.branch, ())

    def parents(self, commit: Commit) -> tuple[Edge, ...]:
        """Return the edges from a commit to its parents, the content parent first."""
        line = self._lines.get(commit.branch)
        if line is None:
            return ()
        place = self._places[commit.branch].get(commit.version)
        if place is None and commit.version in line.built_on:
            base = self.commit(commit.branch, line.built_on[commit.version])
            return () if base is None else (Edge(EdgeKind.BUILT_ON, base, Evidence.INFERRED),)
        before = self._before(line, commit, place)
        if place is None or commit.version not in line.restored:
            return before
        target = self.commit(commit.branch, line.restored[commit.version])
        if target is None or self._order(target) >= self._order(commit):
            return before  # the transaction does not record what was restored, or cannot be right
        return Edge(EdgeKind.RESTORES, target, Evidence.RECORDED), *before

    def content_parent(self, commit: Commit) -> Commit | None:
        """Return the content parent of a version; None for the empty table."""
        parents = self.parents(commit)
        return parents[0].parent if parents else None

    def ancestors(self, commit: Commit | None) -> Iterator[Commit]:
        """Yield the commits that produced a version, itself first."""
        while commit is not None:
            yield commit
            commit = self.content_parent(commit)

    def undone(self, commit: Commit | None) -> Iterator[tuple[str, range]]:
        """Yield the versions that the Restores before a version undid, with their branch.

        Those of lost versions are included, although a gap is one commit.
        """
        for one in self.ancestors(commit):
            parents = self.parents(one)
            if parents and parents[0].kind is EdgeKind.RESTORES:
                target = self._lines[one.branch].restored[one.version]
                yield one.branch, range(target + 1, one.version)

    def common_ancestor(self, one: Commit | None, other: Commit | None) -> Commit | None:
        """Return the last common ancestor of two versions; None for the empty table."""
        return self.path(one, other).common

    def path(self, begin: Commit | None, end: Commit | None) -> Path:
        """Return the path of commits from one version to another."""
        undone, done = list[Commit](), list[Commit]()
        while begin != end:
            if begin is not None and (end is None or self._order(begin) >= self._order(end)):
                undone.append(begin)
                begin = self.content_parent(begin)
            else:
                assert end is not None
                done.append(end)
                end = self.content_parent(end)
        ends = [] if begin is None or self.can_be_read(begin) else [begin]
        seams = frozenset([commit for commit in undone + done if self._is_seam(commit)] + ends)
        return Path(tuple(undone), tuple(reversed(done)), begin, seams)

    def fold(
        self, commits: Iterable[Commit], step: Callable[[Commit, Commit | None, _S | None], _S]
    ) -> Mapping[Commit, _S]:
        """Return a state of each commit, computed from that of its content parent.

        It begins with the last common commit of all, and visits every commit on the way once, after
        its parents.

        Parameters
        ----------
        commits : iterable of Commit
            Which ones are asked for.
        step : callable
            Makes the state of a commit of its content parent, and of the state of that. Both are
            None at the first commit.
        """
        first, parents = self._parents_below(commits)
        states = dict[Commit, _S]()
        for commit in sorted(parents, key=self._order):
            parent = None if commit == first else parents[commit]
            states[commit] = step(commit, parent, None if parent is None else states[parent])
        return states

    def _parents_below(
        self, commits: Iterable[Commit]
    ) -> tuple[Commit | None, dict[Commit, Commit | None]]:
        """Return the last common commit, and the content parents of all from there on."""
        heads = [(self._later(commit), commit) for commit in {*commits}]
        heapify(heads)
        parents, seen, roots = dict[Commit, Commit | None](), {one for _, one in heads}, 0
        while heads:
            _, commit = heappop(heads)
            if not heads and not roots:
                parents[commit] = None
                return commit, parents
            parent = parents[commit] = self.content_parent(commit)
            if parent is None:
                roots += 1
            elif parent not in seen:
                seen.add(parent)
                heappush(heads, (self._later(parent), parent))
        return None, parents

    def _later(self, commit: Commit) -> _Order:
        version, depth = self._order(commit)
        return -version, -depth

    def _is_seam(self, commit: Commit) -> bool:
        parents = self.parents(commit)
        leaves = bool(parents) and parents[0].parent.branch != commit.branch
        return leaves or not self.can_be_read(commit)

    def _before(self, line: CommitLine, commit: Commit, place: int | None) -> tuple[Edge, ...]:
        """Return the edge to the commit before a version of a branch, or before a gap."""
        is_gap = place is None
        place = bisect_left(line.versions, commit.version) if place is None else place
        evidence = Evidence.LOST if is_gap else Evidence.RECORDED
        if place and (is_gap or line.versions[place - 1] == commit.version - 1):
            before = Commit(commit.branch, line.versions[place - 1])
            return (Edge(EdgeKind.FOLLOWS, before, evidence),)
        if is_gap or (not place and commit.version <= line.begin):
            origin = line.origin
            parent = None if origin is None else self.commit(*origin.parent)
            if origin is None or parent is None:
                return ()
            return (Edge(origin.kind, parent, max(evidence, origin.evidence)),)
        gap = self.commit(commit.branch, commit.version - 1)
        assert gap is not None
        return (Edge(EdgeKind.FOLLOWS, gap, Evidence.RECORDED),)

    def _order(self, commit: Commit) -> _Order:
        """Return a number that is greater for a commit than for all its parents."""
        line = self._lines.get(commit.branch)
        if line is None:
            return commit.version, 0
        depth = self._depth(commit.branch)
        if commit.version in line.built_on and not self.can_be_read(commit):
            base = self.commit(commit.branch, line.built_on[commit.version])
            return 0 if base is None else base.version, depth + len(self._lines)
        return commit.version, depth

    def _depth(self, branch: str) -> int:
        """Return the number of forks between a branch and the main one."""
        if branch not in self._depths:
            line = self._lines.get(branch)
            self._depths[branch] = 0  # of a branch that is its own ancestor
            if line is not None and line.origin is not None:
                self._depths[branch] = 1 + self._depth(line.origin.parent.branch)
        return self._depths[branch]
