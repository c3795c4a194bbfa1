"""Index coverage: the rows of a version that its indices find, and those that must be scanned."""

from collections.abc import Iterator
from typing import NamedTuple

import polars as pl

from lance_explorer.format.index_details import index_type
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.frames.columns import BRANCH, COUNT, ID, TEXT, VERSION, Column, FrameSchema
from lance_explorer.frames.counts import known
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.indices import covered_fragments
from lance_explorer.inspect.stale_entries import StaleEntries

__all__ = ["INDEX_COVERAGE", "index_coverage"]

INDEX_COVERAGE = FrameSchema(
    "index_coverage",
    (
        VERSION,
        BRANCH,
        Column("name", TEXT, "name of the index; its segments share it"),
        Column(
            "uuid",
            TEXT,
            "UUID of the segment; null: no segment of the index covers the fragment",
            nullable=True,
        ),
        Column("index_type", TEXT, "index type, such as BTREE; unknown if the writer stored none"),
        Column("fragment_id", ID, "fragment ID"),
        Column(
            "is_current",
            pl.Boolean(),
            "whether the version has the fragment; false: only the segment still lists it",
        ),
        Column(
            "is_covered", pl.Boolean(), "whether the segment covers the fragment", nullable=True
        ),
        Column("num_rows_answered", COUNT, "live rows that the segment finds", nullable=True),
        Column("num_rows_to_scan", COUNT, "live rows that no segment finds", nullable=True),
        Column(
            "num_stale_entries",
            COUNT,
            "upper bound of entries for rows that were masked since the segment was built",
            nullable=True,
        ),
    ),
)
"""The columns of ``inspect.index_coverage()``. What a segment of unknown coverage answers is null;
so are the stale entries of zone maps and bloom filters, which have none for each row, and of
segments that were built from a version that is not kept."""


class _Line(NamedTuple):
    name: str
    uuid: str | None
    index_type: str
    fragment_id: int
    is_current: bool
    is_covered: bool | None
    num_rows_answered: int | None
    num_rows_to_scan: int | None
    num_stale_entries: int | None


class _Coverage(NamedTuple):
    """A segment, the fragments that it covers, and those that it no longer covers."""

    segment: IndexMetadata
    current: frozenset[int] | None
    past: frozenset[int]


def index_coverage(view: HistoryView, version: int) -> pl.DataFrame:
    """Return one row for each fragment of a version and each index segment that covers it.

    Fragments that an index does not cover have one row without segment for it. The fragments of a
    segment are first mapped through the fragment reuse history; fragments that the version no
    longer has come last. System indices are left out.
    """
    history = view.version(version)
    rows = dict(zip(history.states.ids.tolist(), known(history.live_rows), strict=True))
    stale = StaleEntries(view, version)
    lines: list[_Line] = []
    for segments in _by_name(view, version, frozenset(rows)):
        lines += _current(segments, rows, stale)
        lines += _past(segments, stale)
    columns = list(zip(*lines, strict=True)) or [()] * len(_Line._fields)
    return INDEX_COVERAGE.build(
        {
            "version": [version] * len(lines),
            "branch": [view.branch] * len(lines),
            **dict(zip(_Line._fields, columns, strict=True)),
        }
    )


def _by_name(view: HistoryView, version: int, there: frozenset[int]) -> list[list[_Coverage]]:
    """Return the coverage of all segments, grouped by index."""
    record = view.version(version).records[0]
    reuse = fragment_reuse(view, record)
    by_name: dict[str, list[_Coverage]] = {}
    for segment in record.indices:
        if segment.name in SYSTEM_INDICES:
            continue
        ids = covered_fragments(segment)
        if ids is None:
            coverage = _Coverage(segment, None, frozenset())
        else:
            listed = frozenset(carried_over(ids, reuse))
            coverage = _Coverage(segment, listed & there, listed - there)
        by_name.setdefault(segment.name, []).append(coverage)
    return list(by_name.values())


def _current(
    segments: list[_Coverage], rows: dict[int, int | None], stale: StaleEntries
) -> Iterator[_Line]:
    for fragment_id, num_rows in rows.items():
        is_told = False
        for segment, current, _ in segments:
            if current is None:
                is_told = True
                yield _line(segment, fragment_id, True, None, None, None, None)
            elif fragment_id in current:
                is_told = True
                count = stale.count(segment, current, fragment_id)
                yield _line(segment, fragment_id, True, True, num_rows, 0, count)
        if not is_told:
            nobody = _line(segments[0].segment, fragment_id, True, False, 0, num_rows, 0)
            yield nobody._replace(uuid=None)


def _past(segments: list[_Coverage], stale: StaleEntries) -> Iterator[_Line]:
    for segment, current, past in segments:
        for fragment_id in sorted(past):
            count = stale.count(segment, current or frozenset(), fragment_id)
            yield _line(segment, fragment_id, False, False, 0, 0, count)


def _line(
    segment: IndexMetadata,
    fragment_id: int,
    is_current: bool,
    is_covered: bool | None,
    answered: int | None,
    to_scan: int | None,
    stale: int | None,
) -> _Line:
    name, kind = segment.name, index_type(segment)
    return _Line(
        name, segment.uuid, kind, fragment_id, is_current, is_covered, answered, to_scan, stale
    )
