"""Files in the folder of a database that are in none of its tables."""

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from lance_explorer.history.progress import with_count
from lance_explorer.storage import LocalStorage, Options, open_storage

__all__ = ["OtherFiles", "other_files"]


class OtherFiles(NamedTuple):
    """The files of a database's folder that are in no table."""

    num_objects: int
    size_bytes: int


def other_files(uri: str, tables: Collection[str], options: Options | None) -> OtherFiles:
    """Return what is below a folder or prefix, but not in one of its tables."""
    storage = open_storage(uri, options)
    roots = {table.removeprefix(storage.uri).strip("/") for table in tables}
    if "" in roots:  # the folder is a table itself
        return OtherFiles(0, 0)
    if isinstance(storage, LocalStorage):
        sizes = [*_local_sizes(storage.uri, roots)]
    else:
        below = tuple([f"{root}/" for root in roots])
        files = with_count(storage.live.list_all(), "Listing", "objects")
        sizes = [file.size_bytes for file in files if not file.name.startswith(below)]
    return OtherFiles(len(sizes), sum(sizes))


def _local_sizes(top: str, roots: Collection[str]) -> Iterator[int]:
    """Yield the sizes of the files; links to folders are not followed."""
    for folder, inner, names in os.walk(top):
        place = os.path.relpath(folder, top)
        inner[:] = [one for one in inner if os.path.normpath(f"{place}/{one}") not in roots]
        for name in names:
            with suppress(OSError):  # it was removed meanwhile
                yield Path(folder, name).stat().st_size
