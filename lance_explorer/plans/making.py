"""Makes plans from what users ask for."""

import re
from collections.abc import Callable, Sequence

from lance_explorer.answers.calls import call, command
from lance_explorer.arguments import check_choice, names, text
from lance_explorer.changes.three_way import ThreeWay
from lance_explorer.checks.depths import DEPTHS, Depth
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.schema import primary_key
from lance_explorer.history.version_refs import VersionRef
from lance_explorer.history.view import HistoryView
from lance_explorer.plans.bringing import bring_all
from lance_explorer.plans.plan import Plan, PlanParts
from lance_explorer.plans.records import OnConflict
from lance_explorer.plans.recovery import plan_recovery
from lance_explorer.plans.restoring_rows import plan_restore_rows
from lance_explorer.plans.revert import plan_revert

__all__ = ["merge_plan", "recovery_plan", "restore_rows_plan", "revert_plan"]


def revert_plan(
    view: HistoryView,
    version: VersionRef,
    key: str | Sequence[str] | None,
    on_conflict: OnConflict,
    author: str | None,
    reason: str | None,
) -> Plan:
    """Return a plan that undoes a commit: see :meth:`.Table.plan_revert`."""
    _check_words(author, reason)
    check_choice("on_conflict", on_conflict, ("keep", "overwrite"))
    parts = _with_key(view, key, lambda some: plan_revert(view, version, some, on_conflict))
    return Plan(parts, author, reason)


def restore_rows_plan(
    view: HistoryView,
    where: str,
    at: VersionRef,
    key: str | Sequence[str] | None,
    author: str | None,
    reason: str | None,
) -> Plan:
    """Return a plan that puts rows back: see :meth:`.Table.plan_restore_rows`."""
    _check_words(author, reason)
    parts = _with_key(view, key, lambda some: plan_restore_rows(view, where, at, some))
    return Plan(parts, author, reason)


def merge_plan(
    sides: ThreeWay, on_conflict: OnConflict, author: str | None, reason: str | None
) -> Plan:
    """Return a plan that merges one side into the other: see :meth:`.MergePreview.plan`."""
    _check_words(author, reason)
    check_choice("on_conflict", on_conflict, ("keep", "overwrite"))
    ours, theirs = sides.places
    overwrites = on_conflict == "overwrite"
    again = {"on_conflict": on_conflict if overwrites else None}
    branch, options = theirs.view.branch or "main", {"key": [*sides.key] or None}
    preview = call("table.merge_preview", (branch, theirs.version), **options)
    parts = PlanParts(
        ours,
        f"Merge {branch}@{theirs.version} into {ours.view.branch or 'main'}",
        f"merge_{re.sub(r'[^A-Za-z0-9]+', '_', branch)}_{theirs.version}",
        call(f"{preview}.plan", **again),
        sides.key,
    )
    parts.command = command(
        *("merge", ours.view.uri, f"{branch}@{theirs.version}"),
        into=ours.view.branch,
        key=[*sides.key],
        **again,
    )
    bring_all(parts, sides, overwrites=overwrites, come_back=False)
    return Plan(parts, author, reason)


def recovery_plan(view: HistoryView, depth: Depth, author: str | None, reason: str | None) -> Plan:
    """Return a plan that repairs a table: see :meth:`.Table.plan_recovery`."""
    _check_words(author, reason)
    check_choice("depth", depth, DEPTHS)
    return Plan(plan_recovery(view, depth), author, reason)


def _check_words(author: str | None, reason: str | None) -> None:
    """Refuse arguments that are not text before anything is read."""
    for name, words in (("author", author), ("reason", reason)):
        if words is not None:
            text(name, words)


def _with_key(
    view: HistoryView,
    key: str | Sequence[str] | None,
    make: Callable[[Sequence[str]], PlanParts],
) -> PlanParts:
    """Make a plan with a key: by default the primary key of the schema, if the rows have it."""
    if key is not None:
        return make(tuple(dict.fromkeys(names("key", key))))
    primary = primary_key(view.version(view.latest_version).records[0].schema)
    if not primary:
        return make(())
    try:
        return make(primary)
    except InvalidArgumentError:  # Lance does not enforce it
        return make(())
