"""What tests ask of a ledger: what it has of a branch, and all that a history says."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance_explorer as lx
from lance_explorer.history.history import EMPTY_HISTORY, History
from lance_explorer.history.listing import VersionListing
from lance_explorer.history.loading import extend
from lance_explorer.history.view import HistoryView
from lance_explorer.ledger.branch_log import BranchLog
from lance_explorer.ledger.ledger import recorded_table

__all__ = ["branches", "everything", "log_of", "read", "sources"]


def branches(path: Path) -> list[str | None]:
    """Return the branches of a table by their folders; None is the main one."""
    trees = [folder.parent for folder in sorted(path.glob("tree/**/_versions"))]
    return [None, *[folder.relative_to(path / "tree").as_posix() for folder in trees]]


def sources(path: Path) -> Iterator[HistoryView]:
    """Yield the branches of a table as they are without a ledger."""
    for branch in branches(path):
        yield HistoryView.open(str(path), branch)


def log_of(ledger: lx.Ledger, view: HistoryView) -> BranchLog:
    """Return what a ledger has of a branch, of which there was one life."""
    [life] = recorded_table(ledger, view.uri).lives(view.branch)
    return life.log


def read(view: HistoryView, listing: VersionListing | None = None) -> History:
    """Return a history by reading its manifests."""
    return extend(EMPTY_HISTORY, view.storage, listing or view.listing)


def everything(history: History) -> dict[str, Any]:
    """Return all that a history says, with the numbers of its states, so that it compares."""
    intervals = history.intervals
    return {
        "records": [_fields(record) for record in history.records],
        "states": list(history.states),
        "num_deleted_rows": history.num_deleted_rows.tolist(),
        "intervals": list(
            zip(
                intervals.keys.tolist(),
                intervals.first.tolist(),
                intervals.last.tolist(),
                strict=True,
            )
        ),
        "detached": history.detached,
        "unreadable": [(v.file, type(v.error), str(v.error)) for v in history.unreadable],
        "findings": history.findings,
        "duplicated": history.duplicated,
    }


def _fields(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in record.__slots__}
