"""The plan that puts some rows back as they were, deleted ones too."""

from collections.abc import Sequence

from lance_explorer.answers.calls import call, command
from lance_explorer.changes.three_way import ThreeWay, check_columns, named
from lance_explorer.changes.version_rows import place_rows
from lance_explorer.frames.sizes import counted
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.value_files import check_values, has_no_values, value_root
from lance_explorer.history.version_refs import VersionRef, resolve
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.matching_at import matching_in
from lance_explorer.plans.bringing import bring_rows
from lance_explorer.plans.plan import PlanParts

__all__ = ["plan_restore_rows"]


def plan_restore_rows(
    view: HistoryView, where: str, at: VersionRef, key: Sequence[str]
) -> PlanParts:
    """Return what puts rows back: see :meth:`.Table.plan_restore_rows`."""
    from lance_explorer.values.matching import check_filter

    then = resolve(view, at)
    latest = BranchVersion(view, view.latest_version)
    words = f"version {then.version}"
    if then.view.branch != view.branch:
        words += f" of {then.view.branch or 'main'}"
    parts = PlanParts(
        latest,
        f"Put the rows of `{where}` back as they were in {words}",
        f"put_rows_back_as_in_{then.version}",
        call("table.plan_restore_rows", where, at=_named(then), key=[*key] or None),
        tuple(key),
    )
    options = {"at": named(then), "branch": view.branch, "key": [*key]}
    parts.command = command("restore-rows", view.uri, where, **options)
    for place in (latest, then):
        check_columns(place, key)
    check_values(*then, some_rows=not has_no_values(then.view))
    root, storage = value_root(*then), then.view.storage.options
    if (refused := check_filter(root, then.version, where, storage)) is not None:
        raise refused
    rows = place_rows(then)
    addresses = matching_in(rows.rows, rows.position, where)["_rowaddr"].to_numpy()
    if not len(addresses):
        parts.add(f"No row of {words} fits `{where}`.")
        return parts
    sides = ThreeWay(latest, latest, then, key)
    bring_rows(parts, sides, only=addresses, overwrites=True, come_back=True)
    work = parts.rows
    same = len(addresses) - (work.num_rows + work.num_left_alone if work is not None else 0)
    if same:
        verb = "is as it was" if same == 1 else "are as they were"
        parts.add(f"{counted(same, 'row')} {verb} already.")
    return parts


def _named(place: BranchVersion) -> object:
    branch = place.view.branch
    return place.version if branch is None else (branch, place.version)
