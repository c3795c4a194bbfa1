"""The plan that repairs a damaged table: go back, rebuild from what is left, or leave out."""

import hashlib

import numpy as np
import pyarrow as pa

from lance_explorer.answers.calls import call, command
from lance_explorer.changes.version_rows import place_rows
from lance_explorer.checks.damage import MENDED, Damage, DamagedFile, damage
from lance_explorer.checks.depths import Depth
from lance_explorer.checks.index_trials import index_trials
from lance_explorer.checks.index_truth import index_truth
from lance_explorer.errors import StorageError
from lance_explorer.format.fragments import Fragment
from lance_explorer.frames.commit_facts import UNDELETED
from lance_explorer.frames.sizes import counted, listed
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.index_generations import indices_of_other_values
from lance_explorer.plans.bringing import go_back
from lance_explorer.plans.plan import ROWS_FILE, PlanParts
from lance_explorer.plans.rebuilt_rows import RebuiltRows
from lance_explorer.plans.records import Conflict, Loss, Step
from lance_explorer.plans.setting_work import rebuilt_index
from lance_explorer.plans.table_facts import TableFacts

__all__ = ["plan_recovery"]

_NONE = np.empty(0, dtype=np.uint64)


def plan_recovery(view: HistoryView, depth: Depth) -> PlanParts:
    """Return what repairs a table: see :meth:`.Table.plan_recovery`."""
    damaged = damage(view, depth)
    if not view.history.records:
        raise StorageError(f"no version can be read, so there is no plan. {damaged.remedy.words}")
    latest = BranchVersion(view, view.history.records[-1].version)
    parts = PlanParts(latest, "Recover", "recover", call("table.plan_recovery", depth))
    parts.command = command("recovery", view.uri, depth=depth, branch=view.branch)
    parts.num_rows = _num_counted(latest)
    if damaged.unreadable:
        _set_aside(parts, damaged)
    back = damaged.back
    rows = [one for one in damaged.now if one.kind in ("data", "deletion")]
    if rows and back is not None and back.version != latest.version and back.loses_nothing:
        go_back(parts, back.version, "which is undamaged and has the same rows")
    elif rows:
        _repair(parts, damaged, rows)
    is_readable = not rows and not damaged.unreadable
    _indices(parts, damaged, _wrong_indices(view) if depth != "quick" and is_readable else set())
    if not parts.steps:
        parts.add(f"{damaged.sentence} {damaged.remedy.words}" if damaged else damaged.sentence)
    return parts


def _set_aside(parts: PlanParts, damaged: Damage) -> None:
    """Move unreadable manifests out of the table."""
    view = parts.place.view
    folder = "" if view.branch is None else f"tree/{view.branch}/"
    files = [
        {
            "file": f"{folder}{one.path}",
            "sha256": hashlib.sha256(view.storage.get(one.path)).hexdigest(),
        }
        for one in damaged.unreadable
    ]
    names = listed([f"`{one['file']}`" for one in files])
    words = f"Move {names} out of the table: version {parts.place.version} is the latest then."
    parts.add(Step("set_aside", words, "shutil.move(...)", {"files": files}))
    versions = listed([str(file.version) for file in damaged.unreadable])
    parts.add(Loss("rows", f"what version {versions} changed is unknown and lost"))


def _repair(parts: PlanParts, damaged: Damage, files: list[DamagedFile]) -> None:
    """Rebuild fragments from what is left, and leave out what is lost."""
    deletions = [one for one in files if one.kind == "deletion"]
    for one in deletions:
        _undelete(parts, damaged, one)
    data = [one for one in files if one.kind == "data" and one.fragment is not None]
    left = {one.fragment for one in deletions}
    data = [one for one in data if one.fragment not in left]
    unknown = sorted({one.fragment or 0 for one in data if one.rows is None})
    known = [one for one in data if one.fragment not in unknown]
    if known:
        _rebuild(parts, damaged, known)
    if unknown:
        _leave_out(parts, unknown)


def _rebuild(parts: PlanParts, damaged: Damage, files: list[DamagedFile]) -> None:
    rows = RebuiltRows(parts.place, files, damaged.copies, _schema(*parts.place))
    parts.rows = rows
    count, fragments = rows.num_rows, rows.fragments
    if count:
        what = f"{counted(len(fragments), 'damaged fragment')} by {counted(count, 'row')}"
        words = f"Replace {what} that are elsewhere too, or in undamaged files."
        code = "lance.fragment.write_fragments(rows, dataset)  # instead of these fragments"
        arguments = {"file": ROWS_FILE, "columns": [], "in_place": False, "fragments": fragments}
        parts.add(Step("rows", words, code, arguments))
        parts.add(*TableFacts(parts.place).index_losses(rows))
    else:
        parts.add(_left_out(fragments))
    if parts.num_rows is not None:
        parts.num_rows -= rows.num_lost
    if rows.num_lost:
        lost = f"{counted(rows.num_lost, 'row')} of which nothing is left elsewhere, or not enough"
        parts.add(Loss("rows", lost, rows.num_lost))
    for name, lost_values in rows.num_null.items():
        lost = f"`{name}` of {counted(lost_values, 'row')}: it is null then"
        parts.add(Loss("values", lost, lost_values))


