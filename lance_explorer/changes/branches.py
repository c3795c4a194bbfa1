"""Net changes between any two versions of a table, of whatever branches, in either direction.

Both versions come from a common one. What the way back to it undid, and what the way from it did,
is put together row by row: rows are the same if they are the same in the common version. So row
IDs, fragment IDs and version numbers that two branches gave out apart are never matched.
"""

from dataclasses import dataclass, replace

import numpy as np

from lance_explorer.changes.change_runs import ChangeRuns, RowChange
from lance_explorer.changes.compositions import composed, cut_at_addresses, inverted
from lance_explorer.changes.passing import last_updates, written_rows
from lance_explorer.changes.steps import VersionRange, net_step, version_range
from lance_explorer.errors import NotFoundError, RefNotFoundError, VersionNotFoundError
from lance_explorer.history.ancestors import Ancestry, Place, Stretch
from lance_explorer.history.events.row_comparison import compare_states
from lance_explorer.history.events.row_runs import NO_ADDRESS, RowRuns
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.readable import check_readable
from lance_explorer.history.rows.state_rows import StateRows, state_rows
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.rowids.runs import RunColumns, Runs, outside, paired

__all__ = ["PlaceRows", "changes_between", "lost_on_the_way", "place_rows", "with_replaced_columns"]


@dataclass(frozen=True, slots=True)
class PlaceRows:
    """The rows of a version: those of its branch, and its position there."""

    rows: StateRows
    position: int

    @property
    def record(self) -> VersionRecord:
        """What its manifest says."""
        return self.rows.history.records[self.position]

    @property
    def version(self) -> int:
        """The version."""
        return self.record.version

    @property
    def num_rows(self) -> int:
        """How many rows live there."""
        states = self.rows.history.states_at(self.position)
        return sum([self.rows.num_rows(state) - len(self.rows.deleted(state)) for state in states])

    def live(self) -> RowRuns:
        """Return all live rows, as if they had just come."""
        return compare_states(self.rows, [], self.rows.history.states_at(self.position))


def place_rows(place: Place) -> PlaceRows:
    """Return the rows of a version.

    Raises
    ------
    UnsupportedFeatureError
        If they cannot be told.
    VersionNotFoundError
        If the version is not kept, or is in no line of history.
    """
    rows = state_rows(place.source)
    try:
        return PlaceRows(rows, rows.history.position(place.version))
    except VersionNotFoundError:
        check_readable(place.source.version(place.version).records[0])
        raise VersionNotFoundError(
            f"version {place.version} is detached: it is in no line of history, and its rows "
            f"cannot be matched with those of others"
        ) from None


def changes_between(first: Place, second: Place, common: Ancestry) -> ChangeRuns:
    """Return what became of the rows of one version in another.

    Raises
    ------
    RefNotFoundError
        If a branch on the way is gone, and no row IDs tell rows apart.
    VersionNotFoundError
        If a version on the way, where one branch left another, is not kept, and no row IDs tell
        rows apart.
    UnsupportedFeatureError
        If the rows of one cannot be told.
    FormatError
        If a file cannot be understood.
    StorageError
        If a file cannot be read.
    """
    end = place_rows(second)
    place_rows(first)
    back, forth = (_leg(common, way) for way in (common.to_first, common.to_second))
    if not common.to_first and len(common.to_second) < 2:
        return forth
    runs = composed(inverted(back), forth) if common.to_first else forth
    return _with_versions(runs, end)


