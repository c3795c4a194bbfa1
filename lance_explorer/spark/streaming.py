"""The change feed as a stream: offsets are versions, and each version comes once, whole."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from lance_explorer.errors import VersionNotFoundError
from lance_explorer.history.rows.state_rows import state_rows
from lance_explorer.history.source import TableSource
from lance_explorer.spark.change_parts import ChangesQuery, part_batches
from lance_explorer.spark.options import Options
from lance_explorer.spark.pinning import PinnedTable, TableRef

__all__ = ["ChangesStream"]

_VERSION = "version"


class ChangesStream(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads changes commit by commit.

    Parameters
    ----------
    ref : TableRef
        The branch.
    options : Options
        What is asked of its changes.
    begin_version : int
        The version after which a stream begins that has no checkpoint.
    schema : pyspark.sql.types.StructType
        The columns that are wanted.
    columns : tuple of str
        Those that are values.
    """

    def __init__(
        self,
        ref: TableRef,
        options: Options,
        begin_version: int,
        schema: StructType,
        columns: tuple[str, ...] | None,
    ) -> None:
        self._ref = ref
        self._options = options
        self._begin_version = begin_version
        self._schema = schema
        self._columns = columns
        self._last_version: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Return where the stream begins."""
        return {_VERSION: self._begin_version}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return how many versions, one manifest file each, a micro-batch has at most."""
        if self._options.text("max_versions_per_batch") is None:
            return ReadAllAvailable()
        return ReadMaxFiles(self._options.number("max_versions_per_batch", 1))

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Look for no version after the latest one of now."""
        self._last_version = self._ref.open().latest_version

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:  # noqa: N802
        """Return where the next micro-batch ends."""
        source = self._ref.open()
        if source.latest_version < start[_VERSION]:
            raise VersionNotFoundError(
                f"this stream has read up to version {start[_VERSION]}, but {source.uri} has only "
                f"{source.latest_version}: it is another table, which needs a new checkpoint"
            )
        listing = source.listing.up_to(self._last_version)
        new = [file.version for file in listing.versions if file.version > start[_VERSION]]
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        return {_VERSION: new[-1]} if new else start

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Return the pieces of work of one micro-batch."""
        begin_version, end_version = start[_VERSION], end[_VERSION]
        if begin_version == end_version:
            return [InputPartition(None)]
        source = self._ref.open()
        table = PinnedTable.at(source, end_version, self._ref)
        _check_nothing_lost(table.open(), begin_version, end_version)
        query = ChangesQuery(table, begin_version, end_version, self._options, self._columns)
        return query.partitions()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one piece of work."""
        return part_batches(partition, self._schema)


def _check_nothing_lost(source: TableSource, begin_version: int, end_version: int) -> None:
    """Raise VersionNotFoundError if changes of some versions cannot be told any more."""
    history = state_rows(source).history
    asked = (history.versions > begin_version) & (history.versions <= end_version)
    if history.begins_exactly[asked].all():
        return
    kept = history.versions[asked]
    there = f"{history.versions[0]} to {history.versions[-1]}"
    after = kept[~history.begins_exactly[asked]]
    [*lost] = [_lost_before(history.versions, int(version), begin_version) for version in after]
    raise VersionNotFoundError(
        f"versions {', '.join(lost)} were cleaned away before this stream read them, and with them "
        f"what they changed; {there} remain. Read version {after[-1]} as a whole, and begin a new "
        f"stream with begin_version {after[-1]}"
    )


def _lost_before(versions: np.ndarray, version: int, begin_version: int) -> str:
    """Return which versions are missing just before one."""
    place = int(np.searchsorted(versions, np.uint64(version)))
    first = max(int(versions[place - 1]) + 1 if place else 1, min(begin_version, version - 1), 1)
    return f"{first}" if first == version - 1 else f"{first} to {version - 1}"
