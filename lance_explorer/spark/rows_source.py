"""``lance_explorer.rows``: the rows of one version, with row IDs, row addresses and values.

Row IDs and addresses come from metadata, by the code of :meth:`Snapshot.row_ids`; values are read
by pylance. A task reads some fragments, or a stretch of the rows of one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.history.readable import check_readable
from lance_explorer.history.reading.row_reader import FragmentContent, RowReader
from lance_explorer.history.source import TableSource
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.version_refs import resolve
from lance_explorer.inspect.rows import ROWS, fragment_rows
from lance_explorer.rowids.addresses import fragments_of
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.spark.options import Options, hidden
from lance_explorer.spark.pinning import PinnedTable, TableRef
from lance_explorer.spark.types import arrow_table, batch_of, spark_schema, target_schema

__all__ = ["RowsSource", "Stretch", "live_offsets", "stretches"]

_ROWS_PER_PARTITION = 1_000_000
_FRAGMENTS_PER_PARTITION = 1_000
_ROWS_PER_BATCH = 65_536
_FEWEST_ROWS_PER_BATCH = 1_024
_BYTES_PER_BATCH = 1 << 24
_ADDRESS = "_rowaddr"
_OFFSET_MASK = np.uint64((1 << 32) - 1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Live rows of a fragment, by their numbers in it; ``stop`` is None up to its end."""

    fragment_id: int
    start: int = 0
    stop: int | None = None


