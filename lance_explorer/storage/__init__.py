"""From a URI to bytes. This package lists and reads files and counts both; it parses nothing."""

from lance_explorer.storage.ahead import done_in_order, reading_ahead
from lance_explorer.storage.base import Contents, FileInfo, FilePart, IoCounts, Storage, given
from lance_explorer.storage.bases import Bases, leads_elsewhere, place_of
from lance_explorer.storage.budget import Budget
from lance_explorer.storage.commit_store import EXTERNAL_SCHEME, CommitStore, CommittedVersion
from lance_explorer.storage.forked import check_not_forked
from lance_explorer.storage.local import LocalStorage, is_link, names_of_no_files
from lance_explorer.storage.namespace_commits import NamespaceCommits
from lance_explorer.storage.opening import open_beside, open_storage, uri_to_open
from lance_explorer.storage.read_sessions import ReadSession, ReadSessions
from lance_explorer.storage.secrets import Hidden, Options

__all__ = [
    "EXTERNAL_SCHEME",
    "Bases",
    "Budget",
    "CommitStore",
    "CommittedVersion",
    "Contents",
    "FileInfo",
    "FilePart",
    "Hidden",
    "IoCounts",
    "LocalStorage",
    "NamespaceCommits",
    "Options",
    "ReadSession",
    "ReadSessions",
    "Storage",
    "check_not_forked",
    "done_in_order",
    "given",
    "is_link",
    "leads_elsewhere",
    "names_of_no_files",
    "open_beside",
    "open_storage",
    "place_of",
    "reading_ahead",
    "uri_to_open",
]
