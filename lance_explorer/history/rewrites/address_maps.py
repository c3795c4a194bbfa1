"""The moves of rows by compactions: from addresses in one version to those in a later one.

It ignores deletions, updates and restores: code that follows rows handles those.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.history.rewrites.all_groups import rewrites
from lance_explorer.history.rewrites.group_rows import pair_rows, reading_deletions
from lance_explorer.history.rewrites.groups import RewriteGroup
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Positions, Uint64Array
from lance_explorer.rowids.id_map import IdMap
from lance_explorer.rowids.runs import RunColumns

__all__ = ["AddressMap", "RewriteRound", "address_map"]

_Found = tuple[Uint64Array, NDArray[np.bool_]]


@dataclass(frozen=True)
class RewriteRound:
    """The rewrite groups of one commit; no fragment is in two of them.

    Attributes
    ----------
    version : int
        The commit.
    groups : tuple of RewriteGroup
        The groups. The note of an unrecorded one says why its rows cannot be paired.
    unrecorded : frozenset of int
        Which of the groups, by position, are unrecorded: where their rows went is not known.
    rows : IdMap
        The old address and the new one of every row of the other groups.
    """

    version: int
    groups: tuple[RewriteGroup, ...]
    unrecorded: frozenset[int]
    rows: IdMap

    def old_groups(self, addresses: Uint64Array) -> Positions:
        """Return for each address the position of the group that rewrote its fragment, or -1."""
        return _find(fragments_of(addresses), *self._old)

    def new_groups(self, addresses: Uint64Array) -> Positions:
        """Return for each address the position of the group that wrote its fragment, or -1."""
        return _find(fragments_of(addresses), *self._new)

    def carry(self, addresses: Uint64Array) -> _Found:
        """Return the addresses of rows after the commit, as :meth:`AddressMap.carry` does."""
        return _moved(addresses, self.old_groups(addresses) >= 0, self.rows.lookup)

    def carry_back(self, addresses: Uint64Array) -> _Found:
        """Return the addresses of rows before it, as :meth:`AddressMap.carry_back` does."""
        return _moved(addresses, self.new_groups(addresses) >= 0, self.rows.reverse_lookup)

    @cached_property
    def _old(self) -> tuple[Uint64Array, Positions]:
        return _by_fragment([group.old_ids for group in self.groups])

    @cached_property
    def _new(self) -> tuple[Uint64Array, Positions]:
        return _by_fragment([group.new_ids for group in self.groups])


@dataclass(frozen=True)
class AddressMap:
    """The moves of rows by compactions of some versions: a round for each commit, in order.

    Only rewrites are followed. Rows of other fragments keep their addresses, live or not.

    Examples
    --------
    >>> import numpy as np
    >>> from lance_explorer.history.rewrites.address_maps import address_map
    >>> moves = address_map(table._view, 1, 2)
    >>> addresses, found = moves.carry(np.array([7], dtype=np.uint64))
    >>> len(moves.rounds), addresses.tolist(), found.tolist()
    (0, [7], [True])
    """

    rounds: tuple[RewriteRound, ...]

    def carry(self, addresses: Uint64Array) -> _Found:
        """Return the addresses of rows after all rounds.

        Parameters
        ----------
        addresses : ndarray of uint64
            Row addresses before, in any order; they may repeat.

        Returns
        -------
        addresses : ndarray of uint64
            The row addresses after; 0 where a row was not carried on.
        found : ndarray of bool
            False for rows that were deleted before their fragment was rewritten, and for those of
            groups that are unrecorded.
        """
        return _through(self.rounds, RewriteRound.carry, addresses)

    def carry_back(self, addresses: Uint64Array) -> _Found:
        """Return the addresses of rows before all rounds: the reverse of :meth:`carry`.

        A row is not found if its fragment was written by an unrecorded group, or has fewer rows.
        """
        return _through(self.rounds[::-1], RewriteRound.carry_back, addresses)


def address_map(view: HistoryView, begin_version: int, end_version: int) -> AddressMap:
    """Return the moves by rewrites after one version and up to another.

    A restore between kept versions is not followed: then go from version to version. Rewrites of
    lost versions are left out if they were undone before the next kept one.

    Raises
    ------
    StorageError
        If a file other than a deletion file cannot be read.
    """
    groups = rewrites(view).in_effect(begin_version, end_version)
    with reading_deletions(view, groups):
        return AddressMap(tuple([_round(view, round_) for round_ in _rounds(groups)]))


def _rounds(groups: Sequence[RewriteGroup]) -> Iterator[list[RewriteGroup]]:
    """Divide groups where the version changes, or where one continues the output of another."""
    current, written = list[RewriteGroup](), set[int]()
    for group in groups:
        is_next = current and group.version != current[0].version
        if is_next or not written.isdisjoint(group.old_ids):
            yield current
            current, written = [], set()
        current.append(group)
        written |= {*group.new_ids}
    if current:
        yield current


def _round(view: HistoryView, groups: list[RewriteGroup]) -> RewriteRound:
    columns, unrecorded = list[RunColumns](), set[int]()
    for position, group in enumerate(groups):
        rows = pair_rows(view, group)
        if isinstance(rows, str):
            unrecorded.add(position)
            groups[position] = replace(group, note=rows)
        else:
            columns.append(rows)
    rows_of_all = IdMap.of(RunColumns.concatenated(columns))
    return RewriteRound(groups[0].version, tuple(groups), frozenset(unrecorded), rows_of_all)


def _through(
    rounds: Sequence[RewriteRound],
    step: Callable[[RewriteRound, Uint64Array], _Found],
    addresses: Uint64Array,
) -> _Found:
    found = np.ones(len(addresses), dtype=np.bool_)
    for round_ in rounds:
        addresses, there = step(round_, addresses)
        found &= there
    return np.where(found, addresses, np.uint64(0)), found


def _moved(
    addresses: Uint64Array, concerned: NDArray[np.bool_], lookup: Callable[[Uint64Array], _Found]
) -> _Found:
    """Return the addresses, with those of moved fragments changed."""
    moved, found = addresses.copy(), np.ones(len(addresses), dtype=np.bool_)
    moved[concerned], found[concerned] = lookup(addresses[concerned])
    return moved, found


def _by_fragment(ids: Sequence[tuple[int, ...]]) -> tuple[Uint64Array, Positions]:
    """Return all fragment IDs, sorted, and the group of each."""
    fragments = np.array([id_ for group in ids for id_ in group], dtype=np.uint64)
    groups = np.repeat(np.arange(len(ids)), [len(group) for group in ids])
    order = np.argsort(fragments)
    return fragments[order], groups[order]


def _find(fragments: Uint64Array, known: Uint64Array, groups: Positions) -> Positions:
    if not len(known):
        return np.full(len(fragments), -1, dtype=np.int64)
    place = np.minimum(np.searchsorted(known, fragments), len(known) - 1)
    return np.where(known[place] == fragments, groups[place], -1)
