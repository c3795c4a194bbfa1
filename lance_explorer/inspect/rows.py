"""The rows of one version: who each is, where it is, and since when."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.frames.columns import ID, Column, FrameSchema
from lance_explorer.history.rows import FragmentContent, RowReader
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.creation import CREATED_AT_SOURCE, created_at
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["ROWS", "rows"]

ROWS = FrameSchema(
    "rows",
    (
        Column("_rowid", ID, "row ID; the row address without stable row IDs"),
        Column("_rowaddr", ID, "row address: fragment << 32 | offset"),
        Column("_row_created_at_version", ID, "version that created the row", nullable=True),
        Column(
            "_row_last_updated_at_version", ID, "version that last changed the row", nullable=True
        ),
        Column("created_at_version", ID, "version that truly created the row", nullable=True),
        Column("created_at_source", CREATED_AT_SOURCE, "what tells it", nullable=True),
    ),
)
"""The columns of ``Snapshot.rows()``. The versions are null where the table stores none; some
releases stored a wrong one for rows that they updated, which ``created_at_version`` corrects."""

_Numbers = NDArray[np.uint64]

_STORED = FrameSchema("stored rows", ROWS.columns[:4])


def rows(source: TableSource, version: int, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return one row for each live row of a version, in the order of a scan; values on request."""
    stored = _stored(source, version)
    created_at_version, created_at_source = created_at(source, version, stored)
    frame = ROWS.build(
        {
            **stored.to_dict(),
            "created_at_version": created_at_version,
            "created_at_source": created_at_source,
        }
    )
    if not columns:
        return frame
    from lance_explorer.values import read_rows

    values = read_rows(source.storage.uri, version, columns)
    return pl.concat([frame, values], how="horizontal")


def _stored(source: TableSource, version: int) -> pl.DataFrame:
    """Return what fragments store: each column is one array, which they fill one after the other.

    Memory that was never used is what takes the time, so there is none but the columns.
    """
    contents = RowReader(source, version).contents()
    ends = np.cumsum([0, *[content.num_live_rows for content in contents]]).tolist()
    places = [slice(*ends) for ends in pairwise(ends)]
    row_ids, addresses = np.empty((2, ends[-1]), dtype=np.uint64)
    for content, place in zip(contents, places, strict=True):
        _fill(row_ids[place], addresses[place], content)
    return _STORED.build(
        {
            "_rowid": row_ids,
            "_rowaddr": addresses,
            "_row_created_at_version": _versions(
                [content.created_at for content in contents], contents, places
            ),
            "_row_last_updated_at_version": _versions(
                [content.last_updated_at for content in contents], contents, places
            ),
        }
    )


def _fill(row_ids: _Numbers, addresses: _Numbers, content: FragmentContent) -> None:
    live = content.live_offsets()
    base = np.uint64(first_address(content.fragment.id))
    np.add(live.view(np.uint64), base, out=addresses)
    if content.row_ids is None:
        row_ids[:] = addresses
    else:
        np.take(content.row_ids.values(), live, out=row_ids, mode="clip")


def _versions(
    sequences: Sequence[RowVersionRuns | None],
    contents: Sequence[FragmentContent],
    places: Sequence[slice],
) -> pl.Series:
    """Return the versions of all live rows, null in fragments that store none."""
    count = places[-1].stop if places else 0
    versions = np.zeros(count, dtype=np.uint64)
    for runs, content, place in zip(sequences, contents, places, strict=True):
        if runs is not None:
            versions[place] = runs.without(content.deleted).expand()
    series = pl.Series(versions)
    if None not in sequences:
        return series
    is_null = np.repeat([runs is None for runs in sequences], [p.stop - p.start for p in places])
    return series.set(pl.Series(is_null), None)
