"""The write-ahead log of a table: shards, their generations, and rows that only the log has."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import polars as pl

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.indices import CompactedSsTable
from lance_explorer.format.mem_wal import (
    MEM_WAL_FOLDER,
    LogEntry,
    ShardState,
    decode_log_entry,
    decode_shard_state,
    merged_generations,
    number_of_name,
)
from lance_explorer.frames.columns import (
    BRANCH,
    BYTES,
    COUNT,
    ID,
    TEXT,
    Column,
    FrameSchema,
)
from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView
from lance_explorer.storage.base import FileInfo, Storage, given

__all__ = ["MEM_WAL", "mem_wal", "missing_log_tables", "rows_not_scanned"]

MEM_WAL = FrameSchema(
    "mem_wal",
    (
        BRANCH,
        Column("shard_id", TEXT, "UUID of the shard, and name of its folder"),
        Column("spec_id", ID, "ID of the sharding that it belongs to"),
        Column("state_version", ID, "number of the latest state of the shard"),
        Column("writer_epoch", ID, "number of the writer that owns the shard"),
        Column("generation", ID, "generation of its rows", nullable=True),
        Column(
            "place",
            pl.Enum(["none", "table", "log"]),
            "whether the generation was written as a table of its own, or is in the log only; "
            "none: the shard has no rows",
        ),
        Column("path", TEXT, "folder that has it, below the root of the branch", nullable=True),
        Column("num_changes", COUNT, "rows that were written or deleted", nullable=True),
        Column(
            "num_files",
            COUNT,
            "entries of the log that have them; null of a table",
            nullable=True,
        ),
        Column(
            "size_bytes",
            BYTES,
            "size of these entries; of a table, what it took in memory",
            nullable=True,
            unit="bytes",
        ),
        Column(
            "is_merged",
            pl.Boolean(),
            "whether the latest version has these changes; if not, a scan does not see them",
        ),
    ),
)
"""The columns of ``inspect.mem_wal()``."""


class _Line(NamedTuple):
    shard_id: str
    spec_id: int
    state_version: int
    writer_epoch: int
    generation: int | None
    place: str
    path: str | None
    num_changes: int | None
    num_files: int | None
    size_bytes: int | None
    is_merged: bool


def mem_wal(view: HistoryView) -> pl.DataFrame:
    """Return one row for each generation of each shard, and each shard without any."""
    record = view.version(view.latest_version).records[0]
    merged = merged_generations(record.indices)
    lines = [] if merged is None else list(_lines(view.storage.live, merged))
    lines.sort(key=lambda line: (line.shard_id, line.generation or 0))
    columns = list(zip(*lines, strict=True)) or [()] * len(_Line._fields)
    values = dict(zip(_Line._fields, columns, strict=True))
    return MEM_WAL.build({"branch": [view.branch] * len(lines), **values})


def rows_not_scanned(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find rows of the write-ahead log that a scan of the table does not see."""
    version = history.records[0].version
    if merged_generations(history.records[0].indices) is None:
        return
    gone = [one["path"] for one in _missing(view)]
    fresh = mem_wal(view).filter(~pl.col("is_merged"), ~pl.col("path").is_in(gone))
    count = int(fresh["num_changes"].sum())
    if not count:
        return
    in_log = int(fresh.filter(place="log")["num_changes"].sum())
    shards = fresh["shard_id"].n_unique()
    yield Finding(
        "rows_not_scanned",
        f"{count:,} rows were written or deleted in {shards:,} "
        f"{'shard' if shards == 1 else 'shards'} of the write-ahead log and are not in this "
        f"version, {in_log:,} of them in the log alone",
        versions=(version, version),
        rows=count,
    )


