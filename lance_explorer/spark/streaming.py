"""Changes as a stream: each arrives once, even after crashes, and each manifest is read once.

An offset is a version up to which everything was read. If a large commit is cut, ``cut_version`` is
that commit, the next one, and ``row`` says that its rows with lower identities were read, too. The
planning process keeps the versions that it has read, and reads others only when a batch needs them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from lance_explorer.changes.feed_parts import (
    ChangePart,
    CommitSize,
    commit_parts,
    commit_sizes,
    parts_of_commit,
)
from lance_explorer.changes.frame import CHANGED_COLUMNS, CHANGES
from lance_explorer.changes.steps import VersionRange, is_known_by_itself, version_range
from lance_explorer.errors import InvalidArgumentError, VersionNotFoundError
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import Field
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.view import HistoryView
from lance_explorer.spark.change_parts import ChangesQuery, part_batches
from lance_explorer.spark.options import Options
from lance_explorer.spark.pinning import PinnedTable, ReadVersions, TableRef, handed
from lance_explorer.spark.read_limits import (
    HAS_READ_LIMITS,
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from lance_explorer.spark.source import says_what_is_wrong

__all__ = ["LIMITS", "ChangesStream"]

_VERSION = "version"

LIMITS = {
    "max_versions_per_batch": 1_000,
    "max_rows_per_batch": 10_000_000,
    "max_bytes_per_batch": 8 << 30,
}
"""The options that limit a micro-batch, with their defaults."""

_VERSIONS_AHEAD = 64
"""The number of versions read at once to find out how many fit into a micro-batch."""

_Offset = dict[str, int]


class _At(NamedTuple):
    """The content of an offset; ``row`` is 0 if no commit is cut there."""

    version: int
    cut_version: int = 0
    row: int = 0

    @classmethod
    def of(cls, offset: _Offset) -> "_At":
        return cls(offset[_VERSION], offset.get("cut_version", 0), offset.get("row", 0))

    @property
    def offset(self) -> _Offset:
        return self._asdict() if self.row else {_VERSION: self.version}


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
        self._fields = _fields(loaded.open().version(loaded.version).records[0])
        self._schema = schema
        self._columns = columns
        own = (*CHANGES.names, CHANGED_COLUMNS)
        self._wanted = [name for name in schema.names if name not in own]
        self._last_version: int | None = None
        self._read: ReadVersions | None = None
        given = [name for name in LIMITS if options.text(name) is not None]
        if given and not HAS_READ_LIMITS:
            raise InvalidArgumentError(f"{given[0]} needs PySpark 4.2 or later")
        self._most = {name: options.number(name, most) for name, most in LIMITS.items()}

    def initialOffset(self) -> _Offset:  # noqa: N802
        """Return where the stream begins."""
        return {_VERSION: self._begin_version}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Return how many versions, one manifest file each, a micro-batch has at most."""
        return ReadMaxFiles(self._most["max_versions_per_batch"])

    def reportLatestOffset(self) -> _Offset:  # noqa: N802
        """Return where the table is, so that a query reports how far it is behind."""
        return {_VERSION: max(self._now().latest_version, self._begin_version)}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Ignore versions after the present latest one."""
        self._last_version = self._now().latest_version

    def latestOffset(  # noqa: N802
        self, start: _Offset | None = None, limit: ReadLimit | None = None
    ) -> _Offset:
        """Return where the next micro-batch ends; PySpark 4.1 does not say where it starts."""
        now = self._now()
        if start is None:
            return {_VERSION: max(now.latest_version, self._begin_version)}
        at = _At.of(start)
        if now.latest_version < at.version:
            raise _replaced(at.version, now)
        listing = now.listing.up_to(self._last_version)
        new = [file.version for file in listing.versions if file.version > at.version]
        if not new:
            return start
        if isinstance(limit, ReadAllAvailable) or limit is None:
            return _At(new[-1]).offset
        return self._within(at, new[: self._most["max_versions_per_batch"]]).offset

    def partitions(self, start: _Offset, end: _Offset) -> list[InputPartition]:
        """Return the pieces of work of one micro-batch."""
        begin, stop = _At.of(start), _At.of(end)
        if begin == stop:
            return [InputPartition(None)]
        now = self._now()
        if stop.version < begin.version or now.latest_version < stop.version:
            raise _replaced(begin.version, now)
        last = self._last(now, stop)
        if last <= begin.version:
            return [InputPartition(None)]
        view, table = self._versions(begin.version, last)
        if self._options.flag("failOnDataLoss", default=True):
            _check_nothing_lost(view, begin.version, last)
        self._check_names(view.history.records[view.history.position(last)])
        table = handed(view, table)
        query = ChangesQuery(table, begin.version, table.version, self._options, None)
        if self._columns is not None:
            there = query.changes().schema
            query = replace(query, columns=tuple([n for n in self._columns if n in there]))
        parts = self._parts(query, begin, stop, last)
        return [InputPartition((query, part)) for part in parts] or [InputPartition(None)]

    @says_what_is_wrong
    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield one piece of work."""
        if partition.value is not None:
            query, part = partition.value
            yield from part_batches(query, part, self._schema, may_lack_columns=True)

    def _now(self) -> HistoryView:
        """Return the branch as it is now."""
        if self._read is None:
            self._read = ReadVersions(self._ref)
            return self._read.now
        return self._read.refresh()

    def _versions(self, begin_version: int, last_version: int) -> tuple[HistoryView, PinnedTable]:
        """Return what tells the changes between two versions, and the names of columns since.

        The version that names columns is read only where one of them had another name before. The
        same holds where values of a batch are gone: a later version may still have them.
        """
        assert self._read is not None
        view, table = self._read.since(begin_version, last_version)
        if last_version >= self._loaded_version or not self._wanted:
            return view, table
        records = [one for one in view.history.records if one.version >= begin_version]
        is_gone = any(record.file.is_recorded for record in records)
        if not is_gone and self._is_named_as_loaded(records):
            return view, table
        return self._read.since(begin_version, self._loaded_version)

    def _is_named_as_loaded(self, records: Sequence[VersionRecord]) -> bool:
        """Whether each requested column is the same, at its position, as at loading."""
        wanted = {name: self._fields.get(name) for name in self._wanted}
        if None in wanted.values():  # a column that was dropped before the stream was loaded
            return False
        names = {tree[0].id: name for name, tree in wanted.items() if tree is not None}
        for record in {id(record.schema): record for record in records}.values():
            for name, tree in _fields(record).items():
                was_renamed = names.get(tree[0].id, name) != name
                if was_renamed or (name in wanted and tree != wanted[name]):
                    return False
        return True

    def _within(self, at: _At, new: list[int]) -> _At:
        """Return how far a micro-batch goes from a start, over some new versions."""
        num_rows = num_bytes = 0
        reached = at
        for start in range(0, len(new), _VERSIONS_AHEAD):
            last = new[min(start + _VERSIONS_AHEAD, len(new)) - 1]
            view, _ = self._versions(at.version, last)
            versions = version_range(view, reached.version, last, must_begin=False)
            for size in commit_sizes(versions):
                num_rows += size.num_rows
                num_bytes += size.num_bytes
                is_full = num_rows > self._most["max_rows_per_batch"]
                if is_full or num_bytes > self._most["max_bytes_per_batch"]:
                    return self._cut(versions, size, at) if reached == at else reached
                reached = _At(int(versions.rows.history.versions[size.position]))
        return reached

    def _cut(self, versions: VersionRange, size: CommitSize, at: _At) -> _At:
        """Return how far into a large commit a micro-batch goes that contains nothing else."""
        whole = _At(int(versions.rows.history.versions[size.position]))
        if not self._can_be_cut(versions, size.position):
            return whole
        too_large = max(1, size.num_bytes / self._most["max_bytes_per_batch"])
        num_rows = min(self._most["max_rows_per_batch"], int(size.num_rows / too_large)) or 1
        parts = parts_of_commit(versions, size.position, num_rows, at.row, None)
        if len(parts) < 2 or parts[0].share is None:
            return whole
        return _At(at.version, whole.version, parts[0].share.stop)

    def _last(self, now: HistoryView, stop: _At) -> int:
        """Return the last version that is read for a micro-batch.

        If it was cleaned up since the batch was planned, and that is no error, it is the version
        before, and the next batch reports the loss.
        """
        last = stop.cut_version if stop.row else stop.version
        kept = [file.version for file in now.listing.up_to(last).versions]
        if last not in kept and self._options.flag("failOnDataLoss", default=True):
            raise now.missing_version(last)
        return kept[-1] if kept else 0

    def _parts(self, query: ChangesQuery, begin: _At, end: _At, last: int) -> list[ChangePart]:
        """Return the parts of a micro-batch up to a version; for a cut commit, its rows.

        If the start of a cut commit was cleaned up since, and that is no error, the rest of the
        commit is delivered as far as possible.
        """
        versions, num_rows = query.changes()._versions, query.part_rows
        history, first = versions.rows.history, versions.begin
        stop = history.position(last)
        parts = list[ChangePart]()
        is_rest = begin.row > 0 and history.versions[first + 1] == begin.cut_version
        if is_rest and self._can_be_cut(versions, first + 1):
            until = end.row if end.cut_version == begin.cut_version else None
            parts += parts_of_commit(versions, first + 1, num_rows, begin.row, until)
            first += 1
        is_cut = end.row > 0 and last == end.cut_version and self._can_be_cut(versions, stop)
        if first < stop - is_cut:
            parts += commit_parts(
                replace(versions, begin=first, end=stop - is_cut),
                num_rows,
                has_key=self._has_key,
                has_values=self._options.text("images") is not None,
            )
        if is_cut and first < stop:
            parts += parts_of_commit(versions, stop, num_rows, 0, end.row)
        return parts

    def _can_be_cut(self, versions: VersionRange, position: int) -> bool:
        """Return whether a commit may be split between two batches.

        An offset names rows by their identities, which must be the same in both batches. Without
        row IDs, the identity is the address at which a row was created. A cleanup between the
        batches changes it, except for rows that this commit appended.
        """
        if self._has_key or not is_known_by_itself(versions, position):
            return False
        rows = versions.rows
        if rows.is_known_by_ids(position):
            return rows.namesakes is None
        return rows.history.records[position].operation == OperationName.APPEND

    @property
    def _has_key(self) -> bool:
        return bool(self._options.texts("key"))

    def _check_names(self, record: VersionRecord) -> None:
        """Raise InvalidArgumentError if a requested column has another name now."""
        if record.version <= self._loaded_version:
            return
        names = {tree[0].id: name for name, tree in _fields(record).items()}
        for name in self._schema.names:
            tree = self._fields.get(name)
            now = names.get(tree[0].id, name) if tree else name
            if now != name:
                raise InvalidArgumentError(
                    f"the column {name!r} of this stream is now {now!r}; load the stream again"
                )


