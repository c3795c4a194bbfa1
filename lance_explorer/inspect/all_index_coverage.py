"""Index coverage over all versions: how many rows each index answers for, and since when.

A row for each fragment and segment would grow with versions times fragments, since each new segment
lists all fragments again. This frame has one row for each index, and its cost is the number of
changes: rows are added up as fragments change state, or become covered by an index.
"""

from collections.abc import Collection, Iterator
from typing import NamedTuple

import polars as pl
from pyroaring import BitMap

from lance_explorer.format.index_details import index_type
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.frames.columns import BRANCH, COUNT, INTERVAL, TEXT, Column, FrameSchema
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.intervals import intervals_of
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.indices import covered_fragments
from lance_explorer.inspect.intervals import interval_columns

__all__ = ["ALL_INDEX_COVERAGE", "all_index_coverage"]

ALL_INDEX_COVERAGE = FrameSchema(
    "all_index_coverage",
    (
        BRANCH,
        Column("name", TEXT, "name of the index"),
        Column("index_type", TEXT, "index type, such as BTREE; unknown if the writer stored none"),
        Column("num_segments", COUNT, "segments of the index"),
        Column("num_fragments_covered", COUNT, "fragments that the index covers", nullable=True),
        Column(
            "num_fragments_to_scan", COUNT, "fragments that the index does not cover", nullable=True
        ),
        Column("num_rows_answered", COUNT, "live rows that the index finds", nullable=True),
        Column("num_rows_to_scan", COUNT, "live rows that the index does not find", nullable=True),
        *INTERVAL,
    ),
)
"""The columns of ``inspect.all_index_coverage()``. What an index with a segment of unknown coverage
answers is null."""


class _Line(NamedTuple):
    name: str
    index_type: str
    num_segments: int
    num_fragments_covered: int | None
    num_fragments_to_scan: int | None
    num_rows_answered: int | None
    num_rows_to_scan: int | None


class _Tally:
    """Present fragments, their count and rows."""

    def __init__(self) -> None:
        self._fragments = self._rows = self._unknown = 0

    def add(self, num_rows: int, sign: int) -> None:
        """Count one fragment more, or one less; a negative number of rows is unknown."""
        self._fragments += sign
        self._rows += sign * max(num_rows, 0)
        self._unknown += sign * (num_rows < 0)

    @property
    def counts(self) -> tuple[int, int | None]:
        """Fragments and rows."""
        return self._fragments, None if self._unknown else self._rows


class _Index:
    """One index as it is in some version."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._kind, self._num_segments = "", 0
        self._listed: BitMap | None = BitMap()
        self._covered = _Tally()

    def change(
        self, kind: str, num_segments: int, listed: BitMap | None, there: dict[int, int]
    ) -> None:
        """Update the index to the next version."""
        self._kind, self._num_segments = kind, num_segments
        old, new = self._listed or BitMap(), listed or BitMap()
        for fragment_id in old ^ new:
            if fragment_id in there:
                self._covered.add(there[fragment_id], 1 if fragment_id in new else -1)
        self._listed = listed

    def count(self, fragment_id: int, num_rows: int, sign: int) -> None:
        """Count a fragment that was added or removed."""
        if self._listed is not None and fragment_id in self._listed:
            self._covered.add(num_rows, sign)

    def line(self, everything: _Tally) -> _Line:
        """Return what the index covers of all fragments."""
        head = self._name, self._kind, self._num_segments
        if self._listed is None:
            return _Line(*head, None, None, None, None)
        (covered, covered_rows), (fragments, rows) = self._covered.counts, everything.counts
        to_scan = None if covered_rows is None or rows is None else rows - covered_rows
        return _Line(*head, covered, fragments - covered, covered_rows, to_scan)


def all_index_coverage(view: HistoryView) -> pl.DataFrame:
    """Return one row for each index and each interval with the same coverage."""
    history = view.history
    distinct, intervals = intervals_of(list(_lines(view)))
    lines = [distinct[key] for key in intervals.keys.tolist()]
    columns = list(zip(*lines, strict=True)) or [()] * len(_Line._fields)
    return ALL_INDEX_COVERAGE.build(
        {
            "branch": [view.branch] * len(lines),
            **dict(zip(_Line._fields, columns, strict=True)),
            **interval_columns(history, intervals),
        }
    )


def _lines(view: HistoryView) -> Iterator[Collection[_Line]]:
    """Yield the coverage of all indices, version by version; the same object if nothing changed."""
    history = view.history
    rows = history.live_rows
    there: dict[int, int] = {}
    everything = _Tally()
    indices: dict[str, _Index] = {}
    known: object = None
    lines: tuple[_Line, ...] = ()
    for position, record in enumerate(history.records):
        removed, added = history.states_removed(position), history.states_added(position)
        if not len(removed) and not len(added) and record.indices is known:
            yield lines
            continue
        for states, sign in ((removed, -1), (added, 1)):
            ids = history.states.ids[states].tolist()
            for fragment_id, num_rows in zip(ids, rows[states].tolist(), strict=True):
                everything.add(num_rows, sign)
                for index in indices.values():
                    index.count(fragment_id, num_rows, sign)
                if sign > 0:
                    there[fragment_id] = num_rows
                else:
                    del there[fragment_id]
        if record.indices is not known:
            known = record.indices
            indices = _changed(view, record, indices, there)
        lines = tuple([index.line(everything) for index in indices.values()])
        yield lines


def _changed(
    view: HistoryView, record: VersionRecord, before: dict[str, _Index], there: dict[int, int]
) -> dict[str, _Index]:
    """Return the indices of a version, given those of the previous one."""
    reuse = fragment_reuse(view, record)
    by_name: dict[str, list[BitMap | None]] = {}
    kinds: dict[str, str] = {}
    for segment in record.indices:
        if segment.name not in SYSTEM_INDICES:
            ids = covered_fragments(segment)
            listed = None if ids is None else BitMap(carried_over(ids, reuse)) if reuse else ids
            by_name.setdefault(segment.name, []).append(listed)
            kinds.setdefault(segment.name, index_type(segment))
    indices = {}
    for name, parts in by_name.items():
        known = [part for part in parts if part is not None]
        listed = BitMap.union(*known) if len(known) == len(parts) else None
        indices[name] = before.get(name) or _Index(name)
        indices[name].change(kinds[name], len(parts), listed, there)
    return indices
