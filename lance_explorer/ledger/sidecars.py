"""The files of metadata besides the manifests, which a cleanup removes with them."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

import polars as pl

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.format.fragment_reuse import decode_fragment_reuse_details
from lance_explorer.format.fragments import (
    HIDDEN_FIELDS,
    BasePath,
    ExternalFile,
    Fragment,
    decode_fragment,
)
from lance_explorer.format.indices import FRAGMENT_REUSE_INDEX, IndexMetadata
from lance_explorer.history.file_roots import (
    checked_uri,
    data_file,
    deletion_root,
    hidden_file,
    hidden_path,
    index_folder,
)
from lance_explorer.ledger.kinds import FILES
from lance_explorer.storage import FilePart, Storage, leads_elsewhere, reading_ahead

__all__ = [
    "Sidecar",
    "read_sidecars",
    "root_key",
    "sidecar_names",
    "sidecars_of_fragment",
    "sidecars_of_indices",
]


class Sidecar(NamedTuple):
    """A file of metadata: its root, its path, and its content."""

    root: Storage
    path: str
    kind: str


def root_key(uri: str, table_uri: str) -> str:
    """Return a ledger's name for the root of files: relative to the table, if it is inside.

    Examples
    --------
    >>> root_key("s3://a/t.lance", "s3://a/t.lance"), root_key("/t.lance/tree/b", "/t.lance")
    ('', 'tree/b')
    >>> root_key("/other.lance", "/t.lance")
    '/other.lance'
    """
    if uri == table_uri:
        return ""
    return uri.removeprefix(f"{table_uri}/")


def sidecars_of_fragment(
    fragment: Fragment, bases: tuple[BasePath, ...], storage: Storage
) -> Iterator[Sidecar]:
    """Yield the files of a fragment other than data files: deleted rows and row sequences.

    Files in forbidden places are left out.
    """
    deletions = fragment.deletion_file
    if deletions is not None:
        with suppress(FormatError):
            root = deletion_root(deletions.base_id, bases, storage)
            yield Sidecar(root, deletions.path(fragment.id), "deletions")
    sequences = (fragment.row_ids, fragment.created_at, fragment.last_updated_at)
    for stored, column in zip(sequences, HIDDEN_FIELDS.values(), strict=True):
        if stored is not None and stored.file is not None:
            path = stored.file.path
            if "/" not in path and not leads_elsewhere(path):
                yield Sidecar(storage, path, "sequences")
        elif stored is not None and stored.storage == "spilled":
            file = hidden_file(fragment, column)
            if file is not None:
                with suppress(FormatError):
                    root, path = data_file(file, bases, storage)
                    yield Sidecar(root, hidden_path(path, column), "sequences")


def sidecar_names(message: bytes) -> set[str]:
    """Return the last parts of the paths of all such files of a fragment, an undecoded message."""
    fragment = decode_fragment(message)
    names = set[str]()
    if fragment.deletion_file is not None:
        names.add(fragment.deletion_file.path(fragment.id))
    for stored in (fragment.row_ids, fragment.created_at, fragment.last_updated_at):
        if stored is not None and stored.file is not None:
            names.add(stored.file.path)
    for file in fragment.files:
        names.update([hidden_path(file.path, column) for column in HIDDEN_FIELDS.values()])
    return {name.rpartition("/")[2] for name in names}


def sidecars_of_indices(
    indices: Iterable[IndexMetadata], bases: tuple[BasePath, ...], storage: Storage
) -> Iterator[Sidecar]:
    """Yield the files of indices that record which fragments became which."""
    for index in indices:
        if index.name == FRAGMENT_REUSE_INDEX:
            with suppress(FormatError):
                details = decode_fragment_reuse_details(index.details)
                if isinstance(details, ExternalFile) and not leads_elsewhere(details.path):
                    root, folder = index_folder(index, bases, storage)
                    yield Sidecar(root, f"{folder}/{details.path}", "reuse")


def read_sidecars(sidecars: Iterable[Sidecar], table_uri: str) -> pl.DataFrame:
    """Return the existing files, as ``kinds.FILES``."""
    wanted = list(dict.fromkeys(sidecars))
    files = [one for one in wanted if not _hidden_column(one)]
    columns: dict[str, list[object]] = {name: [] for name in FILES.names}
    with reading_ahead([(one.root, FilePart(one.path)) for one in files]):
        for one in wanted:
            try:
                data = _read(one)
            except (FileNotFoundError, FormatError, StorageError):
                continue
            row = (root_key(one.root.uri, table_uri), one.path, one.kind, len(data), data)
            for name, value in zip(columns, row, strict=True):
                columns[name].append(value)
    return FILES.build(columns)


def _read(one: Sidecar) -> bytes:
    """Return a file, or a hidden column of a data file as 64-bit numbers."""
    column = _hidden_column(one)
    if column is None:
        return one.root.get(one.path)
    from lance_explorer.values import read_hidden_column

    uri = checked_uri(one.root, one.path.removesuffix(hidden_path("", column)))
    return read_hidden_column(uri, column, one.root.options).astype("<u8").tobytes()


def _hidden_column(one: Sidecar) -> str | None:
    """Return the wanted column of a data file; None if the whole file is wanted."""
    column = one.path.rpartition(hidden_path("", ""))[2]
    return column if column in HIDDEN_FIELDS.values() else None
