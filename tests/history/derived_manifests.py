"""Manifests of appends that are put together, beside the files."""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

from lance_explorer.errors import CorruptFileError
from lance_explorer.format.manifest import decode_manifest, read_layout
from lance_explorer.history import manifest_reading
from lance_explorer.history.listing import DirectoryLister
from lance_explorer.history.manifest_reading import read_manifests
from lance_explorer.storage import LocalStorage

__all__ = ["AsStore", "differing"]


class AsStore(LocalStorage):
    """A folder that is read as an object store is: several files at a time."""

    in_flight = 4


def differing(root: Path) -> tuple[list[int], Counter[bool]]:
    """Read all manifests of a folder as if they were large and in a store.

    Returns
    -------
    tuple
        The versions that differ from their files, and how many are derived or not. Entries of maps
        in the schema may come in another order: writers do not keep it.
    """
    storage = AsStore(root)
    try:
        files = DirectoryLister(storage).list_versions().versions
    except CorruptFileError:
        return [], Counter()
    with patch.multiple(manifest_reading, _LARGE_BYTES=0, _FEW=0):
        read = list(read_manifests(storage, files))
    assert [one.file for one in read] == list(files)
    wrong = [
        one.file.version
        for one in read
        if isinstance(one.contents, bytes)
        and not _are_same(one.contents, (root / one.file.path).read_bytes())
    ]
    return wrong, Counter(one.is_derived for one in read)


def _are_same(one: bytes, other: bytes) -> bool:
    if one == other:
        return True
    begin = read_layout(one).message.offset
    around = one[:begin] == other[:begin] and len(one) == len(other)
    return around and decode_manifest(one) == decode_manifest(other)
