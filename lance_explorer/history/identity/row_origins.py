"""The rows of a fragment state: their identities, and the versions that wrote them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lance_explorer.history.evidence import Evidence
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.arrays import MAX_U64, Uint64Array, begins_of
from lance_explorer.rowids.offsets import cut_at
from lance_explorer.rowids.sequence import RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = [
    "ANY_VERSION",
    "NO_VERSION",
    "RowOrigins",
    "VersionsFrom",
    "constant_versions",
    "identity_bounds",
]

NO_VERSION = 0
"""Stands for an unknown version; versions count from 1."""

ANY_VERSION = MAX_U64
"""Stands for any version."""


@dataclass(frozen=True, slots=True, eq=False)
class RowOrigins:
    """The rows of a state, including deleted ones, in order.

    Attributes
    ----------
    ids : RowIdSequence
        The identities.
    created, updated : RowVersionRuns or None
        The versions that created each row, and gave it its values; None if unknown, and NO_VERSION
        for single rows.
    evidence : Evidence
        How well it is known that these are the rows that had the same identities before.
    open_until : int
        The last version in which rows with other identities may have become some of these, since
        rows were replaced and which became which cannot be told: NO_VERSION if there is none,
        ANY_VERSION if it is not known.
    links : frozenset of int
        The positions at which only counts and order led some of these rows over lost versions.
    """

    ids: RowIdSequence
    created: RowVersionRuns | None
    updated: RowVersionRuns | None
    evidence: Evidence = Evidence.RECORDED
    open_until: int = NO_VERSION
    links: frozenset[int] = frozenset()


def identity_bounds(ids: RowIdSequence) -> tuple[int, int]:
    """Return the lowest and the highest identity; the former is larger if there are none."""
    starts, stops = ids.ranges()
    some = np.iinfo(np.uint64).max
    return int(starts.min(initial=some)), int((stops - np.uint64(1)).max(initial=0))


def constant_versions(version: int, num_rows: int) -> RowVersionRuns:
    """Return the same version for all rows."""
    return RowVersionRuns(np.array([num_rows]), np.array([version], dtype=np.uint64))


class VersionsFrom(NamedTuple):
    """The first address of each version, ascending."""

    address: Uint64Array
    version: Uint64Array

    @classmethod
    def of(cls, fragments: Iterable[tuple[int, RowVersionRuns]]) -> "VersionsFrom":
        """Return the versions of all rows of fragments, given with their IDs in any order."""
        nothing = np.empty(0, dtype=np.uint64)
        begins, versions = [nothing], [nothing]
        for fragment_id, runs in sorted(fragments, key=lambda fragment: fragment[0]):
            base = np.uint64(first_address(fragment_id))
            begins.append(begins_of(runs.counts).astype(np.uint64) + base)
            versions.append(runs.versions)
        return cls(np.concatenate(begins), np.concatenate(versions))

    def at(self, addresses: Uint64Array) -> Uint64Array:
        """Return the versions of rows at some addresses, which must be among them."""
        return self.version[np.searchsorted(self.address, addresses, side="right") - 1]

    def along(self, addresses: Uint64Array, lengths: Uint64Array) -> RowVersionRuns:
        """Return the versions of ranges of rows, concatenated."""
        owner, shift, counts = cut_at(addresses, lengths, self.address)
        return RowVersionRuns(counts.astype(np.int64), self.at(addresses[owner] + shift))