def _fields(record: VersionRecord) -> dict[str, tuple[Field, ...]]:
    """Return the columns of a version by name, each with all fields below it."""
    roots = dict[int, int]()
    by_root = dict[int, list[Field]]()
    for field in record.schema:
        roots[field.id] = roots.get(field.parent_id, field.id)
        by_root.setdefault(roots[field.id], []).append(field)
    return {tree[0].name: tuple(tree) for tree in by_root.values()}


def _replaced(read_version: int, view: HistoryView) -> VersionNotFoundError:
    return VersionNotFoundError(
        f"this stream has read up to version {read_version}, but {view.uri} has only "
        f"{view.latest_version}: it is another table, which needs a new checkpoint"
    )


def _check_nothing_lost(view: HistoryView, begin_version: int, end_version: int) -> None:
    """Raise VersionNotFoundError if the changes of some versions are lost."""
    history = state_rows(view).history
    asked = (history.versions > begin_version) & (history.versions <= end_version)
    after = history.versions[asked & (history.num_lost_before > 0)].tolist()
    if not after:
        return
    kept = [0, *history.versions.tolist()]
    gaps = [(kept[kept.index(version) - 1], version) for version in after]
    gone = [_span(max(old + 1, begin_version, 1), new - 1) for old, new in gaps]
    lost = [_span(max(old, begin_version) + 1, new) for old, new in gaps]
    raise VersionNotFoundError(
        f"the files of {', '.join(gone)} were cleaned up before this stream read them, so the "
        f"changes of {', '.join(lost)} are lost. Read version {after[-1]} as a whole, and begin "
        f"a new stream with begin_version {after[-1]}"
    )


def _span(first: int, last: int) -> str:
    return f"version {first}" if first == last else f"versions {first} to {last}"
