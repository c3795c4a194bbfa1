"""Commits and edges: the parts of the graph."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from lance_explorer.history.evidence import Evidence

__all__ = ["Commit", "CommitKind", "CommitLine", "Edge", "EdgeKind"]


class Commit(NamedTuple):
    """A commit: its branch, by identity, and its version.

    A gap is named by its first version.
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
    """The relation of a commit to its parent."""

    FOLLOWS = "follows"
    RESTORES = "restores"
    FORKS = "forks"
    CLONES = "clones"
    BUILT_ON = "built on"


class Edge(NamedTuple):
    """An edge from a commit to a parent."""

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
