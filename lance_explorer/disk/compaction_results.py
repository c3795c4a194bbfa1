"""The effect of a compaction on metadata: row-ID sequences, and the fragment reuse history.

Both follow from the sequences and deletions of rewritten fragments, which are read here. No values
are read.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lance_explorer.format.fragment_reuse import (
    FragDigest,
    FragReuseGroup,
    FragReuseVersion,
    reuse_bytes_with,
)
from lance_explorer.history.history import History
from lance_explorer.history.reading.row_reader import FragmentContent, RowReader
from lance_explorer.history.rewrites.reuse_history import reuse_index
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.deletions import deleted_offsets
from lance_explorer.rowids.rechunking import Piece, rechunked, remaining
from lance_explorer.rowids.segments import encoding_of
from lance_explorer.rowids.sequence import Ranges, RowIdSequence
from lance_explorer.rowids.sizes import sequence_size

__all__ = ["CompactedRows", "NewRowIds", "new_sizes"]

_Places = NDArray[np.int64]

_SPILL, _INLINE_BYTES = "lance.row_lineage.spill", "lance.row_lineage.inline_max_bytes"
_MOST_INLINE_BYTES = 204_800
"""Longer sequences are spilled, if the table allows it (docs/FORMAT.md 3.4)."""

_CONTAINER_BITS, _CONTAINER_BYTES, _FEWEST_WITH_OFFSETS = 16, 1 << 13, 4


def new_sizes(num_rows: int, target: int) -> list[int]:
    """Return the rows of each fragment that a task writes: at least the target, if possible.

    Examples
    --------
    >>> new_sizes(11, 4), new_sizes(3, 4), new_sizes(0, 4)
    ([6, 5], [3], [])
    """
    if not num_rows:
        return []
    count = max(num_rows // target, 1)
    each, rest = divmod(num_rows, count)
    return [each + 1] * rest + [each] * (count - rest)


@dataclass(frozen=True, slots=True)
class NewRowIds:
    """The row-ID sequence of a new fragment.

    Attributes
    ----------
    num_rows : int
        Row IDs in it.
    num_segments : int or None
        Segments of which it consists; None if it is spilled into a column of the data file.
    size_bytes : int
        What it takes in the manifest.
    encodings : str
        How many of the segments have which encoding.
    """

    num_rows: int
    num_segments: int | None
    size_bytes: int
    encodings: str


class CompactedRows:
    """The rows that the tasks of a compaction rewrite, with their deletions.

    Parameters
    ----------
    view : HistoryView
        The table.
    history : History
        Its latest version alone.
    tasks : list of numpy.ndarray
        The positions of the fragments of each task.
    target : int
        How many rows a new fragment should have.
    """

    def __init__(
        self, view: HistoryView, history: History, tasks: list[_Places], target: int
    ) -> None:
        self._record, self._states = history.records[0], history.states
        self._tasks, self._target, self._live = tasks, target, history.live_rows
        config = dict(self._record.manifest.config)
        self._most_inline = float("inf")
        if config.get(_SPILL) == "true":
            self._most_inline = int(config.get(_INLINE_BYTES, _MOST_INLINE_BYTES))
        self._start, self._stop, has_range = self._states.row_id_ranges
        has_none = self._states.row_id_storage == 0
        self._is_known = (has_range | has_none) & (self._states.deletion_types < 0)
        places = np.concatenate([*tasks, np.empty(0, dtype=np.int64)])
        others = self._states.ids[places[~self._is_known[places]]]
        self._contents = dict[int, FragmentContent]()
        if len(others):
            reader = RowReader(view, self._record.version)
            contents = reader.contents(set(others.tolist()), with_versions=False)
            self._contents = {content.fragment.id: content for content in contents}

    def row_ids(self) -> Iterator[list[NewRowIds]]:
        """Yield the sequences of the fragments that each task writes."""
        for task in self._tasks:
            sizes = new_sizes(int(self._live[task].sum()), self._target)
            yield [self._encoding(sequence) for sequence in rechunked(self._pieces(task), sizes)]

    def _encoding(self, sequence: RowIdSequence) -> NewRowIds:
        size = sequence_size(sequence)
        if size > self._most_inline:
            return NewRowIds(len(sequence), None, 0, "spilled")
        forms = Counter[str]()
        for part in sequence.parts:
            if isinstance(part, Ranges):
                forms["range"] += len(part.starts)
            else:
                forms[encoding_of(part)] += 1
        words = ", ".join([f"{count:,} {form}" for form, count in sorted(forms.items())])
        return NewRowIds(len(sequence), sequence.num_segments, size, words)

    def reuse_bytes(self) -> int:
        """Return the bytes of the reuse history after a compaction that defers indices."""
        index = reuse_index(self._record)
        highest = self._record.manifest.max_fragment_id
        first, groups = 0 if highest is None else highest + 1, list[FragReuseGroup]()
        for task in self._tasks:
            sizes = new_sizes(int(self._live[task].sum()), self._target)
            new = [FragDigest(first + number, size, 0) for number, size in enumerate(sizes)]
            first += len(sizes)
            physical = self._states.physical_rows[task]
            numbers = (self._states.ids[task], physical, physical - self._live[task])
            old = [FragDigest(*each) for each in zip(*[n.tolist() for n in numbers], strict=True)]
            survivors = bytes(8 + sum([self._bitmap_bytes(place) for place in task.tolist()]))
            groups.append(FragReuseGroup(survivors, tuple(old), tuple(new)))
        version = FragReuseVersion(self._record.version + 1, tuple(groups))
        return reuse_bytes_with(b"" if index is None else index.details, version)

    def _pieces(self, task: _Places) -> Iterator[Piece]:
        """Yield the segments of the live rows of a task, in their order."""
        changes = np.flatnonzero(np.diff(self._is_known[task])) + 1
        for places in np.split(task, changes):
            if self._is_known[places[0]]:
                yield Ranges(self._start[places], self._stop[places])
                continue
            for fragment_id in self._states.ids[places].tolist():
                content = self._contents[fragment_id]
                deleted = deleted_offsets(content.deleted).astype(np.int64)
                yield from remaining(content.row_ids or RowIdSequence(()), deleted)

    def _bitmap_bytes(self, place: int) -> int:
        """Return the bytes of the surviving addresses of a fragment, as a Roaring bitmap.

        Each container has the smallest form: numbers, bits, or runs (docs/FORMAT.md 5).
        """
        content = self._contents.get(int(self._states.ids[place]))
        if content is None:
            rows = int(self._states.physical_rows[place])
            size = -(-rows >> _CONTAINER_BITS)
            runs = np.ones(size, dtype=np.int64)
            counts = np.full(size, 1 << _CONTAINER_BITS)
            counts[-1:] = rows - (size - 1 << _CONTAINER_BITS)
        else:
            live = content.live_offsets()
            container = live >> _CONTAINER_BITS
            begins = (np.diff(live, prepend=-2) != 1) | (np.diff(container, prepend=-1) != 0)
            counts = np.bincount(container)
            runs = np.bincount(container[begins], minlength=len(counts))
            counts, runs = counts[counts > 0], runs[counts > 0]
        if not len(counts):
            return 0
        as_runs = 2 + 4 * runs
        otherwise = np.minimum(2 * counts, _CONTAINER_BYTES)
        offsets, header = 4 * len(counts), 8 + 4 * len(counts)
        if (as_runs < otherwise).any():
            header += -(-len(counts) // 8) - 4
            offsets = offsets if len(counts) >= _FEWEST_WITH_OFFSETS else 0
        return int(4 + header + offsets + np.minimum(as_runs, otherwise).sum())
