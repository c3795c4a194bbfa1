"""Rewrite groups from fragment reuse histories and stored compaction lineage.

Both may describe lost commits.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pyroaring import BitMap64

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.findings import Finding, Subject
from lance_explorer.format.fragment_reuse import FragReuseGroup
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.rewrites.compaction_records import CompactionLineageEntry
from lance_explorer.history.rewrites.groups import RewriteGroup, RewritePool
from lance_explorer.history.rewrites.reuse_history import (
    ReuseEntry,
    fragment_reuse,
    reuse_index,
    row_map_uri,
)
from lance_explorer.history.rewrites.stored_compactions import decode_lineage, lasting_lineages
from lance_explorer.history.view import HistoryView

__all__ = ["add_reuse_histories", "add_stored_lineage"]

_BUILT_ON_BEFORE = 14
"""Writers from this release record the version before the commit, older ones the read version."""


def add_stored_lineage(pool: RewritePool, history: History, findings: list[Finding]) -> None:
    """Add what the config of any kept version records about compactions."""
    for record, text in lasting_lineages(history):
        try:
            lineage = decode_lineage(text)
        except FormatError as error:
            findings.append(_unreadable("unreadable_compaction_lineage", record, error))
            continue
        for entry in lineage.entries:
            for group in _stored_groups(entry, record.version):
                pool.add(group)


def _stored_groups(entry: CompactionLineageEntry, version: int) -> Iterator[RewriteGroup]:
    for number, group in enumerate(entry.rewrite_groups):
        yield RewriteGroup(
            version=entry.target_version,
            group=number,
            old=group.old_frags,
            new=group.new_frags,
            evidence=Evidence.RECORDED,
            source=f"compaction lineage in the config of version {version}",
        )


def add_reuse_histories(
    pool: RewritePool, view: HistoryView, history: History, findings: list[Finding]
) -> None:
    """Add what the fragment reuse history of any kept version records."""
    seen, uuid = set[ReuseEntry](), None
    for position, record in enumerate(history.records):
        index = reuse_index(record)
        if index is None or index.uuid == uuid:
            continue
        uuid = index.uuid
        try:
            entries = fragment_reuse(view, record)
        except (FormatError, StorageError) as error:
            findings.append(_unreadable("unreadable_fragment_reuse", record, error))
            continue
        new = [entry for entry in entries if entry not in seen]
        seen.update(new)
        for entry in new:
            commit = _Commit.of(history, position, entry)
            for number, group in enumerate(entry.groups):
                pool.add(_reused(view, record, entry, group, number, commit, pool))


@dataclass(frozen=True, slots=True)
class _Commit:
    """The version in which an entry was committed, and what is uncertain about it."""

    version: int
    doubt: str | None

    @classmethod
    def of(cls, history: History, position: int, entry: ReuseEntry) -> "_Commit":
        """Return the commit of an entry that a kept version is the first to have."""
        record = history.records[position]
        before = history.records[position - 1].version if position else 0
        first = max(before, entry.dataset_version or 0) + 1
        is_rewrite = record.operation in (OperationName.REWRITE, OperationName.UNKNOWN, None)
        last = max(first, record.version if is_rewrite else record.version - 1)
        doubt = None if first == last else f"it is one of the versions {first} to {last}"
        if entry.dataset_version is None:
            return cls(last, doubt)
        if _built_on_before(record):
            version = entry.dataset_version + 1
            return cls(version, None) if version <= last else cls(last, doubt)
        # Older writers reserved the fragment IDs in one more commit between.
        return cls(max(first, min(entry.dataset_version + 2, last)), doubt)


def _built_on_before(record: VersionRecord) -> bool:
    writer = record.manifest.writer
    release = "" if writer is None else writer.version.partition(".")[0]
    return release.isdigit() and int(release) >= _BUILT_ON_BEFORE


def _reused(
    view: HistoryView,
    record: VersionRecord,
    entry: ReuseEntry,
    group: FragReuseGroup,
    number: int,
    commit: _Commit,
    pool: RewritePool,
) -> RewriteGroup:
    """Return a group of a reuse history, in the version that a better source names, if any."""
    old, new = [[digest.id for digest in side] for side in (group.old_frags, group.new_frags)]
    known = pool.find(old, new, (entry.dataset_version or 0) + 1, record.version)
    surviving, row_map, note = _rows(view, record, entry, group)
    return RewriteGroup(
        version=commit.version if known is None else known,
        group=number,
        old=group.old_frags,
        new=group.new_frags,
        evidence=Evidence.RECORDED,
        source=f"fragment reuse index of version {record.version}",
        surviving=surviving,
        in_order=surviving is not None,
        note=commit.doubt if note is None else note,
        row_map=row_map,
    )


def _rows(
    view: HistoryView, record: VersionRecord, entry: ReuseEntry, group: FragReuseGroup
) -> tuple[BitMap64 | None, str | None, str | None]:
    """Return which rows survived, or where that is recorded, or why it is unknown."""
    try:
        if entry.partition is not None:
            return None, row_map_uri(view, record, entry.partition), None
        if entry.kind == "unknown":
            return None, None, "a transition of an unknown kind is not followed"
        return group.row_addresses(), None, None
    except FormatError as error:
        return None, None, str(error)


def _unreadable(code: str, record: VersionRecord, error: Exception) -> Finding:
    return Finding(
        code,
        f"the {code.removeprefix('unreadable_').replace('_', ' ')} cannot be read: {error}",
        subject=Subject("version", str(record.version)),
        versions=(record.version, record.version),
    )
