"""What keeping versions costs: how many there are, their names, and rows that moved in them."""

from collections.abc import Iterator

import polars as pl

from lance_explorer.findings import Finding, Remedy
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.frames.sizes import byte_size
from lance_explorer.history.history import History
from lance_explorer.history.listing import VersionFile
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.manifests import naming
from lance_explorer.inspect.versions import versions

__all__ = [
    "MANY_MOVED_ROWS",
    "MANY_VERSIONS",
    "many_versions",
    "unstable_row_ids",
    "v1_names",
]

MANY_VERSIONS = 1_000
"""So many versions are worth knowing: who looks for the latest may have to list them all."""

MANY_MOVED_ROWS = 1_000_000
"""So many rows that moved under indices are worth knowing in a table without stable row IDs."""


def many_versions(view: HistoryView, _: History) -> Iterator[Finding]:
    """Find out whether there are many versions."""
    files = _live_files(view)
    if len(files) < MANY_VERSIONS:
        return
    size = sum([file.size_bytes for file in files])
    yield Finding(
        "many_versions",
        f"{len(files):,} versions are kept; their manifests take {byte_size(size)}",
    )


def v1_names(view: HistoryView, _: History) -> Iterator[Finding]:
    """Find out whether manifests have names of the older scheme."""
    files = _live_files(view)
    if "V1" not in [naming(file) for file in files]:
        return
    yield Finding(
        "v1_manifest_names",
        "the manifests have names of the older scheme, which do not sort latest first: finding the "
        f"latest of {len(files):,} versions in an object store means listing all of them",
        remedy=Remedy("While nobody else uses the table", "dataset.migrate_manifest_paths_v2()"),
    )


def _live_files(view: HistoryView) -> list[VersionFile]:
    """Return the manifests that the table itself still has."""
    return [record.file for record in view.history.records if not record.file.is_recorded]


def unstable_row_ids(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find out whether indices had to follow many rows because row IDs are not stable."""
    record = history.records[0]
    indices = {segment.name for segment in record.indices} - SYSTEM_INDICES
    if record.manifest.reader_feature_flags & STABLE_ROW_IDS or not indices:
        return
    moves = versions(view).filter(pl.col("rows_moved") > 0)
    moved = int(moves["rows_moved"].sum())
    if moved < MANY_MOVED_ROWS:
        return
    commits = "1 commit" if len(moves) == 1 else f"{len(moves):,} commits"
    held = "an index" if len(indices) == 1 else f"{len(indices):,} indices"
    yield Finding(
        "unstable_row_ids",
        f"{commits} moved {moved:,} rows, and the table has {held}",
        rows=moved,
    )
