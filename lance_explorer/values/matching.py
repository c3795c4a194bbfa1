"""Which rows of some fragments of a version match a filter, according to pylance."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
import polars as pl
import pyarrow as pa

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.rowids.arrays import Positions, Uint64Array, concatenated
from lance_explorer.values.gate import reads_values
from lance_explorer.values.opening import (
    StorageOptions,
    fragment_of,
    next_batch,
    translating,
)
from lance_explorer.values.readable import open_readable

__all__ = [
    "IndexAnswer",
    "Matching",
    "check_filter",
    "matching_by_index",
    "matching_rows",
    "matching_values",
]

_INDEX_QUERY = re.compile("^ *ScalarIndexQuery: query=(.*)$", re.MULTILINE)
_ASKED = re.compile(r"\[[^][@]*\]@([^][()@,]*)\((?:BTree|Bitmap)\)")
_JOINED = re.compile(r"(?:AND\(|OR\(|[?,)])*")

_MANY = 1 << 30
"""More rows than a fragment has, so that all are in one file and addresses are numbers."""


class Matching(NamedTuple):
    """Row addresses, in any order, and how many bytes were read to find them."""

    addresses: Uint64Array
    bytes_read: int


class IndexAnswer(NamedTuple):
    """What indices found: their names, the fragments that they were asked about, and the rows."""

    names: tuple[str, ...]
    fragment_ids: frozenset[int]
    found: Matching


@reads_values(files=False)
def check_filter(
    uri: str, version: int, filter: str, storage_options: StorageOptions = None
) -> InvalidArgumentError | None:
    """Return why a filter is not valid for a version; None if it is valid. No data file is opened.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    filter : str
        Which rows, as an SQL expression.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store.
    """
    dataset = open_readable(uri, version, storage_options).dataset
    try:
        with translating(version, storage_options):
            dataset.scanner(columns=[], filter=filter, with_row_address=True).explain_plan()
    except InvalidArgumentError as error:
        return error
    return None


@reads_values()
def matching_rows(
    uri: str,
    version: int,
    fragment_ids: Sequence[int],
    filter: str,
    storage_options: StorageOptions = None,
) -> Matching:
    """Return the live rows of some fragments that match a filter.

    Rows are scanned. Indices are not used: one that lost rows would miss them, and with legacy
    files pylance panics.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    fragment_ids : sequence of int
        The fragments.
    filter : str
        Which rows, as an SQL expression.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store.
    """
    dataset = open_readable(uri, version, storage_options).dataset
    fragments = [fragment_of(dataset, fragment_id) for fragment_id in fragment_ids]
    with translating(version, storage_options):
        batches = dataset.scanner(
            columns=[],
            filter=filter,
            with_row_address=True,
            fragments=fragments,
            use_scalar_index=False,
        ).to_batches()
    return _matching(dataset, batches, version, storage_options)


def _matching(
    dataset: Any,
    batches: Iterator[pa.RecordBatch],
    version: int,
    storage_options: StorageOptions,
) -> Matching:
    parts = list[Uint64Array]()
    while (batch := next_batch(batches, version, storage_options)) is not None:
        parts.append(batch.column("_rowaddr").to_numpy())
    addresses = concatenated(parts).astype(np.uint64, copy=False)
    return Matching(addresses, int(dataset.io_stats_snapshot().read_bytes))


@reads_values()
def matching_by_index(
    uri: str,
    version: int,
    by_index: Mapping[str, Sequence[int]],
    filter: str,
    storage_options: StorageOptions = None,
) -> IndexAnswer | None:
    """Return the live rows of some fragments that match a filter, if indices answer it.

    Parameters
    ----------
    uri : str
        Root of the table, or of a branch.
    version : int
        The version.
    by_index : mapping of str to sequence of int
        The indices that may be asked, each with some of the fragments that it covers.
    filter : str
        Which rows, as an SQL expression.
    storage_options : mapping of str to str, optional
        Address and credentials of an object store.

    Returns
    -------
    IndexAnswer or None
        None if pylance would ask none of these indices or others, too.
    """
    dataset = open_readable(uri, version, storage_options).dataset
    scan: dict[str, Any] = {"columns": [], "filter": filter, "with_row_address": True}
    with translating(version, storage_options):
        names = _indices_asked(dataset.scanner(**scan).explain_plan())
        if not names or not by_index.keys() >= names:
            return None
        wanted = set.intersection(*[{*by_index[name]} for name in names])
        some = [one for one in dataset.get_fragments() if one.fragment_id in wanted]
        batches = dataset.scanner(**scan, fragments=some).to_batches()
    found = _matching(dataset, batches, version, storage_options)
    return IndexAnswer(tuple(sorted(names)), frozenset(wanted), found)


def _indices_asked(plan: str) -> set[str]:
    """Return the indices that a plan asks, if it joins what they find by AND and OR alone."""
    queries = _INDEX_QUERY.findall(plan)
    is_usual = len(queries) == 1 and _JOINED.fullmatch(_ASKED.sub("?", queries[0]))
    return {*_ASKED.findall(queries[0])} if is_usual else set()


@reads_values(files=False)
def matching_values(uri: str, values: pl.DataFrame, types: pa.Schema, filter: str) -> Positions:
    """Return which rows of a frame match a filter, according to pylance: their numbers, from 0.

    Parameters
    ----------
    uri : str
        Root of the table that they are of.
    values : polars.DataFrame
        The columns that the filter names.
    types : pyarrow.Schema
        The types that they have in the table, those of other columns too.
    filter : str
        Which rows, as an SQL expression.

    Raises
    ------
    InvalidArgumentError
        If it is not valid for the columns.
    StorageError
        If the values cannot be converted to these types.
    """
    import lance  # takes long

    with translating(f"values of {uri}", None):
        schema = pa.schema([types.field(name) for name in values.columns])
        rows = values.to_arrow().cast(schema)
        dataset = lance.write_dataset(rows, f"memory://{uuid4().hex}", max_rows_per_file=_MANY)
        matches = dataset.scanner(columns=[], filter=filter, with_row_address=True).to_table()
    numbers: Positions = matches["_rowaddr"].to_numpy().astype(np.int64)
    return numbers
