"""The distinct states of fragments as columns; a record is made on request."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any, NamedTuple, Self, overload

import numpy as np
from numpy.typing import NDArray
from propcache.api import cached_property

from lance_explorer.errors import FormatError
from lance_explorer.format.fragment_columns import (
    FragmentColumns,
    SequenceStorage,
    sequence_storage,
)
from lance_explorer.format.fragment_walk import columns_of_messages
from lance_explorer.format.fragments import (
    DIGEST_BYTES,
    SHORTENED,
    Fragment,
    StoredSequence,
    decode_fragment,
    shortened,
)
from lance_explorer.format.sequences import decode_row_id_sequence
from lance_explorer.format.single_ranges import SingleRanges, single_ranges
from lance_explorer.rowids.arrays import Uint64Array, aranges

__all__ = [
    "UNKNOWN_COUNT",
    "ColumnsPart",
    "StateFiles",
    "States",
    "columns_of",
    "inline_bytes",
    "num_row_ids",
]

UNKNOWN_COUNT = -1

_Counts = NDArray[np.int64]

_MOST_RECORDS = 100_000
"""The most records that are kept; later ones are made again, so that memory is bounded."""


@dataclass(frozen=True, eq=False)
class ColumnsPart:
    """Some fragments that were decoded together.

    Attributes
    ----------
    columns : FragmentColumns
        The fragments.
    chosen : NDArray[np.int64]
        Which of them are states here, by number.
    """

    columns: FragmentColumns
    chosen: NDArray[np.int64]
    _records: dict[int, Fragment] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.chosen)

    def __iter__(self) -> Iterator[Fragment]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, number: int) -> Fragment:
        record = self._records.get(number)
        if record is None:
            if len(self._records) >= _MOST_RECORDS:
                self._records.clear()
            record = self._records[number] = self.columns.record(int(self.chosen[number]))
        return record

    def message(self, number: int) -> bytes:
        """Return the undecoded message of a state, shortened."""
        place = self.chosen[number]
        return shortened(self.columns.data[self.columns.begin[place] : self.columns.end[place]])


def columns_of(messages: Sequence[bytes]) -> FragmentColumns:
    """Decode messages, some of them shortened: these have the right sizes as records."""
    columns = columns_of_messages(messages)
    if SHORTENED in columns.data:
        for number, message in enumerate(messages):
            if SHORTENED in message:
                columns.unusual[number] = decode_fragment(message)
    return columns


_MOST_PARTS = 16
"""States that were in more parts are decoded again as one: each column costs time a part."""


class StateFiles(NamedTuple):
    """Data files, concatenated; ``-1`` stands for an unknown size, and for no base path."""

    states: NDArray[np.int64]
    paths: list[str]
    size_bytes: _Counts
    base_ids: NDArray[np.int64]


class States(Sequence[Fragment]):
    """The states of fragments, by number, in the order in which they were found.

    Parameters
    ----------
    parts : iterable of ColumnsPart
        The states.
    doubted : collection of Fragment
        States of which it is known that something contradicts their number of rows.
    """

    def __init__(
        self, parts: Iterable[ColumnsPart] = (), doubted: Collection[Fragment] = ()
    ) -> None:
        self.parts = tuple([part for part in parts if len(part)])
        self._doubted = doubted
        self._begins = [0, *accumulate(len(part) for part in self.parts)]

    def __len__(self) -> int:
        return self._begins[-1]

    @overload
    def __getitem__(self, number: int) -> Fragment: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Fragment]: ...

    def __getitem__(self, number: int | slice) -> Fragment | Sequence[Fragment]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(f"no state {number} among {len(self)}")
        part, place = self._place(number)
        return part[place]

    def __iter__(self) -> Iterator[Fragment]:
        for part in self.parts:
            yield from part

    def message(self, number: int) -> bytes:
        """Return the undecoded message of a state, shortened."""
        part, place = self._place(number)
        return part.message(place)

    def key(self, number: int) -> bytes:
        """Return what only equal fragments have: :meth:`FragmentColumns.key`."""
        part, place = self._place(number)
        return shortened(part.columns.key(int(part.chosen[place])))

    def inline_row_ids(self, number: int) -> tuple[bytes | None, int | None]:
        """Return the row IDs of a state, undecoded, None if they are elsewhere; and its rows."""
        part, place = self._place(number)
        columns, place = part.columns, int(part.chosen[place])
        ids, rows = columns.row_ids, int(columns.physical_rows[place]) or None
        if ids.storage[place] != SequenceStorage.INLINE:
            return None, rows
        return columns.data[ids.begin[place] : ids.end[place]], rows

    def _place(self, number: int) -> tuple[ColumnsPart, int]:
        part = bisect_right(self._begins, number) - 1
        return self.parts[part], number - self._begins[part]

    @property
    def has_unusual(self) -> bool:
        """Whether a fragment may be spelled otherwise than writers do."""
        return any(part.columns.unusual for part in self.parts)

    def only(self, chosen: NDArray[np.int64]) -> Self:
        """Return some states in a given order, which renumbers them."""
        owner = np.searchsorted(self._begins, chosen, side="right") - 1
        begins = np.flatnonzero(np.diff(owner, prepend=-1))
        if len(begins) > _MOST_PARTS:
            columns = columns_of([self.message(number) for number in chosen.tolist()])
            return type(self)([ColumnsPart(columns, np.arange(len(columns)))])
        runs = zip(owner[begins].tolist(), np.split(chosen, begins)[1:], strict=True)
        parts = [(self.parts[part], numbers - self._begins[part]) for part, numbers in runs]
        return type(self)([ColumnsPart(p.columns, p.chosen[places]) for p, places in parts])

    @cached_property
    def ids(self) -> Uint64Array:
        """The fragment ID of each state."""
        return self._column(lambda columns: columns.id, lambda state: state.id, np.uint64)

    @cached_property
    def physical_rows(self) -> _Counts:
        """Rows including deleted ones; UNKNOWN_COUNT if unknown.

        They are unknown if row IDs, or another state of the same data file, contradict.
        """
        rows = self._column(
            lambda columns: _or_unknown(columns.physical_rows, columns.physical_rows > 0),
            lambda state: UNKNOWN_COUNT if state.physical_rows is None else state.physical_rows,
        )
        row_ids = self._column(_row_ids_of_columns, num_row_ids)
        rows = _or_unknown(rows, (row_ids < 0) | (row_ids == rows))
        rows[self._counted_differently(rows)] = UNKNOWN_COUNT
        if self._doubted:
            doubted = [number for number, state in enumerate(self) if state in self._doubted]
            rows[doubted] = UNKNOWN_COUNT
        return rows

    @cached_property
    def contradicted(self) -> frozenset[Fragment]:
        """The states whose number of rows is contradicted."""
        unknown = np.flatnonzero(self.physical_rows < 0).tolist()
        return frozenset([s for n in unknown if (s := self[n]).physical_rows is not None])

    def _counted_differently(self, rows: _Counts) -> list[int]:
        """Return states with a data file of another state that counts other rows in it.

        A file has one number of rows, whatever is deleted.
        """
        order = np.lexsort((rows, self.ids))
        ids, counts = self.ids[order], rows[order]
        differs = (ids[1:] == ids[:-1]) & (counts[1:] != counts[:-1]) & (counts[:-1] >= 0)
        numbers = list[int]()
        for id_ in np.unique(ids[1:][differs]).tolist():
            begin, end = np.searchsorted(ids, [id_, id_ + 1])
            states = [state for state in order[begin:end].tolist() if rows[state] >= 0]
            by_file = dict[str, set[int]]()
            for state in states:
                for file in self[state].files:
                    by_file.setdefault(file.path, set()).add(int(rows[state]))
            wrong = {path for path, some in by_file.items() if len(some) > 1}
            numbers += [s for s in states if any(file.path in wrong for file in self[s].files)]
        return numbers

    @cached_property
    def num_deleted_rows(self) -> _Counts:
        """Deleted rows as the manifest counts them; UNKNOWN_COUNT if only the file has them."""
        return self._column(_deleted_of_columns, _deleted_of)

    @cached_property
    def look_odd(self) -> NDArray[np.bool_]:
        """Whether a count of each is missing, or impossible."""
        return self._column(_look_odd, _looks_odd, np.bool_)

    @cached_property
    def num_files(self) -> _Counts:
        """The number of data files of each, including those of overlays."""
        return self._column(
            lambda columns: np.diff(columns.files.offsets), lambda state: len(state.all_files)
        )

    @cached_property
    def data_bytes(self) -> _Counts:
        """Bytes of the data files; UNKNOWN_COUNT if the writer did not store one of them."""
        return self._column(_bytes_of_files, _bytes_of)

    @cached_property
    def row_id_bytes(self) -> _Counts:
        """Bytes of the inline row-ID sequence; 0 where there is none."""
        return self._column(
            lambda columns: columns.row_ids.end - columns.row_ids.begin,
            lambda state: inline_bytes(state.row_ids),
        )

    @cached_property
    def row_version_bytes(self) -> _Counts:
        """Bytes of both inline row-version sequences."""
        return self._column(
            lambda columns: (
                columns.created_at.end
                - columns.created_at.begin
                + columns.last_updated_at.end
                - columns.last_updated_at.begin
            ),
            lambda state: inline_bytes(state.created_at) + inline_bytes(state.last_updated_at),
        )

    @cached_property
    def row_id_storage(self) -> NDArray[np.uint8]:
        """Where the row IDs are, a SequenceStorage."""
        return self._column(
            lambda columns: columns.row_ids.storage,
            lambda state: sequence_storage(state.row_ids),
            np.uint8,
        )

    @cached_property
    def row_version_storage(self) -> NDArray[np.uint8]:
        """Where the versions that created the rows are, a SequenceStorage."""
        return self._column(
            lambda columns: columns.created_at.storage,
            lambda state: sequence_storage(state.created_at),
            np.uint8,
        )

    @cached_property
    def num_overlays(self) -> _Counts:
        """How many files with new values for some rows each has."""
        return self._column(
            lambda columns: np.zeros(len(columns)), lambda state: len(state.overlays)
        )

    @cached_property
    def deletion_types(self) -> _Counts:
        """The type of each deletion file; -1 where there is none."""
        return self._column(
            lambda columns: _or_unknown(
                columns.deletion_files.file_type, columns.deletion_files.present
            ),
            lambda state: state.deletion_file.file_type if state.deletion_file else -1,
        )

    def have_fields(self, field_ids: Collection[int]) -> NDArray[np.bool_]:
        """Tell for each state whether one of its data files has one of some fields."""
        wanted = frozenset(field_ids)

        def of_columns(columns: FragmentColumns) -> NDArray[np.bool_]:
            files, fields = columns.files, columns.files.fields
            lists = np.split(fields.values, fields.offsets[1:-1])
            has = np.array([not wanted.isdisjoint(some.tolist()) for some in lists])
            until = np.append(0, np.cumsum(has[fields.number]))
            return np.asarray(np.diff(until[files.offsets]) > 0)

        def of_record(state: Fragment) -> bool:
            return any(not wanted.isdisjoint(file.fields) for file in state.all_files)

        return self._column(of_columns, of_record, np.bool_)

    @cached_property
    def files(self) -> "StateFiles":
        """The data files of all states, including those of overlays, state by state."""
        files = [_files_of(part) for part in self.parts]
        paths, sizes, bases = [list(chain(*each)) for each in zip(*files, strict=True)] or ([],) * 3
        return StateFiles(
            np.repeat(np.arange(len(self)), self.num_files),
            paths,
            np.array(sizes, dtype=np.int64),
            np.array(bases, dtype=np.int64),
        )

    def show_same_files(
        self, before: NDArray[np.int64], after: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Tell of pairs of states whether columns show that both have the same files.

        False of unusual ones, which are not compared, and of states in different parts.
        """
        same = np.zeros(len(before), dtype=np.bool_)
        for begin, part in zip(self._begins, self.parts, strict=False):
            ones, others = before - begin, after - begin
            size = len(part)
            here = (ones >= 0) & (ones < size) & (others >= 0) & (others < size)
            some = part.chosen[ones[here]], part.chosen[others[here]]
            same[here] = part.columns.have_same_files(*some)
        return same

    @cached_property
    def row_id_ranges(self) -> SingleRanges:
        """The row IDs of the states whose sequence is one range that has an ID for each row."""
        start, stop = np.zeros((2, len(self)), dtype=np.uint64)
        found = np.zeros(len(self), dtype=np.bool_)
        for begin, part in zip(self._begins, self.parts, strict=False):
            some = slice(begin, begin + len(part))
            ranges = single_ranges(part.columns)
            start[some], stop[some], found[some] = [each[part.chosen] for each in ranges]
        found &= stop - start == self.physical_rows.astype(np.uint64)
        return SingleRanges(start, stop, found)

    def _column(
        self,
        of_columns: Callable[[FragmentColumns], NDArray[Any]],
        of_record: Callable[[Fragment], Any],
        dtype: type[np.generic] = np.int64,
    ) -> NDArray[Any]:
        """Return a column of all states; for an unusual fragment from its record."""
        values = [np.empty(0, dtype)]
        for part in self.parts:
            column = of_columns(part.columns).astype(dtype)
            for number, record in part.columns.unusual.items():
                column[number] = of_record(record)
            values.append(column[part.chosen])
        return np.concatenate(values)


