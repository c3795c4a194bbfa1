"""A large history that tasks read for one question, when no ledger was given.

Tasks read ranges of versions and send back their records; the driver keeps these until its process
ends, and passes them on like versions that it read itself. So workers need no shared folder.
"""

import atexit
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyspark.sql import SparkSession

from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.ledger import Ledger, place_of, record_and_merge, recorded_table
from lance_explorer.ledger.version_ranges import VersionsToRecord, ranges_to_record, record_range
from lance_explorer.spark import unread
from lance_explorer.spark.pinning import TableRef

__all__ = ["with_temporary_ledger"]

_BYTES_PER_TASK = 64 << 20

_FILES = pa.schema([("path", pa.string()), ("content", pa.binary())])


def with_temporary_ledger(spark: SparkSession, ref: TableRef) -> TableRef:
    """Return a table with a ledger of its history, if that is large and the table has no ledger.

    It is in a temporary folder of this process.
    """
    if ref.ledger is not None:
        return ref
    folder = _folder()
    recorded = replace(ref, ledger=folder)
    view = recorded.open()
    if unread.unread_bytes(view) > unread.MOST_BYTES:
        _record(spark, recorded, view, Ledger(folder))
        return recorded
    return recorded if recorded_table(Ledger(folder), view.uri).branches() else ref


def _record(spark: SparkSession, ref: TableRef, view: HistoryView, ledger: Ledger) -> None:
    """Record what is new of a branch, read in tasks."""
    live = replace(ref, ledger=None)
    most = min(_BYTES_PER_TASK, unread.MOST_BYTES)
    ranges = ranges_to_record(view, ledger, most)

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from _recorded(live, ranges[number])

    tasks = spark.range(0, len(ranges), 1, len(ranges))
    for file in tasks.mapInArrow(read, "path string, content binary").collect():
        place_of(ledger).write(file["path"], bytes(file["content"]))
    table = recorded_table(ledger, view.uri)
    record_and_merge(ref.open(), place_of(ledger), table)  # what a cleanup disturbed


def _recorded(ref: TableRef, versions: VersionsToRecord) -> Iterator[pa.RecordBatch]:
    """Yield the files of a ledger with some versions of a branch."""
    uri, storage = ref.storages()
    with TemporaryDirectory() as folder:
        record_range(storage, Ledger(folder), uri, ref.branch, versions)
        for file in sorted(Path(folder).rglob("*")):
            if file.is_file():
                path = file.relative_to(folder).as_posix()
                yield pa.RecordBatch.from_pydict(
                    {"path": [path], "content": [file.read_bytes()]}, _FILES
                )


@cache
def _folder() -> str:
    folder = TemporaryDirectory(prefix="lance_explorer-")
    atexit.register(folder.cleanup)
    return folder.name
