"""All fragments of a manifest as columns, without an object for each (docs/FORMAT.md 2.5 to 2.8).

Fragments are walked field by field, all at once. One that is not of the shape that writers give
fragments is parsed by itself, as :func:`~lance_explorer.format.fragments.decode_fragment` does it,
and becomes the same columns: the walk is skipped work, never another answer.

Text and sequences are not copied out of the manifest: a column says where they begin and end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError, FormatError, InvalidArgumentError
from lance_explorer.format._cursors import PADDING, Cursors
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import decoder, parse, read_varint
from lance_explorer.format.data_file_columns import DataFileColumns, DataFileTable
from lance_explorer.format.fragment_encoding import encode_fragment
from lance_explorer.format.fragments import (
    DeletionFile,
    ExternalFile,
    Fragment,
    StoredSequence,
    decode_fragment,
    decode_inline_sequences,
    inline_sequence,
)
from lance_explorer.format.manifest import fragment_messages, read_layout
from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = [
    "DeletionColumns",
    "FragmentColumns",
    "FragmentSpans",
    "SequenceColumns",
    "SequenceStorage",
    "columns_of_messages",
    "columns_of_spans",
    "decode_fragment_columns",
    "find_fragments",
]

_SCHEMA_RECORD, _FRAGMENT_RECORD = 0x0A, 0x12

_ID, _FILE, _DELETION_FILE, _PHYSICAL_ROWS = 0x08, 0x12, 0x1A, 0x20
_SEQUENCES = {"row_ids": (0x2A, 0x62), "last_updated_at": (0x3A, 0x6A), "created_at": (0x4A, 0x72)}
"""The tags of an inline sequence and of the mark of a spilled one, in the order of writers."""

_FILE_TYPE, _READ_VERSION, _DELETION_ID, _NUM_DELETED_ROWS, _BASE = 0x08, 0x10, 0x18, 0x20, 0x38

_LARGEST_FRAGMENT = 1 << 32
_MAX_I32 = (1 << 31) - 1
_MAX_U32 = (1 << 32) - 1
_MAX_U56 = (1 << 56) - 1
_MAX_U64 = (1 << 64) - 1

_ONE_BYTE = 0x80  # lengths below it take one byte

_BATCH = 1 << 14  # fragments whose numbers fit into the cache of a processor
_FEW = 24  # fragments that are not worth a batch: so many take as long one by one
_FEW_FILES = 256  # fragments with a further file that are worth a look at all of them ...
_ROUNDS = 16  # ... after so many looks


class SequenceStorage(IntEnum):
    """Where a fragment keeps a sequence."""

    ABSENT = 0
    INLINE = 1
    EXTERNAL = 2
    SPILLED = 3


class FragmentSpans(NamedTuple):
    """Where fragment messages begin and end in a manifest, and where the last record ends."""

    begins: Positions
    ends: Positions
    stop: int


@dataclass(frozen=True, slots=True, eq=False)
class SequenceColumns:
    """Where fragments keep their sequences of one kind.

    Attributes
    ----------
    storage : ndarray of uint8
        A SequenceStorage for each fragment.
    begin, end : ndarray of int64
        Where an inline sequence stands in the bytes that were decoded; 0 for others.
    external : dict of int to ExternalFile
        The spans of files that external ones are, by the number of the fragment.
    """

    storage: NDArray[np.uint8]
    begin: Positions
    end: Positions
    external: dict[int, ExternalFile]

    @classmethod
    def absent(cls, count: int) -> "SequenceColumns":
        """Return the columns of fragments without such a sequence."""
        begin, end = np.zeros((2, count), dtype=np.int64)
        return cls(np.zeros(count, dtype=np.uint8), begin, end, {})

    def record(self, fragment: int, data: bytes) -> StoredSequence | None:
        """Return that of one fragment as a record."""
        match int(self.storage[fragment]):
            case SequenceStorage.ABSENT:
                return None
            case SequenceStorage.INLINE:
                return inline_sequence(data[self.begin[fragment] : self.end[fragment]])
            case SequenceStorage.EXTERNAL:
                return StoredSequence("external", file=self.external[fragment])
            case _:
                return StoredSequence("spilled")


@dataclass(frozen=True, slots=True, eq=False)
class DeletionColumns:
    """The deletion files of fragments; where one is not ``present``, it is 0 in all columns.

    Attributes
    ----------
    present : ndarray of bool
        Whether the fragment has one.
    file_type : ndarray of int32
        A DeletionFileType.
    read_version, id : ndarray of uint64
        What names the file beside the fragment ID.
    num_deleted_rows : ndarray of uint64
        How many rows it has; 0 where the writer did not store it.
    base_id : ndarray of int64
        The base path under which the file lies, -1 for the root of the table.
    """

    present: NDArray[np.bool_]
    file_type: NDArray[np.int32]
    read_version: Uint64Array
    id: Uint64Array
    num_deleted_rows: Uint64Array
    base_id: Positions

    @classmethod
    def absent(cls, count: int) -> "DeletionColumns":
        """Return the columns of fragments without deletion files."""
        read_version, ids, num_deleted_rows = np.zeros((3, count), dtype=np.uint64)
        return cls(
            np.zeros(count, dtype=np.bool_),
            np.zeros(count, dtype=np.int32),
            read_version,
            ids,
            num_deleted_rows,
            np.zeros(count, dtype=np.int64),
        )

    def record(self, fragment: int) -> DeletionFile | None:
        """Return that of one fragment as a record."""
        if not self.present[fragment]:
            return None
        base_id = int(self.base_id[fragment])
        return DeletionFile(
            file_type=int(self.file_type[fragment]),
            read_version=int(self.read_version[fragment]),
            id=int(self.id[fragment]),
            num_deleted_rows=int(self.num_deleted_rows[fragment]) or None,
            base_id=None if base_id < 0 else base_id,
        )


@dataclass(frozen=True, slots=True, eq=False)
class FragmentColumns:
    """Fragments as columns, in the order in which they were given.

    Attributes
    ----------
    data : bytes
        What the places in all columns refer to.
    begin, end : ndarray of int64
        Where the message of each fragment stands.
    id : ndarray of uint64
        The fragment IDs.
    physical_rows : ndarray of uint64
        Rows, deleted ones included; 0 where the writer did not store it.
    files : DataFileColumns
        The data files.
    deletion_files : DeletionColumns
        The deletion files.
    row_ids, last_updated_at, created_at : SequenceColumns
        Where the sequences are.
    unusual : dict of int to Fragment
        The records of the fragments that were parsed one by one, by their number. Overlays, the
        clustering ID and metadata are only here; any fragment that has them is unusual.
    """

    data: bytes
    begin: Positions
    end: Positions
    id: Uint64Array
    physical_rows: Uint64Array
    files: DataFileColumns
    deletion_files: DeletionColumns
    row_ids: SequenceColumns
    last_updated_at: SequenceColumns
    created_at: SequenceColumns
    unusual: dict[int, Fragment]

    def __len__(self) -> int:
        return len(self.id)

    def record(self, fragment: int) -> Fragment:
        """Return one fragment as the record that decoding it by itself gives.

        Parameters
        ----------
        fragment : int
            Its number, from 0.

        Examples
        --------
        >>> from lance_explorer.format.fragment_columns import columns_of_messages
        >>> columns = columns_of_messages([bytes.fromhex("080712060a04612e706c200a")])
        >>> columns.id.tolist(), columns.physical_rows.tolist()
        ([7], [10])
        >>> [file.path for file in columns.record(0).files]
        ['a.pl']
        """
        self._check(fragment)
        if fragment in self.unusual:
            return self.unusual[fragment]
        first, stop = self.files.offsets[fragment : fragment + 2].tolist()
        return Fragment(
            id=int(self.id[fragment]),
            files=tuple([self.files.record(file, self.data) for file in range(first, stop)]),
            deletion_file=self.deletion_files.record(fragment),
            physical_rows=int(self.physical_rows[fragment]) or None,
            row_ids=self.row_ids.record(fragment, self.data),
            last_updated_at=self.last_updated_at.record(fragment, self.data),
            created_at=self.created_at.record(fragment, self.data),
            overlays=(),
            clustering_id=None,
            metadata=(),
        )

    def key(self, fragment: int) -> bytes:
        """Return bytes that are the same for two fragments if, and only if, they are equal.

        Fragments are equal if their records are. The key is the message itself, unless it is
        spelled unusually: then it is the message in the spelling of writers.

        Parameters
        ----------
        fragment : int
            Its number, from 0.

        Examples
        --------
        >>> from lance_explorer.format.fragment_columns import columns_of_messages
        >>> columns = columns_of_messages([bytes.fromhex("0807200a"), bytes.fromhex("200a0807")])
        >>> columns.key(0) == columns.key(1)
        True
        """
        self._check(fragment)
        message = self.data[self.begin[fragment] : self.end[fragment]]
        record = self.unusual.get(fragment)
        if record is None:
            return message
        return encode_fragment(record, decode_inline_sequences(message))

    def _check(self, fragment: int) -> None:
        if not 0 <= fragment < len(self):
            raise InvalidArgumentError(f"no fragment {fragment} among {len(self)}")


@decoder
def decode_fragment_columns(data: bytes) -> FragmentColumns:
    """Decode all fragments of a whole manifest file; places are positions in the file.

    Only the fragments are decoded, though the manifest around them has to be one. A million
    fragments take about a second and, beside the file, some 250 bytes each.
    """
    message = read_layout(data).message
    start = message.offset
    try:
        while start < message.end and data[start] == _SCHEMA_RECORD:
            length, content = read_varint(data, start + 1, message.end)
            start = min(content + length, message.end)
        spans = find_fragments(data, start, message.end)
        around = data[message.offset : start] + data[spans.stop : message.end]
        is_usual = not parse(pb.ManifestEnvelope, around, "manifest").fragments
    except FormatError:
        is_usual = False
    if is_usual:
        return columns_of_spans(data, spans.begins, spans.ends)
    messages = fragment_messages(data)  # raises, unless fragments are not where writers put them
    begins = list[int]()
    at = message.offset
    for fragment in messages:
        at = data.index(fragment, at)
        begins.append(at)
        at += len(fragment)
    starts = np.array(begins, dtype=np.int64)
    lengths = np.array([len(fragment) for fragment in messages], dtype=np.int64)
    return columns_of_spans(data, starts, starts + lengths)


def find_fragments(data: bytes, start: int, end: int) -> FragmentSpans:
    """Find the fragments of a manifest message, which begin at ``start``.

    Parameters
    ----------
    data : bytes
        The manifest file.
    start : int
        Where the first fragment record begins, behind the schema.
    end : int
        Where the message ends.

    Raises
    ------
    CorruptFileError
        If a record is longer than the message.
    """
    begins, ends = list[int](), list[int]()
    position = start
    while position < end and data[position] == _FRAGMENT_RECORD:
        begin = position + 2
        length = data[begin - 1] if begin <= end else _ONE_BYTE
        if length >= _ONE_BYTE:
            length, begin = read_varint(data, position + 1, end)
        stop = begin + length
        if stop > end:
            raise CorruptFileError(
                f"a fragment of {length} bytes is longer than the manifest", offset=position
            )
        begins.append(begin)
        ends.append(stop)
        position = stop
    return FragmentSpans(np.array(begins, np.int64), np.array(ends, np.int64), position)


def columns_of_messages(messages: Sequence[bytes]) -> FragmentColumns:
    """Decode fragments, given as undecoded DataFragment messages; places are in them all joined.

    Raises
    ------
    CorruptFileError
        If one is damaged; it tells the place in all messages joined.
    """
    ends = np.fromiter(accumulate(map(len, messages)), np.int64, len(messages))
    lengths = np.diff(ends, prepend=0)
    return columns_of_spans(b"".join([*messages, bytes(PADDING)]), ends - lengths, ends)


def columns_of_spans(data: bytes, begins: Positions, ends: Positions) -> FragmentColumns:
    """Decode fragments that stand in some bytes, for example in a manifest file.

    Parameters
    ----------
    data : bytes
        The bytes.
    begins, ends : ndarray of int64
        Where each DataFragment message begins and ends; one behind the other.

    Raises
    ------
    CorruptFileError
        If one is damaged, and of several the first; it tells the place in ``data``.
    """
    borders = np.column_stack([begins, ends]).ravel()
    if len(borders) and (borders[0] < 0 or borders[-1] > len(data) or (np.diff(borders) < 0).any()):
        raise InvalidArgumentError("fragments must stand one behind the other in the data")
    work = _Work(data, begins, ends)
    for first in range(0, len(begins), _BATCH):
        work.decode(first, min(first + _BATCH, len(begins)))
    return work.finish()


class _Work:
    """Columns that are filled batch by batch."""

    def __init__(self, data: bytes, begins: Positions, ends: Positions) -> None:
        count = len(begins)
        self._table = DataFileTable()
        self._data = data
        self._begins, self._ends = begins, ends
        self._ids, self._physical_rows = np.zeros((2, count), dtype=np.uint64)
        self._deletions = DeletionColumns.absent(count)
        self._sequences = {kind: SequenceColumns.absent(count) for kind in _SEQUENCES}
        self._unusual: dict[int, Fragment] = {}

    def decode(self, first: int, stop: int) -> None:
        """Decode the fragments from ``first`` to ``stop``."""
        if stop - first < _FEW:
            unusual = np.arange(stop - first)
        else:
            usual = self._walk(first, stop)
            unusual = np.flatnonzero(~usual)
            if len(unusual):
                self._table.keep(usual)
        for number in unusual.tolist():
            self._add(first, number)
        self._table.end_batch(first)

    def finish(self) -> FragmentColumns:
        return FragmentColumns(
            data=self._data,
            begin=self._begins,
            end=self._ends,
            id=self._ids,
            physical_rows=self._physical_rows,
            files=self._table.finish(len(self._ids)),
            deletion_files=self._deletions,
            **self._sequences,
            unusual=self._unusual,
        )

    def _walk(self, first: int, stop: int) -> NDArray[np.bool_]:
        """Decode a batch; return which fragments are of the usual shape."""
        view, base = self._view(first, stop)
        some = slice(first, stop)
        at = Cursors(view, self._begins[some] - base, self._ends[some] - base)
        self._ids[some] = at.read_numbers(_ID, _LARGEST_FRAGMENT).values
        files, owner = _files(at)
        at.good &= self._table.walk(files, owner, base, len(at))
        self._walk_deletions(at, first)
        self._physical_rows[some] = at.read_numbers(_PHYSICAL_ROWS, _LARGEST_FRAGMENT).values
        for kind, (inline_tag, spilled_tag) in _SEQUENCES.items():
            inline = at.read_spans(inline_tag)
            spilled = at.read_spans(spilled_tag)
            at.good &= (spilled.begins == spilled.ends) & ~(inline.written & spilled.written)
            columns = self._sequences[kind]
            if inline.written.any():
                columns.begin[some] = np.where(inline.written, inline.begins + base, 0)
                columns.end[some] = np.where(inline.written, inline.ends + base, 0)
                columns.storage[some][inline.written] = SequenceStorage.INLINE
            columns.storage[some][spilled.written] = SequenceStorage.SPILLED
        return at.finish()

    def _view(self, first: int, stop: int) -> tuple[NDArray[np.uint8], int]:
        """Return bytes with fragments and enough behind them, and where these bytes begin."""
        base, end = int(self._begins[first]), int(self._ends[stop - 1])
        if end + PADDING <= len(self._data):
            return np.frombuffer(self._data, dtype=np.uint8), 0
        return np.frombuffer(self._data[base:end] + bytes(PADDING), dtype=np.uint8), base

    def _walk_deletions(self, at: Cursors, first: int) -> None:
        spans = at.read_spans(_DELETION_FILE)
        places = np.flatnonzero(spans.written)
        if not len(places):
            return
        files = Cursors(at.view, spans.begins[places], spans.ends[places])
        columns, numbers = self._deletions, places + first
        columns.present[numbers] = True
        columns.file_type[numbers] = files.read_numbers(_FILE_TYPE, _MAX_I32).values
        columns.read_version[numbers] = files.read_numbers(_READ_VERSION, _MAX_U56).values
        columns.id[numbers] = files.read_numbers(_DELETION_ID, _MAX_U64).values
        deleted = files.read_numbers(_NUM_DELETED_ROWS, _LARGEST_FRAGMENT)
        columns.num_deleted_rows[numbers] = deleted.values
        base_id = files.read_numbers(_BASE, _MAX_U32, with_zero=True)
        columns.base_id[numbers] = np.where(base_id.written, base_id.values.astype(np.int64), -1)
        at.good[places] &= files.finish()

    def _add(self, first: int, place: int) -> None:
        """Decode one fragment by itself, and write it over what the walk has made of it."""
        number = first + place
        begin = int(self._begins[number])
        message = self._data[begin : self._ends[number]]
        try:
            record = decode_fragment(message)
        except FormatError as error:
            raise error.shifted(begin) from error
        self._unusual[number] = record
        self._ids[number] = record.id
        self._physical_rows[number] = record.physical_rows or 0
        self._table.add(record.files, message, begin, place)
        self._add_deletion(number, record.deletion_file)
        inline = decode_inline_sequences(message)
        for kind, columns in self._sequences.items():
            stored: StoredSequence | None = getattr(record, kind)
            columns.begin[number] = columns.end[number] = 0
            columns.storage[number] = _storage(stored)
            piece: bytes | None = getattr(inline, kind)
            if piece is not None:
                columns.begin[number] = begin + message.find(piece)
                columns.end[number] = columns.begin[number] + len(piece)
            elif stored is not None and stored.file is not None:
                columns.external[number] = stored.file

    def _add_deletion(self, number: int, file: DeletionFile | None) -> None:
        columns = self._deletions
        columns.present[number] = file is not None
        columns.file_type[number] = file.file_type if file else 0
        columns.read_version[number] = file.read_version if file else 0
        columns.id[number] = file.id if file else 0
        columns.num_deleted_rows[number] = (file.num_deleted_rows or 0) if file else 0
        base_id = file.base_id if file else 0
        columns.base_id[number] = -1 if base_id is None else base_id


def _files(at: Cursors) -> tuple[Cursors, Positions]:
    """Move fragments over their data files; return cursors in these, and whose each is.

    A fragment with so many files that few others have as many is not good.
    """
    begins, ends, owners = list[Positions](), list[Positions](), list[Positions]()
    owner = np.flatnonzero(at.are_at(_FILE))
    walk = at.only(owner)
    while len(owner) >= _FEW_FILES or (len(owner) and len(begins) < _ROUNDS):
        spans = walk.read_spans(_FILE)
        begins.append(spans.begins)
        ends.append(spans.ends)
        owners.append(owner)
        at.at[owner], at.good[owner] = walk.at, walk.good
        more = walk.are_at(_FILE)
        owner, walk = owner[more], walk.only(more)
    none = np.empty(0, dtype=np.int64)
    joined = np.concatenate([none, *owners])
    order = np.argsort(joined, kind="stable") if len(owners) > 1 else slice(None)
    files = [np.concatenate([none, *column])[order] for column in (begins, ends)]
    return Cursors(at.view, *files), joined[order]


def _storage(stored: StoredSequence | None) -> SequenceStorage:
    return SequenceStorage[stored.storage.upper()] if stored else SequenceStorage.ABSENT
