"""``lance_explorer.metadata``: any frame of ``table.inspect``, of one table or of many.

Tasks read and decode manifests: each those of several small tables, or of one large one. Frames by
fragment are made in tasks, each from some fragments of a large table, for versions that the driver
read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import polars as pl
import pyarrow as pa
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.types import StructType

from lance_explorer.arguments import check_choice
from lance_explorer.checks.depths import DEPTHS, Depth
from lance_explorer.checks.frame import CHECKS
from lance_explorer.database.look import TABLES, in_order, unread
from lance_explorer.database.members import Member
from lance_explorer.errors import InvalidArgumentError, LanceExplorerError, TableNotFoundError
from lance_explorer.findings import Finding, of_branch
from lance_explorer.frames.columns import TEXT
from lance_explorer.frames.findings import findings_frame
from lance_explorer.history.discovery import tables_below
from lance_explorer.history.version_refs import resolve
from lance_explorer.inspect.detached import DETACHED
from lance_explorer.spark.metadata_frames import (
    BY_FRAGMENT,
    SERVED,
    fragment_ranges,
    is_about_history,
    served,
)
from lance_explorer.spark.options import Options, hidden
from lance_explorer.spark.pinning import PinnedTable, TableRef
from lance_explorer.spark.source import Source, says_what_is_wrong
from lance_explorer.spark.types import (
    arrow_table,
    batches_of,
    spark_schema,
    target_schema,
    with_comments,
)
from lance_explorer.storage import Options as StorageOptions
from lance_explorer.storage import done_in_order, open_storage

__all__ = ["MetadataSource"]

_TABLE = "table"
_FINDINGS = ("findings", "health", "checks")
_TABLES_PER_PARTITION = 32
_BYTES_PER_PARTITION = 1 << 26  # of manifests
_FRAGMENTS_PER_PARTITION = 100_000
_ROWS_PER_BATCH = 65_536


@dataclass(frozen=True, slots=True)
class _Piece:
    """A table, and the version of its frame; None if it could not be opened."""

    ref: TableRef
    pinned: PinnedTable | None
    manifest_bytes: int = 0
    depth: Depth = "quick"


class MetadataSource(Source):
    """A frame of metadata.

    Options: ``path``, a table, a folder or bucket with tables anywhere below it, or a list of
    URIs in JSON; ``frame``, the name of the frame: any of ``table.inspect``, ``lineage_edges``,
    ``lineage_states``, ``checks``, or ``tables`` and ``disk_usage`` as of a database;
    ``branch``; ``version``, the last version to read, by default the latest; ``depth`` of
    ``checks``: ``quick``, ``deep`` or ``values``, which reads all data files, a table a task;
    ``tables_per_partition``, at most; ``fragments_per_partition``, about, for frames that each
    fragment tells alone; ``allow_bases``, a list; ``storage.*``; ``ledger`` and
    ``ledger.storage.*``. The column ``table`` is the URI of the table.
    """

    def __init__(self, options: dict[str, str]) -> None:
        options = hidden(options)
        known = ("frame", "version", "depth", "tables_per_partition", "fragments_per_partition")
        self._options = Options.parse(self.name(), options, known)
        self._frame = self._options.required("frame", "'fragments'")
        if self._frame not in SERVED:
            raise InvalidArgumentError(f"no frame {self._frame!r}; there are: {', '.join(SERVED)}")
        depth = self._options.text("depth")
        if depth is not None and self._frame != CHECKS.name:
            raise InvalidArgumentError("depth is only for the frame checks")
        check_choice("depth", depth or "quick", DEPTHS)
        self._pieces = _pieces(self._options)
        if depth is not None:
            self._pieces = [replace(one, depth=cast(Depth, depth)) for one in self._pieces]
        pinned = self._pieces[0].pinned if len(self._pieces) == 1 else None
        self.note = "of many tables" if pinned is None else f"up to version {pinned.version}"

    @classmethod
    def name(cls) -> str:
        """Return what ``format(...)`` takes."""
        return "lance_explorer.metadata"

    def schema(self) -> StructType:
        """Return the columns of the frame, with the table's URI in front."""
        columns = pl.Schema({_TABLE: TEXT, **SERVED[self._frame].polars_schema})
        ids = () if self._frame == DETACHED.name else columns.names()  # those are from 2^63 on
        schema = spark_schema(arrow_table(columns.to_frame()).schema, ids)
        return with_comments(schema, SERVED[self._frame], self.note)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return what reads some columns."""
        missing = [n for n in schema.names if n not in (_TABLE, *SERVED[self._frame].names)]
        if missing:
            raise InvalidArgumentError(f"{self._frame} has no column {missing[0]!r}")
        pieces, table = self._pieces, self._pieces[0].pinned
        if len(pieces) == 1 and table is not None and self._frame in BY_FRAGMENT:
            read = table.with_versions() if is_about_history(self._frame) else table.with_version()
            pieces = [replace(pieces[0], pinned=read)]
            size = self._options.number("fragments_per_partition", _FRAGMENTS_PER_PARTITION)
            ranges = fragment_ranges(read.open(), self._frame, size)
            if ranges:
                return _FragmentsReader(self._frame, pieces[0], ranges, schema)
        few = 1 if pieces[0].depth == "values" else _TABLES_PER_PARTITION
        size = self._options.number("tables_per_partition", few)
        return _MetadataReader(self._frame, pieces, size, schema)


class _MetadataReader(DataSourceReader):
    def __init__(
        self, name: str, pieces: list[_Piece], tables_per_partition: int, schema: StructType
    ) -> None:
        self._frame = name
        self._pieces = pieces
        self._size = tables_per_partition
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work."""
        groups, filled = [list[_Piece]()], 0
        for piece in self._pieces:
            is_full = filled + piece.manifest_bytes > _BYTES_PER_PARTITION
            if groups[-1] and (is_full or len(groups[-1]) == self._size):
                groups.append([])
                filled = 0
            groups[-1].append(piece)
            filled += piece.manifest_bytes
        return [InputPartition(group) for group in groups]

    @says_what_is_wrong
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the frames of some tables, small ones together."""
        target = target_schema(self._schema)
        waiting = list[pl.DataFrame]()
        for piece in partition.value:
            frame = _of_table(self._frame, piece)
            waiting.append(frame.with_columns(pl.lit(piece.ref.uri).alias(_TABLE)))
            if sum([len(each) for each in waiting]) >= _ROWS_PER_BATCH:
                yield from batches_of(pl.concat(waiting), target)
                waiting.clear()
        if waiting:
            yield from batches_of(pl.concat(waiting), target)


class _FragmentsReader(DataSourceReader):
    def __init__(self, name: str, piece: _Piece, ranges: list[range], schema: StructType) -> None:
        self._frame = name
        self._piece = piece
        self._ranges = ranges
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        """Return the pieces of work."""
        return [InputPartition(fragments) for fragments in self._ranges]

    @says_what_is_wrong
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of some fragments."""
        target = target_schema(self._schema)
        frame = _of_table(self._frame, self._piece, partition.value)
        frame = frame.with_columns(pl.lit(self._piece.ref.uri).alias(_TABLE))
        for some in frame.iter_slices(_ROWS_PER_BATCH):
            yield from batches_of(some, target)