def _leave_out(parts: PlanParts, fragments: list[int]) -> None:
    """Remove fragments whose rows are unknown."""
    parts.add(_left_out(fragments))
    parts.add(Loss("rows", f"the rows of {counted(len(fragments), 'fragment')}"))
    parts.num_rows = None


def _left_out(fragments: list[int]) -> Step:
    words = f"Leave out {counted(len(fragments), 'damaged fragment')}."
    code = f'LanceOperation.Delete([], {fragments}, "...")'
    return Step("leave_out", words, code, {"fragments": fragments})


def _undelete(parts: PlanParts, damaged: Damage, one: DamagedFile) -> None:
    """Give a fragment whose deletion file is lost its former deletion file."""
    place = place_rows(parts.place)
    [fragment] = [each for each in place.fragments if each.id == one.fragment]
    history = place.rows.history
    for position in range(place.position - 1, -1, -1):
        states = [history.states[state] for state in history.states_at(position)]
        before = [each for each in states if each.id == fragment.id]
        if not before or before[0].files != fragment.files:
            break
        former = before[0]
        broken = damaged.copies.broken_fields(former)
        if former.deletion_file == fragment.deletion_file or broken is None or broken:
            continue
        version = history.records[position].version
        moved = _moved_since(parts.place, version, fragment.id) if place.has_row_ids else []
        count = _num_deleted(fragment) - _num_deleted(former) - len(moved)
        words = f"Give fragment {fragment.id} the deleted rows of version {version}."
        code = "LanceOperation.Delete([fragment with the former deletion file], [], ...)"
        arguments = {"fragments": [fragment.id], "version": version, "deleted": moved}
        arguments["properties"] = {UNDELETED: str(fragment.id)}
        parts.add(Step("undelete", words, code, arguments))
        if count:
            was, come = ("was", "comes") if count == 1 else ("were", "come")
            # Without row IDs, an update and a delete look the same in a deletion file.
            how = "deleted" if place.has_row_ids else "deleted or updated"
            twice = "" if place.has_row_ids else "; an updated one stands there twice then"
            lost = f"{counted(count, 'row')} of fragment {fragment.id} that {was} {how}"
            words = f"{lost} since version {version} {come} back as then{twice}"
            parts.add(Loss("rows", words, count))
        if parts.num_rows is not None:
            parts.num_rows += count
        return
    note = "no kept version has the fragment with an undamaged deletion file"
    parts.add(Conflict("not_possible", "table", one.path, note=note))


def _moved_since(place: BranchVersion, version: int, fragment_id: int) -> list[int]:
    """Return the addresses of rows that a fragment had, and that are in other fragments now."""
    from lance_explorer.values.rows import row_batches

    others = [one.id for one in place_rows(place).fragments if one.id != fragment_id]
    pairs = []
    for number, fragments in ((version, [fragment_id]), (place.version, others)):
        check_values(place.view, number, some_rows=True)
        root, options = value_root(place.view, number), place.view.storage.options
        columns = ["_rowid", "_rowaddr"]
        rows = [*row_batches(root, number, fragments, columns, storage_options=options)]
        pairs.append(
            [np.concatenate([_NONE, *[one[name].to_numpy() for one in rows]]) for name in columns]
        )
    (then, addresses), (now, _) = pairs
    moved: list[int] = np.sort(addresses[np.isin(then, now)]).tolist()
    return moved


def _num_counted(place: BranchVersion) -> int | None:
    """Return the number of rows in the manifest; the files that would tell may be damaged."""
    total = 0
    for one in place_rows(place).fragments:
        file = one.deletion_file
        if one.physical_rows is None or (file is not None and file.num_deleted_rows is None):
            return None
        total += one.physical_rows - _num_deleted(one)
    return total


def _num_deleted(fragment: Fragment) -> int:
    file = fragment.deletion_file
    return 0 if file is None else int(file.num_deleted_rows or 0)


def _wrong_indices(view: HistoryView) -> set[str]:
    """Return the names of indices that are unreadable, or do not find all rows."""
    latest = view.version(view.latest_version)
    findings = [
        *indices_of_other_values(view, latest),
        *index_truth(view),
        *index_trials(view),
    ]
    return {one.subject.name for one in findings if one.code in MENDED}


def _indices(parts: PlanParts, damaged: Damage, wrong: set[str]) -> None:
    """Build damaged indices anew."""
    record = place_rows(parts.place).record
    broken = {
        one.path.split("/")[1] for one in damaged.files if one.kind == "index" and "/" in one.path
    }
    for index in record.indices:
        if index.uuid not in broken and index.name not in wrong:
            continue
        parts.add(*rebuilt_index(record, index))


def _schema(view: HistoryView, version: int) -> pa.Schema:
    from lance_explorer.values.rows import arrow_schema

    return arrow_schema(value_root(view, version), version, view.storage.options)
