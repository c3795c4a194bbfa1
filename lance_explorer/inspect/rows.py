"""The rows of one version: their identities, places and ages."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.frames.columns import ID, Column, FrameSchema
from lance_explorer.history.columns.names import free_name
from lance_explorer.history.reading.row_reader import FragmentContent, RowReader
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.row_creation import CREATED_AT_SOURCE, created_at
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["ROWS", "fragment_rows", "rows", "rows_of_fragments"]

ROWS = FrameSchema(
    "rows",
    (
        Column("_rowid", ID, "row ID; without stable row IDs, the row address"),
        Column("_rowaddr", ID, "row address: fragment ID << 32 | offset"),
        Column(
            "_row_created_at_version", ID, "version that created the row, as stored", nullable=True
        ),
        Column(
            "_row_last_updated_at_version",
            ID,
            "version that last updated the row, as stored",
            nullable=True,
        ),
        Column("created_at_version", ID, "version that really created the row", nullable=True),
        Column(
            "created_at_source",
            CREATED_AT_SOURCE,
            "where created_at_version comes from",
            nullable=True,
        ),
    ),
)
"""The columns of ``Snapshot.row_ids()``. The versions are null where the table stores none; some
releases stored a wrong one for rows that they updated, which ``created_at_version`` corrects."""

_Numbers = NDArray[np.uint64]

_THREADS = min(4, os.cpu_count() or 1)
"""Memory is the bottleneck: more threads than this only compete."""

_STORED = FrameSchema("stored rows", ROWS.columns[:4])


def rows(view: HistoryView, version: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return one row for each live row of a version, in the order of a scan; values on request."""
    frame = _rows_frame(view, version, _stored(view, version))
    others = [name for name in columns or () if name not in _STORED.names]
    if not others:
        return frame
    check_values(view, version)
    from lance_explorer.values import read_rows

    storage = view.storage
    values = read_rows(value_root(view, version), version, others, storage_options=storage.options)
    taken = {*ROWS.names, *values.columns}
    free = {name: free_name(name, taken) for name in values.columns if name in ROWS.names}
    return pl.concat([frame, values.rename(free)], how="horizontal")


def fragment_rows(
    view: HistoryView, version: int, content: FragmentContent, offsets: NDArray[np.int64]
) -> pl.DataFrame:
    """Return the same for some live rows of one fragment, which ``offsets`` name."""
    return rows_of_fragments(view, version, [(content, offsets)])


def rows_of_fragments(
    view: HistoryView,
    version: int,
    parts: Sequence[tuple[FragmentContent, NDArray[np.int64]]],
) -> pl.DataFrame:
    """Return the same for some live rows of several fragments, concatenated."""
    addresses = _joined(
        [o.view(np.uint64) + np.uint64(first_address(c.fragment.id)) for c, o in parts]
    )
    row_ids = addresses
    if any(content.row_ids is not None for content, _ in parts):
        row_ids = _joined(
            [
                o.view(np.uint64) + np.uint64(first_address(c.fragment.id))
                if c.row_ids is None
                else c.row_ids.at(o)
                for c, o in parts
            ]
        )
    stored = _STORED.build(
        {
            "_rowid": row_ids,
            "_rowaddr": addresses,
            "_row_created_at_version": _versions([(c.created_at, o) for c, o in parts]),
            "_row_last_updated_at_version": _versions([(c.last_updated_at, o) for c, o in parts]),
        }
    )
    return _rows_frame(view, version, stored)


def _joined(arrays: list[_Numbers]) -> _Numbers:
    return np.concatenate([np.empty(0, dtype=np.uint64), *arrays])


def _versions(parts: list[tuple[RowVersionRuns | None, NDArray[np.int64]]]) -> pl.Series:
    known = [runs is not None for runs, _ in parts]
    if all(known) or not any(known):
        arrays = [runs.at(offsets) for runs, offsets in parts if runs is not None]
        if arrays:
            return pl.Series(_joined(arrays), dtype=ID)
    return pl.concat([pl.Series(dtype=ID), *[_versions_at(*part) for part in parts]])


def _versions_at(runs: RowVersionRuns | None, offsets: NDArray[np.int64]) -> pl.Series:
    if runs is None:
        return pl.repeat(None, len(offsets), dtype=ID, eager=True)
    return pl.Series(runs.at(offsets), dtype=ID)


def _rows_frame(view: HistoryView, version: int, stored: pl.DataFrame) -> pl.DataFrame:
    created_at_version, created_at_source = created_at(view, version, stored)
    return ROWS.build(
        {
            **stored.to_dict(),
            "created_at_version": created_at_version,
            "created_at_source": created_at_source,
        }
    )


def _stored(view: HistoryView, version: int) -> pl.DataFrame:
    """Return the stored columns: each is one array, which the fragments fill one after the other.

    Clearing fresh memory takes the time, so only stored columns are allocated: if row IDs are
    addresses, both are one.
    """
    contents = RowReader(view, version).contents()
    ends = np.cumsum([0, *[content.num_live_rows for content in contents]]).tolist()
    has_no_ids = [content.row_ids is None for content in contents]
    has_no_created = [content.created_at is None for content in contents]
    has_no_updated = [content.last_updated_at is None for content in contents]
    addresses = _column(ends[-1])
    row_ids, created, updated = [
        None if all(is_null) else _column(ends[-1])
        for is_null in (has_no_ids, has_no_created, has_no_updated)
    ]

    def fill(content: FragmentContent, place: slice) -> None:
        live = content.live_offsets()
        base = np.uint64(first_address(content.fragment.id))
        np.add(live.view(np.uint64), base, out=addresses[place])
        if row_ids is not None:
            _fill_ids(content, live, addresses[place], row_ids[place])
        for column, runs in ((created, content.created_at), (updated, content.last_updated_at)):
            if column is not None:
                column[place] = 0 if runs is None else runs.without(content.deleted).expand()

    places = [slice(*ends) for ends in pairwise(ends)]
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(fill, contents, places):
            pass
    counts = np.diff(ends)
    return _STORED.build(
        {
            "_rowid": addresses if row_ids is None else row_ids,
            "_rowaddr": addresses,
            "_row_created_at_version": _nullable(created, has_no_created, counts),
            "_row_last_updated_at_version": _nullable(updated, has_no_updated, counts),
        }
    )


def _column(count: int) -> _Numbers:
    """Return memory for a column, without the huge pages that NumPy would request.

    If memory is fragmented, finding those takes the system longer than clearing small ones.
    """
    import pyarrow as pa

    memory = pa.allocate_buffer(8 * count, memory_pool=pa.system_memory_pool())
    return np.frombuffer(memory, dtype=np.uint64)


def _fill_ids(
    content: FragmentContent, live: NDArray[np.int64], addresses: _Numbers, row_ids: _Numbers
) -> None:
    """Write the row IDs of the live rows of a fragment at known offsets."""
    if content.row_ids is None:
        row_ids[:] = addresses
    elif not content.deleted:
        row_ids[:] = content.row_ids.values()
    else:
        np.take(content.row_ids.values(), live, out=row_ids, mode="clip")


def _nullable(
    versions: _Numbers | None, is_null: Sequence[bool], counts: NDArray[np.int64]
) -> pl.Series:
    """Return the versions of all live rows, null in fragments that store none."""
    if versions is None:
        return pl.repeat(None, int(counts.sum()), dtype=ID, eager=True)
    series = pl.Series(versions)
    if not any(is_null):
        return series
    return series.set(pl.Series(np.repeat(is_null, counts)), None)
