"""``lance_explorer.rows``: the rows of one version, with row IDs, row addresses and values.

Row IDs and addresses come from metadata, by the code of :meth:`Snapshot.row_ids`; pylance reads
values. A task reads some fragments, or a range of the rows of one fragment.
"""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.history import History
from lance_explorer.history.readable import check_readable
from lance_explorer.history.reading.row_reader import FragmentContent, RowReader
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.version_refs import resolve
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.rows import ROWS, rows_of_fragments
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.spark.id_bounds import id_bounds
from lance_explorer.spark.options import Options, hidden
from lance_explorer.spark.pinning import PinnedTable, TableRef
from lance_explorer.spark.row_filters import ranges_of
from lance_explorer.spark.source import Source, says_what_is_wrong
from lance_explorer.spark.types import (
    arrow_table,
    batch_of,
    spark_schema,
    target_schema,
    with_comments,
)

__all__ = ["RowsSource", "Stretch", "live_offsets", "stretches"]

_FRAGMENTS_PER_PARTITION = 1_000
_BYTES_PER_PARTITION = 256 << 20
_PARTITIONS_PER_CORE = 2
_FEWEST_ROWS_PER_PARTITION = 1 << 16
_MOST_ROWS_PER_PARTITION = 4_000_000
_ROWS_PER_BATCH = 65_536
_FEWEST_ROWS_PER_BATCH = 1_024
_BYTES_PER_BATCH = 1 << 24
_FRAGMENTS_PER_BATCH = 1_000
_ADDRESS = "_rowaddr"
_OFFSET_MASK = np.uint64((1 << 32) - 1)
_CREATION = ("created_at_version", "created_at_source")


_Part = tuple[FragmentContent, NDArray[np.int64]]
"""Rows of a fragment, by their offsets."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Live rows of a fragment, by their running numbers in it; ``stop`` is None for its end."""

    fragment_id: int
    start: int = 0
    stop: int | None = None


