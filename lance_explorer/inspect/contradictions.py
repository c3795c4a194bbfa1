"""Manifests that contradict their neighbours or their transaction.

Nothing in the format has a checksum. But each version repeats nearly all of the previous one, and
its transaction records what it changed: an unexplained difference is damage.
"""

from collections.abc import Iterator

import numpy as np
from msgspec import structs

from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.column_operations import Merge, Project
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import DataFile, DeletionFile, Fragment
from lance_explorer.format.layout_operations import Rewrite
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Append, Overwrite, Update
from lance_explorer.format.schema import Field, field_paths
from lance_explorer.format.table_operations import Restore
from lance_explorer.format.transactions import Transaction
from lance_explorer.frames.commit_facts import UNDELETED
from lance_explorer.history.history import KEEPS_FRAGMENTS, VersionRecord
from lance_explorer.history.progress import with_progress
from lance_explorer.history.steps import Step
from lance_explorer.history.view import HistoryView

__all__ = ["contradictions", "renumbered"]

_KEEPS_LIST = frozenset(
    [
        OperationName.MERGE,
        OperationName.PROJECT,
        OperationName.DATA_REPLACEMENT,
        OperationName.DATA_OVERLAY,
    ]
)
_KEEPS_SCHEMA = KEEPS_FRAGMENTS - {OperationName.UPDATE_CONFIG} | {
    OperationName.DELETE,
    OperationName.REWRITE,
    OperationName.UPDATE,
    OperationName.DATA_REPLACEMENT,
    OperationName.DATA_OVERLAY,
}
_MAY_BE_ANYTHING = frozenset(
    {
        OperationName.RESTORE,
        OperationName.CLONE,
        OperationName.OVERWRITE,
        OperationName.UNKNOWN,
        None,
    }
)
_MOST_NAMED = 3

MOST_COMPARED = 100_000
"""The most added fragments that are compared with those in the transaction."""


class _Neighbours(Step):
    """A version and its kept predecessor."""

    before: VersionRecord

    def states_of(self, fragment_id: int) -> tuple[Fragment | None, Fragment | None]:
        """Return both states of a changed fragment; None if it did not exist."""
        keys = self.removed.get(fragment_id), self.added.get(fragment_id)
        before, after = [None if key is None else self.history.states[key] for key in keys]
        return before, after


def contradictions(view: HistoryView) -> list[Finding]:
    """Return a finding for each version that contradicts its predecessor or its transaction.

    Only differences from the previous version are checked. Values that nothing repeats, such as a
    time or the writer, cannot be contradicted.
    """
    findings, history = [], view.history
    positions = np.flatnonzero(history.follows_previous[1:]).tolist()
    for position in with_progress(positions, "Comparing versions", "versions"):
        step = _Neighbours(view, history, position + 1)
        if len(step.added) > MOST_COMPARED:
            findings.append(_not_compared(step))
        problems = list(dict.fromkeys(_contradictions(view, step)))
        if problems:
            more = (
                f", and {len(problems) - _MOST_NAMED} more" if len(problems) > _MOST_NAMED else ""
            )
            findings.append(
                Finding(
                    "contradicting_manifests",
                    f"version {step.version} and the one before contradict each other: "
                    f"{'; '.join(problems[:_MOST_NAMED])}{more}",
                    subject=Subject("version", str(step.version)),
                    versions=(step.version, step.version),
                    consequence=f"The manifest of version {step.before.version} or {step.version} "
                    "is damaged.",
                )
            )
    return findings


