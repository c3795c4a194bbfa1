"""Digests of data files, which later show whether their bytes changed.

They are in a folder of their own: files that are written once, one for each recording.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import sha256
from io import BytesIO

import polars as pl

from lance_explorer.disk.file_digests import file_digests
from lance_explorer.disk.named_data_files import NamedDataFile, named_data_files
from lance_explorer.errors import FormatError, StorageError, UnreachableError
from lance_explorer.history.file_roots import data_file
from lance_explorer.history.progress import with_progress
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.kinds import CHECKSUMS
from lance_explorer.ledger.places import Place
from lance_explorer.ledger.sidecars import root_key

__all__ = ["Digests", "checksums_folder", "read_checksums", "record_checksums"]

Digests = dict[tuple[str, str], Mapping[int, str]]
"""The digests of data files, by root and path: of each column and of the rest."""

_MOST_BYTES = 1 << 30
"""After this many bytes a file is written, so that an interrupted recording loses little."""


def checksums_folder(folder: str) -> str:
    """Return the place of a table's digests in a ledger, given the folder of the table."""
    return f"{folder}/checksums"


def read_checksums(place: Place, folder: str) -> Digests:
    """Return the recorded digests; a damaged file is left out, its data files count as new."""
    digests: Digests = {}
    for info in place.files(f"{checksums_folder(folder)}/"):
        if not info.name.endswith(".parquet"):
            continue
        try:
            frame = pl.read_parquet(BytesIO(place.read(f"{checksums_folder(folder)}/{info.name}")))
            rows = frame.select(CHECKSUMS.names).cast(CHECKSUMS.polars_schema).rows()
        except (FileNotFoundError, FormatError, pl.exceptions.PolarsError, OSError):
            continue
        for root, path, column, digest in rows:
            one = digests.setdefault((root, path), {})
            assert isinstance(one, dict)
            one.setdefault(column, digest)
    return digests


def record_checksums(view: HistoryView, main_uri: str, place: Place, folder: str) -> int:
    """Compute the missing digests of data files; return how many.

    Missing or damaged files are left out: a check reports them.

    Raises
    ------
    UnreachableError
        If a file cannot be reached. What was taken before stays.
    """
    known = read_checksums(place, folder)
    taken: Digests = {}
    count = num_bytes = 0
    try:
        for named in with_progress([*_new_files(view, main_uri, known)], "Reading data files"):
            try:
                root, path = data_file(named.file, named.bases, view.storage)
                info = root.find(path)
                if info is None:
                    continue
                taken[_key(view, main_uri, named)] = file_digests(root, path, info.size_bytes)
            except UnreachableError:
                raise
            except (FormatError, StorageError, FileNotFoundError):
                continue
            count, num_bytes = count + 1, num_bytes + info.size_bytes
            if num_bytes >= _MOST_BYTES:
                _write(place, folder, taken)
                taken, num_bytes = {}, 0
    finally:
        _write(place, folder, taken)
    return count


def _new_files(view: HistoryView, main_uri: str, known: Digests) -> Iterator[NamedDataFile]:
    for named in named_data_files(view):
        with suppress(FormatError):
            if _key(view, main_uri, named) not in known:
                yield named


def _key(view: HistoryView, main_uri: str, named: NamedDataFile) -> tuple[str, str]:
    root, path = data_file(named.file, named.bases, view.storage)
    return root_key(root.uri, main_uri), path


def _write(place: Place, folder: str, taken: Digests) -> None:
    if not taken:
        return
    rows = [
        (root, path, column, digest)
        for (root, path), digests in sorted(taken.items())
        for column, digest in digests.items()
    ]
    frame = CHECKSUMS.build(dict(zip(CHECKSUMS.names, zip(*rows, strict=True), strict=True)))
    data = BytesIO()
    frame.write_parquet(data)
    name = sha256(data.getvalue()).hexdigest()[:32]
    place.write(f"{checksums_folder(folder)}/{name}.parquet", data.getvalue())
