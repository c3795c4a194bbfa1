"""The root of a file: the table's own, which contains its branches, or another place."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from lance_explorer.errors import (
    CorruptFileError,
    LanceExplorerError,
    UnsupportedFeatureError,
)
from lance_explorer.format.fragments import BasePath
from lance_explorer.history.file_roots import find_base, open_base
from lance_explorer.storage import Storage

__all__ = ["OWN", "Roots"]

OWN = 0
"""The number of the table's own root."""


@dataclass
class Roots:
    """The roots that manifests use, by number; the first is the table's own.

    Attributes
    ----------
    uris : list of str
        Of each.
    storages : list of Storage or None
        Of each; None if it may not be opened.
    problems : list of str or None
        Why it may not.
    bases : dict of int to str
        The table's own base paths: below which folder of these roots its commits put data files.
    is_of_clone : bool
        Whether the table is a clone: another table is among its base paths.
    shared : set of int
        Base paths that a clone has from its source, which writes there, too.
    """

    uris: list[str] = field(default_factory=list)
    storages: list[Storage | None] = field(default_factory=list)
    problems: list[str | None] = field(default_factory=list)
    bases: dict[int, str] = field(default_factory=dict)
    is_of_clone: bool = False
    shared: set[int] = field(default_factory=set)
    _numbers: dict[str, int] = field(default_factory=dict)
    _own_name: str = ""

    @classmethod
    def of(cls, own: Storage) -> "Roots":
        """Return the roots of a table, at first only its own."""
        roots = cls()
        roots._add(own.uri, own, None)
        roots._own_name = _place(own.uri).rstrip("/").rpartition("/")[2]
        return roots

    def locate(self, storage: Storage) -> tuple[int, str]:
        """Return the number of the root of a storage, and the folder below it, with a slash."""
        place, own = _place(storage.uri), _place(self.uris[OWN])
        if place == own:
            return OWN, ""
        if place.startswith(f"{own}/"):
            return OWN, f"{place[len(own) + 1 :]}/"
        if place not in self._numbers:
            self._add(storage.uri, storage, None)
        return self._numbers[place], ""

    def folder(
        self, base_id: int | None, bases: tuple[BasePath, ...], storage: Storage, folder: str
    ) -> tuple[int, str]:
        """Return root and folder of files that a manifest in ``storage`` puts into a base.

        ``folder`` is that which they have in a table, such as ``data/``; a base that is no table
        has them beside one another.
        """
        if base_id is None:
            root, prefix = self.locate(storage)
            return root, prefix + folder
        try:
            base = find_base(base_id, bases)
        except CorruptFileError as error:
            return self._closed(f"base path {base_id}", str(error)), folder
        inner = folder if base.is_dataset_root else ""
        place, _, below = base.path.rstrip("/").partition("/")
        if place == self._own_name:  # as its writer spelled it, who worked beside the table
            return OWN, f"{below}/{inner}" if below else inner
        try:
            root, prefix = self.locate(open_base(base, storage))
        except UnsupportedFeatureError as error:
            return self._closed(base.path, str(error)), inner
        return root, prefix + inner

    def find_own_bases(
        self, used: Iterable[tuple[BasePath, Storage]], inherited: Iterable[BasePath]
    ) -> None:
        """Find the base paths that are not tables: the table's commits write there.

        ``used`` are those of all manifests, each with the storage of its branch; ``inherited``
        those of the oldest version, which a clone has from its source.
        """
        paths = {base.path for base in inherited}
        of_source = set[int]()
        for base, storage in used:
            root, folder = self.folder(base.id, (base,), storage, "data/")
            if root == OWN:
                continue
            if self._is_table(root, base):
                self.is_of_clone = True
                continue
            self.bases[root] = folder
            if base.path in paths:
                of_source.add(root)
        self.shared = of_source if self.is_of_clone else set()

    def _is_table(self, root: int, base: BasePath) -> bool:
        """Return whether a base is the root of another table, such as the source of a clone."""
        storage = self.storages[root]
        if storage is None:  # clones give their source the ID 0 and no name, others need a name
            return base.is_dataset_root and base.id == 0 and not base.name
        try:
            return bool(storage.list_files("_versions"))
        except LanceExplorerError as error:
            self.problems[root] = str(error)
            return False

    def _closed(self, uri: str, problem: str) -> int:
        if uri not in self._numbers:
            self._add(uri, None, problem, uri)
        return self._numbers[uri]

    def _add(
        self, uri: str, storage: Storage | None, problem: str | None, place: str | None = None
    ) -> None:
        self._numbers[_place(uri) if place is None else place] = len(self.uris)
        self.uris.append(uri)
        self.storages.append(None if storage is None else storage.live)
        self.problems.append(problem)


def _place(uri: str) -> str:
    """Return a normal form of the spelling of a root."""
    return (uri if "://" in uri else os.path.realpath(uri)).rstrip("/")
