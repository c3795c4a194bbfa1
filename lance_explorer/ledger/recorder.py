"""From manifest files, one after the other, to their parts in a segment."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import chain
from operator import lt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from lance_explorer.errors import FormatError, LanceExplorerError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragment_columns import SequenceStorage
from lance_explorer.format.fragment_walk import columns_of_messages
from lance_explorer.format.fragments import Fragment
from lance_explorer.format.indices import decode_index_section
from lance_explorer.format.manifest import (
    Manifest,
    decode_manifest_message,
    decode_schema,
    read_fragments,
    read_layout,
    read_section,
)
from lance_explorer.format.manifest_parts import ManifestParts, framed_bytes, take_apart
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.splitting import ManifestSplitter, SplitManifest
from lance_explorer.format.transactions import decode_transaction_header
from lance_explorer.format.without_words import without_words
from lance_explorer.history.listing import FIRST_DETACHED, VersionFile
from lance_explorer.history.loading import TRANSACTIONS_FOLDER
from lance_explorer.history.new_row_ids import count_new_row_ids
from lance_explorer.history.states import UNKNOWN_COUNT, ColumnsPart, States
from lance_explorer.ledger.kinds import DERIVED, FRAGMENTS, SECTIONS, VERSIONS
from lance_explorer.ledger.segments import digest
from lance_explorer.ledger.sidecars import Sidecar, sidecars_of_fragment, sidecars_of_indices
from lance_explorer.storage import Storage

__all__ = ["Base", "Recorder", "manifest_without_words", "operation_of"]

_MOST_NAMES = 50
_MOST_DAMAGED_BYTES = 16 << 20
_FEW = 1_000
_FACTS = ("physical_rows", "num_deleted_rows", "num_files", "data_bytes")

_Fragments = ColumnsPart | tuple[Fragment, ...]
"""Some fragments: few as records, many as columns."""


@dataclass(frozen=True, slots=True)
class Base:
    """A recorded version, and its manifest file: the base for delta encoding."""

    version: int
    sha256: str
    data: bytes


@dataclass(slots=True)
class _At:
    """The state of the recorder: the last decoded version, and its fragment IDs."""

    version: int | None = None
    sha256: str | None = None
    manifest: Manifest | None = None
    ids: list[int] = field(default_factory=list)
    framed: int = 0
    sizes: list[int] = field(default_factory=list)


class Recorder:
    """Decodes manifests and records what each adds to the previous one.

    Parameters
    ----------
    storage : Storage
        Root of the branch.
    base : Base, optional
        The recorded version that the first one comes after.
    words : bool
        Whether to keep predicates, messages and other properties of transactions.
    """

    def __init__(self, storage: Storage, base: Base | None = None, *, words: bool = True) -> None:
        self._storage = storage
        self._words = words
        self._start_over()
        if base is not None:
            self._stand_at(base)
        self._clear()

    def __len__(self) -> int:
        return len(self._versions["version"])

    @property
    def num_bytes(self) -> int:
        """About how many bytes are recorded and were not taken yet."""
        return self._num_bytes

    def add(self, file: VersionFile, data: bytes, is_derived: bool = False) -> bool:
        """Record a manifest file, read whole or derived; return whether it was recorded.

        A manifest that cannot be decoded is kept whole, unless it is damaged and large: the ledger
        would need several times its size in memory, for an unreadable file.
        """
        try:
            is_apart = file.version < FIRST_DETACHED and self._add_parts(file, data, is_derived)
        except FormatError:
            is_apart = False
            if len(data) > _MOST_DAMAGED_BYTES:
                self._start_over()
                return False
        if not is_apart:
            self._start_over()
            self._note_version(
                file, data, raw=data if self._words else manifest_without_words(data)
            )
        return True

    def take(self) -> tuple[dict[str, pl.DataFrame], list[Sidecar]]:
        """Return the frames recorded since the last call, and the files to read."""
        frames = {
            "versions": VERSIONS.build(self._versions),
            "fragments": FRAGMENTS.build(self._fragments),
            "sections": SECTIONS.build(self._sections),
        }
        sidecars = self._sidecars
        self._clear()
        return frames, sidecars

    def _clear(self) -> None:
        self._versions: dict[str, list[Any]] = {name: [] for name in VERSIONS.names}
        self._fragments: dict[str, list[Any]] = {name: [] for name in FRAGMENTS.names}
        self._sections: dict[str, list[Any]] = {name: [] for name in SECTIONS.names}
        self._keys: dict[bytes, str] = {}
        self._sidecars: list[Sidecar] = []
        self._num_bytes = 0

    def _start_over(self) -> None:
        self._splitter = ManifestSplitter()
        self._at = _At()

    def _stand_at(self, base: Base) -> None:
        """Decode the base, so that the next manifest is encoded relative to it."""
        try:
            layout = read_layout(base.data)
            split = self._splitter.split(base.data, layout.message)
            self._step(split, base.data)
            self._at.version, self._at.manifest = base.version, split.manifest
            self._at.sha256 = base.sha256
        except (FormatError, _UnusualError):
            self._start_over()

    def _add_parts(self, file: VersionFile, data: bytes, is_derived: bool) -> bool:
        layout = read_layout(data)
        split = self._splitter.split(data, layout.message)
        manifest = split.manifest
        parts = take_apart(data, layout, split)
        if parts is None or manifest.version != file.version or manifest.has_fragment_tree:
            return False
        try:
            step = self._step(split, data)
        except _UnusualError:
            return False
        self._note_fragments(file.version, step, manifest)
        self._note_parts(file, data, manifest, parts, split, step)
        if is_derived:
            self._versions["sha256"][-1] = f"{DERIVED}{self._versions['sha256'][-1]}"
        self._at.version, self._at.manifest = file.version, manifest
        self._at.sha256 = self._versions["sha256"][-1]
        return True

    def _step(self, split: SplitManifest, data: bytes) -> "_Step":
        """Advance to the next manifest; return what it removed and added."""
        at = self._at
        step = _Step(set(), [], [])
        is_sorted = True
        for hunk in reversed(split.hunks):
            fragments = _read(hunk.new, data)
            ids = _ids(fragments)
            step.removed.update(at.ids[hunk.start : hunk.stop])
            at.ids[hunk.start : hunk.stop] = ids
            near = at.ids[max(hunk.start - 1, 0) : hunk.start + len(ids) + 1]
            is_sorted = is_sorted and all(map(lt, near, near[1:]))
            sizes = [framed_bytes(message) for message in hunk.new]
            at.framed += sum(sizes) - sum(at.sizes[hunk.start : hunk.stop])
            at.sizes[hunk.start : hunk.stop] = sizes
            step.added.append(fragments)
            step.messages.extend(hunk.new)
        # Only manifests in this order, with the usual spelling, can be rebuilt.
        if not is_sorted or at.framed != split.fragment_bytes:
            raise _UnusualError
        return step

    def _note_fragments(self, version: int, step: "_Step", manifest: Manifest) -> None:
        ids = [one for fragments in step.added for one in _ids(fragments)]
        gone = sorted(step.removed.difference(ids))
        to = self._fragments
        to["version"] += [version] * (len(ids) + len(gone))
        to["fragment_id"] += ids + gone
        to["change"] += ["changed" if one in step.removed else "added" for one in ids]
        to["change"] += ["removed"] * len(gone)
        to["message"] += step.messages
        self._num_bytes += sum(map(len, step.messages))
        for fragments in step.added:
            for name, values in _facts(fragments).items():
                to[name] += values
            for fragment in _with_sidecars(fragments):
                bases = manifest.base_paths
                self._sidecars += sidecars_of_fragment(fragment, bases, self._storage)
        for name in (*_FACTS, "message"):
            to[name] += [None] * len(gone)

    def _note_parts(
        self,
        file: VersionFile,
        data: bytes,
        manifest: Manifest,
        parts: ManifestParts,
        split: SplitManifest,
        step: "_Step",
    ) -> None:
        indices = None if parts.indices is None else decode_index_section(parts.indices)
        if indices is not None:
            self._sidecars += sidecars_of_indices(indices, manifest.base_paths, self._storage)
        path = None
        if parts.transaction is None and manifest.transaction_file:
            path = f"{TRANSACTIONS_FOLDER}/{manifest.transaction_file}"
        operation = operation_of(parts.transaction)
        self._note_version(
            file,
            data,
            committed_at=manifest.timestamp,
            operation=operation,
            writer=f"{manifest.writer.library} {manifest.writer}" if manifest.writer else None,
            num_fragments=len(self._at.ids),
            base_version=self._at.version,
            base_sha256=self._at.sha256,
            layout=parts.layout,
            rest=parts.rest,
            manifest=parts.manifest,
            schema_key=self._section("schema", parts.schema),
            indices_key=None if indices is None else self._section("indices", parts.indices or b""),
            fragment_bytes=split.fragment_bytes,
            transaction_path=path,
            transaction=self._kept_transaction(parts.transaction),
            num_new_row_ids=self._num_new_row_ids(manifest, operation, path, step),
        )

    def _kept_transaction(self, transaction: bytes | None) -> bytes | None:
        if transaction is None or self._words:
            return transaction
        return without_words(transaction)

    def _num_new_row_ids(
        self, manifest: Manifest, operation: str | None, path: str | None, step: "_Step"
    ) -> int | None:
        before = self._at.manifest
        if path is not None and len(step.messages) > _FEW:  # counting would take longer
            with suppress(FileNotFoundError, LanceExplorerError):
                operation = operation_of(self._storage.get(path))
        may_be_update = operation in (None, OperationName.UPDATE)  # its file is read later
        if not may_be_update or not manifest.reader_feature_flags & STABLE_ROW_IDS:
            return None
        if before is None or before.version + 1 != manifest.version:
            return None
        fragments = chain.from_iterable(step.added)
        return count_new_row_ids(before, zip(step.messages, fragments, strict=True))

    def _note_version(self, file: VersionFile, data: bytes, **parts: Any) -> None:
        row = dict.fromkeys(VERSIONS.names) | {
            "version": file.version,
            "path": file.path,
            "size_bytes": file.size_bytes,
            "modified_ns": file.modified_ns,
            "etag": file.etag,
            "sha256": sha256(data).hexdigest(),
            **parts,
        }
        for name, value in row.items():
            self._versions[name].append(value)
            self._num_bytes += len(value) if isinstance(value, bytes) else 0

    def _section(self, kind: str, content: bytes) -> str:
        """Return the key of a section, recorded if it is new in this segment."""
        key = self._keys.get(content)
        if key is None:
            key = self._keys[content] = digest(content)
            names = _names(kind, content)
            row = (key, kind, names, content)
            for name, value in zip(self._sections, row, strict=True):
                self._sections[name].append(value)
            self._num_bytes += len(content)
        return key


class _UnusualError(Exception):
    """A valid manifest that cannot be rebuilt from its fragments alone."""


def manifest_without_words(data: bytes) -> bytes:
    """Return a manifest file without the words of its transaction; b"" if it is not one."""
    try:
        layout = read_layout(data)
        message = data[layout.message.offset : layout.message.end]
        offset = decode_manifest_message(message).transaction_section_offset
        if offset is None:
            return data
        section = read_section(data, offset, layout)
        said = without_words(data[section.offset : section.end])
    except FormatError:
        return b""
    return data[: section.offset] + said + data[section.end :]


class _Step(NamedTuple):
    """The fragments that one manifest removed, by ID, and the new or changed ones."""

    removed: set[int]
    added: list[_Fragments]
    messages: list[bytes]


def _read(messages: Sequence[bytes], data: bytes) -> _Fragments:
    """Decode fragments: many as columns."""
    if len(messages) < _FEW:
        return tuple(read_fragments(messages, data))
    columns = columns_of_messages(messages)
    return ColumnsPart(columns, np.arange(len(columns)))


def _ids(fragments: _Fragments) -> list[int]:
    if isinstance(fragments, ColumnsPart):
        result: list[int] = fragments.columns.id.tolist()
        return result
    return [fragment.id for fragment in fragments]


def _facts(fragments: _Fragments) -> dict[str, list[int | None]]:
    if isinstance(fragments, tuple):
        return dict(
            zip(_FACTS, map(list, zip(*map(_facts_of, fragments), strict=True)), strict=False)
        )
    states = States([fragments])
    return {
        name: [
            None if count == UNKNOWN_COUNT else count for count in getattr(states, name).tolist()
        ]
        for name in _FACTS
    }


def _facts_of(fragment: Fragment) -> tuple[int | None, ...]:
    deletions = fragment.deletion_file
    sizes = [file.size_bytes for file in fragment.all_files]
    return (
        fragment.physical_rows,
        deletions.num_deleted_rows if deletions else 0,
        len(sizes),
        None if None in sizes else sum([size or 0 for size in sizes]),
    )


def _with_sidecars(fragments: _Fragments) -> Iterable[Fragment]:
    """Return the fragments that may have files of metadata."""
    if not isinstance(fragments, ColumnsPart):
        return fragments
    columns = fragments.columns
    some = columns.deletion_files.present.copy()
    for sequence in (columns.row_ids, columns.created_at, columns.last_updated_at):
        some |= sequence.storage >= SequenceStorage.EXTERNAL
    return [fragments[number] for number in np.flatnonzero(some).tolist()]


def operation_of(transaction: bytes | None) -> str | None:
    """Return the operation of a transaction; None if there is none, or it cannot be read."""
    if transaction is None:
        return None
    try:
        return str(decode_transaction_header(transaction).operation)
    except FormatError:
        return None


def _names(kind: str, content: bytes) -> str | None:
    try:
        fields: Sequence[Any] = (
            decode_schema(content) if kind == "schema" else decode_index_section(content)
        )
    except FormatError:
        return None
    names = [one.name for one in fields if getattr(one, "parent_id", -1) < 0]
    return ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