def with_replaced_columns(runs: ChangeRuns, end: PlaceRows) -> ChangeRuns:
    """Return changes of which every row that stayed has another column under an old name.

    Their values may differ. Rows that are not among the changes are where they were.
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
    stayed = (runs.before != NO_ADDRESS) & is_live & (runs.change > RowChange.COLUMN_REWRITTEN)
    change = np.where(stayed, np.uint8(RowChange.COLUMN_REWRITTEN), runs.change)
    return _with_versions(
        ChangeRuns.concatenated(
            [
                replace(runs, change=change, maybe=runs.maybe | stayed),
                ChangeRuns.alike(rest, RowChange.COLUMN_REWRITTEN, Evidence.DERIVED, maybe=True),
            ]
        ),
        end,
    )


def _leg(common: Ancestry, way: tuple[Stretch, ...]) -> ChangeRuns:
    """Return the changes from the common version to one of both."""
    if not way:
        return ChangeRuns.concatenated([])
    try:
        ranges = [_range(stretch) for stretch in way]
    except NotFoundError as error:
        if _tells_by_row_ids(common, way):
            return _by_row_ids(common, way[-1])
        raise type(error)(f"rows cannot be matched over what is not kept: {error}") from error
    if not all(versions.begin_is_kept for versions in ranges):
        return _by_row_ids(common, way[-1])
    runs = net_step(ranges[0]).runs
    for versions in ranges[1:]:
        runs = composed(runs, net_step(versions).runs)
    return runs


def _range(stretch: Stretch) -> VersionRange:
    if stretch.source is None:
        raise RefNotFoundError(
            f"the branch that had versions {stretch.begin} to {stretch.end} on the way is gone"
        )
    return version_range(stretch.source, stretch.begin, stretch.end)


def _tells_by_row_ids(common: Ancestry, way: tuple[Stretch, ...]) -> bool:
    last = way[-1].source
    return common.branch is not None and last is not None and state_rows(last).has_row_ids


def _by_row_ids(common: Ancestry, last: Stretch) -> ChangeRuns:
    """Return the changes from the common version to another if versions between are not kept.

    Row IDs that the common version had not given out are those of other rows.
    """
    assert common.branch is not None
    assert last.source is not None
    base = place_rows(Place(common.branch, common.version))
    end = place_rows(Place(last.source, last.end))
    next_row_id = base.record.manifest.next_row_id
    before, after = base.live(), end.live()
    after = after.cut(after.identity, np.array([next_row_id], dtype=np.uint64))
    is_shared = after.identity < np.uint64(next_row_id)
    old = Runs.split(_columns(before, before.after))[0].columns
    new = Runs.split(_columns(after.where(is_shared), after.after[is_shared]))[0].columns
    gone, came, both = outside(old, new.start, new.stop), outside(new, *old[:2]), paired(new, old)
    rows = [
        RowRuns.of(gone.start, gone.address, NO_ADDRESS, gone.stop - gone.start),
        RowRuns.of(came.start, NO_ADDRESS, came.address, came.stop - came.start),
        RowRuns.of(both.start, both.other_address, both.address, both.stop - both.start),
    ]
    went, returned, kept = (runs.where(runs.length > 0) for runs in rows)
    return ChangeRuns.concatenated(
        [
            ChangeRuns.alike(went, RowChange.DELETED, Evidence.DERIVED),
            ChangeRuns.alike(returned, RowChange.INSERTED, Evidence.DERIVED),
            ChangeRuns.alike(after.where(~is_shared), RowChange.INSERTED, Evidence.DERIVED),
            *_kept(base, end, kept),
        ]
    )


def _columns(runs: RowRuns, addresses: Uint64Array) -> RunColumns:
    return RunColumns(runs.identity, runs.identity + runs.length, addresses)


def _kept(base: PlaceRows, end: PlaceRows, kept: RowRuns) -> list[ChangeRuns]:
    """Return the classes of rows that both versions have, by their last updates."""
    old, new = last_updates(base.rows, base.position), last_updates(end.rows, end.position)
    runs = kept.cut(kept.before, old.address)
    runs = runs.cut(runs.after, new.address)
    was, now = old.at(runs.before), new.at(runs.after)
    since = now > base.version
    written = replace(
        runs.where(since),
        updated_before=np.full(int(since.sum()), base.version, dtype=np.uint64),
        updated_after=now[since],
    )
    is_reverted = ~since & (was != now)
    is_moved = ~since & (was == now) & (runs.before != runs.after)
    return [
        written_rows(end.rows, written, Evidence.DERIVED, base.version),
        ChangeRuns.alike(runs.where(is_reverted), RowChange.UPDATED, Evidence.DERIVED),
        ChangeRuns.alike(runs.where(is_moved), RowChange.MOVED, Evidence.DERIVED),
    ]


def _with_versions(runs: ChangeRuns, end: PlaceRows) -> ChangeRuns:
    """Return changes with which version gave each row the values that it has at the end."""
    if not end.rows.history.states_at(end.position):
        return runs
    updated = last_updates(end.rows, end.position)
    runs = cut_at_addresses(runs, "after", updated.address)
    is_live = runs.after != NO_ADDRESS
    version = runs.version.copy()
    version[is_live] = updated.at(runs.after[is_live])
    return replace(runs, version=version)


def lost_on_the_way(common: Ancestry) -> int | None:
    """Return how many versions on the way are not kept; None if a branch there is gone."""
    lost = 0
    for stretch in (*common.to_first, *common.to_second):
        if stretch.source is None:
            return None
        kept = stretch.source.history.versions
        lost += stretch.end - stretch.begin
        lost -= int(((kept > stretch.begin) & (kept <= stretch.end)).sum())
    return lost
