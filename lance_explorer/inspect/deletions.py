"""Deletion files: how many rows of a fragment they delete, how, and their cost."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from pyroaring import BitMap

from lance_explorer.errors import FormatError
from lance_explorer.format.deletions import decode_deletion_file
from lance_explorer.format.fragments import BasePath, DeletionFile, DeletionFileType, Fragment
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    ID,
    INTERVAL,
    TEXT,
    VERSION,
    Column,
    FrameSchema,
)
from lance_explorer.history.file_roots import deletion_root
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals
from lance_explorer.history.readable import check_readable, readable_history
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import (
    PartRows,
    distinct_parts,
    frame_of_intervals,
    frame_of_version,
)
from lance_explorer.inspect.fragments import deletion_file_type
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.storage import Contents, Storage

__all__ = ["ALL_DELETIONS", "DELETIONS", "all_deletions", "deletions"]


def _containers(name: str, meaning: str) -> Column:
    return Column(f"num_{name}_containers", COUNT, meaning, nullable=True)


_DELETION = (
    Column("fragment_id", ID, "fragment whose rows are deleted"),
    Column("path", TEXT, "path of the file below its root"),
    Column("file_type", TEXT, "arrow_array or bitmap"),
    Column("read_version", ID, "version that the delete read"),
    Column("file_bytes", BYTES, "size of the file", nullable=True, unit="bytes"),
    Column(
        "num_deleted_rows",
        COUNT,
        "deleted rows in the file; if it cannot be read, the number in the manifest",
        nullable=True,
    ),
    Column("physical_rows", COUNT, "rows of the fragment, including deleted ones", nullable=True),
    Column("fraction", pl.Float64(), "share of these rows that is deleted", nullable=True),
    _containers("array", "deleted offsets as a Roaring bitmap: containers that list offsets"),
    _containers("run", "likewise: containers that list runs of offsets"),
    _containers("bitset", "likewise: containers with a bit for each offset"),
    Column(
        "other_type_bytes",
        BYTES,
        "size as the other file type; arrow_array as written by pyarrow, some 200 bytes less "
        "than by Lance",
        nullable=True,
        unit="bytes",
    ),
    Column(
        "base_id",
        ID,
        "ID of the base path that the file is below; null: the table's own root",
        nullable=True,
    ),
    Column("root", TEXT, "path of that base path", nullable=True),
    Column("problem", TEXT, "what is wrong with the file; null if nothing", nullable=True),
)

DELETIONS = FrameSchema("deletions", (VERSION, BRANCH, *_DELETION))
"""The columns of ``inspect.deletions()``."""

ALL_DELETIONS = FrameSchema("all_deletions", (BRANCH, *_DELETION, *INTERVAL))
"""The columns of ``inspect.all_deletions()``; ``root`` as the first version of the file has it."""

_ROW = FrameSchema("deletion", _DELETION)


@dataclass(frozen=True, slots=True)
class _OwnedFile:
    """A deletion file as its fragment has it."""

    fragment_id: int
    physical_rows: int | None
    file: DeletionFile

    @property
    def path(self) -> str:
        return self.file.path(self.fragment_id)


@dataclass(frozen=True, slots=True)
class _StoredFile:
    """What is at the place of a deletion file; ``deleted`` is None if it cannot be decoded."""

    num_bytes: int | None
    deleted: BitMap | None
    problem: str | None


def deletions(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each deletion file of a version, by fragment in the order of a scan."""
    history = view.version(version)
    check_readable(history.records[0])
    files, intervals = distinct_parts(history, _owned_files)
    rows = _describe(view, history, files, intervals)
    return frame_of_version(DELETIONS, view, version, rows)


def all_deletions(view: HistoryView) -> pl.DataFrame:
    """Return one row for each deletion file and each interval of it."""
    history = readable_history(view.history)
    files, intervals = distinct_parts(history, _owned_files)
    rows = _describe(view, history, files, intervals)
    numbers = range(len(files))
    return frame_of_intervals(ALL_DELETIONS, view, history, intervals, numbers, rows)


