"""The fragment reuse history: into which fragments deferred compactions wrote which others.

Indices may name the old ones (docs/FORMAT.md 5).
"""

from collections.abc import Iterable

from lance_explorer.errors import CorruptFileError, FormatError, StorageError
from lance_explorer.format.fragments import ExternalFile
from lance_explorer.format.indices import (
    FRAGMENT_REUSE_INDEX,
    FragmentReuse,
    IndexMetadata,
    decode_fragment_reuse,
    decode_fragment_reuse_details,
)
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.roots import find_base
from lance_explorer.history.source import TableSource
from lance_explorer.storage import Storage, open_storage

__all__ = ["carried_over", "fragment_reuse"]

_INDICES_FOLDER = "_indices/"


def fragment_reuse(source: TableSource, record: VersionRecord) -> FragmentReuse | None:
    """Return the fragment reuse history of a version; None if it has none.

    Raises
    ------
    FormatError
        If it cannot be understood.
    StorageError
        If its file is missing or cannot be read.
    """
    for index in record.indices:
        if index.name == FRAGMENT_REUSE_INDEX:
            details = decode_fragment_reuse_details(index.details)
            if isinstance(details, ExternalFile):
                return _read(source, record, index, details)
            return details
    return None


def carried_over(fragment_ids: Iterable[int], reuse: FragmentReuse) -> set[int]:
    """Return which fragments the rows of some fragments are in, after all compactions.

    A group of fragments that were rewritten together counts only if all of them are given.
    Transitions are left alone: what they mean is not known.
    """
    ids = set(fragment_ids)
    for version in reuse.versions:
        for group in version.groups:
            old = {fragment.id for fragment in group.old_frags}
            if old and old <= ids:
                ids = ids - old | {fragment.id for fragment in group.new_frags}
    return ids


def _read(
    source: TableSource, record: VersionRecord, index: IndexMetadata, file: ExternalFile
) -> FragmentReuse:
    if "/" in file.path or "\\" in file.path or file.path in ("", ".", ".."):
        raise CorruptFileError(
            f"index {index.name!r} names {file.path!r} for its history: expected a file name"
        )
    storage, folder = _folder(source, record, index)
    path = f"{folder}{index.uuid}/{file.path}"
    try:
        return decode_fragment_reuse(storage.get_range(path, file.offset, file.size))
    except FileNotFoundError as error:
        raise StorageError(f"{storage.uri}/{path} is missing") from error
    except FormatError as error:
        raise error.located(path) from error


def _folder(
    source: TableSource, record: VersionRecord, index: IndexMetadata
) -> tuple[Storage, str]:
    """Return below which root, and there in which folder, the folder of an index is."""
    if index.base_id is None:
        return source.storage, _INDICES_FOLDER
    base = find_base(index.base_id, record.manifest.base_paths)
    return open_storage(base.path), _INDICES_FOLDER if base.is_dataset_root else ""
