"""What the owner of a table should do, from its metadata alone."""

from collections.abc import Callable, Iterator

import polars as pl

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.findings import SEVERITIES, Finding
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.history.history import History
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.findings import FINDINGS, findings_frame
from lance_explorer.inspect.fragment_health import deleted_rows, id_limits, small_fragments
from lance_explorer.inspect.history_health import (
    many_versions,
    old_bytes,
    unstable_row_ids,
    v1_names,
)
from lance_explorer.inspect.index_health import lagging_reuse, stale_indices, unindexed_rows
from lance_explorer.inspect.manifest_health import large_manifest, row_id_encoding

__all__ = ["HEALTH", "health"]

HEALTH = FrameSchema("health", FINDINGS.columns)
"""The columns of ``inspect.health()``, those of ``table.findings``."""

_Check = Callable[[TableSource, History], Iterator[Finding]]

_OF_A_VERSION: tuple[_Check, ...] = (
    small_fragments,
    deleted_rows,
    unindexed_rows,
    stale_indices,
    lagging_reuse,
    large_manifest,
    row_id_encoding,
    id_limits,
)

_OF_ALL_VERSIONS: tuple[_Check, ...] = (old_bytes, many_versions, v1_names, unstable_row_ids)


def health(source: TableSource, version: int) -> pl.DataFrame:
    """Return one row for each thing to do, warnings first.

    That of the latest version also tells of what concerns all versions.
    """
    history = source.version(version)
    checks = _OF_A_VERSION
    if version == source.latest_version:
        checks += _OF_ALL_VERSIONS
    found = [finding for check in checks for finding in _checked(check, source, history)]
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return findings_frame(found, [source.branch] * len(found))


def _checked(check: _Check, source: TableSource, history: History) -> list[Finding]:
    """Return what a check found; if a file that it needs cannot be used, that."""
    try:
        return list(check(source, history))
    except (FormatError, StorageError) as error:
        return [
            Finding(
                code="not_checked",
                severity="info",
                message=f"{check.__name__.replace('_', ' ')} could not be checked: {error}",
                advice="See table.findings and table.check_row_ids().",
                version=history.records[0].version,
            )
        ]
