"""Number fragments while reading: a fragment that was seen before keeps its number."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import FormatError
from lance_explorer.format.fragment_columns import FragmentColumns
from lance_explorer.format.fragment_walk import columns_of_messages
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.manifest import read_fragments
from lance_explorer.history.states import ColumnsPart, States
from lance_explorer.rowids.arrays import Uint64Array

__all__ = ["Fragments", "StateBuilder"]

_FEW = 1_000
_SMALL_PART = 16

Fragments = Sequence[Fragment] | FragmentColumns
"""Some fragments of a manifest: few as records, many as columns."""


class _Large(NamedTuple):
    """States that are columns: the number of the first, and their fragment IDs in order."""

    begin: int
    part: ColumnsPart
    ids: Uint64Array
    order: NDArray[np.int64]

    @classmethod
    def of(cls, part: ColumnsPart, begin: int) -> "_Large":
        ids = part.columns.id[part.chosen]
        order = np.argsort(ids, kind="stable")
        return cls(begin, part, ids[order], order)

    def find(self, record: Fragment) -> int | None:
        """Return the number of a state, None if it is missing."""
        place = int(np.searchsorted(self.ids, np.uint64(record.id)))
        while place < len(self.ids) and self.ids[place] == record.id:
            number = int(self.order[place])
            if self.part[number] == record:
                return self.begin + number
            place += 1
        return None

    def find_all(self, columns: FragmentColumns, numbers: NDArray[np.int64]) -> None:
        """Set the numbers of fragments whose bytes equal those of a known state."""
        place = np.searchsorted(self.ids, columns.id)
        within = np.minimum(place, len(self.ids) - 1)
        places = np.flatnonzero((numbers < 0) & (self.ids[within] == columns.id))
        states = self.order[place[places]]
        ours, mine = self.part.columns, self.part.chosen[states]
        begins, ends = columns.begin[places], columns.end[places]
        old_begins, old_ends = ours.begin[mine], ours.end[mine]
        spans = zip(*[a.tolist() for a in (begins, ends, old_begins, old_ends)], strict=True)
        data, old_data = columns.data, ours.data
        equal = [data[b:e] == old_data[old_b:old_e] for b, e, old_b, old_e in spans]
        are_equal = np.array(equal, dtype=np.bool_)
        numbers[places[are_equal]] = states[are_equal] + self.begin


class StateBuilder:
    """The states that were found so far.

    Parameters
    ----------
    known : States
        Those of the versions that were read earlier.
    """

    def __init__(self, known: States) -> None:
        self.ids: list[int] = known.ids.tolist()
        self._parts: list[ColumnsPart | list[Fragment]] = []
        self._large: list[_Large] = []
        self._numbers: dict[Fragment, int] = {}
        begin = 0
        for part in known.parts:
            if isinstance(part, ColumnsPart):
                self._large.append(_Large.of(part, begin))
                self._parts.append(part)
            else:
                self._parts.append(list(part))
                self._numbers.update({state: begin + i for i, state in enumerate(part)})
            begin += len(part)

    def __len__(self) -> int:
        return len(self.ids)

    def read(self, messages: list[bytes], data: bytes) -> Fragments:
        """Decode some fragments of a manifest.

        Raises
        ------
        CorruptFileError
            If one is damaged; it tells the place in the file, of which ``data`` are the bytes.
        """
        if len(messages) < max(_FEW, len(self) // _SMALL_PART):
            return read_fragments(messages, data)
        try:
            columns = columns_of_messages(messages)
        except FormatError:
            return read_fragments(messages, data)
        ids = np.sort(columns.id)
        return columns if (ids[1:] != ids[:-1]).all() else read_fragments(messages, data)

    def number(self, fragments: Fragments) -> list[int]:
        """Return the numbers of fragments, new ones for unseen fragments."""
        if isinstance(fragments, FragmentColumns):
            return self._number_columns(fragments)
        return [self._number_record(fragment) for fragment in fragments]

    def finish(self) -> States:
        """Return all states."""
        return States([p if isinstance(p, ColumnsPart) else tuple(p) for p in self._parts])

    def _number_record(self, fragment: Fragment) -> int:
        number = self._find(fragment)
        if number is None:
            number = self._numbers[fragment] = len(self)
            if not self._parts or isinstance(self._parts[-1], ColumnsPart):
                self._parts.append([])
            records = self._parts[-1]
            assert isinstance(records, list)
            records.append(fragment)
            self.ids.append(fragment.id)
        return number

    def _find(self, fragment: Fragment) -> int | None:
        number = self._numbers.get(fragment)
        for large in self._large if number is None else ():
            number = large.find(fragment)
            if number is not None:
                break
        return number

    def _number_columns(self, columns: FragmentColumns) -> list[int]:
        numbers = np.full(len(columns), -1, dtype=np.int64)
        for large in self._large:
            large.find_all(columns, numbers)
        known = np.array(self.ids, dtype=np.uint64)
        seen = np.flatnonzero((numbers < 0) & np.isin(columns.id, known))
        for place in seen.tolist():  # other bytes may still mean the same
            number = self._find(columns.record(place))
            if number is not None:
                numbers[place] = number
        new = np.flatnonzero(numbers < 0)
        if len(new):
            part = ColumnsPart(columns, new)
            numbers[new] = np.arange(len(self), len(self) + len(new))
            self._large.append(_Large.of(part, len(self)))
            self._parts.append(part)
            self.ids += columns.id[new].tolist()
        result: list[int] = numbers.tolist()
        return result

    def to_look_at(self, begin: int) -> Iterator[tuple[int, Fragment]]:
        """Yield the states from number ``begin`` on whose counts are missing or impossible."""
        stop = len(self)
        for part in reversed(self._parts):
            first = stop - len(part)
            if stop <= begin:
                return
            skipped = max(begin - first, 0)
            if isinstance(part, ColumnsPart):
                places = np.flatnonzero(_looks_odd(part.columns)[part.chosen[skipped:]]) + skipped
                yield from [(first + place, part[place]) for place in places.tolist()]
            else:
                some = enumerate(part[skipped:], first + skipped)
                yield from [(number, state) for number, state in some if _is_odd(state)]
            stop = first


def _is_odd(state: Fragment) -> bool:
    file, rows = state.deletion_file, state.physical_rows
    if file is None:
        return rows is None
    return rows is None or file.num_deleted_rows is None or file.num_deleted_rows > rows


def _looks_odd(columns: FragmentColumns) -> NDArray[np.bool_]:
    files, rows = columns.deletion_files, columns.physical_rows
    is_unknown = (rows == 0) | (files.present & (files.num_deleted_rows == 0))
    odd: NDArray[np.bool_] = is_unknown | (files.num_deleted_rows > rows)
    return odd
