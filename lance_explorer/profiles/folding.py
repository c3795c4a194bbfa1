"""A summary for every version, from summaries of cohorts of rows; each is merged few times.

Summaries cannot be subtracted, so going from version to version does not help. Instead, summaries
of rows that live in all versions are merged first; then, for each half of the versions, those of
rows that live in all of that half; and so on. For ``n`` summaries and ``m`` versions that is about
``n log m`` merges.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import polars as pl

from lance_explorer.profiles.cohorts import Runs
from lance_explorer.profiles.digests import EMPTY, Digest, merged

__all__ = ["Part", "folded"]

Part: TypeAlias = "tuple[Runs, Digest | pl.Series]"
"""In which versions some rows live, and a summary of their values, or the values if they are few.

Values of many such cohorts are summarised together, which is faster than merging summaries.
"""


def folded(
    parts: Sequence[Part],
    first: int,
    last: int,
    digest: Callable[[list[pl.Series]], Digest],
    so_far: Digest = EMPTY,
) -> Iterator[tuple[int, int, Digest]]:
    """Yield stretches of versions, each with the summary that all its versions share.

    Parameters
    ----------
    parts : sequence of Part
        What lives when.
    first, last : int
        The first and the last version.
    digest : callable
        Returns a summary of values.
    so_far : Digest
        The summary of other rows that live in all of them.

    Examples
    --------
    >>> from lance_explorer.profiles.digests import Digest
    >>> parts = [(((0, 3),), Digest(num_rows=2)), (((1, 1), (3, 3)), Digest(num_rows=5))]
    >>> [(first, last, one.num_rows) for first, last, one in folded(parts, 0, 3, lambda _: EMPTY)]
    [(0, 0, 2), (1, 1, 7), (2, 2, 2), (3, 3, 7)]
    """
    digests, values, rest = [so_far], list[pl.Series](), list[Part]()
    for runs, one in parts:
        here = tuple([run for run in runs if run[0] <= last and run[1] >= first])
        if here and here[0][0] <= first and here[0][1] >= last:
            if isinstance(one, Digest):
                digests.append(one)
            else:
                values.append(one)
        elif here:
            rest.append((here, one))
    if values:
        digests.append(digest(values))
    now = merged(digests) if len(digests) > 1 else so_far
    if not rest:
        yield first, last, now
        return
    middle = (first + last) // 2
    yield from folded(rest, first, middle, digest, now)
    yield from folded(rest, middle + 1, last, digest, now)
