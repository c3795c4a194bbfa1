"""Commits that no writer makes by itself, after which nothing is certain.

The contract is in docs/EVIDENCE.md. Such a commit is treated like lost versions: its base, and the
row IDs that were assigned there, are unknown.
"""

from collections.abc import Iterator

import numpy as np

from lance_explorer.findings import Cause, Finding, Remedy, Subject
from lance_explorer.history.history import History

__all__ = ["uncertain_commit", "uncertain_commits"]


def uncertain_commits(history: History) -> Iterator[Finding]:
    """Yield a finding for each such commit."""
    for position in np.flatnonzero(history.is_uncertain).tolist():
        yield uncertain_commit(history, position)


def uncertain_commit(history: History, position: int) -> Finding:
    """Return the finding for such a commit, given its position."""
    record = history.records[position]
    if history.is_of_another_table[position]:
        before = history.records[position - 1]
        return Finding(
            "commit_of_another_table",
            f"version {record.version} has other data files than version {before.version} under "
            f"the same fragment IDs, and {record.operation} changes none",
            subject=Subject("version", str(record.version)),
            versions=(record.version, record.version),
            causes=(
                Cause(
                    "the table was dropped and made anew, while a process held the former one and "
                    "committed on it",
                    "no fragment of both has a common data file",
                ),
                Cause(f"the manifest of version {before.version} or {record.version} is damaged"),
            ),
            remedy=Remedy(
                f"Go back to version {before.version}, and write again what version "
                f"{record.version} added",
                f"dataset.checkout_version({before.version}).restore()",
                f"dataset.checkout_version({record.version}).restore()",
            ),
        )
    return Finding(
        "detached_restored",
        f"version {record.version} restored a detached version, which does not say what it was "
        "built on: rows and columns that it brought are uncertain in all answers",
        subject=Subject("version", str(record.version)),
        versions=(record.version, record.version),
    )
