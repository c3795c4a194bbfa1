"""The data files of many fragments as one table of columns (docs/FORMAT.md 2.6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import FormatError
from lance_explorer.format._cursors import Cursors, Spans
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import parse
from lance_explorer.format.fragments import LARGEST_FILE, DataFile
from lance_explorer.rowids.arrays import Positions, Uint64Array, aranges

__all__ = ["DataFileColumns", "DataFileTable", "IntLists"]

_PATH, _FIELDS, _COLUMN_INDICES = 0x0A, 0x12, 0x1A
_MAJOR, _MINOR, _SIZE, _BASE = 0x20, 0x28, 0x30, 0x38

_MAX_U32 = (1 << 32) - 1
_HIGH_BIT = 0x80

_ROUNDS = 8  # the most distinct lists that are looked for in all files at once
_FEW = 32  # the fewest files that are worth it
_LONG = 512  # the most bytes of a list that is worth it
_WORD_BYTES = 8
_NO_LIST = -1


@dataclass(frozen=True, slots=True, eq=False)
class IntLists:
    """A list of numbers for each file; since most are equal, each distinct one is kept once.

    Attributes
    ----------
    number : ndarray of int32
        Which of the distinct lists each file has.
    offsets : ndarray of int64
        List ``k`` is ``values[offsets[k]:offsets[k + 1]]``.
    values : ndarray of int32
        The distinct lists, one after the other.
    """

    number: NDArray[np.int32]
    offsets: Positions
    values: NDArray[np.int32]

    def at(self, file: int) -> tuple[int, ...]:
        """Return the list of one file."""
        number = self.number[file]
        values: list[int] = self.values[self.offsets[number] : self.offsets[number + 1]].tolist()
        return tuple(values)

    def flat(self) -> tuple[Positions, NDArray[np.int32]]:
        """Return the lists of all files concatenated: where each begins, and the values.

        The offsets have one entry more than there are files. It takes memory for every file; for a
        wide table far more than the distinct lists do.
        """
        counts = np.diff(self.offsets)[self.number]
        begins = self.offsets[:-1][self.number]
        return _offsets(counts), self.values[aranges(begins, counts)]


@dataclass(frozen=True, slots=True, eq=False)
class DataFileColumns:
    """The data files of fragments, ordered by fragment.

    Attributes
    ----------
    offsets : ndarray of int64
        Fragment ``i`` has the files ``offsets[i]`` to ``offsets[i + 1]``.
    path_begin, path_end : ndarray of int64
        Where the path stands in the bytes that were decoded; it is UTF-8.
    fields, column_indices : IntLists
        The IDs of the fields in each file, and the column of the file for each.
    major_version, minor_version : ndarray of uint32
        The version of the file format.
    size_bytes : ndarray of uint64
        The size; 0 where the writer did not store it.
    base_id : ndarray of int64
        The base path under which the file lies, -1 for the root of the table.
    """

    offsets: Positions
    path_begin: Positions
    path_end: Positions
    fields: IntLists
    column_indices: IntLists
    major_version: NDArray[np.uint32]
    minor_version: NDArray[np.uint32]
    size_bytes: Uint64Array
    base_id: Positions

    def __len__(self) -> int:
        return len(self.path_begin)

    def record(self, file: int, data: bytes) -> DataFile:
        """Return one file as a record; the positions of paths refer to ``data``."""
        base_id = int(self.base_id[file])
        return DataFile(
            path=data[self.path_begin[file] : self.path_end[file]].decode(),
            fields=self.fields.at(file),
            column_indices=self.column_indices.at(file),
            major_version=int(self.major_version[file]),
            minor_version=int(self.minor_version[file]),
            size_bytes=int(self.size_bytes[file]) or None,
            base_id=None if base_id < 0 else base_id,
        )

    def are_same(self, ones: Positions, others: Positions, data: bytes) -> NDArray[np.bool_]:
        """Tell of pairs of fragments, by number, whether both have the same files."""
        counts = np.diff(self.offsets)
        same: NDArray[np.bool_] = counts[ones] == counts[others]
        pairs = np.flatnonzero(same)
        some = counts[ones[pairs]]
        one, other = [aranges(self.offsets[of[pairs]], some) for of in (ones, others)]
        equal = np.ones(len(one), dtype=np.bool_)
        for column in (
            *(self.fields.number, self.column_indices.number, self.size_bytes, self.base_id),
            *(self.major_version, self.minor_version),
        ):
            equal &= column[one] == column[other]
        paths = zip(self._paths(one, data), self._paths(other, data), strict=True)
        equal &= np.array([path == its for path, its in paths], dtype=np.bool_)
        same[np.repeat(pairs, some)[~equal]] = False
        return same

    def _paths(self, files: Positions, data: bytes) -> list[bytes]:
        begins, ends = self.path_begin[files].tolist(), self.path_end[files].tolist()
        return [data[begin:end] for begin, end in zip(begins, ends, strict=True)]


class _Files(NamedTuple):
    """Some files; ``owner`` is the number of the fragment that each belongs to."""

    owner: Positions
    path_begin: Positions
    path_end: Positions
    fields: NDArray[np.int32]
    column_indices: NDArray[np.int32]
    major_version: NDArray[np.uint32]
    minor_version: NDArray[np.uint32]
    size_bytes: Uint64Array
    base_id: Positions

    def at(self, places: NDArray[np.bool_] | Positions) -> "_Files":
        return _Files._make([column[places] for column in self])


_DTYPES = ("i8", "i8", "i8", "i4", "i4", "u4", "u4", "u8", "i8")

_Row = tuple[int, int, int, int, int, int, int, int, int]


class DataFileTable:
    """Collects the data files of fragments, one batch of fragments after the other."""

    def __init__(self) -> None:
        self._fields = _ListNumbers("fields")
        self._column_indices = _ListNumbers("column_indices")
        self._batches: list[_Files] = []
        self._batch: list[_Files] = []
        self._rows: list[_Row] = []

    def walk(
        self, files: Cursors, owner: Positions, base: int, num_owners: int
    ) -> NDArray[np.bool_]:
        """Read the files of a batch; return which fragments have only files of the usual shape.

        Parameters
        ----------
        files : Cursors
            One at the start of each file.
        owner : ndarray of int64
            The number of the fragment in its batch that each file belongs to, ascending.
        base : int
            Where the view of the cursors begins in the bytes that are decoded.
        num_owners : int
            How many fragments the batch has.
        """
        path = files.read_spans(_PATH, with_empty=False)
        files.good &= _are_ascii(files.view, path)
        fields = self._fields.read(files, _FIELDS)
        column_indices = self._column_indices.read(files, _COLUMN_INDICES)
        major = files.read_numbers(_MAJOR, _MAX_U32).values
        minor = files.read_numbers(_MINOR, _MAX_U32).values
        size = files.read_numbers(_SIZE, LARGEST_FILE).values
        base_id = files.read_numbers(_BASE, _MAX_U32, with_zero=True)
        self._batch.append(
            _Files(
                owner,
                path.begins + base,
                path.ends + base,
                fields,
                column_indices,
                major.astype(np.uint32),
                minor.astype(np.uint32),
                size,
                np.where(base_id.written, base_id.values.astype(np.int64), -1),
            )
        )
        usual = np.ones(num_owners, dtype=np.bool_)
        usual[owner[~files.finish()]] = False
        return usual

    def keep(self, owners: NDArray[np.bool_]) -> None:
        """Drop the files of the batch except those of some fragments."""
        self._batch = [files.at(owners[files.owner]) for files in self._batch]

    def add(self, files: Sequence[DataFile], message: bytes, base: int, owner: int) -> None:
        """Add the files of a fragment of the batch that was parsed on its own.

        Their paths are found again in its ``message``, which begins at ``base``.
        """
        at = 0
        for file in files:
            path = file.path.encode()
            begin = message.find(path, at)
            at = begin + len(path)
            self._rows.append(
                (
                    owner,
                    begin + base,
                    at + base,
                    self._fields.of(file.fields),
                    self._column_indices.of(file.column_indices),
                    file.major_version,
                    file.minor_version,
                    file.size_bytes or 0,
                    -1 if file.base_id is None else file.base_id,
                )
            )

    def end_batch(self, first: int) -> None:
        """End a batch whose first fragment has the number ``first``."""
        if self._rows:
            self._batch.append(_table(self._rows))
        batch = _joined(self._batch)
        self._batch, self._rows = [], []
        if (batch.owner[1:] < batch.owner[:-1]).any():
            batch = batch.at(np.argsort(batch.owner, kind="stable"))
        self._batches.append(batch._replace(owner=batch.owner + first))

    def finish(self, num_fragments: int) -> DataFileColumns:
        """Return all files, ordered by fragment."""
        files, self._batches = _joined(self._batches), []
        counts = np.bincount(files.owner, minlength=num_fragments)
        return DataFileColumns(
            offsets=_offsets(counts),
            path_begin=files.path_begin,
            path_end=files.path_end,
            fields=self._fields.lists(files.fields),
            column_indices=self._column_indices.lists(files.column_indices),
            major_version=files.major_version,
            minor_version=files.minor_version,
            size_bytes=files.size_bytes,
            base_id=files.base_id,
        )


class _ListNumbers:
    """Numbers the distinct lists of a field of data files."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._by_bytes: dict[bytes, int] = {}
        self._by_values: dict[tuple[int, ...], int] = {}

    def of(self, values: tuple[int, ...]) -> int:
        """Return the number of a list."""
        return self._by_values.setdefault(values, len(self._by_values))

    def read(self, files: Cursors, tag: int) -> NDArray[np.int32]:
        """Read the list of each file as one packed field; return their numbers."""
        begins = files.at
        files.read_spans(tag, with_empty=False)
        lengths = np.where(files.good, files.at - begins, 0)
        numbers = np.empty(len(files), dtype=np.int32)
        left = np.arange(len(files))
        for _ in range(_ROUNDS):
            if len(left) < _FEW or lengths[left[0]] > _LONG:
                break
            first = left[0]
            candidates = np.flatnonzero(lengths[left] == lengths[first])
            equal = _equal_to_first(files.view, begins[left[candidates]], int(lengths[first]))
            numbers[left[candidates[equal]]] = self._of_bytes(files.view, begins, lengths, first)
            left = np.delete(left, candidates[equal])
        for place in left.tolist():
            numbers[place] = self._of_bytes(files.view, begins, lengths, place)
        files.good &= numbers != _NO_LIST
        return numbers

    def lists(self, numbers: NDArray[np.int32]) -> IntLists:
        """Return lists as columns."""
        distinct = list(self._by_values)
        offsets = _offsets(np.array([len(values) for values in distinct], dtype=np.int64))
        values = np.fromiter(chain.from_iterable(distinct), np.int32, int(offsets[-1]))
        return IntLists(numbers, offsets, values)

    def _of_bytes(
        self, view: NDArray[np.uint8], begins: Positions, lengths: Positions, place: int
    ) -> int:
        """Return the number of a list by its field, including the tag; it may be invalid."""
        field = view[begins[place] : begins[place] + lengths[place]].tobytes()
        number = self._by_bytes.get(field)
        if number is None:
            try:
                file = parse(pb.DataFile, field, "data file")
            except FormatError:
                number = _NO_LIST
            else:
                is_usual = file.SerializeToString() == field
                number = self.of(tuple(getattr(file, self._name))) if is_usual else _NO_LIST
            self._by_bytes[field] = number
        return number