class RowsSource(Source):
    """Rows of a version.

    Options: ``path``, ``branch``; ``version``, as text that :meth:`Table.at` takes, by default the
    latest, or as for Delta ``versionAsOf`` or ``timestampAsOf``, in ``timeZone``; ``columns``, a
    list, by default all: Spark reads all columns that a source has, so name those that you need;
    ``where``, an SQL expression, which is the only one that spares reading: of ``_rowid`` and
    ``_rowaddr`` it spares whole fragments; ``rows_per_partition``, by default so many that
    partitions are not larger than 256 MB, and two for each core of the driver; ``allow_bases``, a
    list; ``storage.*``; ``ledger`` and ``ledger.storage.*``.
    """

    OPTIONS: tuple[str, ...] = ("version", "columns", "where", "rows_per_partition")

    def __init__(self, options: dict[str, str]) -> None:
        options = hidden(options)
        self._options = Options.parse(self.name(), options, self.OPTIONS)
        self._table = _chosen(self._options)
        self.note = f"version {self._table.version}"
        self.values = _value_types(self._table)
        where = self._options.text("where")
        if where is not None:
            _check_where(self._table, where)

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer.rows"

    def schema(self) -> StructType:
        """Return the requested columns, by default all."""
        own = [name for name in ROWS.names if name not in self.values.names]
        system = arrow_table(ROWS.polars_schema.to_frame()).schema
        whole = pa.schema([*[system.field(name) for name in own], *self.values])
        chosen = self._options.texts("columns")
        if chosen is not None:
            _check_columns(chosen, self.values)
            whole = pa.schema([whole.field(name) for name in dict.fromkeys(chosen)])
        return with_comments(spark_schema(whole, ids=own), ROWS, self.note)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads some columns."""
        _check_columns(schema.names, self.values)
        table = self._table
        if not any(name in _CREATION for name in schema.names):  # those may need older versions
            table = table.with_version()
        return _RowsReader(self._options, table, self.values, schema)


def _check_columns(names: list[str], values: pa.Schema) -> None:
    missing = [name for name in names if name not in values.names and name not in ROWS.names]
    if missing:
        raise InvalidArgumentError(
            f"no column {missing[0]!r}; there are: {', '.join([*ROWS.names, *values.names])}"
        )


class _RowsReader(DataSourceReader):
    def __init__(
        self, options: Options, table: PinnedTable, values: pa.Schema, schema: StructType
    ) -> None:
        self._table = table
        self._where = options.text("where")
        self._rows_per_partition = options.number("rows_per_partition", 0, least=1)
        self._schema = schema
        self._values = [name for name in schema.names if name in values.names]
        self._own = [name for name in schema.names if name not in values.names]
        self._fields = [values.field(name) for name in self._values]
        self._batch_size = _batch_size(self._fields)

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work."""
        view = self._table.open()
        history = view.version(self._table.version)
        check_readable(history.records[0])
        pieces = stretches(
            view,
            self._table.version,
            self._rows_per_partition or _rows_per_partition(history, self._fields),
            whole_fragments=self._where is not None,
            only=self._fragments(view),
        )
        return [InputPartition(piece) for piece in pieces] or [InputPartition([])]

    def _fragments(self, view: HistoryView) -> set[int] | None:
        """Return the fragments in which ``where`` can be true; None for all."""
        by_id, by_address = (ranges_of(self._where or "", n) for n in ("_rowid", _ADDRESS))
        if by_id is None and by_address is None:
            return None
        ids = view.version(self._table.version).states.ids
        low = ids.astype(np.uint64) << np.uint64(32)
        there = np.ones(len(ids), dtype=np.bool_)
        if by_address is not None:
            there &= _overlap(low, low | _OFFSET_MASK, by_address)
        if by_id is not None:
            bounds = id_bounds(view, self._table.version)
            there &= _overlap(bounds.low, bounds.high, by_id)
        return set(ids[there].tolist())

    @says_what_is_wrong
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one piece of work."""
        pieces: list[Stretch] = partition.value
        if not pieces:
            return
        view = self._table.open()
        contents = dict[int, FragmentContent]()
        if self._own:
            fragments = {piece.fragment_id for piece in pieces}
            with_versions = any(name not in ("_rowid", _ADDRESS) for name in self._own)
            every = RowReader(view, self._table.version).contents(
                fragments, with_versions=with_versions
            )
            contents = {content.fragment.id: content for content in every}
        if self._values or self._where is not None or not self._own:
            yield from self._with_values(view, pieces, contents)
            return
        for parts in _in_batches(_live_parts(pieces, contents)):
            yield self._batch(self._own_columns(view, parts))

    def _with_values(
        self, view: HistoryView, pieces: list[Stretch], contents: dict[int, FragmentContent]
    ) -> Iterator[pa.RecordBatch]:
        from lance_explorer.values import row_batches

        check_values(view, self._table.version)
        start, stop = pieces[0].start, pieces[0].stop  # which stands alone if it is no whole one
        batches = row_batches(
            value_root(view, self._table.version),
            self._table.version,
            [piece.fragment_id for piece in pieces],
            [*self._values, _ADDRESS] if self._own else self._values,
            self._where,
            start or None,
            None if stop is None else stop - start,
            self._batch_size,
            view.storage.options,
        )
        for batch in _together(batches, self._batch_size):
            columns = {name: batch.column(name) for name in self._values}
            if self._own:
                parts = _by_fragment(batch.column(_ADDRESS).to_numpy(), contents)
                columns |= self._own_columns(view, parts)
            yield self._batch(columns)

    def _own_columns(self, view: HistoryView, parts: list[_Part]) -> dict[str, pa.Array]:
        """Return the metadata columns of some rows of fragments."""
        rows = rows_of_fragments(view, self._table.version, parts)
        table = arrow_table(rows.select(self._own)).combine_chunks()
        return {name: table.column(name).chunk(0) for name in self._own}

    def _batch(self, columns: dict[str, pa.Array]) -> pa.RecordBatch:
        target = target_schema(self._schema)
        return batch_of([columns[name] for name in target.names], target)


def _overlap(
    low: NDArray[np.uint64], high: NDArray[np.uint64], ranges: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Return which spans share a number with any of the ascending ranges."""
    first = np.searchsorted(ranges[:, 1], low)
    is_inside = first < len(ranges)
    begins = np.append(ranges[:, 0], np.uint64(0))[first]
    result: NDArray[np.bool_] = is_inside & (begins <= high)
    return result


def _live_parts(pieces: list[Stretch], contents: dict[int, FragmentContent]) -> Iterator[_Part]:
    for piece in pieces:
        content = contents[piece.fragment_id]
        stop = content.num_live_rows if piece.stop is None else piece.stop
        for start in range(piece.start, stop, _ROWS_PER_BATCH):
            yield content, live_offsets(content, start, min(start + _ROWS_PER_BATCH, stop))


def _in_batches(parts: Iterator[_Part]) -> Iterator[list[_Part]]:
    waiting, size = list[_Part](), 0
    for part in parts:
        if waiting and (size + len(part[1]) > _ROWS_PER_BATCH):
            yield waiting
            waiting, size = [], 0
        waiting.append(part)
        size += len(part[1])
    if size:
        yield waiting


def _together(batches: Iterator[pa.RecordBatch], size: int) -> Iterator[pa.RecordBatch]:
    """Yield batches; small ones of many fragments are joined."""
    waiting, filled = list[pa.RecordBatch](), 0
    for batch in batches:
        if waiting and (filled + batch.num_rows > size or len(waiting) == _FRAGMENTS_PER_BATCH):
            yield pa.concat_batches(waiting)
            waiting, filled = [], 0
        if batch.num_rows:
            waiting.append(batch)
            filled += batch.num_rows
    if waiting:
        yield pa.concat_batches(waiting)