def missing_log_tables(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find tables of the write-ahead log that are gone, and were not merged.

    The entries of the log from which such a table was written stay until they are cleaned up.
    """
    record = history.records[0]
    if merged_generations(record.indices) is None:
        return
    for line in _missing(view):
        folder, generation = f"{MEM_WAL_FOLDER}/{line['shard_id']}/", line["generation"]
        entries = [
            (name, entry.num_rows)
            for name, entry, _ in _entries(view.storage.live, folder)
            if entry.generation == generation and entry.num_rows
        ]
        count, left = line["num_changes"], sum([rows for _, rows in entries])
        names = ", ".join([name for name, _ in entries])
        is_whole = count == left
        yield Finding(
            "log_table_missing",
            f"{line['path']} is missing: generation {generation} of the write-ahead log, "
            f"{count:,} rows that were not merged",
            subject=Subject("files", line["path"], line["path"]),
            versions=(record.version, record.version),
            consequence=f"The log itself still has {'all' if is_whole else f'{left:,}'} of them."
            if left
            else "They are lost, unless a backup has them.",
            remedy=Remedy(
                f"Write the rows of these Arrow streams below {folder}wal/ to the table, without "
                f"their column _tombstone, in their order: {names}."
            )
            if left
            else Remedy("Restore the folder from a backup."),
            rows=count,
        )


def _missing(view: HistoryView) -> list[dict[str, Any]]:
    """Return the generations, lines of :func:`mem_wal`, whose tables are gone."""
    storage, missing = view.storage.live, list[dict[str, Any]]()
    tables = mem_wal(view).filter(~pl.col("is_merged"), place="table")
    for (shard,), lines in tables.group_by("shard_id", maintain_order=True):
        folder = f"{MEM_WAL_FOLDER}/{shard}/"
        there = {f"{folder}{name}/" for name in storage.list_folders(folder)}
        missing += [line for line in lines.iter_rows(named=True) if line["path"] not in there]
    return missing


def _lines(storage: Storage, merged: tuple[CompactedSsTable, ...]) -> Iterator[_Line]:
    until: dict[str, int] = {}
    for one in merged:
        until[one.shard_id] = max(one.generation, until.get(one.shard_id, 0))
    for shard in sorted(storage.list_folders(f"{MEM_WAL_FOLDER}/")):
        folder = f"{MEM_WAL_FOLDER}/{shard}/"
        state = _latest_state(storage, folder)
        if state is not None:
            yield from _of_shard(storage, folder, shard, state, until.get(shard, 0))


def _of_shard(
    storage: Storage, folder: str, shard: str, state: ShardState, until: int
) -> Iterator[_Line]:
    """Yield the generations of a shard; those up to one are merged."""
    blank = _Line(
        shard_id=shard,
        spec_id=state.spec_id,
        state_version=state.version,
        writer_epoch=state.writer_epoch,
        generation=None,
        place="none",
        path=None,
        num_changes=None,
        num_files=None,
        size_bytes=None,
        is_merged=True,
    )
    is_empty = True
    for one in state.generations:
        is_empty = False
        yield blank._replace(
            generation=one.generation,
            place="table",
            path=f"{folder}{one.path}/",
            num_changes=one.num_rows,
            size_bytes=one.in_memory_bytes,
            is_merged=one.generation <= until,
        )
    fresh: dict[int, list[tuple[LogEntry, int]]] = {}
    for _, entry, size_bytes in _entries(storage, folder, state.replay_after):
        if entry.generation is not None and entry.num_rows:
            fresh.setdefault(entry.generation, []).append((entry, size_bytes))
    for generation, entries in fresh.items():
        is_empty = False
        yield blank._replace(
            generation=generation,
            place="log",
            path=f"{folder}wal/",
            num_changes=sum([entry.num_rows for entry, _ in entries]),
            num_files=len(entries),
            size_bytes=sum([size_bytes for _, size_bytes in entries]),
            is_merged=generation <= until,
        )
    if is_empty:
        yield blank


def _latest_state(storage: Storage, folder: str) -> ShardState | None:
    """Return the latest state of a shard, None if it has none."""
    files = _numbered(storage.list_files(f"{folder}manifest/"))
    if not files:
        return None
    path = f"{folder}manifest/{files[-1][1].name}"
    try:
        state = decode_shard_state(storage.get(path))
    except FormatError as error:
        raise error.located(path) from error
    if state.version != files[-1][0]:
        raise CorruptFileError(
            f"expected state {files[-1][0]} as in the file name, found {state.version}", path
        )
    return state


def _entries(storage: Storage, folder: str, after: int = 0) -> Iterator[tuple[str, LogEntry, int]]:
    """Yield the entries of the log after a position: names of files, entries and sizes."""
    files = [
        file for number, file in _numbered(storage.list_files(f"{folder}wal/")) if number > after
    ]
    paths = [f"{folder}wal/{file.name}" for file in files]
    contents = storage.get_many(paths, [file.size_bytes for file in files])
    for path, file, content in zip(paths, files, contents, strict=True):
        if content is None:
            continue  # it was a table, and was removed after the listing
        try:
            yield file.name, decode_log_entry(given(content)), file.size_bytes
        except FormatError as error:
            raise error.located(path) from error


def _numbered(files: list[FileInfo]) -> list[tuple[int, FileInfo]]:
    numbered = [(number_of_name(file.name), file) for file in files]
    return sorted([(number, file) for number, file in numbered if number is not None])