def _equal_to_first(view: NDArray[np.uint8], begins: Positions, length: int) -> Positions:
    """Return which of some pieces of one length equal the first."""
    words = np.ndarray((len(view) - _WORD_BYTES + 1,), "<u8", view, strides=(1,))
    equal = np.arange(len(begins))
    for start in range(0, length, _WORD_BYTES):
        differences = words[begins[equal] + start] ^ words[begins[0] + start]
        surplus = max(start + _WORD_BYTES - length, 0)
        if surplus:
            differences <<= np.uint64(8 * surplus)
        if differences.any():
            equal = equal[differences == 0]
    return equal


def _are_ascii(view: NDArray[np.uint8], spans: Spans) -> NDArray[np.bool_]:
    """Return which ascending spans are ASCII and therefore UTF-8."""
    filled = np.flatnonzero(spans.begins < spans.ends)
    ascii_only = np.ones(len(spans.begins), dtype=np.bool_)
    if len(filled):
        borders = np.column_stack([spans.begins[filled], spans.ends[filled]]).ravel()
        bits = np.bitwise_or.reduceat(view[: borders[-1] + 1], borders)[::2]
        ascii_only[filled] = bits < _HIGH_BIT
    return ascii_only


def _offsets(counts: Positions) -> Positions:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _joined(some: list[_Files]) -> _Files:
    if len(some) < 2:
        return some[0] if some else _table([])
    return _Files._make([np.concatenate(columns) for columns in zip(*some, strict=True)])


def _table(rows: list[_Row]) -> _Files:
    """Return files, given one by one, as columns."""
    columns = zip(*rows, strict=True) if rows else [()] * len(_DTYPES)
    pairs = zip(columns, _DTYPES, strict=True)
    return _Files._make([np.array(column, dtype=dtype) for column, dtype in pairs])