def _by_fragment(
    addresses: NDArray[np.uint64], contents: dict[int, FragmentContent]
) -> list[_Part]:
    """Return the fragments and rows of some addresses, in their order."""
    fragments = fragments_of(addresses)
    begins = np.flatnonzero(np.append(True, fragments[1:] != fragments[:-1]))
    offsets = np.split((addresses & _OFFSET_MASK).astype(np.int64), begins[1:])
    ids = fragments[begins].tolist()
    return [(contents[key], some) for key, some in zip(ids, offsets, strict=True)]


def stretches(
    view: HistoryView,
    version: int,
    num_rows: int,
    *,
    whole_fragments: bool = False,
    only: Collection[int] | None = None,
) -> list[list[Stretch]]:
    """Return the fragments of a version in groups of about so many rows; large ones are split.

    ``only`` are those that are wanted, by default all.
    """
    history = view.version(version)
    groups, current, filled = list[list[Stretch]](), list[Stretch](), 0
    for fragment, count in zip(history.states, history.live_rows.tolist(), strict=True):
        if only is not None and fragment.id not in only:
            continue
        size = count if count >= 0 else fragment.physical_rows or 0
        is_full = filled + size > num_rows or len(current) == _FRAGMENTS_PER_PARTITION
        if current and is_full:
            groups.append(current)
            current, filled = [], 0
        if count > num_rows and not whole_fragments:
            groups += [
                [Stretch(fragment.id, start, min(start + num_rows, count))]
                for start in range(0, count, num_rows)
            ]
        else:
            current.append(Stretch(fragment.id))
            filled += size
    return [*groups, current] if current else groups


def _chosen(options: Options) -> PinnedTable:
    """Return the version that options name, pinned."""
    ref = TableRef.of(options)
    view = ref.open()
    version = options.version_ref("version", view)
    resolved = resolve(view, -1 if version is None else version)
    return PinnedTable.at(resolved.view, resolved.version, ref)


def _value_types(table: PinnedTable) -> pa.Schema:
    from lance_explorer.values import row_types

    view = table.open()
    return row_types(value_root(view, table.version), table.version, view.storage.options)


def _check_where(table: PinnedTable, where: str) -> None:
    from lance_explorer.values import check_filter

    view = table.open()
    root = value_root(view, table.version)
    refused = check_filter(root, table.version, where, view.storage.options)
    if refused is not None:
        raise refused


def live_offsets(content: FragmentContent, start: int, stop: int) -> NDArray[np.int64]:
    """Return the offsets of some live rows: their numbers plus the deleted rows before them."""
    numbers = np.arange(start, stop, dtype=np.int64)
    deleted = deleted_offsets(content.deleted).astype(np.int64)
    if not len(deleted):
        return numbers
    return numbers + np.searchsorted(deleted - np.arange(len(deleted)), numbers, side="right")


def _rows_per_partition(history: History, fields: list[pa.Field]) -> int:
    """Return how many rows a partition has, from their size and the number of cores."""
    num_rows = int(np.maximum(history.live_rows, 0).sum())
    weight = sum([_bits(field.type) for field in fields]) / 8 + 8
    if not all(_is_fixed(field.type) for field in fields):
        data_bytes = int(np.maximum(history.states.data_bytes, 0).sum())
        weight = max(weight, data_bytes / max(num_rows, 1))
    by_weight = int(_BYTES_PER_PARTITION / weight)
    by_cores = num_rows // (_PARTITIONS_PER_CORE * (os.cpu_count() or 1)) + 1
    size = max(min(by_cores, _MOST_ROWS_PER_PARTITION), _FEWEST_ROWS_PER_PARTITION)
    return max(min(size, by_weight), _FEWEST_ROWS_PER_BATCH)


def _is_fixed(kind: pa.DataType) -> bool:
    if pa.types.is_fixed_size_list(kind):
        return _is_fixed(kind.value_type)
    if pa.types.is_struct(kind):
        return all(_is_fixed(field.type) for field in kind)
    return bool(pa.types.is_primitive(kind))


def _batch_size(fields: list[pa.Field]) -> int:
    """Return how many rows of some columns fit into a batch."""
    bits = sum([_bits(field.type) for field in fields])
    return max(_FEWEST_ROWS_PER_BATCH, min(_ROWS_PER_BATCH, 8 * _BYTES_PER_BATCH // max(bits, 1)))


def _bits(kind: pa.DataType) -> int:
    """Return the bits of a value of fixed width; for other types, a typical number."""
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size) * _bits(kind.value_type)
    if pa.types.is_struct(kind):
        return sum([_bits(field.type) for field in kind])
    try:
        return int(kind.bit_width)
    except ValueError:
        return 256
