"""From which version two versions of a table both come, and over which branches.

A branch is told by the list of versions at which it and its ancestors were left, each with an
identity, and not by its name: a branch may be deleted, and another one made under its name. Tables
of old writers have no identities; there a branch is the one that has its name now.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lance_explorer.errors import InvalidArgumentError, NotFoundError, RefNotFoundError
from lance_explorer.history.source import TableSource

__all__ = ["Ancestry", "Place", "Stretch", "ancestry", "parent_of", "parents_of"]


class Place(NamedTuple):
    """A version of a branch."""

    source: TableSource
    version: int


class Stretch(NamedTuple):
    """Versions of one branch, from one to another; ``source`` is None if the branch is gone."""

    source: TableSource | None
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Ancestry:
    """How two versions of a table come from a common one.

    Attributes
    ----------
    branch : TableSource or None
        The branch of the last version that both have in their past; None if it is gone.
    version : int
        That version; one of both, if the other one comes from it.
    to_first, to_second : tuple of Stretch
        The way from there to both: stretches of one branch each, oldest first, none if it is there
        already.
    """

    branch: TableSource | None
    version: int
    to_first: tuple[Stretch, ...]
    to_second: tuple[Stretch, ...]


class _Fork(NamedTuple):
    """At which version a branch left its parent, and what it can be told by."""

    version: int
    identity: str


def ancestry(first: Place, second: Place) -> Ancestry:
    """Return how two versions of one table come from a common one.

    Raises
    ------
    InvalidArgumentError
        If they are of two tables.
    RefNotFoundError
        If it is unknown from which version a branch was created.
    """
    if first.source.uri != second.source.uri:
        raise InvalidArgumentError(
            f"{first.source.uri} and {second.source.uri} are two tables, whose rows have nothing "
            f"in common"
        )
    forks = [_forks(place.source) for place in (first, second)]
    common = 0
    while common < min(map(len, forks)) and forks[0][common] == forks[1][common]:
        common += 1
    version = min(
        line[common].version if len(line) > common else place.version
        for line, place in zip(forks, (first, second), strict=True)
    )
    known = {place.source.branch: place.source for place in (first, second)}
    branches = [_branches(line, first.source, known) for line in forks]
    ways = [
        _way(line[common:], sources[common:], version, place.version)
        for line, sources, place in zip(forks, branches, (first, second), strict=True)
    ]
    return Ancestry(branches[0][common], version, ways[0], ways[1])


def parent_of(source: TableSource) -> Place | None:
    """Return the branch that a branch was created from, and the version at which it left it.

    None for the main branch, and where the parent is gone or another branch has its name by now.
    """
    branch = source.branches.get(source.branch) if source.branch is not None else None
    if branch is None:
        return None
    if branch.parent_branch is not None:
        parent = source.branches.get(branch.parent_branch)
        if parent is None or (branch.identifier and branch.identifier[:-1] != parent.identifier):
            return None
    try:
        return Place(source.on_branch(branch.parent_branch), branch.parent_version)
    except NotFoundError:
        return None


def parents_of(source: TableSource) -> Iterator[Place]:
    """Yield the parent of a branch, its parent, and so on, each with the version of the fork."""
    seen = {source.branch}
    while (parent := parent_of(source)) is not None and parent.source.branch not in seen:
        source = parent.source
        seen.add(source.branch)
        yield parent


def _forks(source: TableSource) -> list[_Fork]:
    """Return where a branch and its ancestors left their parents, oldest first."""
    forks, name = list[_Fork](), source.branch
    while name is not None:
        branch = source.branches.get(name)
        if branch is None:
            raise RefNotFoundError(f"it is unknown from which version branch {name!r} was created")
        if branch.identifier:
            return [_Fork(*fork) for fork in branch.identifier] + forks
        forks.insert(0, _Fork(branch.parent_version, branch.name))
        name = branch.parent_branch
        if len(forks) > len(source.branches):
            raise RefNotFoundError(f"branch {branch.name!r} is its own ancestor")
    return forks


def _branches(
    forks: Sequence[_Fork], source: TableSource, known: Mapping[str | None, TableSource]
) -> list[TableSource | None]:
    """Return the main branch and those that began at forks; None for those that are gone."""
    names = {
        branch.identifier[-1][1] if branch.identifier else name: name
        for name, branch in source.branches.items()
    }
    there: list[str | None] = [None, *[names.get(fork.identity, "") for fork in forks]]
    return [None if name == "" else known.get(name) or source.on_branch(name) for name in there]


def _way(
    forks: Sequence[_Fork], sources: Sequence[TableSource | None], begin: int, end: int
) -> tuple[Stretch, ...]:
    """Return the stretches from a version of the first branch to one of the last."""
    stops = [*[fork.version for fork in forks], end]
    stretches = zip(sources, [begin, *stops[:-1]], stops, strict=True)
    return tuple(
        [
            Stretch(_known_up_to(source, stop), start, stop)
            for source, start, stop in stretches
            if start < stop
        ]
    )


def _known_up_to(source: TableSource | None, version: int) -> TableSource | None:
    """Return a branch with its versions up to one, which may be later than when it was looked at.

    So it is where a branch was made since, since branches are read when somebody asks for them.
    """
    if source is None or version <= source.latest_version:
        return source
    return source.refreshed()