def renumbered(view: HistoryView) -> Iterator[Finding]:
    """Find commits that gave names of columns to field IDs whose files have other values.

    A Merge keeps field IDs or takes new ones; only one with a schema made by hand does not.
    """
    history = view.history
    for position in np.flatnonzero(history.follows_previous[1:]).tolist():
        before, after = history.records[position : position + 2]
        if before.schema is after.schema or after.operation != OperationName.MERGE:
            continue
        was, now = field_paths(before.schema), field_paths(after.schema)
        ids = {path: key for key, path in was.items()}
        there = history.states.have_fields
        moved = {
            path: key
            for key, path in now.items()
            if ids.get(path, key) != key and there([key])[history.states_at(position)].any()
        }
        if not moved:
            continue
        older = {
            key: path
            for record in history.records[: position + 1]
            for key, path in field_paths(record.schema).items()
        }
        pairs = [
            f"{path} has the values of {older.get(key, f'the field with ID {key}')}"
            for path, key in moved.items()
        ]
        yield Finding(
            "fields_renumbered",
            f"version {after.version} gave columns the field IDs of others: {', '.join(pairs)}",
            subject=Subject("version", str(after.version)),
            versions=(after.version, history.records[-1].version),
            columns=tuple(moved),
            remedy=Remedy(
                f"Go back to version {before.version}, which drops what was committed since",
                f"dataset.checkout_version({before.version}).restore()",
                f"dataset.checkout_version({history.records[-1].version}).restore()",
            ),
        )


def _not_compared(step: _Neighbours) -> Finding:
    return Finding(
        "not_compared",
        f"version {step.version} added {len(step.added):,} fragments: they were not compared with "
        "those in its transaction",
        subject=Subject("version", str(step.version)),
        versions=(step.version, step.version),
    )


def _contradictions(view: HistoryView, step: _Neighbours) -> Iterator[str]:
    yield from _counters(step)
    operation = step.after.operation
    if step.before.schema is not step.after.schema and operation in _KEEPS_SCHEMA:
        if step.before.schema != step.after.schema:
            yield f"the schema differs, and {operation} changes none"
    elif operation == OperationName.UPDATE_CONFIG and _shape(step.before.schema) != _shape(
        step.after.schema
    ):
        yield "the fields differ, and UpdateConfig changes none"
    if operation == OperationName.RESTORE:
        yield from _restored(view, step)
    if operation in _MAY_BE_ANYTHING and operation != OperationName.OVERWRITE:
        return
    if operation != OperationName.OVERWRITE:
        yield from _kept_fragments(step)
    is_compared = 0 < len(step.added) <= MOST_COMPARED
    if is_compared or step.before.schema is not step.after.schema:
        try:
            transaction = step.transaction
        except LanceExplorerError:  # it is a separate finding
            return
        if transaction is not None:
            yield from _new_schema(step, transaction)
            if is_compared:
                yield from _new_fragments(step, transaction)


def _restored(view: HistoryView, step: _Neighbours) -> Iterator[str]:
    """Compare a restored version with the one that it restores, if that is kept."""
    try:
        target = step.operation
    except LanceExplorerError:
        return
    if not isinstance(target, Restore) or target.version not in view.history.versions:
        return
    was, now = (_states(view, version) for version in (target.version, step.version))
    if was.keys() != now.keys():
        yield f"the fragments are not those of version {target.version}, which it restores"
    for fragment_id in was.keys() & now.keys():
        if not _only_filled_in(was[fragment_id], now[fragment_id]):
            yield f"fragment {fragment_id} is not as in version {target.version}, which it restores"
    restored = view.history.records[view.history.position(target.version)]
    if restored.schema != step.after.schema:
        yield f"the schema is not that of version {target.version}, which it restores"


def _states(view: HistoryView, version: int) -> dict[int, Fragment]:
    history = view.history
    states = [history.states[key] for key in history.states_at(history.position(version))]
    return {state.id: state for state in states}