class RowsSource(DataSource):
    """Rows of a version.

    Options: ``path``, ``branch``; ``version``, as text that :meth:`Table.at` takes, by default the
    latest; ``where``, an SQL expression; ``rows_per_partition``; ``allow_bases``, a list;
    ``storage.*``. Choose columns with ``.schema(...)``: the others are not read.
    """

    OPTIONS: tuple[str, ...] = ("version", "where", "rows_per_partition")

    def __init__(self, options: dict[str, str]) -> None:
        options = hidden(options)
        self._options = Options.parse(self.name(), options, self.OPTIONS)
        self._table = _chosen(self._options)
        self.values = _value_types(self._table)

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer.rows"

    def schema(self) -> StructType:
        """Return all columns."""
        own = [name for name in ROWS.names if name not in self.values.names]
        system = arrow_table(ROWS.polars_schema.to_frame()).schema
        fields = [system.field(name) for name in own]
        return spark_schema(pa.schema([*fields, *self.values]), ids=own)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads some columns."""
        return _RowsReader(self._options, self._table.with_version(), self.values, schema)


class _RowsReader(DataSourceReader):
    def __init__(
        self, options: Options, table: PinnedTable, values: pa.Schema, schema: StructType
    ) -> None:
        self._table = table
        self._where = options.text("where")
        self._rows_per_partition = options.number("rows_per_partition", _ROWS_PER_PARTITION)
        self._schema = schema
        missing = [n for n in schema.names if n not in values.names and n not in ROWS.names]
        if missing:
            raise InvalidArgumentError(
                f"no column {missing[0]!r}; there are: {', '.join([*ROWS.names, *values.names])}"
            )
        self._values = [name for name in schema.names if name in values.names]
        self._own = [name for name in schema.names if name not in values.names]
        self._batch_size = _batch_size([values.field(name) for name in self._values])

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work."""
        source = self._table.open()
        check_readable(source.version(self._table.version).records[0])
        pieces = stretches(
            source,
            self._table.version,
            self._rows_per_partition,
            whole_fragments=self._where is not None,
        )
        return [InputPartition(piece) for piece in pieces] or [InputPartition([])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of one piece of work."""
        pieces: list[Stretch] = partition.value
        if not pieces:
            return
        source = self._table.open()
        fragments = [piece.fragment_id for piece in pieces]
        contents = dict[int, FragmentContent]()
        if self._own:
            found = RowReader(source, self._table.version).contents({*fragments})
            contents = {content.fragment.id: content for content in found}
        if self._values or self._where is not None or not self._own:
            yield from self._with_values(source, pieces, contents)
            return
        for piece in pieces:
            content = contents[piece.fragment_id]
            stop = content.num_live_rows if piece.stop is None else piece.stop
            for start in range(piece.start, stop, _ROWS_PER_BATCH):
                offsets = live_offsets(content, start, min(start + _ROWS_PER_BATCH, stop))
                yield self._batch(self._own_columns(source, content, offsets))

    def _with_values(
        self, source: TableSource, pieces: list[Stretch], contents: dict[int, FragmentContent]
    ) -> Iterator[pa.RecordBatch]:
        from lance_explorer.values import row_batches

        check_values(source, self._table.version)
        start, stop = pieces[0].start, pieces[0].stop  # which stands alone if it is no whole one
        batches = row_batches(
            value_root(source, self._table.version),
            self._table.version,
            [piece.fragment_id for piece in pieces],
            [*self._values, _ADDRESS] if self._own else self._values,
            self._where,
            start or None,
            None if stop is None else stop - start,
            self._batch_size,
            source.storage.options,
        )
        for batch in batches:
            if not batch.num_rows:
                continue
            columns = {name: batch.column(name) for name in self._values}
            if self._own:
                addresses = batch.column(_ADDRESS).to_numpy()
                content = contents[int(fragments_of(addresses[:1])[0])]
                offsets = (addresses & _OFFSET_MASK).astype(np.int64)
                columns |= self._own_columns(source, content, offsets)
            yield self._batch(columns)

    def _own_columns(
        self, source: TableSource, content: FragmentContent, offsets: NDArray[np.int64]
    ) -> dict[str, pa.Array]:
        """Return what metadata tells of some rows of a fragment."""
        rows = fragment_rows(source, self._table.version, content, offsets)
        found = arrow_table(rows.select(self._own)).combine_chunks()
        return {name: found.column(name).chunk(0) for name in self._own}

    def _batch(self, columns: dict[str, pa.Array]) -> pa.RecordBatch:
        target = target_schema(self._schema)
        return batch_of([columns[name] for name in target.names], target)


def stretches(
    source: TableSource, version: int, num_rows: int, *, whole_fragments: bool = False
) -> list[list[Stretch]]:
    """Return the fragments of a version in groups of about so many rows; large ones are split."""
    history = source.version(version)
    groups, current, filled = list[list[Stretch]](), list[Stretch](), 0
    for fragment, count in zip(history.states, history.live_rows.tolist(), strict=True):
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
    version = options.text("version")
    found = resolve(ref.open(), -1 if version is None else version)
    return PinnedTable.at(found.source, found.version, ref)


def _value_types(table: PinnedTable) -> pa.Schema:
    from lance_explorer.values import row_types

    source = table.open()
    return row_types(value_root(source, table.version), table.version, source.storage.options)


def live_offsets(content: FragmentContent, start: int, stop: int) -> NDArray[np.int64]:
    """Return the offsets of some live rows: as far behind their numbers as rows are deleted."""
    numbers = np.arange(start, stop, dtype=np.int64)
    deleted = deleted_offsets(content.deleted).astype(np.int64)
    if not len(deleted):
        return numbers
    return numbers + np.searchsorted(deleted - np.arange(len(deleted)), numbers, side="right")


def _batch_size(fields: list[pa.Field]) -> int:
    """Return how many rows of some columns a batch can have without being too large."""
    bits = sum([_bits(field.type) for field in fields])
    return max(_FEWEST_ROWS_PER_BATCH, min(_ROWS_PER_BATCH, 8 * _BYTES_PER_BATCH // max(bits, 1)))


def _bits(kind: pa.DataType) -> int:
    """Return the bits of a value of fixed width; of others, what is typical."""
    if pa.types.is_fixed_size_list(kind):
        return int(kind.list_size) * _bits(kind.value_type)
    if pa.types.is_struct(kind):
        return sum([_bits(field.type) for field in kind])
    try:
        return int(kind.bit_width)
    except ValueError:
        return 256
