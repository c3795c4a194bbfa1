"""Rows of one version at given addresses: scanned where many are close together, else taken."""

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from lance_explorer.errors import StorageError, UnsupportedFeatureError
from lance_explorer.values.blobs import (
    BlobCheck,
    check_blobs,
    described_blobs,
    may_hold_blobs,
    refuse_blob,
)
from lance_explorer.values.gate import reads_values
from lance_explorer.values.opening import (
    StorageOptions,
    batch_bytes,
    fragment_of,
    next_batch,
    to_polars,
    translating,
)
from lance_explorer.values.readable import open_readable
from lance_explorer.values.rows import WHOLE_BLOBS, check_whole_blobs

if TYPE_CHECKING:
    import lance

__all__ = ["read_rows_at", "refused_blobs"]

_FRAGMENT_BITS = np.uint64(32)

_ROWS_SCANNED_PER_ROW_TAKEN = 8
"""The number of rows that are scanned in the time of taking one, however wide they are."""

_NARROW_ROWS_SCANNED_PER_ROW_TAKEN = 128
_BYTES_SCANNED_PER_ROW_TAKEN = 16_384
"""The same for narrow rows, whose values have at most this many bytes."""

_FRAGMENTS_AHEAD = 2
"""The number of fragments read at once; more would take memory, and time to allocate it."""

_BLOBS_AT_ONCE = 8_192

_Addresses = NDArray[np.uint64]


@reads_values(by_row_id=True)
def read_rows_at(
    uri: str,
    version: int,
    addresses: _Addresses,
    row_ids: _Addresses,
    columns: Sequence[str],
    storage_options: StorageOptions = None,
    check_blob: BlobCheck = refuse_blob,
    *,
    whole_blobs: bool = True,
) -> pl.DataFrame:
    """Read rows of one version, in the requested order.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    addresses : ndarray of uint64
        Row addresses of live rows, each once.
    row_ids : ndarray of uint64
        Their row IDs; the addresses again in a table without stable row IDs.
    columns : sequence of str
        Columns to read.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store.
    check_blob : callable
        Refuses blobs outside of the table; by default all.
    whole_blobs : bool
        Whether to read blobs, and not what describes them.

    Raises
    ------
    UnsupportedFeatureError
        If a blob may not be read.
    StorageError
        If a row does not exist.
    """
    opened = open_readable(uri, version, storage_options)
    dataset, wanted = opened.dataset, opened.asked(columns)
    with translating(version, storage_options):
        types = _types_with_blobs(dataset, wanted) if whole_blobs else None
    if types is not None:
        for filter in _filters(np.sort(addresses)):
            check_whole_blobs(dataset, wanted, check_blob, storage_options, filter=filter)
    with translating(version, storage_options):
        if types is not None:
            rows = _taken_with_blobs(dataset, addresses, types)
        else:
            rows = _scanned_and_taken(dataset, addresses, row_ids, wanted)
    if len(rows) != len(addresses):
        raise StorageError(
            f"version {version}: {len(addresses)} rows were asked for, {len(rows)} are there"
        )
    return rows.rename(dict(zip(wanted, columns, strict=True)))


@reads_values()
def refused_blobs(
    uri: str,
    version: int,
    addresses: _Addresses,
    columns: Sequence[str],
    check_blob: BlobCheck,
    storage_options: StorageOptions = None,
) -> dict[str, NDArray[np.bool_]]:
    """Return for each column with blobs the rows whose blob must not be read.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    addresses : ndarray of uint64
        Row addresses of live rows, each once.
    columns : sequence of str
        Columns to look at.
    check_blob : callable
        Refuses blobs outside of the table.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store.
    """
    opened = open_readable(uri, version, storage_options)
    dataset, wanted = opened.dataset, opened.asked(columns)
    with translating(version, storage_options):
        names = described_blobs(dataset.scanner(columns=wanted).projected_schema)
    refused = {name: np.zeros(len(addresses), dtype=np.bool_) for name in names}
    order = np.argsort(addresses)
    for filter in _filters(addresses[order]) if names else ():
        with translating(version, storage_options):
            scanner = dataset.scanner(columns=names, with_row_address=True, filter=filter)
            batches = scanner.to_batches()
        for batch in iter(partial(next_batch, batches, version, storage_options), None):
            at = batch.column("_rowaddr").to_numpy()
            rows = order[np.searchsorted(addresses[order], at)]
            for name in names:
                refused[name][rows] = _refused_rows(batch.select([name]), check_blob)
    return dict(zip(opened.own_names(refused), refused.values(), strict=True))


def _refused_rows(column: pa.RecordBatch, check: BlobCheck) -> list[bool]:
    return [_is_refused(column.slice(row, 1), check) for row in range(len(column))]


def _is_refused(row: pa.RecordBatch, check: BlobCheck) -> bool:
    try:
        check_blobs([row], check)
    except UnsupportedFeatureError:
        return True
    return False


