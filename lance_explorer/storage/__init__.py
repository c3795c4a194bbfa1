"""From a URI to bytes. This room lists and reads files, counts both, and parses nothing."""

from lance_explorer.storage.ahead import done_in_order, reading_ahead
from lance_explorer.storage.base import FileInfo, FilePart, IoCounts, Storage, leads_elsewhere
from lance_explorer.storage.local import LocalStorage
from lance_explorer.storage.opening import open_beside, open_storage

__all__ = [
    "FileInfo",
    "FilePart",
    "IoCounts",
    "LocalStorage",
    "Storage",
    "done_in_order",
    "leads_elsewhere",
    "open_beside",
    "open_storage",
    "reading_ahead",
]
