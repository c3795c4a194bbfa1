"""Versions of which pylance may read the values: their files lie where the table may lead."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError, FormatError, StorageError
from lance_explorer.format.fragments import BasePath, Fragment
from lance_explorer.format.indexless import without_indices
from lance_explorer.history.file_roots import (
    data_file,
    deletion_root,
    find_base,
    index_folder,
    open_base,
)
from lance_explorer.history.history import History
from lance_explorer.history.source import TableSource
from lance_explorer.storage import Storage, leads_elsewhere

__all__ = ["check_values", "has_no_values", "value_root", "why_values_are_lost"]

_KEPT = __name__

_BLOB = "lance.blob.v2"
"""Extension of columns whose values may be in files of their own, in a folder like a data file."""

_DATA_FILE = ".lance"

_SHOWN_FILES = 3


@dataclass(frozen=True, slots=True)
class _Checked:
    """Which states of a history may be read, by the base paths of a version and if it has blobs."""

    history: History
    states: dict[tuple[tuple[BasePath, ...], bool], NDArray[np.bool_]]


def check_values(
    source: TableSource, version: int, *, some_rows: bool = False
) -> Callable[[int, str], None]:
    """Check that pylance may read values of a version: it follows whatever a manifest says.

    All of the version is checked, since even for one row it may open files of every fragment.

    Parameters
    ----------
    source : TableSource
        The branch.
    version : int
        The version.
    some_rows : bool
        Whether only rows at some addresses will be read: then it is no error if files of a version
        are gone that only a ledger still has.

    Returns
    -------
    callable
        Checks likewise a blob that lies outside, by its base path, 0 if it has none, and its URI.

    Raises
    ------
    FormatError
        If a file or an index lies where the table may not lead, or its base path does not exist.
    StorageError
        If only a ledger still has the version, and files with its values are gone.
    """
    is_asked = has_no_values(source) or not some_rows
    lost = why_values_are_lost(source, version) if is_asked else None
    if lost is not None:
        raise StorageError(lost)
    history, position = source.found(version)
    record, storage = history.records[position], source.storage
    bases = record.manifest.base_paths
    known = source.kept.get(_KEPT)
    if known is None or known.history is not history:
        known = source.kept[_KEPT] = _Checked(history, {})
    states = history.intervals.at(position)
    has_blobs = any(field.extension_name == _BLOB for field in record.schema)
    unchecked = np.zeros(len(history.states), dtype=np.bool_)
    is_checked = known.states.setdefault((bases, has_blobs), unchecked)
    for state in states[~is_checked[states]].tolist():
        fragment = history.states[state]
        try:
            _check_files(fragment, bases, storage, has_blobs=has_blobs)
        except FormatError as error:
            raise _refused(error, f"fragment {fragment.id} of version {version}") from error
        is_checked[state] = True
    for index in record.indices:
        try:
            root, folder = index_folder(index, bases, storage)
            root.check_folder(folder)
        except FormatError as error:
            raise _refused(error, f"version {version}, index {index.name!r},") from error
    return partial(_check_blob, bases, storage)


def has_no_values(source: TableSource) -> bool:
    """Tell whether a table is opened from a ledger alone."""
    return all(file.is_recorded for file in source.listing.versions)


def value_root(source: TableSource, version: int) -> str:
    """Return the root from which pylance reads a version, recorded and staged ones too."""
    if not _is_recorded(source, version) and not _is_staged(source, version):
        return source.storage.uri
    from lance_explorer.values import RecordedRoot

    manifest = source.storage.get(source.file(version).path)
    return RecordedRoot(source.storage.uri, without_indices(manifest))


def why_values_are_lost(source: TableSource, version: int) -> str | None:
    """Return why no values can be read of a version that only a ledger still has; else None.

    Which of its files are missing is found by listing their folders; none is opened.
    """
    if not _is_recorded(source, version):
        return None
    known = f"version {version} is known from the ledger alone"
    if has_no_values(source):
        return (
            f"{known}, which keeps no values; if the table still exists, "
            "open_table(uri, ledger=ledger) reads those that are left"
        )
    missing, num_files = _missing_files(source, version)
    if not missing:
        return None
    some = ", ".join(missing[:_SHOWN_FILES])
    more = len(missing) - _SHOWN_FILES
    return (
        f"{known}, and its values are lost: of {num_files:,} data and deletion files, "
        f"{len(missing):,} {'is' if len(missing) == 1 else 'are'} missing, {some}"
        + (f" and {more:,} more" if more > 0 else "")
    )


def _is_staged(source: TableSource, version: int) -> bool:
    """Tell whether a version is committed whose manifest has not its name yet."""
    return source.storage.commits is not None and not source.file(version).path.endswith(
        ".manifest"
    )


def _is_recorded(source: TableSource, version: int) -> bool:
    return source.recorded is not None and source.file(version).is_recorded


def _missing_files(source: TableSource, version: int) -> tuple[list[str], int]:
    """Return which files with values and deleted rows are not there, and how many there should be.

    Those that a ledger has of deleted rows do not count: pylance reads its own.
    """
    history, position = source.found(version)
    bases = history.records[position].manifest.base_paths
    wanted = dict[tuple[Storage, str], set[str]]()
    for state in history.states_at(position):
        for root, path in _files(history.states[state], bases, source.storage):
            folder, _, name = path.rpartition("/")
            wanted.setdefault((root, folder), set()).add(name)
    missing = list[str]()
    for (root, folder), names in wanted.items():
        there = {info.name for info in root.list_files(folder)}
        missing += [f"{folder}/{name}" if folder else name for name in sorted(names - there)]
    return missing, sum([len(names) for names in wanted.values()])


def _files(
    fragment: Fragment, bases: tuple[BasePath, ...], storage: Storage
) -> Iterator[tuple[Storage, str]]:
    """Yield the files that reading a fragment opens: the root of each, and the path from there."""
    for file in (*fragment.files, *[overlay.data_file for overlay in fragment.overlays]):
        yield data_file(file, bases, storage)
    deletions = fragment.deletion_file
    if deletions is not None:
        yield deletion_root(deletions.base_id, bases, storage), deletions.path(fragment.id)


def _check_files(
    fragment: Fragment, bases: tuple[BasePath, ...], storage: Storage, *, has_blobs: bool
) -> None:
    """Check the files that reading a fragment opens."""
    for file in (*fragment.files, *[overlay.data_file for overlay in fragment.overlays]):
        root, path = data_file(file, bases, storage)
        root.check_files([path])
        if has_blobs:
            root.check_folder(path.removesuffix(_DATA_FILE))
    deletions = fragment.deletion_file
    if deletions is not None:
        deletion_root(deletions.base_id, bases, storage).check_files([deletions.path(fragment.id)])


def _check_blob(bases: tuple[BasePath, ...], storage: Storage, base_id: int, uri: str) -> None:
    if not base_id and "://" in uri:
        storage.bases.check(uri)
        return
    root = open_base(find_base(base_id, bases), storage)
    if leads_elsewhere(uri):
        raise CorruptFileError(f"expected the path of a blob, found {uri!r}, outside its folder")
    root.check_files([uri])


def _refused(error: FormatError, what: str) -> FormatError:
    return type(error)(f"values of {what} are not read: {error.message}", error.path, error.offset)
