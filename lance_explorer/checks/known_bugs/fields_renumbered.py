"""A commit assigns the names of columns to the field IDs of others."""

from lance_explorer.checks.known_bugs.record import KnownBug, record_at, release_of
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, finding: Finding) -> VersionRecord | None:
    record = record_at(view, finding)
    release = release_of(record) if record else None
    return record if release is not None and release < (11, 0, 0) else None


BUG = KnownBug(
    name="lance#7700",
    what="up to 10.0.0, a Merge with a schema made from Arrow gives fields new IDs, so that names "
    "belong to the values of other columns; 11.0.0 refuses it",
    releases="up to 10.0.0; refused since 11.0.0",
    codes=("fields_renumbered",),
    did=_did,
    readers="all: the columns have the values of others",
    remedy="Go back to the version before, and commit the Merge with the schema of the table.",
)
