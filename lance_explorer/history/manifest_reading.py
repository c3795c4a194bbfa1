"""Manifest files in the order of their versions; of appends in a store, only what is new in them.

Every manifest repeats all fragments, so the manifests of a table that only grows have a size that
grows with the square of its versions. On a disk they are read whole. In a store the end of a large
one and its transaction are read, and the rest is taken from the version before
(:mod:`lance_explorer.format.appended_manifest`). Such a manifest counts as *derived*.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, groupby, islice
from typing import NamedTuple

from lance_explorer.errors import FormatError
from lance_explorer.format.appended_manifest import (
    ManifestFile,
    keeps_fragments,
    read_appended,
)
from lance_explorer.format.manifest import SECTION_PREFIX_BYTES, message_start
from lance_explorer.history.listing import VersionFile
from lance_explorer.storage import Contents, FilePart, Storage

__all__ = ["ReadManifest", "read_manifests"]

_LARGE_BYTES = 32 << 10
"""Smaller files are read whole: one request takes as long as it would for a part."""

_FEW = 8
"""So few files are read whole: two of a run are in any case."""

_END_BYTES = 2 << 10
"""How many bytes more are read at the end of a file than its growth asks for."""

_TRANSACTION_BYTES, _MOST_SECTION_BYTES = 1 << 10, 1 << 20
"""How many bytes a transaction is expected to have at most, and how many sections may have."""

_TRIED, _MOST_WHOLE = 1 << 8, 1 << 10


class ReadManifest(NamedTuple):
    """The file of a version, its contents as :meth:`Storage.get_many` gives them, and how."""

    file: VersionFile
    contents: Contents
    is_derived: bool = False


def read_manifests(storage: Storage, files: Sequence[VersionFile]) -> Iterator[ReadManifest]:
    """Yield manifest files in their order.

    Parameters
    ----------
    storage : Storage
        The root of the branch.
    files : sequence of VersionFile
        Ascending versions.
    """
    derives = storage.in_flight > 1 and not storage.io.whole_manifests
    for is_large, group in groupby(files, lambda file: derives and _is_large(file)):
        some = list(group)
        if is_large and len(some) >= _FEW:
            yield from _Appends(storage, some).read()
        else:
            yield from _whole(storage, some)


def _is_large(file: VersionFile) -> bool:
    return file.size_bytes >= _LARGE_BYTES and not file.is_recorded


def _whole(storage: Storage, files: Sequence[VersionFile]) -> Iterator[ReadManifest]:
    sizes = [file.size_bytes for file in files]
    contents = storage.get_many([file.path for file in files], sizes)
    return map(ReadManifest, files, contents)


class _Appends:
    """Large manifests, most of which may be appends to the one before.

    The last of each run of appends is read whole: the fragments of the others must be a beginning
    of its fragments, or damage of one file would become that of all later ones. Where few can be
    derived, more and more are read whole before the next attempt.
    """

    def __init__(self, storage: Storage, files: list[VersionFile]) -> None:
        self._storage, self._files = storage, files
        self._before: ManifestFile | None = None

    def read(self) -> Iterator[ReadManifest]:
        position, num_whole = 0, 1
        while position < len(self._files):
            for read in _whole(self._storage, self._files[position : position + num_whole]):
                self._stand_at(read.contents)
                position += 1
                yield read
            num_tried, num_derived = 0, 0
            for read in self._try(self._files[position:]):
                num_tried += 1
                num_derived += read.is_derived
                yield read
            position += num_tried
            num_whole = 1 if 2 * num_derived > num_tried else min(2 * num_whole, _MOST_WHOLE)

    def _stand_at(self, contents: Contents) -> None:
        self._before = _decoded(contents)

    def _try(self, files: list[VersionFile]) -> Iterator[ReadManifest]:
        """Yield manifests, derived where possible, as long as that is most of them."""
        offset = self._sections_offset
        if self._before is None or offset is None:
            return
        ends, sections = _ends(files, self._before), _sections(files, self._before)
        with self._storage.reading_ahead(chain.from_iterable(zip(ends, sections, strict=True))):
            for first in range(0, len(files), _TRIED):
                some = slice(first, first + _TRIED)
                parts = self._parts(files[some], ends[some], sections[some])
                num_derived = 0
                for read in self._with_parts(files[some], parts):
                    num_derived += read.is_derived
                    yield read
                if 2 * num_derived <= len(files[some]) or self._sections_offset != offset:
                    return

    def _with_parts(
        self, files: list[VersionFile], parts: dict[VersionFile, tuple[bytes, bytes]]
    ) -> Iterator[ReadManifest]:
        """Yield manifests until their sections begin elsewhere, those with parts derived."""
        offset = self._sections_offset
        runs = [(keeps, list(run)) for keeps, run in groupby(files, parts.__contains__)]
        whole = _whole(
            self._storage, [file for keeps, run in runs for file in (run[-1:] if keeps else run)]
        )
        for keeps, run in runs:
            read = next(whole)
            if keeps:
                yield from self._derived(run[:-1], parts, _decoded(read.contents))
            for one in [read] if keeps else chain([read], islice(whole, len(run) - 1)):
                self._stand_at(one.contents)
                yield one
            if self._sections_offset != offset:
                return

    @property
    def _sections_offset(self) -> int | None:
        return self._before.sections_offset if self._before is not None else None

    def _derived(
        self,
        files: list[VersionFile],
        parts: dict[VersionFile, tuple[bytes, bytes]],
        last: ManifestFile | None,
    ) -> Iterator[ReadManifest]:
        """Yield manifests before one that appended to all of them."""
        for number, file in enumerate(files):
            derived = None
            if self._before is not None and last is not None:
                derived = read_appended(self._before, last, file.size_bytes, *parts[file])
            if derived is None:
                yield from _whole(self._storage, files[number:])
                return
            self._before = derived
            yield ReadManifest(file, derived.data, is_derived=True)

    def _parts(
        self, files: list[VersionFile], ends: list[FilePart], sections: list[FilePart]
    ) -> dict[VersionFile, tuple[bytes, bytes]]:
        """Return of files that may be derived their sections, and their last bytes."""
        parts = dict[VersionFile, tuple[bytes, bytes]]()
        for file, end, section in zip(files, ends, sections, strict=True):
            last, some = self._read(end), self._read(section)
            with suppress(FormatError):
                begin = message_start(last, file.size_bytes) + SECTION_PREFIX_BYTES
                length = begin - section.offset
                if len(some) < length <= _MOST_SECTION_BYTES:
                    some = self._read(FilePart(file.path, section.offset, length))
                if keeps_fragments(some[:length]):
                    parts[file] = some[:length], last
        return parts

    def _read(self, part: FilePart) -> bytes:
        """Return a part of a file, nothing if it cannot be read."""
        try:
            return self._storage.get_range(part.path, part.offset, part.length or 0)
        except (FileNotFoundError, FormatError):
            return b""


def _ends(files: list[VersionFile], before: ManifestFile) -> list[FilePart]:
    """Return of each file the end in which its new fragments and all behind them should be."""
    parts, size = list[FilePart](), len(before.data)
    for file in files:
        length = before.rest_bytes + max(file.size_bytes - size, 0) + _END_BYTES
        length = min(length, file.size_bytes)
        parts.append(FilePart(file.path, file.size_bytes - length, length))
        size = file.size_bytes
    return parts


def _sections(files: list[VersionFile], before: ManifestFile) -> list[FilePart]:
    """Return of each file the bytes in which its sections should be."""
    offset = before.sections_offset or 0
    transaction = before.manifest.transaction_section_offset or 0
    length = transaction - offset + _TRANSACTION_BYTES
    return [FilePart(file.path, offset, length) for file in files]


def _decoded(contents: Contents) -> ManifestFile | None:
    """Return a manifest that was read whole; None for others, which the caller tells apart."""
    if not isinstance(contents, bytes):
        return None
    try:
        return ManifestFile.of(contents)
    except FormatError:
        return None