def _counters(step: _Neighbours) -> Iterator[str]:
    before, after = step.before.manifest, step.after.manifest
    operation = step.after.operation
    if operation in _MAY_BE_ANYTHING:
        return
    was, now = _highest_id(step.before), _highest_id(step.after)
    if now < was:
        yield f"the highest fragment ID falls from {was} to {now}"
    if 0 <= now < max(step.added, default=0):
        yield f"fragment {max(step.added)} is there, and the highest ID is {now}"
    if after.next_row_id < before.next_row_id:
        yield f"the next row ID falls from {before.next_row_id} to {after.next_row_id}"
    if before.reader_feature_flags & ~after.reader_feature_flags & STABLE_ROW_IDS:
        yield "the version before has stable row IDs, and this one has none"
    if after.data_format != before.data_format:
        yield f"the data format changes from {before.data_format} to {after.data_format}"
    if not {*before.base_paths} <= {*after.base_paths}:  # writers put them in any order
        yield "base paths change"


def _highest_id(record: VersionRecord) -> int:
    highest = record.manifest.max_fragment_id
    return -1 if highest is None else highest


def _kept_fragments(step: _Neighbours) -> Iterator[str]:
    operation = step.after.operation
    for fragment_id in sorted({*step.removed, *step.added}):
        named = f"fragment {fragment_id}"
        if fragment_id not in step.removed:
            if operation in _KEEPS_LIST or operation == OperationName.DELETE:
                yield f"{named} is added, and {operation} adds none"
            elif operation != OperationName.REWRITE and fragment_id <= _highest_id(step.before):
                yield (
                    f"{named} is added, and its ID was assigned before"
                )  # a Rewrite reserves its own
            continue
        before, after = step.states_of(fragment_id)
        if before is None or after is None:
            if operation in KEEPS_FRAGMENTS or operation in _KEEPS_LIST:
                yield f"{named} is removed, and {operation} removes none"
        elif operation in KEEPS_FRAGMENTS or operation == OperationName.REWRITE:
            if not _only_filled_in(before, after):
                yield f"{named} changes, and {operation} changes none"
        else:
            yield from _changed_fragment(named, operation, before, after)
            if before.deletion_file != after.deletion_file:
                yield from _changed_deletions(step, named, before, after.deletion_file)


def _changed_fragment(
    named: str, operation: str | None, before: Fragment, after: Fragment
) -> Iterator[str]:
    if before.physical_rows not in (None, after.physical_rows):
        yield f"{named} has {before.physical_rows} rows, then {after.physical_rows}"
    if before.row_ids not in (None, after.row_ids):
        yield f"the row IDs of {named} change"
    old = {file.path: file for file in before.files}
    new = {file.path: file for file in after.files}
    if operation == OperationName.DELETE and old.keys() != new.keys():
        yield f"the files of {named} change, and Delete changes none"
    if operation == OperationName.PROJECT and not new.keys() <= old.keys():
        yield f"{named} has another file, and Project adds none"
    for path in old.keys() & new.keys():
        if not _same_file(old[path], new[path]):
            yield f"the record of the file {path} changes"


def _changed_deletions(
    step: _Neighbours, named: str, before: Fragment, after: DeletionFile | None
) -> Iterator[str]:
    was = before.deletion_file
    if after is None:
        if not _is_undeleted(step):
            yield f"deleted rows of {named} are live again"
        return
    count, rows = after.num_deleted_rows, before.physical_rows
    if count is not None and rows is not None and count > rows:
        yield f"{count} rows of {named} are deleted, and it has {rows}"
    least = None if was is None else was.num_deleted_rows
    if count is not None and least is not None and count < least and not _is_undeleted(step):
        yield f"{least} rows of {named} were deleted, and now {count}"


def _is_undeleted(step: _Neighbours) -> bool:
    """Tell whether a recovery plan brought back the deletion file before a lost one."""
    try:
        transaction = step.transaction
    except LanceExplorerError:
        return False
    return transaction is not None and UNDELETED in dict(transaction.properties)


def _new_schema(step: _Neighbours, transaction: Transaction) -> Iterator[str]:
    operation = transaction.operation
    if isinstance(operation, (Overwrite, Merge, Project)) and operation.schema:
        fields = [(field.name, field.logical_type) for field in operation.schema]
        if fields != [(field.name, field.logical_type) for field in step.after.schema]:
            yield "the fields differ from those in the transaction"


