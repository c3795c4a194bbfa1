"""The fragment reuse history: which fragments deferred compactions rewrote into which others.

Indices may still refer to the old ones (docs/FORMAT.md 5).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format.fragment_reuse import (
    FragmentReuse,
    FragReuseGroup,
    FragReuseTransition,
    OrderedCompaction,
    StablePartition,
    decode_fragment_reuse,
    decode_fragment_reuse_details,
)
from lance_explorer.format.fragments import ExternalFile
from lance_explorer.format.indices import FRAGMENT_REUSE_INDEX, IndexMetadata
from lance_explorer.history.file_roots import (
    checked_uri,
    find_base,
    index_folder,
    missing_file,
    open_base,
)
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = [
    "ReuseEntry",
    "ReuseKind",
    "carried_over",
    "fragment_reuse",
    "has_caught_up",
    "reuse_bytes",
    "reuse_index",
    "row_map_uri",
]

ReuseKind = Literal["compaction", "ordered_compaction", "stable_partition", "unknown"]

_ROW_MAPS_FOLDER = "_fri"
_ROW_MAP_FILE = "stable_partition.lance"


@dataclass(frozen=True, slots=True)
class ReuseEntry:
    """One rewrite of the reuse history.

    Attributes
    ----------
    kind : {"compaction", "ordered_compaction", "stable_partition", "unknown"}
        The form of the entry: a compaction in the older form, or a transition in the newer one.
    dataset_version : int, optional
        The version that the commit was built on, or the one that it read; transitions have none.
    groups : tuple of FragReuseGroup
        What became what; a transition is one group. ``changed_row_addrs`` is empty where nothing
        tells which rows survived.
    partition : StablePartition, optional
        The map file of a stable partition.
    """

    kind: ReuseKind
    dataset_version: int | None
    groups: tuple[FragReuseGroup, ...]
    partition: StablePartition | None = None


def reuse_index(record: VersionRecord) -> IndexMetadata | None:
    """Return the entry of the reuse history in the index section; None if there is none."""
    for index in record.indices:
        if index.name == FRAGMENT_REUSE_INDEX:
            return index
    return None


def fragment_reuse(view: HistoryView, record: VersionRecord) -> tuple[ReuseEntry, ...]:
    """Return the fragment reuse history of a version, oldest first; empty if it has none.

    Readers skip transitions if the index version does not allow them, and so does this.
    """
    index = reuse_index(record)
    if index is None:
        return ()
    reuse = decode_fragment_reuse_details(index.details)
    if isinstance(reuse, ExternalFile):
        reuse = _read(view, record, index, reuse)
    return _entries(reuse, with_transitions=bool(index.index_version))


def carried_over(fragment_ids: Iterable[int], entries: Iterable[ReuseEntry]) -> set[int]:
    """Return the fragments that contain the rows of some fragments, after all rewrites.

    A group of fragments that were rewritten together counts only if all of them are given.
    """
    ids = set(fragment_ids)
    for entry in entries:
        for group in entry.groups:
            old = {fragment.id for fragment in group.old_frags}
            if old and old <= ids:
                ids = ids - old | {fragment.id for fragment in group.new_frags}
    return ids


def has_caught_up(
    entry: ReuseEntry, entries: Iterable[ReuseEntry], segment: IndexMetadata
) -> bool | None:
    """Return whether an index segment no longer needs an entry; None if that is unknown.

    The entry is kept until all segments have caught up. One has if it covers nothing in the
    history, or was built after the rewrite and covers no old fragment. Its covered fragments may
    name the new ones before its entries do.
    """
    covered = segment.fragment_ids()
    if covered is not None and covered.isdisjoint(BitMap(_all_ids(entries))):
        return True
    if entry.dataset_version is None:
        return None
    if segment.dataset_version <= entry.dataset_version:
        return False
    return covered is None or covered.isdisjoint(BitMap(_old_ids(entry)))


def reuse_bytes(index: IndexMetadata) -> tuple[str, int]:
    """Return where a reuse history is, ``inline`` or ``external``, and its size."""
    details = decode_fragment_reuse_details(index.details)
    if isinstance(details, ExternalFile):
        return "external", details.size
    return "inline", len(index.details)


def _old_ids(entry: ReuseEntry) -> list[int]:
    return [fragment.id for group in entry.groups for fragment in group.old_frags]


def _all_ids(entries: Iterable[ReuseEntry]) -> list[int]:
    return [
        fragment.id
        for entry in entries
        for group in entry.groups
        for fragment in (*group.old_frags, *group.new_frags)
    ]


def row_map_uri(view: HistoryView, record: VersionRecord, partition: StablePartition) -> str:
    """Return the place of the map file of a stable partition.

    Raises
    ------
    CorruptFileError
        If its base does not exist, or its name is not a name.
    UnsupportedFeatureError
        If it lies where the table may not lead.
    """
    _check_name(partition.map_id, "for a row map: expected the name of a folder")
    root = view.storage
    if partition.base_id is not None:
        root = open_base(find_base(partition.base_id, record.manifest.base_paths), root)
    return checked_uri(root, f"{_ROW_MAPS_FOLDER}/{partition.map_id}/{_ROW_MAP_FILE}")


def _entries(reuse: FragmentReuse, *, with_transitions: bool) -> tuple[ReuseEntry, ...]:
    compactions = [
        ReuseEntry("compaction", version.dataset_version, version.groups)
        for version in reuse.versions
    ]
    transitions = [_transition(transition) for transition in reuse.transitions]
    return (*compactions, *transitions) if with_transitions else tuple(compactions)


def _transition(transition: FragReuseTransition) -> ReuseEntry:
    match transition.mapping:
        case OrderedCompaction(survivors):
            group = FragReuseGroup(survivors, transition.sources, transition.destinations)
            return ReuseEntry("ordered_compaction", None, (group,))
        case StablePartition() as partition:
            group = FragReuseGroup(b"", transition.sources, transition.destinations)
            return ReuseEntry("stable_partition", None, (group,), partition)
        case None:
            group = FragReuseGroup(b"", transition.sources, transition.destinations)
            return ReuseEntry("unknown", None, (group,))


def _read(
    view: HistoryView, record: VersionRecord, index: IndexMetadata, file: ExternalFile
) -> FragmentReuse:
    _check_name(file.path, f"for the history of index {index.name!r}: expected a file name")
    storage, folder = index_folder(index, record.manifest.base_paths, view.storage)
    path = f"{folder}/{file.path}"
    try:
        return decode_fragment_reuse(storage.get_range(path, file.offset, file.size))
    except FileNotFoundError as error:
        raise missing_file(f"{storage.uri}/{path}") from error
    except FormatError as error:
        raise error.located(path, file.offset) from error


def _check_name(name: str, purpose: str) -> None:
    if "/" in name or "\\" in name or name in ("", ".", ".."):
        raise CorruptFileError(f"found {name!r} {purpose}")
