"""From a URI to bytes. This room lists and reads files, counts both, and parses nothing."""

from lance_explorer.storage.base import FileInfo, IoCounts, Storage
from lance_explorer.storage.local import LocalStorage
from lance_explorer.storage.opening import open_beside, open_storage

__all__ = ["FileInfo", "IoCounts", "LocalStorage", "Storage", "open_beside", "open_storage"]
