"""The changes as a stream: offsets are versions, and each version arrives once and complete."""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from lance_explorer.errors import InvalidArgumentError, VersionNotFoundError
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.view import HistoryView
from lance_explorer.spark.change_parts import ChangesQuery, part_batches
from lance_explorer.spark.options import Options
from lance_explorer.spark.pinning import PinnedTable, TableRef
from lance_explorer.spark.read_limits import (
    HAS_READ_LIMITS,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)

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
    loaded : PinnedTable
        The version that names columns, the latest one when the stream was loaded.
    schema : pyspark.sql.types.StructType
        The columns that are wanted. They are null in versions that lack them.
    columns : tuple of str
        Those that are values.
    """

    def __init__(
        self,
        ref: TableRef,
        options: Options,
        begin_version: int,
        loaded: PinnedTable,
        schema: StructType,
        columns: tuple[str, ...] | None,
    ) -> None:
        self._ref = ref
        self._options = options
        self._begin_version = begin_version
        self._loaded_version = loaded.version
        self._field_ids = {name: key for key, name in _names(loaded.open()).items()}
        self._schema = schema
        self._columns = columns
        self._last_version: int | None = None
        if not HAS_READ_LIMITS and options.text("max_versions_per_batch") is not None:
            raise InvalidArgumentError("max_versions_per_batch needs PySpark 4.2 or later")

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

    def latestOffset(  # noqa: N802
        self, start: dict[str, int] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, int]:
        """Return where the next micro-batch ends; PySpark 4.1 does not say where it starts."""
        view = self._ref.open()
        if start is None:
            return {_VERSION: max(view.latest_version, self._begin_version)}
        if view.latest_version < start[_VERSION]:
            raise _replaced(start[_VERSION], view)
        listing = view.listing.up_to(self._last_version)
        new = [file.version for file in listing.versions if file.version > start[_VERSION]]
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        return {_VERSION: new[-1]} if new else start

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        """Return the pieces of work of one micro-batch."""
        begin_version, end_version = start[_VERSION], end[_VERSION]
        if begin_version == end_version:
            return [InputPartition(None)]
        view = self._ref.open()
        if end_version < begin_version:
            raise _replaced(begin_version, view)
        last_version = max(end_version, self._loaded_version)
        table = PinnedTable.at(view, last_version, self._ref).with_range(begin_version)
        if self._options.flag("failOnDataLoss", default=True):
            _check_nothing_lost(table.open(), begin_version, end_version)
        query = ChangesQuery(table, begin_version, last_version, self._options, None)
        if self._columns is not None:
            there = query.changes().schema
            query = replace(query, columns=tuple([n for n in self._columns if n in there]))
        self._check_names(_names(table.open()))
        parts = query.parts(end_version)
        return [InputPartition((query, part)) for part in parts] or [InputPartition(None)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one piece of work."""
        if partition.value is not None:
            query, part = partition.value
            yield from part_batches(query, part, self._schema, may_lack_columns=True)

    def _check_names(self, names: dict[int, str]) -> None:
        """Raise InvalidArgumentError if a column that is wanted has another name by now."""
        for name in self._schema.names:
            now = names.get(self._field_ids.get(name, NO_PARENT), name)
            if now != name:
                raise InvalidArgumentError(
                    f"the column {name!r} of this stream is now {now!r}; load the stream again"
                )


def _replaced(read_version: int, view: HistoryView) -> VersionNotFoundError:
    return VersionNotFoundError(
        f"this stream has read up to version {read_version}, but {view.uri} has only "
        f"{view.latest_version}: it is another table, which needs a new checkpoint"
    )


def _names(view: HistoryView) -> dict[int, str]:
    """Return the columns of the latest version, by the IDs of their fields."""
    [record] = view.version(view.latest_version).records
    return {field.id: field.name for field in record.schema if field.parent_id == NO_PARENT}


def _check_nothing_lost(view: HistoryView, begin_version: int, end_version: int) -> None:
    """Raise VersionNotFoundError if changes of some versions cannot be told any more."""
    history = state_rows(view).history
    asked = (history.versions > begin_version) & (history.versions <= end_version)
    after = history.versions[asked & (history.num_lost_before > 0)].tolist()
    if not after:
        return
    kept = [0, *history.versions.tolist()]
    gaps = [(kept[kept.index(version) - 1], version) for version in after]
    gone = [_span(max(old + 1, begin_version, 1), new - 1) for old, new in gaps]
    untold = [_span(max(old, begin_version) + 1, new) for old, new in gaps]
    raise VersionNotFoundError(
        f"the files of {', '.join(gone)} were cleaned up before this stream read them, so the "
        f"changes of {', '.join(untold)} are lost. Read version {after[-1]} as a whole, and begin "
        f"a new stream with begin_version {after[-1]}"
    )


def _span(first: int, last: int) -> str:
    return f"version {first}" if first == last else f"versions {first} to {last}"
