"""Columns that share a name in two versions, but not their values.

A column that is dropped and added again is another column, even if it gets the same field ID. A
cast keeps the column. If a version in between lacks a column, a lost restore brought the column
back, with its old values.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format.fragments import Fragment
from lance_explorer.format.schema import field_paths
from lance_explorer.history.columns.lives import ByName, column_lives, shared_fields
from lance_explorer.history.history import History
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.paths import EMPTY, path_between
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["ReplacedColumns"]

_Holders = frozenset[tuple[str, int]]
"""Data files, by their paths, and the fields in them."""


@dataclass(frozen=True, slots=True)
class ReplacedColumns:
    """The fields of such columns.

    Attributes
    ----------
    before, after : frozenset of int
        Their IDs in the first version, and in the second.
    """

    before: frozenset[int]
    after: frozenset[int]

    @classmethod
    def between(cls, history: History, begin: int, end: int) -> "ReplacedColumns":
        """Return the columns of two versions of a branch, given by their positions or EMPTY."""
        schemas = [() if at == EMPTY else history.records[at].schema for at in (begin, end)]
        if schemas[0] is schemas[1] and begin + 1 == end:
            return cls(frozenset(), frozenset())
        old, new = [{path: id_ for id_, path in field_paths(one).items()} for one in schemas]
        pairs = {(old[path], new[path]) for path in old.keys() & new.keys()}
        for by_name in (ByName.NEVER, ByName.SEAMS):
            if pairs:
                pairs -= shared_fields(history, begin, end, by_name).items()
        pairs |= _gone_between(history, begin, end)
        return cls(frozenset([id_ for id_, _ in pairs]), frozenset([id_ for _, id_ in pairs]))

    def __bool__(self) -> bool:
        return bool(self.before)

    def may_differ(
        self, rows: StateRows, begin: int, end: int, before: Uint64Array, after: Uint64Array
    ) -> NDArray[np.bool_]:
        """Return which rows may have other values in them, given by their addresses.

        A row whose values are in no file has nulls.
        """
        numbers = dict[_Holders, int]()
        old = _numbered(rows, begin, self.before, before, numbers)
        new = _numbered(rows, end, self.after, after, numbers)
        differs: NDArray[np.bool_] = old != new
        return differs


def _gone_between(history: History, begin: int, end: int) -> set[tuple[int, int]]:
    """Return the IDs, in both versions, of fields that a version in between lacks."""
    if begin == EMPTY or end == EMPTY:
        return set()
    steps = path_between(history, begin, end).steps
    if history.follows_previous[list(steps)].all():
        return set()  # nothing is lost
    lives = column_lives(history, (begin, end, *steps))
    always = frozenset.intersection(*[frozenset(lives[at].values()) for at in (begin, *steps)])
    later = {life: id_ for id_, life in lives[end].items()}
    return {
        (id_, later[life])
        for id_, life in lives[begin].items()
        if life in later and life not in always
    }


def _numbered(
    rows: StateRows,
    position: int,
    ids: frozenset[int],
    addresses: Uint64Array,
    numbers: dict[_Holders, int],
) -> NDArray[np.int64]:
    """Return for each row the number of the set of files that contain some of its fields."""
    here = [rows.history.states[state] for state in rows.history.states_at(position)]
    holders = [_holders(fragment, ids) for fragment in here]
    known = np.array([numbers.setdefault(some, len(numbers)) for some in holders], dtype=np.int64)
    fragments = np.array([fragment.id for fragment in here], dtype=np.uint64)
    return known[np.searchsorted(fragments, fragments_of(addresses))]


def _holders(fragment: Fragment, ids: frozenset[int]) -> _Holders:
    return frozenset(
        [(file.path, id_) for file in fragment.all_files for id_ in ids.intersection(file.fields)]
    )
