"""Which storage serves a URI."""

import os
import re
from urllib.parse import unquote, urlsplit

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.storage.base import Storage
from lance_explorer.storage.local import LocalStorage

__all__ = ["open_storage"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def open_storage(uri: str | os.PathLike[str]) -> Storage:
    """Return the storage whose root is ``uri``: a local path or a ``file://`` URI.

    Raises
    ------
    InvalidArgumentError
        If the URI has a scheme that is not served, or names another machine.
    """
    text = os.fspath(uri)
    if not _SCHEME.match(text):
        return LocalStorage(text)
    parts = urlsplit(text)
    if parts.scheme in ("file", "file-object-store"):
        if parts.netloc not in ("", "localhost"):
            raise InvalidArgumentError(
                f"{parts.netloc} is not this machine: a file URI has three slashes, "
                f"{parts.scheme}:///folder/table.lance"
            )
        return LocalStorage(unquote(parts.path))
    raise InvalidArgumentError(
        f"URIs that start with {parts.scheme}:// are not served: use a local path or file://"
    )
