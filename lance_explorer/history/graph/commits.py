"""Commits and edges: what the graph is made of."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from lance_explorer.history.evidence import Evidence

__all__ = ["Commit", "CommitKind", "CommitLine", "Edge", "EdgeKind"]


class Commit(NamedTuple):
    """A commit: the branch that has it, by its identity, and its version.

    A gap is named by the first version in it.
    """

    branch: str
    version: int


class CommitKind(Enum):
    """Where a version is."""

    KEPT = "kept"
    RECORDED = "recorded"
    DETACHED = "detached"
    GAP = "gap"


class EdgeKind(Enum):
    """How a commit comes from another one."""

    FOLLOWS = "follows"
    RESTORES = "restores"
    FORKS = "forks"
    CLONES = "clones"
    BUILT_ON = "built on"


class Edge(NamedTuple):
    """That a commit comes from another one."""

    kind: EdgeKind
    parent: Commit
    evidence: Evidence


@dataclass(frozen=True)
class CommitLine:
    """What is known of the commits of one branch.

    Attributes
    ----------
    branch : str
        Its identity.
    versions : sequence of int
        The versions that can be read, ascending.
    restored : mapping of int to int
        For each Restore the version that it went back to, which may be lost, or detached; 0 if its
        transaction does not say.
    built_on : mapping of int to int
        For detached versions the version of the branch that each was built on, as far as is known.
    begin : int
        The first version that it ever had; that of a branch has the number of the one that it was
        copied from.
    origin : Edge or None
        Where that one comes from, if it is known.
    recorded : collection of int
        The versions that only a ledger has.
    """

    branch: str
    versions: Sequence[int]
    restored: Mapping[int, int] = field(default_factory=dict)
    built_on: Mapping[int, int] = field(default_factory=dict)
    begin: int = 1
    origin: Edge | None = None
    recorded: Collection[int] = frozenset()
