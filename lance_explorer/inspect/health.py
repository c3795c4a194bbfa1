"""What the owner of a table should do, from its metadata alone."""

from collections.abc import Callable, Iterator

import polars as pl

from lance_explorer.errors import FormatError, StorageError
from lance_explorer.findings import SEVERITIES, Finding, Remedy, Subject, Topic, of_branch
from lance_explorer.frames.columns import FrameSchema
from lance_explorer.frames.findings import FINDINGS, findings_frame
from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_health import (
    deleted_rows,
    fragments_without_columns,
    id_limits,
    small_fragments,
)
from lance_explorer.inspect.history_health import (
    clocks,
    compactions_not_committed,
    index_rebuilds,
    many_versions,
    no_upkeep,
    rewrites_untold,
    unstable_row_ids,
    v1_names,
)
from lance_explorer.inspect.index_generations import indices_of_other_values
from lance_explorer.inspect.index_health import (
    equal_indices,
    lagging_indices,
    lagging_reuse,
    lost_indices,
)
from lance_explorer.inspect.manifest_health import large_manifest, row_id_encoding
from lance_explorer.inspect.mem_wal import missing_log_tables, rows_not_scanned

__all__ = ["HEALTH", "health", "health_findings"]

HEALTH = FrameSchema("health", FINDINGS.columns)
"""The columns of ``inspect.health()``."""

_Check = Callable[[HistoryView, History], Iterator[Finding]]

_OF_A_VERSION: tuple[tuple[Topic, _Check], ...] = (
    ("files", fragments_without_columns),
    ("files", small_fragments),
    ("files", deleted_rows),
    ("indices", lagging_indices),
    ("indices", lagging_reuse),
    ("indices", equal_indices),
    ("files", large_manifest),
    ("row_ids", row_id_encoding),
    ("files", id_limits),
)

_OF_ALL_VERSIONS: tuple[tuple[Topic, _Check], ...] = (
    ("files", many_versions),
    ("files", no_upkeep),
    ("files", compactions_not_committed),
    ("metadata", clocks),
    ("values", rewrites_untold),
    ("indices", lost_indices),
    ("indices", indices_of_other_values),
    ("indices", index_rebuilds),
    ("files", v1_names),
    ("indices", unstable_row_ids),
    ("files", rows_not_scanned),
    ("files", missing_log_tables),
)


def health(view: HistoryView, version: int, topic: Topic | None = None) -> pl.DataFrame:
    """Return one row for each of them."""
    return HEALTH.build(findings_frame(health_findings(view, version, topic)).to_dict())


def health_findings(view: HistoryView, version: int, topic: Topic | None = None) -> list[Finding]:
    """Return what should be done, the most serious first; with a topic, only its part.

    For the latest version, that includes problems of all versions.
    """
    history = view.version(version)
    checks = _OF_A_VERSION
    if version == view.latest_version:
        checks += _OF_ALL_VERSIONS
    findings = [
        finding
        for about, check in checks
        if topic in (None, about)
        for finding in _checked(about, check, view, history)
    ]
    findings.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return [*of_branch(view.branch, findings)]


def _checked(about: Topic, check: _Check, view: HistoryView, history: History) -> list[Finding]:
    """Return the findings of a check; if it needs an unusable file, a finding on that."""
    try:
        return list(check(view, history))
    except (FormatError, StorageError) as error:
        return [
            Finding(
                "not_checked",
                f"{check.__name__.replace('_', ' ')} could not be checked: {error}",
                subject=Subject("check", about),
                versions=(version := history.records[0].version, version),
                remedy=Remedy("See table.inspect.findings() and table.check_row_ids()."),
                is_mild=True,
            )
        ]
