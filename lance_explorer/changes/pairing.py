"""Removed and added rows with the same key, as updates."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS
from lance_explorer.history.evidence import Evidence
from lance_explorer.rowids.arrays import Positions

__all__ = ["pair_by_key"]

_PLACE = "__place"
_TURN = "__turn"
_ALONE = "__alone"


def pair_by_key(
    runs: ChangeRuns,
    read_before: Callable[[ChangeRuns], pl.DataFrame],
    read_after: Callable[[ChangeRuns], pl.DataFrame],
) -> ChangeRuns:
    """Return runs in which a removed and an added row with the same key are one updated row.

    If several rows have one key, the first removed is paired with the first added, and so on; that
    is uncertain. A key with a null matches nothing. Rows without a partner are certain.

    Parameters
    ----------
    runs : ChangeRuns
        What happened in a commit, or between two versions.
    read_before, read_after : callable
        Give the keys of rows as they were, and as they are, one row a run.
    """
    was, now = runs.before != NO_ADDRESS, runs.after != NO_ADDRESS
    removed, added = runs.where(was & ~now).rows(), runs.where(~was & now).rows()
    others = runs.where(was == now)
    if not len(removed) or not len(added):
        return ChangeRuns.concatenated([others, _certain(removed), _certain(added)])
    old, new = _numbered(read_before(removed)), _numbered(read_after(added))
    keys = [name for name in old.columns if name not in (_PLACE, _ALONE)]
    pairs = old.join(new, on=keys, how="inner", suffix="_after")
    first, second = pairs[_PLACE].to_numpy(), pairs[f"{_PLACE}_after"].to_numpy()
    is_alone = (pairs[_ALONE] & pairs[f"{_ALONE}_after"]).to_numpy()
    before, after = removed.where(first), added.where(second)
    count = len(pairs)
    paired = replace(
        after,
        change=np.full(count, RowEvent.UPDATED, dtype=np.uint8),
        old_identity=before.old_identity,
        before=before.before,
        evidence=np.full(count, Evidence.DERIVED, dtype=np.uint8),
        is_uncertain=~is_alone,
    )
    return ChangeRuns.concatenated(
        [others, paired, _without(removed, first), _without(added, second)]
    )


def _numbered(keys: pl.DataFrame) -> pl.DataFrame:
    names: Sequence[str] = keys.columns
    return (
        keys.with_row_index(_PLACE)
        .drop_nulls(names)
        .with_columns(
            pl.int_range(pl.len()).over(names).alias(_TURN),
            (pl.len().over(names) == 1).alias(_ALONE),
        )
    )


def _without(rows: ChangeRuns, chosen: Positions) -> ChangeRuns:
    rest = np.ones(len(rows), dtype=np.bool_)
    rest[chosen] = False
    return _certain(rows.where(rest))


def _certain(rows: ChangeRuns) -> ChangeRuns:
    return replace(rows, is_uncertain=np.zeros(len(rows), dtype=np.bool_))
