"""Why a row is not live in a version: the version that ended it, and its operation."""

from lance_explorer.errors import RowNotFoundError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.row_operations import Delete
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.reading.row_reader import FragmentContent, RowReader
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.index import RowAddress

__all__ = ["row_not_found"]


def row_not_found(view: HistoryView, version: int, row_id: int) -> RowNotFoundError:
    """Return the error that explains why no live row of a version has a row ID.

    Walks back through the kept versions to the last one in which the row was live; reads one
    manifest for each version before which a fragment changed or was removed.
    """
    manifest = view.version(version).records[0].manifest
    stable = bool(manifest.reader_feature_flags & STABLE_ROW_IDS)
    what = f"row {row_id}" if stable else f"row {row_id} ({RowAddress.of(row_id)})"
    history = view.history
    if stable:
        # Up to 8.0.1 a restore resets the counter: earlier versions may have been further.
        so_far = [record for record in history.records if record.version <= version]
        counter = max([manifest.next_row_id, *[record.manifest.next_row_id for record in so_far]])
        if row_id >= counter:
            return RowNotFoundError(
                f"{what} did not exist by version {version}: only the IDs up to {counter - 1} "
                "were assigned"
                if counter
                else f"{what} did not exist by version {version}: no ID was assigned"
            )
    end = _find_end(view, history, version, row_id, stable)
    if end is not None:
        return RowNotFoundError(f"{what} is not in version {version}: {_describe(view, *end)}")
    if not bool(history.begins_exactly[: history.position(version) + 1].all()):
        return RowNotFoundError(
            f"{what} is not in version {version}, nor in an earlier one that is kept; whether it "
            "ever existed is unknown, because versions were cleaned up"
        )
    return RowNotFoundError(f"{what} is not in version {version}, nor in any before")


def _find_end(
    view: HistoryView, history: History, version: int, row_id: int, stable: bool
) -> tuple[VersionRecord, VersionRecord] | None:
    """Return the last version in which the row was live, and the next kept one."""
    cannot_hold: set[bytes] = set()
    for position in range(history.position(version), 0, -1):
        removed = history.states_removed(position).tolist()
        before = history.records[position - 1]
        suspects = [
            history.states[state]
            for state in removed
            if _may_hold(history.states[state], row_id, stable, cannot_hold)
        ]
        if suspects and _is_live(view, before, suspects, row_id, stable, cannot_hold):
            return before, history.records[position]
    return None


def _may_hold(fragment: Fragment, row_id: int, stable: bool, cannot_hold: set[bytes]) -> bool:
    if not stable:
        return fragment.id == RowAddress.of(row_id).fragment_id
    return fragment.row_ids is None or fragment.row_ids.digest not in cannot_hold


def _is_live(
    view: HistoryView,
    record: VersionRecord,
    suspects: list[Fragment],
    row_id: int,
    stable: bool,
    cannot_hold: set[bytes],
) -> bool:
    ids = {fragment.id for fragment in suspects}
    for content in RowReader(view, record.version).contents(ids):
        offset = _offset(content, row_id, stable)
        if offset is not None and offset not in content.deleted:
            return True
        stored = content.fragment.row_ids
        if offset is None and stored is not None and stored.digest:
            cannot_hold.add(stored.digest)
    return False


def _offset(content: FragmentContent, row_id: int, stable: bool) -> int | None:
    if stable:  # versions from before row IDs were turned on have none
        return None if content.row_ids is None else content.row_ids.position(row_id)
    address = RowAddress.of(row_id)
    is_there = address.fragment_id == content.fragment.id and address.offset < content.num_rows
    return address.offset if is_there else None


def _describe(view: HistoryView, before: VersionRecord, after: VersionRecord) -> str:
    if before.version + 1 != after.version:
        return (
            f"it was live in version {before.version} and removed by {after.version}; the "
            "versions between were cleaned up"
        )
    by = f" by {after.operation}" if after.operation else ""
    transaction = view.transaction(after)
    if transaction and isinstance(transaction.operation, Delete):
        by += f" ({transaction.operation.predicate})"
    return f"it was removed in version {after.version}{by}"
