"""Whether the files that a version names exist, and their sizes; no file is opened."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lance_explorer.format.fragments import BasePath
from lance_explorer.history.file_roots import data_folder, deletion_root
from lance_explorer.history.history import History
from lance_explorer.history.states import UNKNOWN_COUNT
from lance_explorer.storage import FileInfo, Storage

__all__ = ["LostFile", "VersionFiles", "find_files"]

_FEW = 8
"""Up to this number, files are requested one by one, however many others the folder has."""


@dataclass(frozen=True, slots=True)
class LostFile:
    """A file that is missing, or has changed.

    ``path`` starts at the root of the table, or is a URI; ``size_bytes`` is what the manifest says,
    None where it says nothing, and ``found_bytes`` is None where there is no file.
    """

    path: str
    size_bytes: int | None
    found_bytes: int | None


@dataclass(frozen=True, slots=True)
class VersionFiles:
    """How many files a version needs, and which of them are lost."""

    num_data_files: int
    num_deletion_files: int
    lost: tuple[LostFile, ...]


@dataclass(frozen=True, slots=True)
class _Folder:
    """Files of a version in one folder, by name; the size is None where it is unknown."""

    root: Storage
    path: str
    sizes: dict[str, int | None]

    def __iter__(self) -> Iterator[tuple[str, int | None]]:
        prefix = f"{self.path}/" if self.path else ""
        for name, size in self.sizes.items():
            yield f"{prefix}{name}", size

    def found(self) -> Iterator[FileInfo | None]:
        """Yield what is stored at the path of each file."""
        if len(self.sizes) <= _FEW:
            yield from [self.root.find(path) for path, _ in self]
            return
        listed = {info.name: info for info in self.root.list_files(self.path)}
        yield from [listed.get(name) for name in self.sizes]


def find_files(history: History, storage: Storage) -> VersionFiles:
    """Check the data files and the deletion files of a version.

    Each folder is listed once, or asked for a few files. Open sessions of ``storage`` record which
    files are missing, so that a cleanup in the meantime is noticed.

    Parameters
    ----------
    history : History
        The history of this version alone.
    storage : Storage
        The root of its branch.

    Raises
    ------
    UnsupportedFeatureError
        If a file is in a location that the table may not use.
    """
    bases = history.records[0].manifest.base_paths
    data, deletions = _data_files(history, bases, storage), _deletions(history, bases, storage)
    lost = list[LostFile]()
    for folder in (*data, *deletions):
        for (path, size), info in zip(folder, folder.found(), strict=True):
            actual = None if info is None else info.size_bytes
            if actual == 0:
                folder.root.check_files([path])  # the size of a forbidden link is unknown
            if actual and size in (None, actual):
                continue
            is_own = folder.root is storage
            lost.append(LostFile(path if is_own else f"{folder.root.uri}/{path}", size, actual))
    storage.sessions.note(*[file.path for file in lost])
    return VersionFiles(_count(data), _count(deletions), tuple(lost))


def _data_files(history: History, bases: tuple[BasePath, ...], storage: Storage) -> list[_Folder]:
    files = history.states.files
    folders = {
        number: _Folder(*data_folder(None if number < 0 else number, bases, storage), {})
        for number in np.unique(files.base_ids).tolist()
    }
    named = zip(files.base_ids.tolist(), files.paths, files.size_bytes.tolist(), strict=True)
    for number, path, size in named:
        folders[number].sizes[path] = None if size == UNKNOWN_COUNT else size
    return list(folders.values())


def _deletions(history: History, bases: tuple[BasePath, ...], storage: Storage) -> list[_Folder]:
    folders = dict[int | None, _Folder]()
    for number in np.flatnonzero(history.states.deletion_types >= 0).tolist():
        fragment = history.states[number]
        if (file := fragment.deletion_file) is None:
            continue
        folder, _, name = file.path(fragment.id).rpartition("/")
        if file.base_id not in folders:
            root = deletion_root(file.base_id, bases, storage)
            folders[file.base_id] = _Folder(root, folder, {})
        folders[file.base_id].sizes[name] = None
    return list(folders.values())


def _count(folders: list[_Folder]) -> int:
    return sum([len(folder.sizes) for folder in folders])
