"""All fragments of a manifest decoded at once, without an object for each.

Fragments are walked field by field, all at once. A fragment without the shape that writers use is
parsed on its own, as :func:`~lance_explorer.format.fragments.decode_fragment` does it, and becomes
the same columns: the walk skips work, and never changes the answer.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError, FormatError, InvalidArgumentError
from lance_explorer.format._cursors import PADDING, Cursors
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import decoder, parse, read_varint
from lance_explorer.format.data_file_columns import DataFileTable
from lance_explorer.format.fragment_columns import (
    DeletionColumns,
    FragmentColumns,
    SequenceColumns,
    SequenceStorage,
    sequence_storage,
)
from lance_explorer.format.fragments import (
    LARGEST_FRAGMENT,
    DeletionFile,
    Fragment,
    StoredSequence,
    decode_fragment,
    decode_inline_sequences,
)
from lance_explorer.format.manifest import fragment_messages, read_layout
from lance_explorer.rowids.arrays import Positions, Uint64Array

__all__ = [
    "FragmentMessages",
    "FragmentSpans",
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

_MAX_I32 = (1 << 31) - 1
_MAX_U32 = (1 << 32) - 1
_MAX_U56 = (1 << 56) - 1
_MAX_U64 = (1 << 64) - 1

_ONE_BYTE = 0x80  # lengths below it take one byte

_BATCH = 1 << 14  # the most fragments whose numbers fit into the cache of a processor
_FEW = 24  # the fewest fragments of a batch: fewer take as long one by one
_FEW_FILES = 256  # the fewest fragments with another file for which all are moved ...
_ROUNDS = 16  # ... after so many looks


class FragmentMessages(Sequence[bytes]):
    """Undecoded fragments that stay where they are in a manifest, of which ``data`` is the file."""

    def __init__(self, data: bytes, begins: Positions, ends: Positions) -> None:
        self.data, self.begins, self.ends = data, begins, ends

    def __len__(self) -> int:
        return len(self.begins)

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> "FragmentMessages": ...

    def __getitem__(self, number: int | slice) -> "bytes | FragmentMessages":
        if isinstance(number, slice):
            return FragmentMessages(self.data, self.begins[number], self.ends[number])
        return self.data[self.begins[number] : self.ends[number]]


class FragmentSpans(NamedTuple):
    """Where fragment messages begin and end in a manifest, and where the last record ends."""

    begins: Positions
    ends: Positions
    stop: int

    def messages(self, data: bytes) -> FragmentMessages:
        """Return the messages, which are not copied."""
        return FragmentMessages(data, self.begins, self.ends)

    def ids(self, data: bytes) -> Uint64Array:
        """Return the fragment IDs, the first fields of the messages; 0 where they are missing."""
        view, base = _padded(data, int(self.begins[0]), int(self.ends[-1]))
        at = Cursors(view, self.begins - base, self.ends - base)
        return at.read_numbers(_ID, _MAX_U64).values


@decoder
def decode_fragment_columns(data: bytes) -> FragmentColumns:
    """Decode all fragments of a whole manifest file; positions are those in the file.

    Only the fragments are decoded, though the manifest around them has to be one. A million
    fragments take about a second and, beside the file, some 250 bytes each.
    """
    message = read_layout(data).message
    start = message.offset
    try:
        start = schema_end(data, start, message.end)
        spans = find_fragments(data, start, message.end)
        around = data[message.offset : start] + data[spans.stop : message.end]
        is_usual = not parse(pb.ManifestEnvelope, around, "manifest").fragments
    except FormatError:
        is_usual = False
    if is_usual:
        return columns_of_spans(data, spans.begins, spans.ends)
    messages = fragment_messages(data)  # raises if fragments are not where writers put them
    begins = list[int]()
    at = message.offset
    for fragment in messages:
        at = data.index(fragment, at)
        begins.append(at)
        at += len(fragment)
    starts = np.array(begins, dtype=np.int64)
    lengths = np.array([len(fragment) for fragment in messages], dtype=np.int64)
    return columns_of_spans(data, starts, starts + lengths)


def schema_end(data: bytes, start: int, end: int) -> int:
    """Return where the records of a schema end that begin at ``start``.

    Raises
    ------
    CorruptFileError
        If a record is longer than the message, which ends at ``end``.
    """
    while start < end and data[start] == _SCHEMA_RECORD:
        length, content = read_varint(data, start + 1, end)
        if content + length > end:
            raise CorruptFileError(
                f"a record of {length} bytes is longer than the manifest", offset=start
            )
        start = content + length
    return start


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
    """Decode undecoded DataFragment messages; positions are those in all messages joined.

    Those of FragmentMessages are positions in its manifest.

    Raises
    ------
    CorruptFileError
        If one is damaged, with its position.
    """
    if isinstance(messages, FragmentMessages):
        return columns_of_spans(messages.data, messages.begins, messages.ends)
    ends = np.fromiter(accumulate(map(len, messages)), np.int64, len(messages))
    lengths = np.diff(ends, prepend=0)
    return columns_of_spans(b"".join([*messages, bytes(PADDING)]), ends - lengths, ends)


def columns_of_spans(data: bytes, begins: Positions, ends: Positions) -> FragmentColumns:
    """Decode fragments inside some bytes, for example a manifest file.

    Parameters
    ----------
    data : bytes
        The bytes.
    begins, ends : ndarray of int64
        Where each DataFragment message begins and ends; one behind the other.

    Raises
    ------
    CorruptFileError
        If one is damaged, the first of several, with the position in ``data``.
    """
    borders = np.column_stack([begins, ends]).ravel()
    if len(borders) and (borders[0] < 0 or borders[-1] > len(data) or (np.diff(borders) < 0).any()):
        raise InvalidArgumentError("fragments must be consecutive in the data")
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
        view, base = _padded(self._data, int(self._begins[first]), int(self._ends[stop - 1]))
        some = slice(first, stop)
        at = Cursors(view, self._begins[some] - base, self._ends[some] - base)
        self._ids[some] = at.read_numbers(_ID, LARGEST_FRAGMENT).values
        files, owner = _files(at)
        at.good &= self._table.walk(files, owner, base, len(at))
        self._walk_deletions(at, first)
        self._physical_rows[some] = at.read_numbers(_PHYSICAL_ROWS, LARGEST_FRAGMENT).values
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
        deleted = files.read_numbers(_NUM_DELETED_ROWS, LARGEST_FRAGMENT)
        columns.num_deleted_rows[numbers] = deleted.values
        base_id = files.read_numbers(_BASE, _MAX_U32, with_zero=True)
        columns.base_id[numbers] = np.where(base_id.written, base_id.values.astype(np.int64), -1)
        at.good[places] &= files.finish()

    def _add(self, first: int, place: int) -> None:
        """Decode one fragment on its own, and replace the result of the walk."""
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
            columns.storage[number] = sequence_storage(stored)
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
    """Move fragments over their data files; return cursors in these, and the fragment of each.

    A fragment with many more files than others is marked bad.
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


def _padded(data: bytes, begin: int, end: int) -> tuple[NDArray[np.uint8], int]:
    """Return some bytes of ``data`` with enough padding, and where they begin."""
    if end + PADDING <= len(data):
        return np.frombuffer(data, dtype=np.uint8), 0
    return np.frombuffer(data[begin:end] + bytes(PADDING), dtype=np.uint8), begin
