"""The columns of a single data file, read to check that they are readable."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lance_explorer.values.blobs import BlobCheck, refuse_blob
from lance_explorer.values.child import is_child
from lance_explorer.values.gate import reads_values
from lance_explorer.values.opening import (
    StorageOptions,
    failing,
    file_reader,
    fragment_of,
    next_batch,
    translating,
)
from lance_explorer.values.readable import open_readable
from lance_explorer.values.rows import WHOLE_BLOBS, check_whole_blobs

__all__ = ["read_columns", "read_payloads"]

_ROWS_AT_ONCE = 8_192
_PAYLOADS_AT_ONCE = 64


@reads_values()
def read_columns(
    path: str,
    columns: list[str],
    begin: int,
    count: int,
    storage_options: StorageOptions = None,
) -> None:
    """Read some rows of some columns of a data file, and discard them.

    Raises
    ------
    StorageError
        If they cannot be read, or are not values of their type.
    """
    with _quietly(), failing(f"{path}: {', '.join(columns)} cannot be read", storage_options):
        values = file_reader(path, storage_options, columns).read_range(
            begin, count, batch_size=_ROWS_AT_ONCE
        )
        for batch in values.to_batches():
            batch.validate(full=True)


@reads_values()
def read_payloads(
    uri: str,
    version: int,
    fragment_ids: Sequence[int],
    columns: Sequence[str],
    begin: int,
    count: int,
    storage_options: StorageOptions = None,
    check_blob: BlobCheck = refuse_blob,
) -> None:
    """Read the payloads of some live rows of fragments, and discard them.

    Raises
    ------
    UnsupportedFeatureError
        If a blob is outside the table, and must not be read.
    """
    with _quietly():
        opened = open_readable(uri, version, storage_options)
        wanted = opened.asked(columns)
        some: dict[str, Any] = {
            "fragments": [fragment_of(opened.dataset, one) for one in fragment_ids],
            "offset": begin,
            "limit": count,
        }
        check_whole_blobs(opened.dataset, wanted, check_blob, storage_options, **some)
        with translating(version, storage_options):
            batches = opened.dataset.scanner(
                columns=wanted, batch_size=_PAYLOADS_AT_ONCE, blob_handling=WHOLE_BLOBS, **some
            ).to_batches()
        while next_batch(batches, version, storage_options) is not None:
            pass


@contextmanager
def _quietly() -> Iterator[None]:
    """Suppress output meanwhile: a panic of a library is an expected result here."""
    if not is_child():  # the output is not ours
        yield
        return
    kept, nothing = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nothing, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nothing)
