"""Versions whose values pylance may read: their files are in allowed places."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError, FormatError, StorageError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import BasePath, Fragment, decode_inline_sequences
from lance_explorer.format.indexless import without_indices
from lance_explorer.format.manifest import fragment_messages
from lance_explorer.format.sequences import decode_row_id_sequence
from lance_explorer.history.deletion_files import load_deleted
from lance_explorer.history.file_roots import (
    data_file,
    deletion_root,
    find_base,
    index_folder,
    open_base,
)
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.memories import notes
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import (
    FilePart,
    Storage,
    leads_elsewhere,
    names_of_no_files,
    reading_ahead,
)
from lance_explorer.storage.value_uris import Opened, ValueUri

__all__ = ["check_values", "has_no_values", "value_root", "why_values_are_lost"]

_BLOB = "lance.blob.v2"
"""Extension of columns whose values may be in files of their own, in a folder like a data file."""

_DATA_FILE = ".lance"

_SHOWN_FILES = 3


@dataclass(frozen=True, slots=True)
class _Checked:
    """Which states of a history may be read, by base paths and the presence of blobs."""

    history: History
    states: dict[tuple[tuple[BasePath, ...], bool], NDArray[np.bool_]]


_checked = notes(lambda: [_Checked(EMPTY_HISTORY, {})], are_carried=True)
"""A list of the checks of the last requested history, or version."""

_decoded = notes(set[object], are_carried=True)
"""Deletion files that were decoded, with their state then."""


def check_values(
    view: HistoryView, version: int, *, some_rows: bool = False
) -> Callable[[int, str], None]:
    """Check that pylance may read values of a version: it follows everything that a manifest names.

    All of the version is checked, since even for one row it may open files of every fragment.

    Parameters
    ----------
    view : HistoryView
        The branch.
    version : int
        The version.
    some_rows : bool
        Whether only rows at some addresses will be read: then it is no error if files of a version
        are gone that only a ledger still has.

    Returns
    -------
    callable
        The check of a blob outside, by its base path, 0 if it has none, and its URI.

    Raises
    ------
    FormatError
        If a file or an index is in a place that is not allowed, or its base path does not exist.
    StorageError
        If only a ledger has the version, and files with its values are gone.
    """
    is_asked = has_no_values(view) or not some_rows
    lost = why_values_are_lost(view, version) if is_asked else None
    if lost is not None:
        raise StorageError(lost)
    history, position = view.found(version)
    record, storage = history.records[position], view.storage
    bases = record.manifest.base_paths
    last = _checked(view)
    known = last[0]
    if known.history is not history:
        known = last[0] = _Checked(history, {})
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


def has_no_values(view: HistoryView) -> bool:
    """Tell whether a table is opened from a ledger alone."""
    return all(file.is_recorded for file in view.listing.versions)


def value_root(view: HistoryView, version: int) -> ValueUri:
    """Return the root from which pylance reads a version, including recorded and staged ones.

    Another process reads the values on request, or if damage is known.
    """
    manifest = None
    if _is_recorded(view, version) or _is_staged(view, version):
        manifest = without_indices(view.storage.get(view.file(version).path))
    io = view.storage.io
    io.values_apart = io.values_apart or _is_damaged(view)
    return ValueUri(
        view.storage.uri,
        manifest,
        is_apart=io.values_apart,
        decode=partial(_decode_deletions, view, version),
    )


def _is_damaged(view: HistoryView) -> bool:
    """Tell whether anything read so far is damaged, without reading."""
    history = view.read_so_far
    return bool(history.unreadable) or any(one.severity == "error" for one in history.findings)


def _decode_deletions(view: HistoryView, version: int, opened: Opened) -> None:
    """Decode the deletion files that pylance will read, each once as long as it does not change.

    A path that is not a file is refused when the version is opened.
    """
    manifest = view.file(version).path
    if _is_no_file(view.storage, manifest):
        return
    history, position = view.found(version)
    if opened.positions is not None and (history.states.num_deleted_rows != 0).any():
        with suppress(FormatError):  # whose fragments are in the order of a scan
            history, position = view.version(version), 0
    record, columns = history.records[position], history.states
    states = history.intervals.at(position)
    if opened.by_filter:
        _decode_row_ids(view, version)
    is_stable = record.manifest.reader_feature_flags & STABLE_ROW_IDS
    if opened.positions is not None:
        live = columns.physical_rows[states] - np.maximum(columns.num_deleted_rows[states], 0)
        begins = np.cumsum(live) - live
        first, last = opened.positions.min(initial=0), opened.positions.max(initial=0)
        states = states[(begins <= last) & (begins + live >= first)]
    elif opened.fragment_ids is not None and not (opened.by_row_id and is_stable):
        ids = np.array([*opened.fragment_ids], dtype=np.uint64)
        states = states[np.isin(columns.ids[states], ids)]
    bases, storage = record.manifest.base_paths, view.storage
    known = _decoded(view)
    waiting = list[tuple[object, Fragment, tuple[Storage, FilePart]]]()
    for state in states[columns.deletion_types[states] >= 0].tolist():
        fragment = columns[state]
        file = fragment.deletion_file
        assert file is not None
        path, root = file.path(fragment.id), deletion_root(file.base_id, bases, storage)
        if root.in_flight > 1:
            key: object = (root.uri, path)
        elif _is_no_file(root, path):
            continue
        else:
            key = (root.uri, path, root.find(path))
        if key not in known:
            waiting.append((key, fragment, (root, FilePart(path))))
    with reading_ahead([part for _, _, part in waiting]):
        for key, fragment, _ in waiting:
            try:
                load_deleted(fragment, bases, storage)
            except CorruptFileError as error:
                storage.io.values_apart = True
                raise _refused(error, f"fragment {fragment.id} of version {version}") from error
            known.add(key)


def _decode_row_ids(view: HistoryView, version: int) -> None:
    """Decode the row-ID sequences in a manifest: pylance may never finish a wrong one."""
    path, fragments = view.file(version).path, view.version(version).states
    try:
        messages = fragment_messages(view.storage.get(path))
        for fragment, message in zip(fragments, messages, strict=False):
            if (sequence := decode_inline_sequences(message).row_ids) is not None:
                decode_row_id_sequence(sequence, fragment.physical_rows)
    except FileNotFoundError as error:
        raise view.missing_version(version) from error
    except FormatError as error:
        view.storage.io.values_apart = True
        raise _refused(error.located(path), f"version {version}") from error


def _is_no_file(root: Storage, path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return name in names_of_no_files(f"{root.uri}/{folder}")


def why_values_are_lost(view: HistoryView, version: int) -> str | None:
    """Return why no values can be read of a version that only a ledger has; else None.

    Which of its files are missing is found by listing their folders; none is opened.
    """
    if not _is_recorded(view, version):
        return None
    known = f"version {version} is known from the ledger alone"
    if has_no_values(view):
        return (
            f"{known}, which kept none of these values; if the table still exists, "
            "open_table(uri, ledger=ledger) reads those that are left"
        )
    missing, num_files = _missing_files(view, version)
    if not missing:
        return None
    some = ", ".join(missing[:_SHOWN_FILES])
    more = len(missing) - _SHOWN_FILES
    return (
        f"{known}, and its values are lost: of {num_files:,} data and deletion files, "
        f"{len(missing):,} {'is' if len(missing) == 1 else 'are'} missing, {some}"
        + (f" and {more:,} more" if more > 0 else "")
    )


def _is_staged(view: HistoryView, version: int) -> bool:
    """Tell whether a version is committed but its manifest is still staged."""
    return view.storage.commits is not None and not view.file(version).path.endswith(".manifest")


def _is_recorded(view: HistoryView, version: int) -> bool:
    return view.recorded is not None and view.file(version).is_recorded


def _missing_files(view: HistoryView, version: int) -> tuple[list[str], int]:
    """Return which files with values and deleted rows are missing, and how many there should be.

    Deletion files in a ledger do not count: pylance reads its own.
    """
    history, position = view.found(version)
    bases = history.records[position].manifest.base_paths
    wanted = dict[tuple[Storage, str], set[str]]()
    for state in history.states_at(position):
        for root, path in _files(history.states[state], bases, view.storage):
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
    """Yield the files that reading a fragment opens: the root of each, and its path."""
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
