"""The rows of one version: who each is, where it is, and since when."""

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.history.rows import FragmentContent, RowReader
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.columns import ID, Column, FrameSchema
from lance_explorer.inspect.creation import CREATED_AT_SOURCE, created_at
from lance_explorer.rowids.id_map import FRAGMENT_BITS
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
    contents = RowReader(source, version).contents()
    offsets = [content.live_offsets() for content in contents]
    addresses = [_addresses(c, live) for c, live in zip(contents, offsets, strict=True)]
    row_ids = [
        address if content.row_ids is None else content.row_ids.values()[live]
        for content, live, address in zip(contents, offsets, addresses, strict=True)
    ]
    return _STORED.build(
        {
            "_rowid": _joined(row_ids),
            "_rowaddr": _joined(addresses),
            "_row_created_at_version": _versions(contents, lambda content: content.created_at),
            "_row_last_updated_at_version": _versions(
                contents, lambda content: content.last_updated_at
            ),
        }
    )


def _addresses(content: FragmentContent, offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    return offsets.astype(np.uint64) + np.uint64(content.fragment.id << FRAGMENT_BITS)


def _versions(
    contents: Sequence[FragmentContent], of: Callable[[FragmentContent], RowVersionRuns | None]
) -> pl.Series:
    """Return the versions of all live rows, null in fragments that store none."""
    if all(of(content) is not None for content in contents):
        arrays = [
            runs.without(content.deleted).expand()
            for content in contents
            if (runs := of(content)) is not None
        ]
        return pl.Series(_joined(arrays), dtype=pl.UInt64)
    pieces = []
    for content in contents:
        runs = of(content)
        if runs is None:
            count = content.num_rows - len(content.deleted)
            pieces.append(pl.Series([None], dtype=pl.UInt64).new_from_index(0, count))
        else:
            pieces.append(pl.Series(runs.without(content.deleted).expand(), dtype=pl.UInt64))
    return pl.concat(pieces) if pieces else pl.Series(dtype=pl.UInt64)


def _joined(arrays: list[NDArray[np.uint64]]) -> NDArray[np.uint64]:
    return np.concatenate([np.empty(0, dtype=np.uint64), *arrays])
