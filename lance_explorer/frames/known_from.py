"""The sources of versions: the table itself, or only a ledger (KNOWN_FROM)."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import RefNotFoundError
from lance_explorer.frames.columns import ID, KNOWN_FROM, TEXT
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.view import HistoryView

__all__ = ["known_from", "known_from_branches", "recorded_words"]

_MOST_RANGES = 3

_Versions = pl.Series | NDArray[np.uint64] | Sequence[int] | Sequence[int | None]


def known_from(view: HistoryView, versions: _Versions) -> pl.Series:
    """Return the source of versions of a branch; null if there is none.

    Examples
    --------
    >>> from lance_explorer.frames.known_from import known_from
    >>> known_from(table._view, [1, 99]).to_list()
    ['live', None]
    """
    asked = pl.Series(versions, dtype=ID)
    files = (*view.listing.versions, *view.listing.detached)
    recorded = pl.Series(view.recorded_versions, dtype=ID)
    listed = pl.Series([file.version for file in files], dtype=ID)
    derived = pl.Series(view.derived_versions, dtype=ID)
    place = (
        pl.when(asked.is_in(recorded.implode()))
        .then(pl.lit("ledger"))
        .when(asked.is_in(derived.implode()))
        .then(pl.lit("derived"))
        .when(asked.is_in(listed.implode()))
        .then(pl.lit("live"))
    )
    return pl.select(place.cast(KNOWN_FROM.dtype)).to_series()


def known_from_branches(
    view: HistoryView, branches: pl.Series | Sequence[str | None], versions: _Versions
) -> pl.Series:
    """Return the same for versions of several branches of the table; null is the main one."""
    asked = pl.DataFrame(
        [pl.Series("branch", branches, dtype=TEXT), pl.Series("version", versions, dtype=ID)]
    )
    distinct = asked.unique()
    parts = [
        some.with_columns(known_from=_on_branch(view, branch, some["version"]))
        for (branch,), some in distinct.group_by("branch")
    ]
    if not parts:
        return pl.Series([], dtype=KNOWN_FROM.dtype)
    known = asked.join(
        pl.concat(parts),
        on=["branch", "version"],
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    return known["known_from"]


def recorded_words(view: HistoryView) -> str:
    """Return in a sentence which versions only a ledger has; "" if none."""
    return _words([number for number in view.recorded_versions if number < FIRST_DETACHED])


def _words(versions: Sequence[int]) -> str:
    """Return the sentence.

    Examples
    --------
    >>> from lance_explorer.frames.known_from import _words
    >>> _words([1, 2, 3, 7])
    'versions 1 to 3 and 7 are known from the ledger'
    """
    if not versions:
        return ""
    if len(versions) == 1:
        return f"version {versions[0]} is known from the ledger"
    ranges = list[list[int]]()
    for version in versions:
        if ranges and version == ranges[-1][1] + 1:
            ranges[-1][1] = version
        else:
            ranges.append([version, version])
    if len(ranges) > _MOST_RANGES:
        between = f"between {versions[0]} and {versions[-1]}"
        return f"{len(versions):,} versions {between} are known from the ledger"
    stretches = [f"{a}" if a == b else f"{a} to {b}" for a, b in ranges]
    listed = " and ".join(filter(None, [", ".join(stretches[:-1]), stretches[-1]]))
    return f"versions {listed} are known from the ledger"


def _on_branch(view: HistoryView, branch: object, versions: pl.Series) -> pl.Series:
    try:
        on_branch = view.on_branch(None if branch is None else str(branch))
    except RefNotFoundError:  # it was dropped
        return pl.Series([None] * len(versions), dtype=KNOWN_FROM.dtype)
    return known_from(on_branch, versions)
