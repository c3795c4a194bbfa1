"""Net changes between any two versions of a table, on any branches, in either direction.

Both versions have a common ancestor. The changes back to it and the changes from it are combined
row by row: rows are the same if they are the same in the common version. So row IDs, fragment IDs
and version numbers that two branches assigned independently are never matched.
"""

from dataclasses import replace

import numpy as np

from lance_explorer.changes.change_runs import ChangeRuns
from lance_explorer.changes.column_only_updates import last_updates
from lance_explorer.changes.combined_changes import composed, cut_at_addresses, inverted
from lance_explorer.changes.fork_gaps import changes_over_a_gap
from lance_explorer.changes.steps import VersionRange, net_step, version_range
from lance_explorer.changes.version_rows import PlaceRows, place_rows
from lance_explorer.errors import NotFoundError, RefNotFoundError
from lance_explorer.history.ancestors import Ancestry, BranchVersion, Stretch
from lance_explorer.history.events.event_runs import RowEvent
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.evidence import Evidence
from lance_explorer.rowids.runs import RunColumns, outside

__all__ = ["changes_between", "lost_on_the_way", "with_replaced_columns"]


def changes_between(first: BranchVersion, second: BranchVersion, common: Ancestry) -> ChangeRuns:
    """Return the fate of the rows of one version in another.

    Raises
    ------
    RefNotFoundError
        If versions on the path are not kept, and the branch of the common one is gone.
    VersionNotFoundError
        If versions on the path are not kept, including the common one.
    """
    end = place_rows(second)
    place_rows(first)
    back, forth = (_leg(common, way) for way in (common.to_first, common.to_second))
    if not common.to_first and len(common.to_second) < 2:
        return forth
    runs = composed(inverted(back), forth) if common.to_first else forth
    return _with_versions(runs, end)


def with_replaced_columns(runs: ChangeRuns, end: PlaceRows) -> ChangeRuns:
    """Return changes in which every row that stayed has another column under an old name.

    Their values may differ. Rows that are not among the changes did not move.
    """
    live = end.live()
    is_live = runs.after != NO_ADDRESS
    starts, lengths = runs.after[is_live], runs.length[is_live]
    order = np.argsort(starts)
    others = outside(
        RunColumns(live.after, live.after + live.length, live.identity),
        starts[order],
        (starts + lengths)[order],
    )
    others = others.where(others.start < others.stop)
    rest = RowRuns.of(others.address, others.start, others.start, others.stop - others.start)
    stayed = (runs.before != NO_ADDRESS) & is_live & (runs.change > RowEvent.COLUMN_REWRITTEN)
    change = np.where(stayed, np.uint8(RowEvent.COLUMN_REWRITTEN), runs.change)
    return _with_versions(
        ChangeRuns.concatenated(
            [
                replace(runs, change=change, is_uncertain=runs.is_uncertain | stayed),
                ChangeRuns.alike(
                    rest, RowEvent.COLUMN_REWRITTEN, Evidence.DERIVED, is_uncertain=True
                ),
            ]
        ),
        end,
    )


def _leg(common: Ancestry, way: tuple[Stretch, ...]) -> ChangeRuns:
    """Return the changes from the common version to one of the two."""
    if not way:
        return ChangeRuns.empty()
    try:
        ranges = [_range(stretch) for stretch in way]
    except NotFoundError:
        return changes_over_a_gap(common, way[-1])
    if not all(versions.begin_is_kept for versions in ranges):
        return changes_over_a_gap(common, way[-1])
    runs = net_step(ranges[0]).runs
    for versions in ranges[1:]:
        runs = composed(runs, net_step(versions).runs)
    return runs


def _range(stretch: Stretch) -> VersionRange:
    if stretch.view is None:
        raise RefNotFoundError(
            f"the branch with versions {stretch.begin} to {stretch.end} between the two was deleted"
        )
    return version_range(stretch.view, stretch.begin, stretch.end)


def _with_versions(runs: ChangeRuns, end: PlaceRows) -> ChangeRuns:
    """Return changes with the version that gave each row its final values."""
    if not end.rows.history.states_at(end.position):
        return runs
    updated = last_updates(end.rows, end.position)
    runs = cut_at_addresses(runs, "after", updated.address)
    is_live = runs.after != NO_ADDRESS
    version = runs.version.copy()
    version[is_live] = updated.at(runs.after[is_live])
    return replace(runs, version=version)


def lost_on_the_way(common: Ancestry) -> int | None:
    """Return how many versions on the path are not kept; None if a branch on it is gone."""
    lost = 0
    for stretch in (*common.to_first, *common.to_second):
        if stretch.view is None:
            return None
        kept = stretch.view.history.versions
        lost += stretch.end - stretch.begin
        lost -= int(((kept > stretch.begin) & (kept <= stretch.end)).sum())
    return lost
