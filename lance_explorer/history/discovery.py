"""The tables below a folder, or in a whole bucket."""

import os
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from lance_explorer.errors import TableNotFoundError
from lance_explorer.history.listing import VERSIONS_FOLDER
from lance_explorer.storage import LocalStorage, Storage, done_in_order, open_storage, uri_to_open

__all__ = ["PlacesBelow", "is_table", "places_below", "tables_below"]

_ENDING = ".lance"
_DEEPEST = 32


class PlacesBelow(NamedTuple):
    """What lies below a folder.

    Attributes
    ----------
    uri : str
        The folder.
    tables : dict of str to str
        The URI of each table by its path in the folder, in order; the path is empty if the folder
        is a table itself.
    links : dict of str to str
        Links that lead out of the folder and were not followed: where they lead, by their paths.
    """

    uri: str
    tables: dict[str, str]
    links: dict[str, str]


def is_table(uri: str, storage_options: Mapping[str, str] | None = None) -> bool:
    """Return whether a place is a table, or is named like one, but is not a folder of tables."""
    storage = open_storage(uri, storage_options)
    return storage.uri.endswith(_ENDING) or VERSIONS_FOLDER in storage.list_folders("")


def tables_below(uri: str, storage_options: Mapping[str, str] | None = None) -> list[str]:
    """Return the URIs of the table at a place, or else of all tables below it, sorted.

    See :func:`places_below`; links are followed wherever they lead.

    Raises
    ------
    TableNotFoundError
        If there is none.
    """
    places = places_below(uri, storage_options, follows_links=True)
    return sorted(places.tables.values())


def places_below(
    uri: str, storage_options: Mapping[str, str] | None = None, *, follows_links: bool = False
) -> PlacesBelow:
    """Return the table at a place, or else all tables below it.

    A table is a folder with versions. A folder that is named like a table and has none is a table,
    too: opening it says what is wrong. Folders below a table, and those whose names begin with an
    underscore or a dot, are skipped.

    Parameters
    ----------
    uri : str
        A table, a folder or a bucket.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store, as pylance takes them.
    follows_links : bool
        Whether links are followed that lead out of the folder.

    Raises
    ------
    TableNotFoundError
        If there is none.
    """
    storage = open_storage(uri, storage_options)
    top = _real(storage, "")
    tables, links = dict[str, str](), dict[str, str]()
    folders, seen = [""], {top}
    for _ in range(_DEEPEST):
        below = list[str]()
        for folder, names in zip(folders, _listed(storage, folders), strict=True):
            if VERSIONS_FOLDER in names or folder.endswith(_ENDING):
                tables[folder] = uri_to_open(storage, folder)
                continue
            for name in names:
                path = f"{folder}/{name}".lstrip("/")
                real = _real(storage, path)
                if name.startswith(("_", ".")) or real in seen:
                    continue
                seen.add(real)  # a link may lead upwards
                is_inside = real.startswith(f"{top.rstrip('/')}/")
                if follows_links or is_inside or not isinstance(storage, LocalStorage):
                    below.append(path)
                else:
                    links[path] = real
        if not below:
            break
        folders = below
    if not tables:
        raise TableNotFoundError(f"no Lance table at {storage.uri}, and none in that folder")
    return PlacesBelow(storage.uri, dict(sorted(tables.items())), dict(sorted(links.items())))


def _listed(storage: Storage, folders: list[str]) -> list[list[str]]:
    """Return the folders in each folder; several are listed at once if that takes long."""
    asked = [(1, partial(storage.list_folders, folder)) for folder in folders]
    return list(done_in_order(asked, storage.in_flight, storage.in_flight))


def _real(storage: Storage, folder: str) -> str:
    is_local = isinstance(storage, LocalStorage)
    return os.path.realpath(f"{storage.uri}/{folder}") if is_local else folder
