"""Rewrite groups out of transactions."""

from collections.abc import Iterator

from msgspec import structs

from lance_explorer.errors import FormatError
from lance_explorer.findings import Finding, Subject
from lance_explorer.format.fragment_reuse import FragDigest
from lance_explorer.format.fragments import DeletionFile, Fragment
from lance_explorer.format.layout_operations import Rewrite
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.progress import with_progress
from lance_explorer.history.rewrites.groups import RewriteGroup
from lance_explorer.history.view import HistoryView

__all__ = ["groups_of_transactions"]

_Counts = dict[tuple[int, DeletionFile], int]


def groups_of_transactions(
    view: HistoryView, history: History, findings: list[Finding]
) -> Iterator[RewriteGroup]:
    """Yield the groups in the transactions of the kept versions, in order."""
    rewrites = [record for record in history.records if record.operation == OperationName.REWRITE]
    counts = _deletion_counts(history) if rewrites else {}
    with view.reading_transactions(rewrites):
        for record in with_progress(rewrites, "Reading compactions", "versions"):
            try:
                yield from _groups(view, history, record, counts)
            except FormatError as error:
                findings.append(_unreadable(record, error))


def _groups(
    view: HistoryView, history: History, record: VersionRecord, counts: _Counts
) -> Iterator[RewriteGroup]:
    transaction = view.transaction(record)
    if transaction is None or not isinstance(transaction.operation, Rewrite):
        return
    named = f"transaction {transaction.read_version}-{transaction.uuid}"
    for number, group in enumerate(transaction.operation.groups):
        new = _with_ids(history, record, group.new_fragments)
        yield RewriteGroup(
            version=record.version,
            group=number,
            old=tuple([_digest(fragment, counts) for fragment in group.old_fragments]),
            new=tuple([_digest(fragment, counts) for fragment in new]),
            evidence=Evidence.RECORDED,
            source=f"{named} of version {record.version}",
            recorded=group.old_fragments,
        )


def _with_ids(
    history: History, record: VersionRecord, new: tuple[Fragment, ...]
) -> tuple[Fragment, ...]:
    """Return the fragments of a rewrite with their IDs; some writers leave them to the commit."""
    if all(fragment.id for fragment in new):
        return new
    added = history.states_added(history.position(record.version)).tolist()
    ids = {file.path: history.states[key].id for key in added for file in history.states[key].files}
    return tuple(
        [
            structs.replace(fragment, id=ids.get(fragment.files[0].path, fragment.id))
            if fragment.files
            else fragment
            for fragment in new
        ]
    )


def _deletion_counts(history: History) -> _Counts:
    """Return how many rows the deletion files of the states delete, as far as it is known."""
    return {
        (state.id, state.deletion_file): count
        for state, count in zip(history.states, history.num_deleted_rows.tolist(), strict=True)
        if state.deletion_file is not None and count >= 0
    }


def _digest(fragment: Fragment, counts: _Counts) -> FragDigest:
    file = fragment.deletion_file
    deleted = 0 if file is None else file.num_deleted_rows or counts.get((fragment.id, file))
    return FragDigest(fragment.id, fragment.physical_rows, deleted)


def _unreadable(record: VersionRecord, error: FormatError) -> Finding:
    return Finding(
        "corrupt_transaction",
        f"the transaction cannot be understood: {error}",
        subject=Subject("version", str(record.version)),
        versions=(record.version, record.version),
        consequence="Which fragments were compacted into which is taken from other sources, if "
        "there are any.",
        is_mild=True,
    )
