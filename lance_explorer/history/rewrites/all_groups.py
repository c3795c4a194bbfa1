"""Which fragments were rewritten into which others, from all sources."""

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from lance_explorer.findings import Finding
from lance_explorer.history.collector import collector_paused
from lance_explorer.history.history import History
from lance_explorer.history.memories import remembered
from lance_explorer.history.rewrites.groups import RewriteGroup, RewritePool
from lance_explorer.history.rewrites.inferred_groups import unrecorded_groups
from lance_explorer.history.rewrites.recorded_groups import add_reuse_histories, add_stored_lineage
from lance_explorer.history.rewrites.transaction_groups import groups_of_transactions
from lance_explorer.history.view import HistoryView

__all__ = ["RewriteGroup", "Rewrites", "rewrites"]


@dataclass(frozen=True, slots=True)
class Rewrites:
    """The rewrite groups of a branch, ascending by version and group.

    Attributes
    ----------
    history : History
        The history that they were taken from.
    groups : tuple of RewriteGroup
        The groups.
    findings : tuple of Finding
        Problems of files that would have shown more.
    """

    history: History
    groups: tuple[RewriteGroup, ...]
    findings: tuple[Finding, ...]

    def between(self, begin_version: int, end_version: int) -> tuple[RewriteGroup, ...]:
        """Return the groups after one version and up to another, in order.

        Across a gap of lost versions these may be several rounds: the new fragments of one are the
        old ones of the next.
        """
        begin = bisect_right(self.groups, begin_version, key=lambda group: group.version)
        end = bisect_right(self.groups, end_version, key=lambda group: group.version)
        return self.groups[begin:end]

    def in_effect(self, begin_version: int, end_version: int) -> list[RewriteGroup]:
        """Return the groups between two versions, except those that lost ones undid.

        Their old fragments exist, or are rewritten, later: a restore brought them back, or an
        overwrite assigned their IDs again. Rewrites of kept versions are in effect.
        """
        history, in_effect = self.history, list[RewriteGroup]()
        position, later = -1, set[int]()
        for group in reversed(self.between(begin_version, end_version)):
            after = int(np.searchsorted(history.versions, np.uint64(group.version)))
            if after == len(history) or history.versions[after] == group.version:
                in_effect.append(group)
                continue
            if after != position:
                position = after
                later = {history.states[state].id for state in history.states_at(after)}
            if later.isdisjoint(group.old_ids):
                in_effect.append(group)
                later |= {*group.old_ids}
        return in_effect[::-1]


@remembered
@collector_paused()
def rewrites(view: HistoryView) -> Rewrites:
    """Return the rewrite groups of a branch.

    If several sources describe the same group, a transaction wins over stored compaction lineage,
    and that over a fragment reuse history. Unrecorded groups are found by row IDs, or by counts and
    order.

    Raises
    ------
    StorageError
        If a transaction exists but cannot be read.
    """
    history, findings, pool = view.history, list[Finding](), RewritePool()
    for group in groups_of_transactions(view, history, findings):
        pool.add(group)
    add_stored_lineage(pool, history, findings)
    add_reuse_histories(pool, view, history, findings)
    for group in list(unrecorded_groups(view, history, pool, findings)):
        pool.add(group)
    return Rewrites(history, pool.in_order(), tuple(findings))