def _files_of(part: ColumnsPart) -> tuple[list[str], list[int], list[int]]:
    """Return paths, sizes and base IDs of the data files of some states."""
    if not part.columns.unusual:
        columns, data = part.columns.files, part.columns.data
        offsets = columns.offsets
        some = aranges(offsets[part.chosen], np.diff(offsets)[part.chosen])
        spans = zip(columns.path_begin[some].tolist(), columns.path_end[some].tolist(), strict=True)
        sizes = columns.size_bytes[some]
        return (
            [data[begin:end].decode() for begin, end in spans],
            _or_unknown(sizes, sizes > 0).tolist(),
            columns.base_id[some].tolist(),
        )
    files = [file for state in part for file in state.all_files]
    return (
        [file.path for file in files],
        [UNKNOWN_COUNT if file.size_bytes is None else file.size_bytes for file in files],
        [-1 if file.base_id is None else file.base_id for file in files],
    )


def inline_bytes(sequence: StoredSequence | None) -> int:
    """Return how many bytes of a manifest a sequence takes."""
    return 0 if sequence is None else sequence.num_bytes


def num_row_ids(state: Fragment) -> int:
    """Return how many row IDs an inline sequence of few bytes has; UNKNOWN_COUNT for others."""
    return _num_row_ids(state.row_ids.data) if state.row_ids else UNKNOWN_COUNT


