"""The plan that undoes one commit and keeps what came after."""

from collections.abc import Sequence

from lance_explorer.answers.calls import call, command
from lance_explorer.changes.three_way import ThreeWay, check_columns
from lance_explorer.changes.version_pair import VersionPair
from lance_explorer.errors import VersionNotFoundError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.commit_facts import facts_of_commit
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion, parent_of
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.version_refs import VersionRef, kept_version
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.commit_words import describe_commits
from lance_explorer.plans.bringing import bring_all, can_go_back, go_back
from lance_explorer.plans.column_work import column_work
from lance_explorer.plans.plan import PlanParts
from lance_explorer.plans.records import Conflict, Loss, OnConflict
from lance_explorer.plans.row_work import RowWork
from lance_explorer.plans.setting_work import index_work, setting_work
from lance_explorer.shown import visible

__all__ = ["plan_revert"]

_NOTHING_TO_UNDO = {
    OperationName.REWRITE: "A compaction changes no row, so there is nothing to undo.",
    OperationName.RESERVE_FRAGMENTS: "It only reserved fragment IDs, so there is nothing to undo.",
    OperationName.UPDATE_MEM_WAL_STATE: (
        "It records the state of the write-ahead log, which writers need, so it is not undone."
    ),
}


def plan_revert(
    view: HistoryView, ref: VersionRef, key: Sequence[str], on_conflict: OnConflict
) -> PlanParts:
    """Return what undoes a commit: see :meth:`lance_explorer.table.Table.plan_revert`."""
    version = kept_version(view, ref)
    latest = BranchVersion(view, view.latest_version)
    overwrites = on_conflict == "overwrite"
    again = {"key": [*key] or None, "on_conflict": on_conflict if overwrites else None}
    parts = PlanParts(
        latest,
        f"Undo version {version}",
        f"undo_version_{version}",
        call("table.plan_revert", version, **again),
        tuple(key),
    )
    record = view.version(version).records[0]
    before = _before(view, version)
    parts.about = _commit_in_words(view, record)
    parts.command = command("revert", view.uri, version, branch=view.branch, **again)
    if record.operation in _NOTHING_TO_UNDO:
        parts.add(_NOTHING_TO_UNDO[record.operation])
    elif before is None:
        parts.add("It created the table or the branch, so there is nothing before it.")
    elif version == latest.version and can_go_back(latest, before.version):
        _go_back(parts, ThreeWay(latest, latest, before, key))
    elif record.operation == OperationName.OVERWRITE and _replaces_columns(before, latest):
        _after_overwrite(parts, version, before, overwrites=overwrites)
    else:
        check_columns(latest, key)
        undone = BranchVersion(view, version)
        bring_all(
            parts,
            ThreeWay(undone, latest, before, key),
            overwrites=overwrites,
            come_back=True,
        )
        records = [place.view.version(place.version).records[0] for place in (before, latest)]
        for step in (
            *setting_work(record, *records, overwrites=overwrites),
            *index_work(record, *records),
        ):
            parts.add(step)
        if not can_go_back(undone, before.version):  # the commit turned row IDs on
            parts.add("Stable row IDs stay on: Lance does not turn them off.")
        if not (parts.steps or parts.notes or parts.num_conflicts):
            parts.add("None of its changes is in the table now, so there is nothing to undo.")
    return parts


def _commit_in_words(view: HistoryView, record: VersionRecord) -> str:
    """Return what a commit did, when and by whom, in a sentence."""
    position = view.history.position(record.version)
    [words] = describe_commits(view, slice(position, position + 1))
    facts = facts_of_commit(record)
    who = facts.author or facts.job
    when = record.manifest.timestamp
    time = f"{when:%Y-%m-%d %H:%M} UTC" if when else "unknown time"
    by = f"by `{visible(who)}`" if who else "author not recorded"
    return f"Version {record.version} ({time}, {by}): {words[0].lower()}{words[1:]}"


def _before(view: HistoryView, version: int) -> BranchVersion | None:
    """Return the version before a commit; None if the commit created the table or branch."""
    parent = parent_of(view)
    if version == (1 if parent is None else parent.version):
        return None
    try:
        view.file(version - 1)
    except VersionNotFoundError as error:
        raise VersionNotFoundError(
            f"version {version} cannot be undone: version {version - 1}, which has the values from "
            "before, is not kept any more"
        ) from error
    return BranchVersion(view, version - 1)


def _go_back(parts: PlanParts, sides: ThreeWay) -> None:
    """Restore the version before the latest commit, which keeps row IDs and indices."""
    go_back(parts, sides.places[1].version, "the one before it")
    parts.promised = lambda: RowWork(
        sides, column_work(sides, overwrites=False).targets, overwrites=False
    )


def _replaces_columns(before: BranchVersion, latest: BranchVersion) -> bool:
    """Tell whether an overwrite kept none of the former columns."""
    fields = VersionPair(before, latest).fields
    return not any(pair.before and pair.after and pair.change != "replaced" for pair in fields)


def _after_overwrite(
    parts: PlanParts, version: int, before: BranchVersion, *, overwrites: bool
) -> None:
    """Undo an overwrite with other columns: the only way is to go back."""
    since = parts.place.version - version
    if not can_go_back(parts.place, before.version):
        note = "Lance cannot restore a version from before stable row IDs were turned on"
    elif overwrites or not since:
        go_back(parts, before.version, "the one before it")
        parts.add(Loss("rows", f"what {counted(since, 'commit')} did since is undone, too"))
        return
    else:
        note = (
            f"the table got other columns since, and {counted(since, 'commit')} changed it: with "
            'on_conflict="overwrite" these are undone, too'
        )
    parts.add(
        Conflict("changed_since", "table", note=note), f"Nothing can be put back alone: {note}."
    )
