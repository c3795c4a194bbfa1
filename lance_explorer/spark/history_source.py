"""``lance_explorer.history``: what happened to rows, one row for each event, as ``table.follow``.

A task follows a range of row IDs through the versions; without stable row IDs, the rows of some
fragments.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lance_explorer.arguments import shown
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.frames.followed import FOLLOWED
from lance_explorer.history.reading.row_reader import RowReader
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.following import follow
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.arrays import Uint64Array
from lance_explorer.spark.id_bounds import has_row_ids
from lance_explorer.spark.options import Options, hidden
from lance_explorer.spark.pinning import PinnedTable, TableRef
from lance_explorer.spark.rows_source import Stretch, live_offsets, stretches
from lance_explorer.spark.source import Source, says_what_is_wrong
from lance_explorer.spark.types import (
    arrow_table,
    batches_of,
    spark_schema,
    target_schema,
    with_comments,
)

__all__ = ["HistorySource"]

_MOST_DIGITS = 20
_EVENTS_PER_PARTITION = 1_000_000
_FEWEST_ROWS = 16_384
_ROWS_PER_BATCH = 65_536


@dataclass(frozen=True, slots=True)
class _Ids:
    """The requested row IDs: a list, or all from ``start`` to ``stop``."""

    start: int = 0
    stop: int = 0
    some: tuple[int, ...] = ()


class HistorySource(Source):
    """Events of rows.

    Options: ``path``, ``branch``; ``begin_version`` and ``end_version``, the range of the events,
    by default from the beginning to the latest version; ``row_ids``, a list, by default all that
    were ever assigned (without stable row IDs: the addresses of all rows in ``begin_version`` if
    given, otherwise in ``end_version``); ``rows_per_partition``; ``allow_bases``, a list;
    ``storage.*``.
    """

    def __init__(self, options: dict[str, str]) -> None:
        options = hidden(options)
        known = ("begin_version", "end_version", "row_ids", "rows_per_partition")
        self._options = Options.parse(self.name(), options, known)
        ref = TableRef.of(self._options)
        view = ref.open()
        self._begin = self._options.version("begin_version", view, is_begin=True)
        end = self._options.version("end_version", view)
        self._table = PinnedTable.at(view, view.latest_version if end is None else end, ref)
        self.note = f"up to version {self._table.version}"

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer.history"

    def schema(self) -> StructType:
        """Return all columns."""
        schema = arrow_table(FOLLOWED.polars_schema.to_frame()).schema
        return with_comments(spark_schema(schema, ids=FOLLOWED.names), FOLLOWED, self.note)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads some columns."""
        missing = [name for name in schema.names if name not in FOLLOWED.names]
        if missing:
            raise InvalidArgumentError(
                f"no column {missing[0]!r}; there are: {', '.join(FOLLOWED.names)}"
            )
        return _HistoryReader(self._options, self._begin, self._table.with_versions(), schema)


class _HistoryReader(DataSourceReader):
    def __init__(
        self, options: Options, begin: int | None, table: PinnedTable, schema: StructType
    ) -> None:
        self._options = options
        self._begin = begin
        self._table = table
        self._schema = schema
        if begin is not None and begin > table.version:
            raise InvalidArgumentError(
                f"begin_version {begin} is later than end_version {table.version}; swap them"
            )
        self._rows_version = table.version if self._begin is None else self._begin

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work."""
        view = self._table.open()
        some = self._options.texts("row_ids")
        if some is not None:
            ids = [_row_id(text) for text in some]
            size = self._options.number("rows_per_partition", _ROWS_PER_BATCH)
            starts = range(0, len(ids), size)
            pieces = [_Ids(some=tuple(ids[start : start + size])) for start in starts]
            return [InputPartition(piece) for piece in pieces or [_Ids()]]
        if has_row_ids(view, self._rows_version):
            count = max([record.manifest.next_row_id for record in view.history.records])
            size = self._size(view, count)
            ranges = [_Ids(n, min(n + size, count)) for n in range(0, count, size)]
            return [InputPartition(piece) for piece in ranges or [_Ids()]]
        history = view.version(self._rows_version)
        size = self._size(view, int(np.maximum(history.live_rows, 0).sum()))
        groups = stretches(view, self._rows_version, size)
        return [InputPartition(group) for group in groups or [[]]]

    @says_what_is_wrong
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield what happened to some rows."""
        view = self._table.open()
        piece = partition.value
        ids = _ids(piece) if isinstance(piece, _Ids) else self._addresses(view, piece)
        target = target_schema(self._schema)
        if not len(ids):
            return
        events = follow(view, ids, self._begin, self._table.version)
        for batch in events.select(target.names).iter_slices(_ROWS_PER_BATCH):
            yield from batches_of(batch, target)

    def _addresses(self, view: HistoryView, pieces: list[Stretch]) -> Uint64Array:
        """Return the addresses of live rows."""
        wanted = {piece.fragment_id: piece for piece in pieces}
        reader = RowReader(view, self._rows_version)
        parts = [np.empty(0, dtype=np.uint64)]
        for content in reader.contents(wanted.keys(), with_versions=False):
            piece = wanted[content.fragment.id]
            stop = content.num_live_rows if piece.stop is None else piece.stop
            offsets = live_offsets(content, piece.start, stop)
            parts.append(offsets.view(np.uint64) + np.uint64(first_address(content.fragment.id)))
        return np.concatenate(parts)

    def _size(self, view: HistoryView, num_rows: int) -> int:
        """Return how many rows a task follows, so that it does not get too many events."""
        history = view.history
        placed = np.maximum(history.live_rows, 0)[history.intervals.keys].sum()
        events_per_row = max(int(placed) // max(num_rows, 1), 1)
        size = max(_EVENTS_PER_PARTITION // events_per_row, _FEWEST_ROWS)
        return self._options.number("rows_per_partition", size)


def _ids(piece: _Ids) -> Uint64Array:
    if piece.some:
        return np.array(piece.some, dtype=np.uint64)
    return np.arange(piece.start, piece.stop, dtype=np.uint64)


def _row_id(text: str) -> int:
    if not text.isdecimal() or len(text) > _MOST_DIGITS or int(text) >= 1 << 64:
        raise InvalidArgumentError(
            f"row_ids must be whole numbers from 0 to 2^64 - 1, not {shown(text)}"
        )
    return int(text)
