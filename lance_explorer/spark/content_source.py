"""``lance_explorer.content``: a hash of all rows of a version, independent of their order.

Each task adds up two 64-bit hashes of its rows, with different seeds, so that only three numbers
leave it. Equal sums over equally many rows mean equal rows, except with a probability of 2^-128.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.spark.rows_source import RowsSource
from lance_explorer.spark.source import says_what_is_wrong
from lance_explorer.spark.types import batch_of, spark_schema, target_schema

__all__ = ["HASHES", "ContentSource"]

HASHES = ("hash_1", "hash_2")
_SEEDS = (1, 2)
_SUMS = {"num_rows": pa.int64(), **dict.fromkeys(HASHES, pa.uint64())}


class ContentSource(RowsSource):
    """Sums over the rows of each partition; the options are those of ``lance_explorer.rows``."""

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer.content"

    def schema(self) -> StructType:
        """Return the columns."""
        return spark_schema(pa.schema(_SUMS))

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return a reader that adds up the hashes of values."""
        there = self.values.names
        names = sorted(self._options.texts("columns") or there)
        missing = [name for name in names if name not in there]
        if missing:
            raise InvalidArgumentError(f"no column {missing[0]!r}; there are: {', '.join(there)}")
        wanted = spark_schema(pa.schema([self.values.field(name) for name in names]))
        return _ContentReader(super().reader(wanted), wanted, schema)


class _ContentReader(DataSourceReader):
    def __init__(self, rows: DataSourceReader, columns: StructType, schema: StructType) -> None:
        self._rows = rows
        self._columns = columns
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work: those of the rows source."""
        return list(self._rows.partitions())

    @says_what_is_wrong
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one row: the sums."""
        num_rows, sums = 0, np.zeros(len(_SEEDS), dtype=np.uint64)
        for batch in self._rows.read(partition):
            frame = pl.DataFrame(pa.Table.from_batches([batch]))
            num_rows += len(frame)
            sums += [frame.hash_rows(seed).to_numpy().sum(dtype=np.uint64) for seed in _SEEDS]
        columns = [pa.array([num_rows]), *[pa.array([each], pa.uint64()) for each in sums.tolist()]]
        yield batch_of(columns, target_schema(self._schema))
