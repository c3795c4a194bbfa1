"""The compactions of a table: from its config, its transactions and its fragment reuse index."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, groupby

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.ancestors import BranchVersion, parents_of
from lance_explorer.history.evidence import Evidence
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.rewrites.all_groups import RewriteGroup, rewrites
from lance_explorer.history.rewrites.compaction_records import (
    CompactionLineage,
    CompactionLineageEntry,
    FragReuseGroup,
    newest_first,
)
from lance_explorer.history.rewrites.stored_compactions import (
    decode_lineage,
    lasting_lineages,
    stored_lineage,
)
from lance_explorer.history.view import HistoryView

__all__ = ["compaction_lineage"]

_Fragments = frozenset[tuple[tuple[int, ...], tuple[int, ...]]]


def compaction_lineage(
    view: HistoryView, version: int | None = None, include_undone: bool = False
) -> CompactionLineage | None:
    """Return the compactions that led to a version; None if none is known and no limit is set.

    They come from the config of the version, from kept transactions, also on parent branches, from
    earlier configs that a restore replaced, and from fragment reuse indices. A compaction in
    several of these is one entry.

    Parameters
    ----------
    view : HistoryView
        The branch.
    version : int, optional
        The version; the latest by default.
    include_undone : bool, default False
        Whether to include compactions that a later restore undid. Restores whose transaction is
        lost are unknown.

    Raises
    ------
    FormatError
        If the manifest of the version cannot be decoded. A transaction or a stored lineage that
        cannot be decoded is a finding, and the others are still used.

    Examples
    --------
    >>> from lance_explorer.lineage.compactions import compaction_lineage
    >>> compaction_lineage(table._view) is None
    True
    """
    if version is None:
        version = view.latest_version
    record = view.version(version).records[0]
    stored = _stored(record)
    own = [_named(record, entry) for entry in stored.entries]
    line = [*_line(view, version)]
    graphs = [] if include_undone else [(one.history.graph, last) for one, last in line]
    undone = [
        versions for graph, last in graphs for _, versions in graph.undone(graph.commit("", last))
    ]
    entries = _merged(
        entry
        for entry in chain(own, *[_known_entries(*place) for place in line])
        if not any(entry.target_version in versions for versions in undone)
    )
    if not entries and stored.max_entries is None:
        return None
    return CompactionLineage(newest_first(entries), stored.max_entries)


def _known_entries(view: HistoryView, last: int) -> list[CompactionLineageEntry]:
    """Return the compactions in transactions, then older configs, then fragment reuse indices."""
    entries = [
        *_of_rewrites(view.history, rewrites(view).between(0, last)),
        *_of_configs(view.history, last),
    ]
    return sorted(entries, key=lambda entry: not entry.is_complete)


def _line(view: HistoryView, version: int) -> Iterator[tuple[HistoryView, int]]:
    """Yield a branch and a version of it, then its parents and the fork versions."""
    for place in (BranchVersion(view, version), *parents_of(view)):
        yield place.view, _of_branch(place.view, place.version)


def _of_branch(view: HistoryView, version: int) -> int:
    """Return a version; for a detached one its read version, 0 if that is detached, too.

    It records nothing else about its base.
    """
    if version < FIRST_DETACHED:
        return version
    stored = view.version(version).records[0].transaction
    read = 0 if stored is None else stored.header.read_version
    return read if read < FIRST_DETACHED else 0


def _of_rewrites(
    history: History, groups: Sequence[RewriteGroup]
) -> Iterator[CompactionLineageEntry]:
    """Yield an entry for each version with recorded groups."""
    headers = {
        record.version: (record.transaction.header, record.manifest.timestamp)
        for record in history.records
        if record.operation == OperationName.REWRITE and record.transaction is not None
    }
    recorded = [group for group in groups if group.evidence is Evidence.RECORDED]
    for version, of_version in groupby(recorded, key=lambda group: group.version):
        several = list(of_version)
        entry = CompactionLineageEntry(
            compaction_id=None,
            timestamp=None,
            source_version=None,
            target_version=version,
            rewrite_groups=tuple([FragReuseGroup(group.old, group.new) for group in several]),
            source=several[0].source,
        )
        if version in headers:
            header, timestamp = headers[version]
            entry = replace(
                entry,
                compaction_id=header.uuid,
                timestamp=timestamp,
                source_version=header.read_version,
            )
        yield entry


def _of_configs(history: History, last: int) -> Iterator[CompactionLineageEntry]:
    """Yield the entries in configs of the versions up to one, which later configs may lack."""
    for record, text in lasting_lineages(history):
        try:
            lineage = decode_lineage(text)
        except CorruptFileError:
            continue
        for entry in lineage.entries:
            if entry.target_version <= last:
                yield _named(record, entry)


def _stored(record: VersionRecord) -> CompactionLineage:
    try:
        return stored_lineage(record.manifest.config) or CompactionLineage()
    except CorruptFileError:
        return CompactionLineage()


def _named(record: VersionRecord, entry: CompactionLineageEntry) -> CompactionLineageEntry:
    return replace(entry, source=f"config of version {record.version}")


def _merged(entries: Iterable[CompactionLineageEntry]) -> list[CompactionLineageEntry]:
    """Return one entry for each compaction: the first one of it.

    Other writers may store IDs of their own, and a fragment reuse index has none. Then equal
    fragments show that it is the same compaction.
    """
    merged: list[CompactionLineageEntry] = []
    ids: set[str | None] = set()
    by_fragments: dict[_Fragments, CompactionLineageEntry] = {}
    for entry in entries:
        alike = by_fragments.get(_fragments(entry))
        if entry.compaction_id in ids or (alike is not None and _fits(alike, entry)):
            continue
        merged.append(entry)
        by_fragments[_fragments(entry)] = entry
        if entry.compaction_id is not None:
            ids.add(entry.compaction_id)
    return merged


def _fits(known: CompactionLineageEntry, entry: CompactionLineageEntry) -> bool:
    return entry.compaction_id is None or known.target_version == entry.target_version


def _fragments(entry: CompactionLineageEntry) -> _Fragments:
    return frozenset(
        (
            tuple([digest.id for digest in group.old_frags]),
            tuple([digest.id for digest in group.new_frags]),
        )
        for group in entry.rewrite_groups
    )
