"""Which tables there are below a folder, or in a whole bucket."""

import os
from collections.abc import Mapping
from functools import partial

from lance_explorer.errors import TableNotFoundError
from lance_explorer.history.listing import VERSIONS_FOLDER
from lance_explorer.storage import LocalStorage, Storage, done_in_order, open_storage, uri_to_open

__all__ = ["tables_below"]

_ENDING = ".lance"
_DEEPEST = 32


def tables_below(uri: str, storage_options: Mapping[str, str] | None = None) -> list[str]:
    """Return the URIs of the table at a place, or else of all tables below it, sorted.

    A table is a folder with versions. One that is named like a table and has none is a table, too:
    who opens it learns what is wrong. Folders below a table, and those whose names begin with an
    underscore or a dot, are not looked into.

    Parameters
    ----------
    uri : str
        A table, a folder or a bucket.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store, as pylance takes them.

    Raises
    ------
    TableNotFoundError
        If there is none.
    """
    storage = open_storage(uri, storage_options)
    found, folders, seen = list[str](), [""], {_real(storage, "")}
    for _ in range(_DEEPEST):
        below = list[str]()
        for folder, names in zip(folders, _listed(storage, folders), strict=True):
            if VERSIONS_FOLDER in names or folder.endswith(_ENDING):
                found.append(uri_to_open(storage, folder))
                continue
            for name in names:
                path = f"{folder}/{name}".lstrip("/")
                real = _real(storage, path)
                if not name.startswith(("_", ".")) and real not in seen:
                    seen.add(real)  # a link may lead up again
                    below.append(path)
        if not below:
            break
        folders = below
    if not found:
        raise TableNotFoundError(f"no Lance table at {storage.uri}, and none in that folder")
    return sorted(found)


def _listed(storage: Storage, folders: list[str]) -> list[list[str]]:
    """Return what folders are in each folder, several asked at a time where that takes long."""
    asked = [(1, partial(storage.list_folders, folder)) for folder in folders]
    return list(done_in_order(asked, storage.in_flight, storage.in_flight))


def _real(storage: Storage, folder: str) -> str:
    is_local = isinstance(storage, LocalStorage)
    return os.path.realpath(f"{storage.uri}/{folder}") if is_local else folder
