"""Versions of which pylance may read the values: their files lie where the table may lead."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format.fragments import BasePath, Fragment
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

__all__ = ["check_values"]

_KEPT = __name__

_BLOB = "lance.blob.v2"
"""Extension of columns whose values may be in files of their own, in a folder like a data file."""

_DATA_FILE = ".lance"


@dataclass(frozen=True, slots=True)
class _Checked:
    """Which states of a history may be read, by the base paths of a version and if it has blobs."""

    history: History
    states: dict[tuple[tuple[BasePath, ...], bool], NDArray[np.bool_]]


def check_values(source: TableSource, version: int) -> Callable[[int, str], None]:
    """Check that pylance may read values of a version: it follows whatever a manifest says.

    All of the version is checked, since even for one row it may open files of every fragment.

    Returns
    -------
    callable
        Checks likewise a blob that lies outside, by its base path, 0 if it has none, and its URI.

    Raises
    ------
    FormatError
        If a file or an index lies where the table may not lead, or its base path does not exist.
    """
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
