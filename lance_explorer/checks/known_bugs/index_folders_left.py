"""A cleanup of a local table leaves the folders of old index builds behind, empty."""

from lance_explorer.checks.known_bugs.record import KnownBug
from lance_explorer.findings import Finding
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["BUG"]


def _did(view: HistoryView, _: Finding) -> VersionRecord | None:
    return view.history.records[-1] if view.history.records else None


BUG = KnownBug(
    name="lance#8320",
    what="a cleanup of a local table removes the files of old index builds, and leaves their "
    "folders",
    releases="10.0.0 and before",
    codes=("empty_index_folders",),
    did=_did,
    readers="none answers wrongly",
    remedy="Remove the empty folders.",
)
