"""The place of a branch, and the versions that are listed there."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lance_explorer.errors import RefNotFoundError, TableNotFoundError
from lance_explorer.history.external_listing import lister_of
from lance_explorer.history.listing import DirectoryLister, VersionListing
from lance_explorer.history.recorded import Recorded
from lance_explorer.history.refs import Refs, branch_root
from lance_explorer.storage import (
    IoCounts,
    Storage,
    leads_elsewhere,
    open_beside,
    open_storage,
    uri_to_open,
)

__all__ = ["TableBranch"]

_TREE = "/tree/"


@dataclass(frozen=True, eq=False, slots=True)
class TableBranch:
    """A branch of a table. It keeps nothing that is read.

    Attributes
    ----------
    root : Storage
        The root of the table.
    storage : Storage
        That of the branch.
    name : str, optional
        The branch; None is the main branch.
    recorded : Recorded, optional
        Earlier recordings of versions.
    """

    root: Storage
    storage: Storage
    name: str | None
    recorded: Recorded | None = None

    @classmethod
    def at(
        cls,
        uri: str | Storage,
        name: str | None = None,
        storage_options: Mapping[str, str] | None = None,
        io: IoCounts | None = None,
        allow_bases: Iterable[str | os.PathLike[str]] = (),
        recorded: Recorded | None = None,
    ) -> "TableBranch":
        """Return a branch of the table at a URI."""
        root = (
            uri if isinstance(uri, Storage) else open_storage(uri, storage_options, io, allow_bases)
        )
        if recorded is not None and root.bases.over != recorded.over:
            root = recorded.over(root)
            root.bases.over = recorded.over
        return cls(root, root, None, recorded).on(name)

    @property
    def uri(self) -> str:
        """The root of the table, not of the branch."""
        return self.root.uri

    @property
    def uri_to_open(self) -> str:
        """The source that opens the table again: its root, with its external manifest store."""
        return uri_to_open(self.root)

    @property
    def may_be_below_table(self) -> bool:
        """Whether the URI looks like the root of a branch, although no branch was named."""
        return self.name is None and _TREE in self.storage.uri

    def on(self, name: str | None) -> "TableBranch":
        """Return another branch of the table."""
        if name is None:
            return TableBranch(self.root, self.root, None, self.recorded)
        if leads_elsewhere(name) or not name.isprintable():
            raise RefNotFoundError(f"no branch can have the name {name!r}")
        storage = open_beside(self.root, f"{self.root.uri}/{branch_root(name)}")
        return TableBranch(self.root, storage, name, self.recorded)

    def below_table(self, name: str | None, *, is_own: bool) -> "TableBranch":
        """Return the same as a branch of its table, if it is the root of a branch of that name.

        With ``is_own``, base paths of the table are allowed.
        """
        suffix = f"{_TREE}{name}"
        if name is None or not self.storage.uri.endswith(suffix):
            return self
        uri = self.storage.uri.removesuffix(suffix)
        if is_own:
            self.storage.bases.own_root(uri)
        return TableBranch(open_beside(self.storage, uri), self.storage, name, self.recorded)

    def is_current(self, listing: VersionListing) -> bool:
        """Return whether a listing of the branch is known to be the present one."""
        lister = lister_of(self.storage)
        return isinstance(lister, DirectoryLister) and lister.is_current(listing)

    def list_versions(self) -> VersionListing:
        """Return the current versions.

        Raises
        ------
        RefNotFoundError
            If the table has no such branch.
        TableNotFoundError
            If there is no table.
        """
        listing = lister_of(self.storage).list_versions()
        if self.recorded is not None:
            listing = self.recorded.joined(self.storage, self.name, listing)
        if listing.versions:
            return listing
        if self.name is None or not lister_of(self.root).list_versions().versions:
            raise _no_table(self.root)
        names = ", ".join(Refs(self.root).branches) or "none"
        raise RefNotFoundError(f"no branch {self.name!r} in {self.uri}; there are: {names}")


def _no_table(storage: Storage) -> TableNotFoundError:
    folders = storage.list_folders("")
    tables = sorted(name for name in folders if name.endswith(".lance"))
    if tables:
        shown = ", ".join(tables[:5]) + (", ..." if len(tables) > 5 else "")
        return TableNotFoundError(
            f"{storage.uri} is no Lance table but holds {len(tables)}: {shown}"
        )
    reason = "it has no versions" if "_versions" in folders else "it has no _versions folder"
    if "data" in folders:
        reason += f"; lx.salvage({storage.uri!r}) says what is left of it"
    return TableNotFoundError(f"no Lance table at {storage.uri}: {reason}")
