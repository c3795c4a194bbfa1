"""The versions of a table as listed by a namespace that manages versions.

pylance commits to such a namespace as to an external manifest store: it stages a manifest, and
tells the namespace its path. The manifest may keep its staging name until somebody reads the table
through the namespace.
"""

from typing import Any

from lance_explorer.errors import StorageError
from lance_explorer.storage.commit_store import CommittedVersion

__all__ = ["NamespaceCommits"]


class NamespaceCommits:
    """The versions of one table; a namespace does not list the versions of branches.

    Parameters
    ----------
    client : object
        The namespace, a ``LanceNamespace``.
    table_id : list of str
        What the table is called there.
    uri : str
        The root of the table.
    """

    def __init__(self, client: Any, table_id: list[str], uri: str) -> None:
        self.name = ".".join(table_id)
        self._client = client
        self.table_id = table_id
        self._uri = uri

    def newest(self, uri: str, count: int) -> list[CommittedVersion]:
        """Return the newest versions of the table, newest first; none for another root."""
        if uri != self._uri:
            return []
        from lance_namespace import ListTableVersionsRequest

        asked = ListTableVersionsRequest(id=self.table_id, limit=count, descending=True)
        try:
            listed = self._client.list_table_versions(asked).versions
            versions = [
                CommittedVersion(int(one.version), one.manifest_path, one.manifest_size)
                for one in listed
            ]
        except Exception as error:
            raise StorageError(
                f"the namespace does not list the versions of table {self.name!r}: {error}"
            ) from error
        return sorted(versions, reverse=True)[:count]
