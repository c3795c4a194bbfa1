"""Under which root a file lies: the table's own, where its branches are too, or another place."""

import os
from dataclasses import dataclass, field

from lance_explorer.errors import CorruptFileError, UnsupportedFeatureError
from lance_explorer.format.fragments import BasePath
from lance_explorer.history.file_roots import find_base, open_base
from lance_explorer.storage import Storage

__all__ = ["OWN", "Roots"]

OWN = 0
"""The number of the table's own root."""


@dataclass
class Roots:
    """The roots that manifests lead to, by number; the first is the table's own.

    Attributes
    ----------
    uris : list of str
        Of each.
    storages : list of Storage or None
        Of each; None if it may not be opened.
    problems : list of str or None
        Why it may not.
    """

    uris: list[str] = field(default_factory=list)
    storages: list[Storage | None] = field(default_factory=list)
    problems: list[str | None] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)
    _own_name: str = ""

    @classmethod
    def of(cls, own: Storage) -> "Roots":
        """Return the roots of a table, so far its own alone."""
        roots = cls()
        roots._add(own.uri, own, None)
        roots._own_name = _place(own.uri).rstrip("/").rpartition("/")[2]
        return roots

    def locate(self, storage: Storage) -> tuple[int, str]:
        """Return the number of the root of some storage, and the folder below it, with a slash."""
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
    """Return what two spellings of a root have in common."""
    return (uri if "://" in uri else os.path.realpath(uri)).rstrip("/")