def _new_fragments(step: _Neighbours, transaction: Transaction) -> Iterator[str]:
    """Compare fragments with those that the transaction names, by the path of their first file."""
    named: list[Fragment] = []
    states: dict[int, Fragment] = {}
    match transaction.operation:
        case Merge(fragments=fragments):
            states = {fragment.id: fragment for fragment in fragments}
        case Append(fragments=fragments) | Overwrite(fragments=fragments):
            named += fragments
        case Update(new_fragments=new, updated_fragments=updated):
            named += new
            states = {fragment.id: fragment for fragment in updated}
        case Rewrite(groups=groups):
            named += [fragment for group in groups for fragment in group.new_fragments]
        case _:
            pass
    by_path = {fragment.files[0].path: fragment for fragment in named if fragment.files}
    all_states = step.history.states
    known = {file.path for state in step.removed.values() for file in all_states[state].files}
    # Commits after its read version may have changed files of a fragment, too.
    is_rebased = transaction.read_version != step.version - 1
    for fragment_id, state in step.added.items():
        after = all_states[state]
        if fragment_id in step.removed and step.after.operation != OperationName.OVERWRITE:
            stated = None if is_rebased else states.get(fragment_id)
            if stated is not None and not _same_files(
                *[_in_use(fragment, step.after.schema) for fragment in (stated, after)]
            ):
                yield f"the files of fragment {fragment_id} differ from those in the transaction"
            continue
        stored = by_path.get(after.files[0].path) if after.files else None
        if stored is None:
            if by_path and not known.intersection(file.path for file in after.files):
                yield f"no transaction names the files of fragment {fragment_id}"
        elif stored.physical_rows not in (None, after.physical_rows):
            yield (
                f"fragment {fragment_id} has {after.physical_rows} rows, and "
                f"{stored.physical_rows} in the transaction"
            )
        elif not _same_files(stored, after):
            yield f"the files of fragment {fragment_id} differ from those in the transaction"


def _only_filled_in(before: Fragment, after: Fragment) -> bool:
    """Tell whether a state differs only by what was unknown before."""
    if not _same_files(before, after):
        return False
    rows = after.physical_rows if before.physical_rows is None else before.physical_rows
    deleted = before.deletion_file
    if deleted is not None and deleted.num_deleted_rows is None and after.deletion_file is not None:
        deleted = structs.replace(deleted, num_deleted_rows=after.deletion_file.num_deleted_rows)
    filled = structs.replace(before, files=after.files, physical_rows=rows, deletion_file=deleted)
    return filled == after


def _in_use(fragment: Fragment, schema: tuple[Field, ...]) -> Fragment:
    """Return a fragment without files that have no column of a version: a commit drops these.

    Columns of a file were replaced, or dropped, or cast, which gave them other IDs.
    """
    fields = {field.id for field in schema}
    files = [
        file for file in fragment.files if not file.fields or not fields.isdisjoint(file.fields)
    ]
    return structs.replace(fragment, files=tuple(files))


def _same_files(before: Fragment, after: Fragment) -> bool:
    same = len(before.files) == len(after.files)
    return same and all(map(_same_file, before.files, after.files))


def _same_file(before: DataFile, after: DataFile) -> bool:
    """Tell whether it may be one file: columns may be dropped, and unknown facts filled in."""
    if before == after:
        return True
    fields = [
        now if now < 0 else was for was, now in zip(before.fields, after.fields, strict=False)
    ]
    size = after.size_bytes if before.size_bytes is None else before.size_bytes
    return len(before.fields) == len(after.fields) and after == structs.replace(
        before, fields=tuple(fields), size_bytes=size
    )


def _shape(schema: tuple[Field, ...]) -> list[tuple[int, int, str, str]]:
    return [(field.id, field.parent_id, field.name, field.logical_type) for field in schema]
