"""From what users pass as a table (path, URI, opened dataset) to the metadata of a branch."""

import os
from collections.abc import Iterable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from lance_explorer.arguments import path, shown, text
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.format.manifest import decode_manifest_message
from lance_explorer.history.view import HistoryView
from lance_explorer.storage import IoCounts, NamespaceCommits, Options, open_storage

__all__ = ["dataset_of", "open_view", "package_of", "reopened", "view_of"]

_TREE = "/tree/"
"""The path before the name of a branch in its root; a namespace has no branches."""


def open_view(
    table: Any,
    branch: str | None = None,
    storage_options: Mapping[str, str] | None = None,
    allow_bases: Iterable[str | os.PathLike[str]] = (),
    io: IoCounts | None = None,
) -> HistoryView:
    """Return the metadata of a branch, without importing lance or lancedb.

    Parameters
    ----------
    table : str, os.PathLike, lance.LanceDataset or lancedb table
        Path or URI of the table, or an opened table.
    branch : str, optional
        A branch of it; by default the one that ``table`` is on.
    storage_options : mapping of str to str, optional
        How to get at its files, as pylance takes them; by default those of ``table``.
    allow_bases : iterable of str or os.PathLike
        Where the table may lead to, beside what is near.
    io : IoCounts, optional
        The counter of requests and bytes, which may limit them.

    Raises
    ------
    CorruptFileError
        If the folder of versions mixes both schemes of file names.
    InvalidArgumentError
        If the URI has an unknown scheme.
    """
    opened = dataset_of(table)
    if branch is not None:
        branch = text("branch", branch)
    if isinstance(opened, (str, os.PathLike)):
        return HistoryView.open(path("table", opened), branch, storage_options, io, allow_bases)
    if package_of(opened) != "lance" or not isinstance(getattr(opened, "uri", None), str):
        raise InvalidArgumentError(
            f"table is {shown(table)}: expected a path, a URI, a LanceDataset or a lancedb table, "
            f"got {type(table).__name__}"
        )
    options = storage_options
    if options is None:
        options = Options(opened.latest_storage_options())
    on = branch or _branch_of(opened)
    if not getattr(opened, "_namespace_client_managed_versioning", False) or _TREE in opened.uri:
        view = HistoryView.open(opened.uri, on, options, io, allow_bases)
        root = opened.uri.removesuffix(f"{_TREE}{view.branch}")
        if root != view.uri_to_open:
            view.storage.bases.opened_as = root
        return view
    storage = open_storage(opened.uri, options, io, allow_bases)
    client, name = opened._namespace_client, opened._table_id
    storage.commits = NamespaceCommits(client, name, storage.uri)
    return HistoryView.open(storage, on)


def view_of(table: Any) -> HistoryView | None:
    """Return the metadata of a Table; None for other objects."""
    view = getattr(table, "_view", None)
    return view if isinstance(view, HistoryView) else None


def reopened(
    table: Any,
    storage_options: Mapping[str, str] | None = None,
    allow_bases: Iterable[str | os.PathLike[str]] = (),
    io: IoCounts | None = None,
) -> HistoryView:
    """Return the current metadata of a table, for everything that :func:`open_source` accepts.

    A Table is accepted, too: it is opened again, on its branch, with its options and allowed
    places.
    """
    view = view_of(table)
    if view is None:
        return open_view(table, None, storage_options, allow_bases, io)
    old = view.main_storage
    options = old.options if storage_options is None else storage_options
    storage = open_storage(old.uri, options, io, [*old.bases.allowed, *allow_bases])
    storage.commits = old.commits
    return HistoryView.open(storage, view.branch)


def package_of(table: Any) -> str:
    """Return the name of the package that defines an object's type."""
    return type(table).__module__.partition(".")[0]


def dataset_of(table: Any) -> Any:
    """Return the dataset of a lancedb table; other objects unchanged.

    Raises
    ------
    InvalidArgumentError
        If it is an ``AsyncTable``, whose dataset has to be awaited.
    """
    if package_of(table) != "lancedb" or not hasattr(table, "to_lance"):
        return table
    if iscoroutinefunction(table.to_lance):
        raise InvalidArgumentError(f"of an {type(table).__name__} give `await table.to_lance()`")
    return table.to_lance()


def _branch_of(dataset: Any) -> str | None:
    """Return the branch of a dataset, which its URI does not always contain."""
    branch = decode_manifest_message(dataset._ds.serialized_manifest()).branch
    return None if branch is None or dataset.uri.endswith(f"/tree/{branch}") else branch
