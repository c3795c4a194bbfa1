"""From a URI to bytes. This room lists and reads files, counts both, and parses nothing."""

from lance_explorer.storage.ahead import reading_ahead
from lance_explorer.storage.base import FileInfo, FilePart, IoCounts, Storage
from lance_explorer.storage.local import LocalStorage
from lance_explorer.storage.opening import open_beside, open_storage

__all__ = [
    "FileInfo",
    "FilePart",
    "IoCounts",
    "LocalStorage",
    "Storage",
    "open_beside",
    "open_storage",
    "reading_ahead",
]
