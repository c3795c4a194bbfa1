"""The rows of a version: sequences and deletions of its fragments, read on request.

A record of a fragment stores where its sequences are. Inline ones are read from the manifest of the
version again, external ones from their file, and spilled ones from a hidden column of a data file.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property
from pyroaring import BitMap

from lance_explorer.errors import (
    CorruptFileError,
    FormatError,
    StorageError,
)
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragments import (
    HIDDEN_FIELDS,
    DeletionFile,
    Fragment,
    StoredSequence,
    decode_inline_sequences,
)
from lance_explorer.format.manifest import fragment_messages
from lance_explorer.format.sequences import decode_row_id_sequence, decode_row_version_sequence
from lance_explorer.history.allocator import keep_freed_memory
from lance_explorer.history.deletion_files import load_deleted
from lance_explorer.history.file_roots import (
    checked_uri,
    data_file,
    deletion_root,
    hidden_file,
    hidden_path,
    missing_file,
)
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.readable import check_counted, check_readable
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.building import FragmentRows
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.rowids.encoding import encode_segment
from lance_explorer.rowids.index import address_rows
from lance_explorer.rowids.runs import RunColumns
from lance_explorer.rowids.sequence import RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns
from lance_explorer.storage import FilePart, Storage, reading_ahead

__all__ = ["FragmentContent", "FragmentReader", "RowReader"]

Part = tuple[Storage, FilePart]
"""A part of a file, with its root."""

_T = TypeVar("_T")

_ROW_IDS, _CREATED_AT, _LAST_UPDATED_AT = HIDDEN_FIELDS.values()

_BYTES_OF_A_ROW = 32
"""The expanded data of a fragment: offsets, row IDs, versions, and intermediate arrays."""


@dataclass(frozen=True, slots=True)
class FragmentContent:
    """The rows of one fragment in one version.

    ``row_ids`` is None without stable row IDs; ``created_at`` and ``last_updated_at`` are None
    where the table stores no such sequence. ``deleted`` is empty where nothing is.
    """

    fragment: Fragment
    num_rows: int
    row_ids: RowIdSequence | None
    created_at: RowVersionRuns | None
    last_updated_at: RowVersionRuns | None
    deleted: BitMap

    @property
    def num_live_rows(self) -> int:
        """How many rows are not deleted."""
        return self.num_rows - len(self.deleted)

    def live_offsets(self) -> NDArray[np.int64]:
        """Return the offsets of the rows that are not deleted, ascending."""
        if not self.deleted:
            return np.arange(self.num_rows, dtype=np.int64)
        is_live = np.ones(self.num_rows, dtype=np.bool_)
        is_live[deleted_offsets(self.deleted)] = False
        return np.flatnonzero(is_live)

    def index_rows(self) -> FragmentRows:
        """Return the data for a row-ID index; without stable row IDs, addresses are IDs."""
        if self.row_ids is None:
            return address_rows(self.fragment.id, self.num_rows, self.deleted)
        return FragmentRows(self.fragment.id, self.row_ids, self.deleted)


def decoded(
    decode: Callable[[bytes, int | None], _T],
    data: bytes,
    physical_rows: int | None,
    stored: StoredSequence,
    message: bytes,
) -> _T:
    """Return a decoded sequence; an error has the position in its file, or in its fragment."""
    try:
        return decode(data, physical_rows)
    except FormatError as error:
        if stored.file is not None:
            raise error.located(stored.file.path, stored.file.offset) from error
        raise error.within(data, message) from error


class FragmentReader:
    """Reads the rows of single fragments of a version, given in the form of its manifest."""

    def __init__(self, view: HistoryView, record: VersionRecord) -> None:
        check_readable(record)
        self._view = view
        self._record = record

    def parts(self, fragment: Fragment, *, with_versions: bool = True) -> Iterator[Part]:
        """Yield the files besides the manifest that contain the rows of a fragment."""
        versions = (fragment.created_at, fragment.last_updated_at) if with_versions else ()
        for stored in (fragment.row_ids, *versions):
            if stored is not None and stored.file is not None:
                file = stored.file
                yield self._view.storage, FilePart(file.path, file.offset, file.size)
        yield from self.deletion_parts(fragment)

    def deletion_parts(self, fragment: Fragment) -> Iterator[Part]:
        """Yield the deletion file of a fragment, if there is one, with its place."""
        file = fragment.deletion_file
        if file is not None:
            with suppress(FormatError):
                yield self._deletion_root(file), FilePart(file.path(fragment.id))

    def content(
        self, fragment: Fragment, message: bytes, *, with_versions: bool = True
    ) -> FragmentContent:
        """Return the rows of a fragment, given its undecoded ``message``.

        Without versions, ``created_at`` and ``last_updated_at`` are None.
        """
        try:
            return self._decoded(fragment, message, with_versions)
        except FormatError as error:
            raise self.located(error, fragment, message) from error

    def row_versions(
        self, fragment: Fragment, message: bytes
    ) -> tuple[RowVersionRuns | None, RowVersionRuns | None]:
        """Return the versions that created, and last updated, the rows of a fragment.

        Each is None if it is not stored. Raises as :meth:`content` does.
        """
        try:
            return self._row_versions(fragment, message)
        except FormatError as error:
            raise self.located(error, fragment, message) from error

    def deleted(self, fragment: Fragment) -> BitMap:
        """Return the deleted offsets of a fragment of this version."""
        file = fragment.deletion_file
        if file is None:
            return BitMap()
        bases = self._record.manifest.base_paths
        deleted = load_deleted(fragment, bases, self._view.storage, fragment.physical_rows)
        if file.num_deleted_rows not in (None, len(deleted)):
            raise CorruptFileError(
                f"found {len(deleted)} deleted offsets where the manifest says "
                f"{file.num_deleted_rows}",
                file.path(fragment.id),
                0,
            )
        return deleted

    def located(self, error: FormatError, fragment: Fragment, message: bytes = b"") -> FormatError:
        """Return an error in a fragment's part of the manifest, with its position in the file.

        An error that already names a file is unchanged.
        """
        if error.path:
            return error
        located = type(error)(f"fragment {fragment.id}: {error.message}", None, error.offset)
        return located.within(message, self._manifest).located(self._record.file.path)

    def sequence_bytes(
        self, fragment: Fragment, stored: StoredSequence, inline: bytes | None
    ) -> bytes:
        """Return the bytes of a sequence, from the manifest or from its file.

        Raises
        ------
        CorruptFileError
            If the file is not directly below the root of the table, or is too short.
        """
        if stored.file is None:
            return inline or b""
        file = stored.file
        if "/" in file.path or "\\" in file.path or file.path in ("", ".", ".."):
            raise CorruptFileError(f"expected a file name for a sequence, found {file.path!r}")
        try:
            data = self._view.storage.get_range(file.path, file.offset, file.size)
        except FileNotFoundError as error:
            raise missing_file(f"{self._view.storage.uri}/{file.path}") from error
        if len(data) != file.size:
            raise CorruptFileError(
                f"expected {file.size} bytes, found {len(data)}", file.path, file.offset
            )
        return data

    def hidden_values(self, fragment: Fragment, column: str) -> NDArray[np.uint64]:
        """Return a spilled sequence, from the data file with its reserved field.

        Raises
        ------
        CorruptFileError
            If there is no such file.
        UnsupportedFeatureError
            If it is in a place that is not allowed.
        """
        from lance_explorer.values import read_hidden_column

        file = hidden_file(fragment, column)
        if file is None:
            raise CorruptFileError(f"no data file has the column {column}")
        root, path = data_file(file, self._record.manifest.base_paths, self._view.storage)
        uri = checked_uri(root, path)
        try:
            return read_hidden_column(uri, column, root.options)
        except StorageError:
            with suppress(FileNotFoundError):  # which is counted
                recorded = root.get(hidden_path(path, column))
                return np.frombuffer(recorded, dtype="<u8").astype(np.uint64)
            raise

    @cached_property
    def _manifest(self) -> bytes:
        try:
            return self._view.storage.get(self._record.file.path)
        except FileNotFoundError:
            return b""

    def _deletion_root(self, file: DeletionFile) -> Storage:
        return deletion_root(file.base_id, self._record.manifest.base_paths, self._view.storage)

    def _decoded(self, fragment: Fragment, message: bytes, with_versions: bool) -> FragmentContent:
        rows = fragment.physical_rows
        ids = self._row_ids(fragment, message)
        check_counted(self._record, fragment)
        num_rows = len(ids) if rows is None and ids is not None else rows or 0
        created_at, last_updated_at = None, None
        if with_versions:
            created_at, last_updated_at = self._row_versions(fragment, message)
        return FragmentContent(
            fragment=fragment,
            num_rows=num_rows,
            row_ids=ids,
            created_at=created_at,
            last_updated_at=last_updated_at,
            deleted=self.deleted(fragment),
        )

    def _row_versions(
        self, fragment: Fragment, message: bytes
    ) -> tuple[RowVersionRuns | None, RowVersionRuns | None]:
        inline = decode_inline_sequences(message)
        created, updated = fragment.created_at, fragment.last_updated_at
        return (
            self._versions(fragment, created, inline.created_at, message, _CREATED_AT),
            self._versions(fragment, updated, inline.last_updated_at, message, _LAST_UPDATED_AT),
        )

    def _row_ids(self, fragment: Fragment, message: bytes) -> RowIdSequence | None:
        stored = fragment.row_ids
        if stored is None:
            return None
        if stored.storage == "spilled":
            return RowIdSequence.of([encode_segment(self.hidden_values(fragment, _ROW_IDS))])
        inline = decode_inline_sequences(message).row_ids
        data = self.sequence_bytes(fragment, stored, inline)
        return decoded(decode_row_id_sequence, data, fragment.physical_rows, stored, message)

    def _versions(
        self,
        fragment: Fragment,
        stored: StoredSequence | None,
        inline: bytes | None,
        message: bytes,
        column: str,
    ) -> RowVersionRuns | None:
        if stored is None:
            return None
        if stored.storage == "spilled":
            return RowVersionRuns.of(self.hidden_values(fragment, column))
        data = self.sequence_bytes(fragment, stored, inline)
        return decoded(decode_row_version_sequence, data, fragment.physical_rows, stored, message)


class RowReader:
    """Reads the rows of fragments of one version."""

    def __init__(self, view: HistoryView, version: int) -> None:
        history = view.version(version)
        self._view = view
        self._record = history.records[0]
        self._fragments = history.states
        self._reader = FragmentReader(view, self._record)

    def contents(
        self, fragment_ids: Collection[int] | None = None, *, with_versions: bool = True
    ) -> list[FragmentContent]:
        """Return the rows of fragments, in the order of a scan; of all fragments by default.

        Without versions, ``created_at`` and ``last_updated_at`` of all are None.
        """
        path = self._record.file.path
        ids, rows = self._fragments.ids, self._fragments.physical_rows
        if len(np.unique(ids)) < len(ids):
            raise CorruptFileError("two fragments of the manifest have the same ID", path)
        try:
            messages = fragment_messages(self._view.storage.get(path))
        except FileNotFoundError as error:
            raise self._view.missing_version(self._record.version) from error
        if len(messages) != len(self._fragments):
            raise CorruptFileError("a fragment is in the manifest twice", path)
        keep_freed_memory(_BYTES_OF_A_ROW * max(int(rows.max(initial=0)), 0))
        wanted = [
            (self._fragments[number], messages[number])
            for number, fragment_id in enumerate(ids.tolist())
            if fragment_ids is None or fragment_id in fragment_ids
        ]
        reader = self._reader
        parts = [
            part
            for fragment, _ in wanted
            for part in reader.parts(fragment, with_versions=with_versions)
        ]
        with reading_ahead(parts):
            return [self._whole(fragment, message, with_versions) for fragment, message in wanted]

    def whole_runs(self) -> tuple[set[int], RunColumns]:
        """Return the rows of the fragments whose rows are known without reading.

        Those are fragments without deletions whose row IDs are one range, or the addresses.

        Returns
        -------
        rest : set of int
            The IDs of all other fragments.
        rows : RunColumns
            The rows, in the order of addresses.
        """
        states = self._fragments
        ids, rows = states.ids, states.physical_rows
        if not self._record.manifest.reader_feature_flags & STABLE_ROW_IDS:
            start = ids << np.uint64(32)
            stop, found = start + np.maximum(rows, 0).astype(np.uint64), rows > 0
        else:
            start, stop, found = states.row_id_ranges
        if len(np.unique(ids)) < len(ids):
            found = np.zeros_like(found)
        found = found & (states.deletion_types < 0)
        some = np.flatnonzero(found)[np.argsort(ids[found])]
        runs = RunColumns(start[some], stop[some], ids[some] << np.uint64(32))
        return set(ids[~found].tolist()), runs

    def _whole(self, fragment: Fragment, message: bytes, with_versions: bool) -> FragmentContent:
        """Return the rows of a fragment; each has its position in each sequence."""
        content = self._reader.content(fragment, message, with_versions=with_versions)
        for values in (content.row_ids, content.created_at, content.last_updated_at):
            if values is not None and len(values) != content.num_rows:
                error = CorruptFileError(
                    f"a sequence of {len(values)} values for {content.num_rows} rows"
                )
                raise self._reader.located(error, fragment, message)
        return content

    def deleted(self, fragment: Fragment) -> BitMap:
        """Return the deleted offsets of a fragment of this version."""
        return self._reader.deleted(fragment)
