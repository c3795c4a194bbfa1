"""Recorders of one table that see different versions of it, or see the ledger as it was before."""

from collections.abc import Collection
from dataclasses import dataclass

import lance_explorer as lx
from lance_explorer.history.listing import DirectoryLister
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.places import Place
from lance_explorer.storage import FileInfo, Storage, open_storage
from lance_explorer.storage.local import LocalStorage
from lance_explorer.storage.objects import ObjectStorage

__all__ = ["EarlierPlace", "Seen", "seeing"]


class _Some(Storage):
    """Lists and reads no manifest but some."""

    manifests: frozenset[str]

    def list_files(self, folder: str) -> list[FileInfo]:
        files = super().list_files(folder)  # type: ignore[safe-super]
        if folder != "_versions":
            return files
        return [info for info in files if f"{folder}/{info.name}" in self.manifests]


class _SomeLocal(_Some, LocalStorage):
    pass


class _SomeObjects(_Some, ObjectStorage):
    pass


@dataclass(frozen=True)
class Seen:
    """A table of which a recorder sees some versions."""

    _view: HistoryView


def seeing(uri: str, versions: Collection[int], options: dict[str, str] | None = None) -> Seen:
    """Return a table as somebody sees it, from whom the other versions vanished."""
    listed = DirectoryLister(open_storage(uri, options)).list_versions().versions
    kind = _SomeLocal if options is None else _SomeObjects
    storage = kind(uri, options)
    storage.manifests = frozenset([file.path for file in listed if file.version in versions])
    return Seen(HistoryView.open(storage))


class EarlierPlace(Place):
    """A ledger as it was before others wrote into it, for one who writes now."""

    def __init__(self, ledger: lx.Ledger, names: Collection[str]) -> None:
        super().__init__(ledger.uri)
        self._names = names

    def files(self, folder: str) -> list[FileInfo]:
        return [info for info in super().files(folder) if f"{folder}/{info.name}" in self._names]
