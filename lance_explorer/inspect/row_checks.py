"""Problems of the rows of one fragment, without others."""

from collections.abc import Iterator

import numpy as np

from lance_explorer.findings import Finding, Subject
from lance_explorer.history.reading.row_reader import FragmentContent
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["check_fragment", "count_too_early"]

_FIRST_VERSION = 1


def check_fragment(content: FragmentContent, version: int, *, stable: bool) -> Iterator[Finding]:
    """Yield problems of the rows of a fragment.

    Parameters
    ----------
    content : FragmentContent
        The rows.
    version : int
        The version in which they were seen first.
    stable : bool
        Whether that version has stable row IDs.
    """
    subject = Subject("fragment", str(content.fragment.id))
    if stable and content.row_ids is None:
        yield Finding(
            "row_ids_missing",
            "the version has stable row IDs, but the fragment has none",
            subject=subject,
            versions=(version, version),
        )
    for code, what, sequence in (
        ("row_id_count", "row IDs", content.row_ids),
        ("row_version_count", "created-at versions", content.created_at),
        ("row_version_count", "last-updated versions", content.last_updated_at),
    ):
        rows = content.fragment.physical_rows
        if sequence is not None and rows is not None and len(sequence) != rows:
            yield Finding(
                code,
                f"expected {rows} {what}, one for each row, found {len(sequence)}",
                subject=subject,
                versions=(version, version),
            )
    wrong = _count_created_after_update(content)
    if wrong:
        yield Finding(
            "created_after_updated",
            f"{wrong:,} rows were created in a later version than they were last updated",
            subject=subject,
            versions=(version, version),
            rows=wrong,
        )


def count_too_early(content: FragmentContent, next_row_id: int) -> int:
    """Count the rows marked as created by version 1, with a row ID from ``next_row_id`` on.

    Parameters
    ----------
    content : FragmentContent
        The rows.
    next_row_id : int
        The next row ID of the first kept version: Higher IDs were assigned later.
    """
    created, row_ids = content.created_at, content.row_ids
    if created is None or row_ids is None or _FIRST_VERSION not in created.versions:
        return 0
    starts, stops = row_ids.ranges()
    if int(stops.max(initial=0)) <= next_row_id:
        return 0
    counts = (stops - starts).astype(np.int64)
    begins = np.cumsum(counts) - counts
    run_begins = np.cumsum(created.counts) - created.counts
    total = min(len(row_ids), len(created))
    edges = np.union1d(begins, run_begins)
    edges = edges[edges < total]
    lengths = np.diff(edges, append=total).astype(np.uint64)
    place = np.searchsorted(begins, edges, side="right") - 1
    first = starts[place] + (edges - begins[place]).astype(np.uint64)
    later = np.maximum(first + lengths, np.uint64(next_row_id)) - np.maximum(
        first, np.uint64(next_row_id)
    )
    return int(later[created.at(edges) == _FIRST_VERSION].sum())


def _count_created_after_update(content: FragmentContent) -> int:
    created, updated = content.created_at, content.last_updated_at
    if created is None or updated is None:
        return 0
    total = min(len(created), len(updated))
    if len(created.versions) == len(updated.versions) == 1:
        return total if created.versions[0] > updated.versions[0] else 0
    edges = np.union1d(_begins(created), _begins(updated))
    edges = edges[edges < total]
    lengths = np.diff(edges, append=total)
    return int(lengths[created.at(edges) > updated.at(edges)].sum())


def _begins(runs: RowVersionRuns) -> np.ndarray:
    return np.cumsum(runs.counts) - runs.counts
