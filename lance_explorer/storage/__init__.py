"""From a URI to bytes. This room lists and reads files, counts both, and parses nothing."""

from lance_explorer.storage.base import FileInfo, Storage
from lance_explorer.storage.local import LocalStorage
from lance_explorer.storage.opening import open_storage

__all__ = ["FileInfo", "LocalStorage", "Storage", "open_storage"]