def _scanned_and_taken(
    dataset: "lance.LanceDataset",
    addresses: _Addresses,
    row_ids: _Addresses,
    columns: Sequence[str],
) -> pl.DataFrame:
    """Return rows in the requested order; if not all exist, those that do."""
    scanned = np.isin(addresses >> _FRAGMENT_BITS, _dense_fragments(dataset, addresses))
    parts = [_scanned(dataset, addresses[scanned], columns)] if scanned.any() else []
    if not scanned.all() or not parts:
        taken = dataset._take_rows(row_ids[~scanned], columns=list(columns))
        parts.append(to_polars(taken).select(columns))
    rows = pl.concat(parts) if len(parts) > 1 else parts[0]
    if not scanned.any() or len(rows) != len(addresses):
        return rows
    order = np.concatenate(
        [np.flatnonzero(scanned)[np.argsort(addresses[scanned])], np.flatnonzero(~scanned)]
    )
    return rows if (np.diff(order) > 0).all() else rows[np.argsort(order)]


def _dense_fragments(dataset: "lance.LanceDataset", addresses: _Addresses) -> list[int]:
    """Return the fragments of which so many rows are requested that scanning is faster."""
    fragments, counts = np.unique(addresses >> _FRAGMENT_BITS, return_counts=True)
    return [
        fragment
        for fragment, count in zip(fragments.tolist(), counts.tolist(), strict=True)
        if _is_dense(fragment_of(dataset, fragment), count)
    ]


def _is_dense(fragment: "lance.LanceFragment", num_rows: int) -> bool:
    if num_rows * _ROWS_SCANNED_PER_ROW_TAKEN >= fragment.physical_rows:
        return True
    size = sum([file.file_size_bytes or math.inf for file in fragment.data_files()])
    are_narrow = num_rows * _BYTES_SCANNED_PER_ROW_TAKEN >= size
    return are_narrow and num_rows * _NARROW_ROWS_SCANNED_PER_ROW_TAKEN >= fragment.physical_rows


def _scanned(
    dataset: "lance.LanceDataset", addresses: _Addresses, columns: Sequence[str]
) -> pl.DataFrame:
    """Return rows at some addresses, by scanning their fragments; in address order."""
    wanted = np.sort(addresses)
    fragments = np.unique(wanted >> _FRAGMENT_BITS).tolist()
    scanner = dataset.scanner(
        columns=list(columns),
        with_row_address=True,
        fragments=[fragment_of(dataset, fragment) for fragment in fragments],
        fragment_readahead=_FRAGMENTS_AHEAD,
        scan_in_order=True,
        batch_size_bytes=batch_bytes(dataset),
    )
    parts = []
    for batch in scanner.to_batches():
        at = batch.column("_rowaddr").to_numpy()
        chosen = _places_of(wanted, at)
        if len(chosen) == len(at):
            parts.append(batch)
        elif len(chosen):
            parts.append(batch.take(pa.array(chosen)))
    schema = scanner.projected_schema
    return to_polars(pa.Table.from_batches(parts, schema)).select(columns)


def _places_of(wanted: _Addresses, addresses: _Addresses) -> NDArray[np.int64]:
    """Return the positions of ascending requested addresses in ascending addresses."""
    if not len(addresses):
        return np.empty(0, dtype=np.int64)
    begin = np.searchsorted(wanted, addresses[0])
    end = np.searchsorted(wanted, addresses[-1], side="right")
    here = wanted[begin:end]
    places = np.searchsorted(addresses, here)
    chosen: NDArray[np.int64] = places[addresses[places] == here]
    return chosen


def _types_with_blobs(dataset: "lance.LanceDataset", columns: Sequence[str]) -> pa.Schema | None:
    """Return the types of columns, some of which are blobs; None if there are no blobs."""
    plain = {field.name for field in dataset.schema if not may_hold_blobs(field.type)}
    others = [name for name in columns if name not in plain]
    if not others:
        return None
    described, whole = (
        dataset.scanner(columns=others, blob_handling=handling).projected_schema
        for handling in (None, WHOLE_BLOBS)
    )
    if described.types == whole.types:
        return None
    return dataset.scanner(columns=list(columns), blob_handling=WHOLE_BLOBS).projected_schema


def _taken_with_blobs(
    dataset: "lance.LanceDataset", addresses: _Addresses, schema: pa.Schema
) -> pl.DataFrame:
    """Return rows in the requested order by filters, because a filtered scan gives whole blobs."""
    wanted = np.sort(addresses)
    parts = [
        dataset.to_table(
            columns=schema.names, filter=filter, scan_in_order=True, blob_handling=WHOLE_BLOBS
        )
        for filter in _filters(wanted)
    ]
    rows = to_polars(pa.concat_tables([schema.empty_table(), *parts]))
    return rows[np.searchsorted(wanted, addresses)] if len(rows) == len(wanted) else rows


def _filters(addresses: _Addresses) -> Iterator[str]:
    """Yield filters for rows at some addresses, each for a limited number."""
    for start in range(0, len(addresses), _BLOBS_AT_ONCE):
        some = addresses[start : start + _BLOBS_AT_ONCE].tolist()
        yield f"_rowaddr IN ({', '.join(map(str, some))})"
