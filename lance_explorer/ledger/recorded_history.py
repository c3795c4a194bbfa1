"""A history made from recordings, without decoding manifests."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import FormatError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.indices import IndexMetadata, decode_index_section
from lance_explorer.format.manifest import (
    SECTION_PREFIX_BYTES,
    Manifest,
    decode_manifest_message,
    decode_schema,
)
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import Field
from lance_explorer.format.transactions import decode_transaction_header
from lance_explorer.history.collector import collector_paused
from lance_explorer.history.history import (
    EMPTY_HISTORY,
    History,
    StoredTransaction,
    VersionRecord,
)
from lance_explorer.history.intervals import Intervals, merge_intervals
from lance_explorer.history.listing import VersionFile
from lance_explorer.history.loading import KEPT_TRANSACTION_BYTES
from lance_explorer.history.state_builder import StateBuilder
from lance_explorer.history.states import States
from lance_explorer.ledger.branch_log import BranchLog
from lance_explorer.ledger.kinds import DERIVED

__all__ = ["recorded_history"]


@collector_paused()
def recorded_history(
    log: BranchLog, files: Sequence[VersionFile], etags: Sequence[str | None] | None = None
) -> History:
    """Return the history of some versions, equal to that of their manifests.

    Parameters
    ----------
    log : BranchLog
        What is recorded.
    files : sequence of VersionFile
        The versions that are kept, ascending.
    etags : sequence of str, optional
        What distinguishes these files from others; by default their own ETags.

    Returns
    -------
    History
        The first of these versions, as many as are recorded and not unusual; the others have to be
        read.
    """
    try:
        return _Builder(log, files, etags or [file.etag for file in files]).build()
    except (_UnusualError, FormatError):
        return EMPTY_HISTORY


class _UnusualError(Exception):
    """Something that only reading the manifests shows."""


class _Row(NamedTuple):
    """What a ledger has of a version, as far as its record needs it."""

    manifest: bytes
    transaction: bytes | None
    transaction_path: str | None
    schema_key: str
    indices_key: str | None
    fragment_bytes: int
    sha256: str
    base_version: int | None
    num_new_row_ids: int | None


class _Builder:
    def __init__(
        self, log: BranchLog, files: Sequence[VersionFile], etags: Sequence[str | None]
    ) -> None:
        self._log = log
        known = dict(zip(log.versions["version"].to_list(), range(len(log.versions)), strict=True))
        facts = list(log.versions.select("path", "size_bytes", "modified_ns", "etag").iter_rows())
        is_apart = log.versions["layout"].is_not_null().to_list()
        self._files = list[VersionFile]()
        places = list[int]()
        for file, etag in zip(files, etags, strict=True):
            place = known.get(file.version)
            if place is None or not is_apart[place] or facts[place] != (*file[1:4], etag):
                break
            self._files.append(file)
            places.append(place)
        self._places = np.array(places, dtype=np.int64)
        self._positions = (np.cumsum(is_apart) - 1)[self._places]
        self._schemas: dict[str, tuple[Field, ...]] = {}
        self._indices: dict[str | None, tuple[IndexMetadata, ...]] = {None: ()}

    def build(self) -> History:
        if not self._files:
            return EMPTY_HISTORY
        states, intervals = self._states()
        return History(tuple(self._records()), states, states.num_deleted_rows, intervals)

    def _states(self) -> tuple[States, Intervals]:
        rows = self._log.rows
        kept = Intervals(np.arange(len(rows.ids)), rows.first, rows.last).only(self._positions)
        some, where = np.unique(kept.keys, return_index=True)
        order = np.lexsort((rows.ids[some], kept.first[where]))
        entries = some[order]
        messages = self._log.changes["message"].gather(rows.messages[entries]).to_list()
        builder = StateBuilder(States())
        builder.add(messages, rows.ids[entries].tolist())
        state_of = np.zeros(len(rows.ids), dtype=np.int64)
        states, state_of[entries] = builder.finish()
        _check_usual(states)
        return states, merge_intervals(state_of[kept.keys], kept.first, kept.last)

    def _records(self) -> list[VersionRecord]:
        columns = self._log.versions[self._places].select(_Row._fields)
        rows = map(_Row, *[column.to_list() for column in columns])
        records = list[VersionRecord]()
        for file, row in zip(self._files, rows, strict=True):
            manifest = decode_manifest_message(row.manifest)
            if manifest.writer is None:  # whose counts may be wrong
                raise _UnusualError
            transaction = self._transaction(file, row, manifest)
            records.append(
                VersionRecord(
                    version=file.version,
                    operation=transaction.header.operation if transaction else None,
                    file=file,
                    manifest=manifest,
                    schema=self._schema(row.schema_key),
                    indices=self._index_section(row.indices_key),
                    transaction=transaction,
                    schema_bytes=len(self._log.section(row.schema_key)),
                    fragment_bytes=row.fragment_bytes,
                    index_section_bytes=len(self._log.section(row.indices_key)),
                    num_new_row_ids=_num_new_row_ids(row, manifest, transaction, records),
                    is_derived=row.sha256.startswith(DERIVED),
                )
            )
        return records

    def _schema(self, key: str) -> tuple[Field, ...]:
        if key not in self._schemas:
            self._schemas[key] = decode_schema(self._log.section(key))
        return self._schemas[key]

    def _index_section(self, key: str | None) -> tuple[IndexMetadata, ...]:
        if key not in self._indices:
            self._indices[key] = decode_index_section(self._log.section(key))
        return self._indices[key]

    def _transaction(
        self, file: VersionFile, row: _Row, manifest: Manifest
    ) -> StoredTransaction | None:
        data = row.transaction
        if data is None:
            return None
        header = decode_transaction_header(data)
        kept = data if len(data) <= KEPT_TRANSACTION_BYTES else None
        path = row.transaction_path
        if path is not None:
            return StoredTransaction(header, "file", path, 0, len(data), kept)
        offset = (manifest.transaction_section_offset or 0) + SECTION_PREFIX_BYTES
        return StoredTransaction(header, "manifest", file.path, offset, len(data), kept)


def _num_new_row_ids(
    row: _Row,
    manifest: Manifest,
    transaction: StoredTransaction | None,
    records: list[VersionRecord],
) -> int | None:
    is_update = transaction is not None and transaction.header.operation == OperationName.UPDATE
    if not is_update or not manifest.reader_feature_flags & STABLE_ROW_IDS:
        return None
    if not records or records[-1].version + 1 != manifest.version:
        return None
    if row.base_version != records[-1].version:
        raise _UnusualError
    return row.num_new_row_ids


def _check_usual(states: States) -> None:
    """Check that the manifests count all rows, and none has more deleted rows than rows."""
    rows, deleted = states.physical_rows, states.num_deleted_rows
    is_odd: NDArray[np.bool_] = (rows < 0) | (deleted < 0) | (deleted > rows)
    if is_odd.any():
        raise _UnusualError