def _num_row_ids(sequence: bytes) -> int:
    try:
        return len(decode_row_id_sequence(sequence)) if sequence else UNKNOWN_COUNT
    except FormatError:  # which reading it tells
        return UNKNOWN_COUNT


def _row_ids_of_columns(columns: FragmentColumns) -> _Counts:
    start, stop, found = single_ranges(columns)
    counts = _or_unknown(stop - start, found)
    begin, end = columns.row_ids.begin, columns.row_ids.end
    for number in np.flatnonzero(~found & (end > begin) & (end - begin <= DIGEST_BYTES)).tolist():
        counts[number] = _num_row_ids(columns.data[begin[number] : end[number]])
    return counts


def _deleted_of_columns(columns: FragmentColumns) -> _Counts:
    files = columns.deletion_files
    return _or_unknown(files.num_deleted_rows, ~files.present | (files.num_deleted_rows > 0))


def _deleted_of(state: Fragment) -> int:
    if state.deletion_file is None:
        return 0
    count = state.deletion_file.num_deleted_rows
    return UNKNOWN_COUNT if count is None else count


def _looks_odd(state: Fragment) -> bool:
    file, rows = state.deletion_file, state.physical_rows
    if file is None:
        return rows is None
    return rows is None or file.num_deleted_rows is None or file.num_deleted_rows > rows


def _look_odd(columns: FragmentColumns) -> NDArray[np.bool_]:
    files, rows = columns.deletion_files, columns.physical_rows
    is_unknown = (rows == 0) | (files.present & (files.num_deleted_rows == 0))
    return np.asarray(is_unknown | (files.num_deleted_rows > rows))


def _or_unknown(values: NDArray[Any], is_known: NDArray[np.bool_]) -> _Counts:
    return np.where(is_known, values.astype(np.int64), UNKNOWN_COUNT)


def _bytes_of_files(columns: FragmentColumns) -> _Counts:
    sizes, offsets = columns.files.size_bytes, columns.files.offsets
    total = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes.astype(np.int64))])
    unknown = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes == 0)])
    sums = total[offsets[1:]] - total[offsets[:-1]]
    return _or_unknown(sums, unknown[offsets[1:]] == unknown[offsets[:-1]])


def _bytes_of(state: Fragment) -> int:
    sizes = [file.size_bytes for file in state.all_files]
    return UNKNOWN_COUNT if None in sizes else sum([size or 0 for size in sizes])
