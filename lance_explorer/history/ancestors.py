"""The common ancestor of two versions of a table, and the branches on the paths to it.

A branch is identified by the versions at which it and its ancestors left their parents, each with
an identity, and not by its name: a branch may be deleted, and another one created under its name.
Tables of old writers have no identities; there the current name identifies a branch.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from lance_explorer.errors import (
    FormatError,
    InvalidArgumentError,
    NotFoundError,
    RefNotFoundError,
)
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.table_operations import Clone
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.graph.commits import Commit, CommitLine, Edge, EdgeKind
from lance_explorer.history.graph.walks import CommitGraph
from lance_explorer.history.history import History
from lance_explorer.history.paths import Line
from lance_explorer.history.view import HistoryView

__all__ = [
    "Ancestry",
    "BranchVersion",
    "Stretch",
    "TableCommits",
    "ancestry",
    "cloned_from",
    "commits_behind",
    "commits_of",
    "parent_of",
    "parents_of",
]


class BranchVersion(NamedTuple):
    """A version of a branch."""

    view: HistoryView
    version: int


class Stretch(NamedTuple):
    """A range of versions of one branch; ``view`` is None if the branch is gone."""

    view: HistoryView | None
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Ancestry:
    """The paths of two versions of a table from their common ancestor.

    Attributes
    ----------
    branch : HistoryView or None
        The branch of the last version that both have in their past; None if it is gone.
    version : int
        That version; one of both, if the other one comes from it.
    to_first, to_second : tuple of Stretch
        The way from there to both: stretches of one branch each, oldest first, none if it is there
        already.
    """

    branch: HistoryView | None
    version: int
    to_first: tuple[Stretch, ...]
    to_second: tuple[Stretch, ...]


class _Fork(NamedTuple):
    """The version at which a branch left its parent, and the identity of the branch."""

    version: int
    identity: str


def ancestry(first: BranchVersion, second: BranchVersion) -> Ancestry:
    """Return the paths of two versions of one table from their common ancestor.

    Raises
    ------
    InvalidArgumentError
        If they are of two tables.
    RefNotFoundError
        If it is unknown from which version a branch was created.
    """
    if first.view.uri != second.view.uri:
        raise InvalidArgumentError(
            f"{first.view.uri} and {second.view.uri} are two tables, whose rows have nothing "
            f"in common"
        )
    forks = [_forks(place.view) for place in (first, second)]
    common = 0
    while common < min(map(len, forks)) and forks[0][common] == forks[1][common]:
        common += 1
    version = min(
        line[common].version if len(line) > common else place.version
        for line, place in zip(forks, (first, second), strict=True)
    )
    known = {place.view.branch: place.view for place in (first, second)}
    branches = [_branches(line, first.view, known) for line in forks]
    ways = [
        _way(line[common:], sources[common:], version, place.version)
        for line, sources, place in zip(forks, branches, (first, second), strict=True)
    ]
    return Ancestry(branches[0][common], version, ways[0], ways[1])


class TableCommits(NamedTuple):
    """The commits of some branches of a table.

    Attributes
    ----------
    graph : CommitGraph
        From the last branch on that all come from.
    histories : mapping of str to History
        Their versions, by the identities of the branches.
    identities : mapping of str or None to str
        The identities of the branches that were asked for, by their names.
    """

    graph: CommitGraph
    histories: Mapping[str, History]
    identities: Mapping[str | None, str]

    def commit(self, branch: str | None, version: int) -> Commit:
        """Return the commit of a version of a branch."""
        return self.graph.commit(self.identities[branch], version) or Commit("", version)


def commits_of(lines: Collection[Line]) -> TableCommits:
    """Return the commits of some branches, and of those with their common ancestors.

    Raises
    ------
    RefNotFoundError
        If it is unknown from which version a branch was created.
    """
    known = {line.view.branch: line.view for line in lines}
    if len(known) == 1:
        [line] = lines
        return TableCommits(line.history.graph, {"": line.history}, {line.view.branch: ""})
    forks = {line.view.branch: _forks(line.view) for line in lines}
    ways = [*forks.values()]
    shared = next(
        (n for n, some in enumerate(zip(*ways, strict=False)) if len({*some}) > 1),
        min(map(len, ways)),
    )
    histories, commit_lines = dict[str, History](), dict[str, CommitLine]()
    own = {line.view.branch: line.history for line in lines}
    for line in lines:
        way = forks[line.view.branch]
        names = ["", *[fork.identity for fork in way]]
        stops = [*[fork.version for fork in way], line.view.latest_version]
        views = _branches(way, line.view, known)
        for place in range(shared, len(names)):
            if names[place] in commit_lines:
                continue
            view = _known_up_to(views[place], stops[place])
            begin = way[place - 1].version if place else 1
            commits = CommitLine(names[place], [], begin=begin)
            if view is not None:
                history = own.get(view.branch) or view.history
                histories[names[place]] = history
                commits = replace(history.line, branch=names[place])
            if place > shared:
                parent = Commit(names[place - 1], begin)
                origin = Edge(EdgeKind.FORKS, parent, Evidence.RECORDED)
                commits = replace(commits, begin=begin, origin=origin)
            commit_lines[names[place]] = commits
    identities = {branch: way[-1].identity if way else "" for branch, way in forks.items()}
    return TableCommits(CommitGraph(commit_lines.values()), histories, identities)


def commits_behind(view: HistoryView) -> TableCommits:
    """Return the commits of a branch, and of all its ancestors that exist."""
    views = [BranchVersion(view, view.latest_version), *parents_of(view)]
    names = [place.view.branch or "" for place in views]
    histories = {name: one.view.history for name, one in zip(names, views, strict=True)}
    lines = list[CommitLine]()
    for place, name in enumerate(names):
        line = replace(histories[name].line, branch=name)
        if place + 1 < len(views):
            fork = Commit(names[place + 1], views[place + 1].version)
            edge = Edge(EdgeKind.FORKS, fork, Evidence.RECORDED)
            line = replace(line, begin=fork.version, origin=edge)
        lines.append(line)
    return TableCommits(CommitGraph(lines), histories, {view.branch: names[0]})


def parent_of(view: HistoryView) -> BranchVersion | None:
    """Return the parent of a branch, and the version at which the branch left it.

    None for the main branch, and if the parent is gone or another branch has its name now.
    """
    branch = view.refs.branches.get(view.branch) if view.branch is not None else None
    if branch is None:
        return None
    if branch.parent_branch is not None:
        parent = view.refs.branches.get(branch.parent_branch)
        if parent is None or (branch.identifier and branch.identifier[:-1] != parent.identifier):
            return None
    try:
        return BranchVersion(view.on_branch(branch.parent_branch), branch.parent_version)
    except NotFoundError:
        return None


def cloned_from(view: HistoryView) -> Clone | None:
    """Return the source of a clone; None for other tables, or if its first version is lost."""
    first = view.history.records[0] if len(view.history) else None
    if first is None or first.operation != OperationName.CLONE:
        return None
    try:
        transaction = view.transaction(first)
    except FormatError:
        return None
    operation = None if transaction is None else transaction.operation
    return operation if isinstance(operation, Clone) else None


def parents_of(view: HistoryView, *, over_clones: bool = False) -> Iterator[BranchVersion]:
    """Yield the parent of a branch, its parent, and so on, each with the version of the fork.

    With ``over_clones`` a clone continues with the table that it was made of.
    """
    seen = {view.storage.uri}
    while True:
        parent = parent_of(view)
        if over_clones and view.branch not in view.refs.branches:
            clone = cloned_from(view)
            if clone is not None:
                parent = BranchVersion(view.led_to(clone.ref_path), clone.ref_version)
        if parent is None or parent.view.storage.uri in seen:
            return
        view = parent.view
        seen.add(view.storage.uri)
        yield parent


def _forks(view: HistoryView) -> list[_Fork]:
    """Return the versions at which a branch and its ancestors left their parents, oldest first."""
    forks, name = list[_Fork](), view.branch
    while name is not None:
        branch = view.refs.branches.get(name)
        if branch is None:
            raise RefNotFoundError(f"it is unknown from which version branch {name!r} was created")
        if branch.identifier:
            return [_Fork(*fork) for fork in branch.identifier] + forks
        forks.insert(0, _Fork(branch.parent_version, branch.name))
        name = branch.parent_branch
        if len(forks) > len(view.refs.branches):
            raise RefNotFoundError(f"branch {branch.name!r} is its own ancestor")
    return forks


def _branches(
    forks: Sequence[_Fork], view: HistoryView, known: Mapping[str | None, HistoryView]
) -> list[HistoryView | None]:
    """Return the main branch and the branches of forks; None for those that are gone."""
    names = {
        branch.identifier[-1][1] if branch.identifier else name: name
        for name, branch in view.refs.branches.items()
    }
    there: list[str | None] = [None, *[names.get(fork.identity, "") for fork in forks]]
    return [None if name == "" else known.get(name) or view.on_branch(name) for name in there]


def _way(
    forks: Sequence[_Fork], sources: Sequence[HistoryView | None], begin: int, end: int
) -> tuple[Stretch, ...]:
    """Return the ranges from a version of the first branch to one of the last."""
    stops = [*[fork.version for fork in forks], end]
    stretches = zip(sources, [begin, *stops[:-1]], stops, strict=True)
    return tuple(
        [
            Stretch(_known_up_to(view, stop), start, stop)
            for view, start, stop in stretches
            if start < stop
        ]
    )


def _known_up_to(view: HistoryView | None, version: int) -> HistoryView | None:
    """Return a branch with its versions up to one, which may be newer than the view.

    That happens if a branch was created since, as branches are read on first use.
    """
    if view is None or version <= view.latest_version:
        return view
    return view.refreshed()
