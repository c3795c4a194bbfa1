"""Commits that no writer makes by itself, after which nothing is told with certainty.

The contract is in docs/EVIDENCE.md. A restore of a detached version counts as if lost versions were
before it: what the detached one was built on, and which row IDs it gave out, nothing tells.
"""

from collections.abc import Iterator

import numpy as np

from lance_explorer.findings import Finding, Subject
from lance_explorer.history.history import History

__all__ = ["uncertain_commit", "uncertain_commits"]


def uncertain_commits(history: History) -> Iterator[Finding]:
    """Yield a finding for each such commit."""
    for position in np.flatnonzero(history.restores_detached).tolist():
        yield uncertain_commit(history, position)


def uncertain_commit(history: History, position: int) -> Finding:
    """Return the finding that names such a commit, given its position."""
    record = history.records[position]
    return Finding(
        "detached_restored",
        f"version {record.version} restored a detached version, which does not say what it was "
        "built on: rows and columns that it brought are uncertain in all answers",
        subject=Subject("version", str(record.version)),
        versions=(record.version, record.version),
    )
