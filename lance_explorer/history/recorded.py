"""What a history asks of a place where versions of the table were recorded before."""

from typing import Protocol

from lance_explorer.findings import Finding
from lance_explorer.history.history import History
from lance_explorer.history.listing import VersionListing
from lance_explorer.storage import Storage

__all__ = ["Recorded"]


class Recorded(Protocol):
    """Versions of a table, of any branch, that may not be kept any more."""

    def over(self, storage: Storage) -> Storage:
        """Return a storage that has the recorded files, where ``storage`` has them no more."""

    def joined(self, storage: Storage, branch: str | None, live: VersionListing) -> VersionListing:
        """Return the versions that are kept, and those that are recorded of the same table."""

    def history(self, branch: str | None, listing: VersionListing) -> History:
        """Return what is known of these versions without reading them; the rest is read."""

    def findings(self, branch: str | None) -> list[Finding]:
        """Return what is wrong with what is recorded of a branch."""
