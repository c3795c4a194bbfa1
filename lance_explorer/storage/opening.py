"""Which storage serves a URI."""

import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote, urlsplit

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.storage.base import IoCounts, Storage
from lance_explorer.storage.bases import Bases
from lance_explorer.storage.commit_store import (
    EXTERNAL_SCHEME,
    CommitStore,
    external_uri,
    split_external,
)
from lance_explorer.storage.local import LocalStorage
from lance_explorer.storage.secrets import Options

__all__ = ["is_remote", "open_beside", "open_storage", "uri_to_open"]

_OBJECT_STORES = ("s3", "s3a", "gs", "az", "abfs", "abfss")

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_remote(uri: str) -> bool:
    """Tell whether a URI leads to an object store.

    Examples
    --------
    >>> is_remote("s3://bucket/photos.lance"), is_remote("/tmp/photos.lance")
    (True, False)
    """
    return uri.partition("://")[0].lower() in _OBJECT_STORES


def open_storage(
    uri: str | os.PathLike[str],
    options: Mapping[str, str] | None = None,
    io: IoCounts | None = None,
    allow_bases: Iterable[str | os.PathLike[str]] = (),
) -> Storage:
    """Return the storage with the root ``uri``, or where links lead from there.

    Parameters
    ----------
    uri : str or os.PathLike
        A local path, or a URI: ``file://``, ``s3://``, ``gs://``, ``az://`` or ``abfss://``; or
        ``s3+ddb://``, whose versions an external manifest store tells.
    options : mapping of str to str, optional
        Address and credentials of an object store, as pylance takes them.
    io : IoCounts, optional
        What counts requests and bytes; shared by all storage of one table.
    allow_bases : iterable of str or os.PathLike
        What a table there may lead to beside what is near.

    Raises
    ------
    InvalidArgumentError
        If the URI has a scheme that is not served, names another machine or holds a password, or
        an option cannot be used.
    """
    options = Options(options)  # in local variables, too, they must not show
    text, commits = os.fspath(uri), None
    if text.partition("://")[0].lower() == EXTERNAL_SCHEME:
        text, commits = split_external(text, options)
    storage = _opened(text, options, io)
    link = storage.follow_root() if isinstance(storage, LocalStorage) else None
    storage.commits = commits
    storage.bases = Bases(storage.uri, storage.options, allow_bases)
    storage.bases.opened_as = link
    storage.bases.commit_store = None if commits is None else commits.name
    return storage


def uri_to_open(storage: Storage, folder: str = "") -> str:
    """Return what opens a root, or a folder in it, as it was opened, with its manifest store."""
    uri = f"{storage.uri}/{folder}".rstrip("/")
    if isinstance(storage.commits, CommitStore):  # a namespace has no URI
        return external_uri(uri, storage.commits.name)
    return uri


def open_beside(storage: Storage, uri: str) -> Storage:
    """Return the storage of another root that a table uses, with the same credentials and counters.

    Raises
    ------
    UnsupportedFeatureError
        If the table must not use it, see :class:`~lance_explorer.storage.bases.Bases`.
    InvalidArgumentError
        As :func:`open_storage`.
    """
    opened = storage.bases.opened
    if uri not in opened:
        storage.bases.check(uri)
        beside = _opened(storage.bases.objects(uri), storage.options, storage.io)
        beside.bases = storage.bases
        beside.commits = storage.commits
        opened[uri] = storage.bases.over(beside)
    return opened[uri]


def _opened(text: str, options: Options, io: IoCounts | None) -> Storage:
    if not _SCHEME.match(text):
        return LocalStorage(text, options, io)
    parts = urlsplit(text)
    scheme = parts.scheme.lower()
    if scheme in ("file", "file-object-store"):
        if parts.netloc not in ("", "localhost"):
            raise InvalidArgumentError(
                f"{parts.netloc} is not this machine: a file URI has three slashes, "
                f"{scheme}:///folder/table.lance"
            )
        return LocalStorage(unquote(parts.path), options, io)
    if scheme not in _OBJECT_STORES:
        raise InvalidArgumentError(
            f"URIs that start with {scheme}:// are not supported: use a local path, file://, "
            + ", ".join(f"{name}://" for name in (*_OBJECT_STORES, EXTERNAL_SCHEME))
        )
    if parts.password is not None or parts.query or parts.fragment:
        raise InvalidArgumentError(
            "a URI must not contain a password, a query or a fragment: use storage_options"
        )
    from lance_explorer.storage.objects import ObjectStorage

    return ObjectStorage(text, options, io)