def _owned_files(fragment: Fragment) -> Iterator[_OwnedFile]:
    if fragment.deletion_file is not None:
        yield _OwnedFile(fragment.id, fragment.physical_rows, fragment.deletion_file)


def _describe(
    view: HistoryView, history: History, files: list[_OwnedFile], intervals: Intervals
) -> PartRows:
    """Return the row of each file; each file is read once."""
    rows = dict[int, dict[str, Any]]()
    by_root: dict[str, tuple[Storage, list[int]]] = {}
    bases = _bases(history, intervals)
    for number, owned in enumerate(files):
        try:
            root = deletion_root(owned.file.base_id, bases[number], view.storage)
        except FormatError as error:
            rows[number] = _row(owned, bases[number], _StoredFile(None, None, str(error)))
        else:
            by_root.setdefault(root.uri, (root, []))[1].append(number)
    for root, numbers in by_root.values():
        contents = root.get_many([files[number].path for number in numbers])
        for number, data in zip(numbers, contents, strict=True):
            rows[number] = _row(files[number], bases[number], _understand(files[number], data))
    in_order = [rows[number] for number in range(len(files))]
    columns = {name: [row[name] for row in in_order] for name in _ROW.names}
    return PartRows(_ROW.build(columns), np.ones(len(files), dtype=np.int64))


def _bases(history: History, intervals: Intervals) -> dict[int, tuple[BasePath, ...]]:
    """Return for each file the base paths of the first version that has it."""
    numbers, where = np.unique(intervals.keys, return_index=True)
    positions = intervals.first[where].tolist()
    records = [history.records[position] for position in positions]
    return {
        number: record.manifest.base_paths
        for number, record in zip(numbers.tolist(), records, strict=True)
    }


def _understand(owned: _OwnedFile, data: Contents) -> _StoredFile:
    if data is None:
        return _StoredFile(None, None, "the file is missing")
    if isinstance(data, FormatError):
        return _StoredFile(None, None, str(data))
    try:
        deleted = decode_deletion_file(data, owned.file.file_type, owned.physical_rows)
    except FormatError as error:
        return _StoredFile(len(data), None, str(error))
    expected = owned.file.num_deleted_rows
    if expected is not None and expected != len(deleted):
        problem = f"the manifest says that {expected} rows are deleted, the file {len(deleted)}"
        return _StoredFile(len(data), deleted, problem)
    return _StoredFile(len(data), deleted, None)


def _row(owned: _OwnedFile, bases: tuple[BasePath, ...], stored: _StoredFile) -> dict[str, Any]:
    file, deleted, rows = owned.file, stored.deleted, owned.physical_rows
    count = file.num_deleted_rows if deleted is None else len(deleted)
    containers = None if deleted is None else deleted.get_statistics()
    roots = {base.id: base.path for base in bases}
    return {
        "fragment_id": owned.fragment_id,
        "path": owned.path,
        "file_type": deletion_file_type(file.file_type),
        "read_version": file.read_version,
        "file_bytes": stored.num_bytes,
        "num_deleted_rows": count,
        "physical_rows": rows,
        "fraction": None if count is None or rows is None else count / rows,
        "num_array_containers": containers and containers["n_array_containers"],
        "num_run_containers": containers and containers["n_run_containers"],
        "num_bitset_containers": containers and containers["n_bitset_containers"],
        "other_type_bytes": None if deleted is None else _other_size(deleted, file.file_type),
        "base_id": file.base_id,
        "root": None if file.base_id is None else roots.get(file.base_id),
        "problem": stored.problem,
    }


def _other_size(deleted: BitMap, file_type: int) -> int:
    """Return the size of the other type of file with the same rows."""
    if file_type == DeletionFileType.ARROW_ARRAY:
        return len(deleted.serialize())
    import pyarrow as pa

    schema = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    batch = pa.record_batch([pa.array(deleted_offsets(deleted))], schema=schema)
    with pa.ipc.new_file(sink, schema, options=options) as writer:
        writer.write_batch(batch)
    return int(sink.getvalue().size)