def _of_table(name: str, piece: _Piece, fragments: range | None = None) -> pl.DataFrame:
    """Return the frame of a table; if it cannot be opened, a finding or else an error."""
    try:
        view = piece.pinned.open() if piece.pinned else piece.ref.open()
        some = view if fragments is None else view.of_fragments(fragments)
        return served(some, name, piece.depth)
    except LanceExplorerError as error:
        if name in _FINDINGS:
            return findings_frame([*of_branch(piece.ref.branch, [_unreadable(error)])])
        if name == TABLES.name:
            return in_order([unread(Member.of(piece.ref.uri), str(error))])
        raise type(error)(f"{piece.ref.uri}: {error}") from error


def _unreadable(error: LanceExplorerError) -> Finding:
    return Finding("unreadable_table", f"the table cannot be opened: {error}")


def _pieces(options: Options) -> list[_Piece]:
    path = options.required("path", ".load('folder of tables')").strip()
    is_list = path.startswith("[")
    storage = StorageOptions(dict(options.storage))
    uris = options.texts("path") or [] if is_list else _tables_at(path, storage, options)
    refs = [TableRef.at(uri, options) for uri in uris]
    if not refs:
        raise InvalidArgumentError("there is no table in the list")
    if len(refs) > 1 and options.has_version("version"):
        raise InvalidArgumentError("version needs a single table; these are several")
    if len(refs) > 1:
        in_flight = open_storage(refs[0].uri, storage).in_flight
        asked = [(1, partial(_pinned_or_not, ref)) for ref in refs]
        return list(done_in_order(asked, in_flight, in_flight))
    [ref] = refs
    view = ref.open()
    version = options.version_ref("version", view)
    resolved = resolve(view, -1 if version is None else version)
    return [_Piece(ref, PinnedTable.at(resolved.view, resolved.version, ref))]


def _pinned_or_not(ref: TableRef) -> _Piece:
    """Return one table of many; if it cannot be opened, its task will say why."""
    try:
        view = ref.open()
        size = sum([file.size_bytes for file in view.listing.versions])
        return _Piece(ref, PinnedTable.at(view, view.latest_version, ref), size)
    except LanceExplorerError:
        return _Piece(ref, None)


def _tables_at(uri: str, storage: StorageOptions, options: Options) -> list[str]:
    """Return the table at a URI, or the tables below it; a lost table may be recorded."""
    try:
        return tables_below(uri, storage)
    except TableNotFoundError:
        if options.text("ledger") is None:
            raise
        return [uri]
