"""Tracks of rows without stable IDs, derived from their earlier ones."""

from collections.abc import Iterator

import numpy as np

from lance_explorer.history.identity.row_origins import (
    ANY_VERSION,
    NO_VERSION,
    RowOrigins,
    VersionsFrom,
    constant_versions,
)
from lance_explorer.history.rewrites.groups import RewriteGroup
from lance_explorer.rowids.addresses import first_address
from lance_explorer.rowids.arrays import Uint64Array, begins_of
from lance_explorer.rowids.offsets import OffsetRanges, rows_at
from lance_explorer.rowids.runs import RunColumns, paired
from lance_explorer.rowids.segments import Range
from lance_explorer.rowids.sequence import Ranges, RowIdSequence
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["born_rows", "inherited_origins", "overwritten", "unknown_origins", "whole_fragment"]


def inherited_origins(
    rows: RunColumns, old: dict[int, RowOrigins], group: RewriteGroup
) -> Iterator[tuple[int, RowOrigins]]:
    """Yield the origins of new fragments, given the map from old to new addresses."""
    by_address = RunColumns.concatenated(
        [_by_address(origins.ids, key) for key, origins in sorted(old.items())]
    )
    created = VersionsFrom.of([(key, t.created) for key, t in old.items() if t.created])
    updated = VersionsFrom.of([(key, t.updated) for key, t in old.items() if t.updated])
    open_until = max(origins.open_until for origins in old.values())
    links = frozenset[int]().union(*[origins.links for origins in old.values()])
    pairs = paired(rows, by_address)
    order = np.argsort(pairs.address)
    start, address, identity = pairs.start[order], pairs.address[order], pairs.other_address[order]
    length = (pairs.stop - pairs.start)[order]
    for digest in group.new:
        bounds = np.array([digest.id, digest.id + 1], dtype=np.uint64) << np.uint64(32)
        some = slice(*np.searchsorted(address, bounds).tolist())
        ids = RowIdSequence((Ranges(identity[some], identity[some] + length[some]),))
        yield (
            digest.id,
            RowOrigins(
                ids,
                created.along(start[some], length[some]),
                updated.along(start[some], length[some]),
                group.evidence,
                open_until,
                links,
            ),
        )


def unknown_origins(fragment_id: int, num_rows: int) -> RowOrigins:
    """Return the origins of a fragment that no kept version has."""
    unknown = constant_versions(NO_VERSION, num_rows)
    return RowOrigins(born_rows(fragment_id, num_rows), unknown, unknown, open_until=ANY_VERSION)


def born_rows(number: int, num_rows: int) -> RowIdSequence:
    """Return the identities of rows that are born in a fragment of some number."""
    start = first_address(number)
    return RowIdSequence((Range(start, start + num_rows),))


def whole_fragment(num_rows: int) -> OffsetRanges:
    """Return the offsets of all rows of a fragment."""
    bounds = np.array([0, num_rows], dtype=np.uint64)
    return OffsetRanges(bounds[:1], bounds[1:])


def overwritten(runs: RowVersionRuns, ranges: OffsetRanges, version: int) -> RowVersionRuns:
    """Return row versions with another one at some offsets."""
    begins = begins_of(runs.counts).astype(np.uint64)
    start: Uint64Array = np.unique(np.concatenate([begins, ranges.start, ranges.stop]))
    start = start[start < len(runs)]
    place = np.searchsorted(ranges.start, start, side="right")
    stops = np.append(np.uint64(0), ranges.stop)
    versions = runs.versions[np.searchsorted(begins, start, side="right") - 1]
    versions[start < stops[place]] = version
    counts = np.append(start, np.uint64(len(runs)))[1:] - start
    return RowVersionRuns(counts.astype(np.int64), versions)


def _by_address(ids: RowIdSequence, fragment_id: int) -> RunColumns:
    """Return the identities of all rows of a fragment by their addresses."""
    rows = rows_at(ids, first_address(fragment_id), whole_fragment(len(ids)))
    return RunColumns(rows.address, rows.address + (rows.stop - rows.start), rows.start)
