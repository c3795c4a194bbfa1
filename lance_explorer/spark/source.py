"""What all data sources share: they only read, and say what to use where they cannot."""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, NoReturn, TypeVar

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)
from pyspark.sql.types import StructType

from lance_explorer.errors import InvalidArgumentError, LanceExplorerError

__all__ = ["Source", "says_what_is_wrong"]

_R = TypeVar("_R")


def says_what_is_wrong(
    read: Callable[[_R, Any], Iterator[pa.RecordBatch]],
) -> Callable[[_R, Any], Iterator[pa.RecordBatch]]:
    """Remove the traceback from our own errors in a task.

    Spark sends the traceback to the driver and repeats it in each of its own errors.
    """

    @wraps(read)
    def shortly(reader: _R, partition: Any) -> Iterator[pa.RecordBatch]:
        try:
            yield from read(reader, partition)
        except LanceExplorerError as error:
            raise error.with_traceback(None) from None

    return shortly


class Source(DataSource):
    """A data source for one read, without writing.

    Attributes
    ----------
    note : str
        What the comment of the first column says: at which version the table is read.
    """

    note: str

    def schema(self) -> StructType:
        """Return all columns."""
        raise NotImplementedError

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802
        """Raise InvalidArgumentError: only changes can be read as a stream."""
        raise InvalidArgumentError(
            f"{self.name()} can only be read by spark.read; to read changes as a stream: "
            "spark.readStream.format('lance_explorer.changes')"
        )

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Raise InvalidArgumentError: tables are not written."""
        self._refuse()

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """Raise InvalidArgumentError: no table is written."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InvalidArgumentError(
            f"{self.name()} only reads; lx.spark.merge_into writes changes into a table of yours"
        )
