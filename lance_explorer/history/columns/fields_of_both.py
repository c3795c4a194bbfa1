"""Which field of one version is which of another, of whatever branches.

They come from a common version, on two ways: branch by branch, each from where it left its parent.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, permutations, product

import numpy as np

from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.ancestors import Ancestry, Stretch
from lance_explorer.history.columns.lives import (
    Stop,
    column_lives,
    columns_but,
    in_same_files,
    renamed_fields,
    shared_fields,
)
from lance_explorer.history.paths import Branch

__all__ = ["doubtful_pairs", "fields_of_both", "forks_between"]


def fields_of_both(common: Ancestry) -> dict[int, int] | None:
    """Return what :func:`shared_fields` does, of two versions of whatever branches.

    None if no commit lies between both.

    Parameters
    ----------
    common : Ancestry
        How both come from a common version.
    """
    pairs, ends = _pairs(common)
    if not any(pairs):
        return None
    first, second = [_along(way, ends[0].ids | ends[-1].ids) for way in pairs]
    found = {first[start]: second[start] for start in first.keys() & second.keys()}
    if not ends[0].ids & ends[-1].ids <= found.keys():
        proved = in_same_files(ends[0], ends[-1]) - found.keys() - {*found.values()}
        found |= {id_: id_ for id_ in proved}
    return found


def doubtful_pairs(common: Ancestry) -> frozenset[tuple[int, int]]:
    """Return the IDs in two versions of fields that may be one, or two: lost versions would tell.

    The parameter is that of :func:`fields_of_both`, which has none of them.
    """
    kept = fields_of_both(common)
    if kept is None:
        return frozenset()
    first, second = [_perhaps_along(way) for way in _pairs(common)[0]]
    starts = first.keys() & second.keys() if first and second else first.keys() | second.keys()
    both = {
        pair
        for start in starts
        for pair in product(first.get(start, (start,)), second.get(start, (start,)))
    }
    later = frozenset(kept.values())
    return frozenset([pair for pair in both if pair[0] not in kept and pair[1] not in later])


def forks_between(common: Ancestry) -> Iterator[tuple[Stop, Stop, frozenset[int]]]:
    """Yield where branches left others on the ways to two versions: a stop of each.

    And the IDs of the fields that the branch has from its parent.
    """
    for parent, branch in chain(*_pairs(common)[0]):
        if parent.line is not branch.line:
            yield parent, branch, _kept_at_fork(parent, branch)


def _pairs(common: Ancestry) -> tuple[list[list[tuple[Stop, Stop]]], list[Stop]]:
    """Return the stops next to each other on the ways to two versions, and where these ways end."""
    ways = [_way(common, stretches) for stretches in (common.to_first, common.to_second)]
    return [[*pairwise(way)] for way in ways], [way[-1] for way in ways if way]


def _along(way: Sequence[tuple[Stop, Stop]], ids: Iterable[int]) -> dict[int, int]:
    """Return what the IDs of fields become on a way; of an empty one, some that stay."""
    found = {id_: id_ for id_ in (way[0][0].ids if way else ids)}
    for pair in way:
        kept = _kept(*pair)
        found = {start: kept[id_] for start, id_ in found.items() if id_ in kept}
    return found


def _perhaps_along(way: Sequence[tuple[Stop, Stop]]) -> dict[int, set[int]]:
    """Return what the IDs of fields become on a way, or may become."""
    found = {id_: {id_} for id_ in (way[0][0].ids if way else ())}
    for pair in way:
        perhaps = defaultdict[int, set[int]](set)
        for before, after in chain(_kept(*pair).items(), _doubtful(*pair)):
            perhaps[before].add(after)
        found = {
            start: {after for id_ in ids for after in perhaps.get(id_, ())}
            for start, ids in found.items()
        }
    return found


def _kept(one: Stop, other: Stop) -> Mapping[int, int]:
    """Return the IDs of fields that two stops have, at the later one by those at the earlier."""
    if one.line is not other.line:
        return {id_: id_ for id_ in _kept_at_fork(one, other)}
    return shared_fields(one.line, one.position, other.position)


def _doubtful(one: Stop, other: Stop) -> Iterator[tuple[int, int]]:
    """Yield the IDs of what may be one field in both, though nothing that is kept proves it."""
    if one.line is not other.line:
        yield from _doubtful_at_fork(one, other)
        return
    found = column_lives(one.line, (one.position, other.position))
    old, new = [
        {life: id_ for id_, life in found.at[stop.position].items()} for stop in (one, other)
    ]
    for doubt in found.doubts:
        for before, after in permutations((doubt.before, doubt.after)):
            if before in old and after in new:
                yield old[before], new[after]


def _way(common: Ancestry, stretches: Sequence[Stretch]) -> list[Stop]:
    """Return where stretches begin and end, from the common version on."""
    stops = [stop for stretch in stretches for stop in _stops(stretch)]
    parted = _stops(Stretch(common.branch, common.version, common.version))[:1]
    if stops and parted and stops[0].line.view.branch == parted[0].line.view.branch:
        return stops
    return parted + stops


def _stops(stretch: Stretch) -> list[Stop]:
    """Return the ends of a stretch; the earliest kept version stands for lost ones before it."""
    if stretch.view is None or not len(stretch.view.history):
        return []
    line = Branch(stretch.view, stretch.view.history)
    ends = np.array([stretch.begin, stretch.end], dtype=np.uint64)
    positions = np.searchsorted(line.history.versions, ends, side="right") - 1
    return [Stop(line, max(position, 0)) for position in positions.tolist()]


def _kept_at_fork(parent: Stop, branch: Stop) -> frozenset[int]:
    """Return the IDs that a branch has from its parent; its first versions may be lost."""
    if _is_overwritten(parent, branch):
        return frozenset()
    renamed = renamed_fields(parent.record, branch.record)
    if renamed:
        renamed -= in_same_files(parent, branch)
    return (parent.ids & branch.ids) - renamed


def _doubtful_at_fork(parent: Stop, branch: Stop) -> Iterator[tuple[int, int]]:
    """Yield the IDs of what may be one field in a branch and its parent.

    These are IDs that have other names there, and that no data file proves, and columns that have
    one name and other IDs, as casts give.
    """
    if _is_overwritten(parent, branch):
        return
    kept = _kept_at_fork(parent, branch)
    yield from [(id_, id_) for id_ in (parent.ids & branch.ids) - kept]
    gone = columns_but(parent.record, kept)
    new = columns_but(branch.record, kept)
    yield from [(gone[name], new[name]) for name in gone.keys() & new.keys()]


def _is_overwritten(parent: Stop, branch: Stop) -> bool:
    is_later = branch.record.version > parent.record.version
    return is_later and branch.record.operation == OperationName.OVERWRITE
