"""Which field of one version is which of another: field IDs alone do not tell.

The ID of a column that is dropped is given to the next one that is added, and after a restore the
IDs of what it undid are given again. So a field lives as long as all commits on the way have its
ID; after that, and after an Overwrite, which gives all IDs anew, the ID is another field's. Where
versions are lost, an ID with another name is the same field only if a data file tells so.
"""

from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from itertools import count

import numpy as np

from lance_explorer.history.ancestors import Ancestry, Stretch
from lance_explorer.history.paths import EMPTY, Branch, Line, parent_position

__all__ = ["Lives", "column_lives", "fields_of_both", "kept_fields"]

Lives = Mapping[int, int]
"""For each field ID of a version the number of its life."""


def column_lives(line: Line, positions: Iterable[int]) -> dict[int, Lives]:
    """Return which fields some versions have, told apart for life.

    Versions next to each other with one schema share what is returned of them.

    Parameters
    ----------
    line : Line
        The versions of a branch.
    positions : iterable of int
        Which ones, by their positions; EMPTY has no field.
    """
    wanted = {*positions}
    parents = _parents(line, wanted - {EMPTY})
    lives, numbers = dict[int, Lives]({EMPTY: {}}), count()
    for position, parent in sorted(parents.items()):
        record = line.history.records[position]
        begins_anew = parent == EMPTY or record.operation == "Overwrite"
        if not begins_anew and line.history.records[parent].schema is record.schema:
            lives[position] = lives[parent]
            continue
        known = {} if begins_anew else lives[parent]
        if known and not line.history.follows_previous[position]:
            doubtful = _renamed(line, parent, position) - _same_files(line, parent, position)
            known = {id_: life for id_, life in known.items() if id_ not in doubtful}
        lives[position] = {
            field.id: known[field.id] if field.id in known else next(numbers)
            for field in record.schema
        }
    return {position: lives[position] for position in wanted}


def kept_fields(line: Line, begin: int, end: int) -> frozenset[int]:
    """Return the IDs that are of one field in two versions, given by their positions or EMPTY."""
    lives = column_lives(line, (begin, end))
    if lives[begin] is lives[end]:
        return frozenset(lives[begin])
    return frozenset([id_ for id_, _ in lives[begin].items() & lives[end].items()])


def fields_of_both(common: Ancestry) -> frozenset[int] | None:
    """Return the IDs that are of one field in two versions, of whatever branches.

    None if no version on the way between them is there to tell.

    Parameters
    ----------
    common : Ancestry
        How both come from a common version.
    """
    stretches = [s for s in (*common.to_first, *common.to_second) if s.source is not None]
    kept = [_kept_over(stretch) for stretch in stretches]
    return frozenset.intersection(*kept) if kept else None


def _kept_over(stretch: Stretch) -> frozenset[int]:
    assert stretch.source is not None
    line = Branch(stretch.source, stretch.source.history)
    ends = np.array([stretch.begin, stretch.end], dtype=np.uint64)
    begin, end = (np.searchsorted(line.history.versions, ends, side="right") - 1).tolist()
    return kept_fields(line, max(begin, 0), end)  # a branch begins with what its parent had


def _renamed(line: Line, before: int, after: int) -> set[int]:
    """Return the IDs that have other names in two versions."""
    old, new = [
        {field.id: field.name for field in line.history.records[position].schema}
        for position in (before, after)
    ]
    return {id_ for id_ in old.keys() & new.keys() if old[id_] != new[id_]}


def _same_files(line: Line, before: int, after: int) -> set[int]:
    """Return the IDs that a data file of two versions has in both: over a gap, that proves them."""
    old, new = [
        {
            (file.path, id_)
            for state in line.history.states_at(position)
            for file in line.history.states[state].files
            for id_ in file.fields
        }
        for position in (before, after)
    ]
    return {id_ for _, id_ in old & new}


def _parents(line: Line, positions: set[int]) -> dict[int, int]:
    """Return what versions, and those on the way between them, went out from.

    The last version that all have in common comes out as if it were the first one.
    """
    heads, parents = [-position for position in positions], dict[int, int]()
    heapify(heads)
    while heads:
        position = -heappop(heads)
        parent = EMPTY
        if heads:
            parent = parent_position(line, position)
            if parent == EMPTY and position > 0:
                parent = position - 1  # what was restored is lost: nothing but the IDs tells
            if parent not in positions:
                positions.add(parent)
                heappush(heads, -parent)
        if position != EMPTY:
            parents[position] = parent
    return parents
