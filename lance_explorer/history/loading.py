"""Read manifests into a History, each byte once, and shared parts once."""

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from itertools import islice
from operator import itemgetter, lt
from typing import NamedTuple, TypeVar

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from lance_explorer.errors import (
    CorruptFileError,
    FormatError,
    UnsupportedFeatureError,
)
from lance_explorer.format.deletions import decode_deletion_file
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.fragment_encoding import encode_fragment
from lance_explorer.format.fragments import (
    DeletionFile,
    Fragment,
    decode_inline_sequences,
    shortened,
    without_doubtful_count,
)
from lance_explorer.format.indices import IndexMetadata, decode_index_section
from lance_explorer.format.manifest import (
    Manifest,
    ManifestLayout,
    decode_manifest_message,
    decode_schema,
    read_fragments,
    read_layout,
    read_section,
)
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.schema import Field
from lance_explorer.format.splitting import Hunk, ManifestSplitter
from lance_explorer.format.transactions import decode_transaction_header
from lance_explorer.history.allocator import keep_freed_memory
from lance_explorer.history.collector import collector_paused
from lance_explorer.history.file_roots import deletion_root
from lance_explorer.history.history import (
    EMPTY_HISTORY,
    History,
    StoredTransaction,
    UnreadableVersion,
    VersionRecord,
)
from lance_explorer.history.intervals import IntervalBuilder, Intervals, merge_intervals
from lance_explorer.history.listing import VersionFile, VersionListing
from lance_explorer.history.manifest_findings import (
    corrupt_transaction,
    duplicates,
    is_overfull,
    miscounted,
    not_counted,
    too_many_deleted,
    unreadable,
)
from lance_explorer.history.manifest_reading import ReadManifest, read_manifests
from lance_explorer.history.new_row_ids import count_new_row_ids, count_new_row_ids_of
from lance_explorer.history.progress import reading_versions
from lance_explorer.history.recorded import Note, Recorded
from lance_explorer.history.state_builder import StateBuilder
from lance_explorer.history.states import States
from lance_explorer.storage import FilePart, Storage, given, reading_ahead

__all__ = ["extend", "with_unreadable"]

KEPT_TRANSACTION_BYTES = 16 * 1024
"""Longer transactions are read again if more than their header is needed."""

TRANSACTIONS_FOLDER = "_transactions"

_T = TypeVar("_T")

_FEW_BYTES = 32 << 20


def extend(
    history: History,
    storage: Storage,
    listing: VersionListing,
    recorded: Recorded | None = None,
    branch: str | None = None,
    keep: Callable[[History], object] = lambda _: None,
) -> History:
    """Return the history of the versions in ``listing``, reading only what ``history`` lacks.

    Versions that are missing from the listing, or that vanish while they are read, are left out. A
    manifest that cannot be decoded is left out too, and becomes a finding.

    Parameters
    ----------
    history : History
        What is already known; EMPTY_HISTORY at first.
    storage : Storage
        The root of the table (of the branch).
    listing : VersionListing
        The current versions.
    recorded : Recorded, optional
        Earlier recordings of the manifests.
    branch : str, optional
        The branch, for ``recorded``.
    keep : callable
        Gets the history of the first versions if reading is interrupted, to go on with later.

    Raises
    ------
    StorageError
        If reading fails for another reason than a missing file.
    """
    known = replace(_still_kept(history, listing), detached=listing.detached)
    newest = known.versions_read[-1] if known.versions_read else -1
    files = [file for file in listing.versions if file.version > newest]
    if not files:
        return known
    noting = recorded.noting(storage, branch, files) if recorded else nullcontext(None)
    with collector_paused(), noting as note:
        try:
            return _Loader(known, storage, note).read(files, keep)
        except FormatError:  # a fragment is damaged: find out in which manifests
            return _Loader(known, storage, None, one_by_one=True).read(files, keep)


def with_unreadable(
    history: History, versions: Sequence[tuple[VersionFile, FormatError]]
) -> History:
    """Return the history with unreadable versions as findings."""
    return replace(
        history,
        unreadable=(*history.unreadable, *[UnreadableVersion(*version) for version in versions]),
        findings=(*history.findings, *[unreadable(*version) for version in versions]),
    )


def _still_kept(history: History, listing: VersionListing) -> History:
    """Return the history without the versions that the listing lacks.

    A listing with another file under a known version, or a new version between known ones, belongs
    to another table: then nothing is known.
    """
    listed = {file.version: file for file in listing.versions}
    read = {record.version: record.file for record in history.records}
    read.update({version.file.version: version.file for version in history.unreadable})
    newest = max(read, default=-1)
    for version, file in listed.items():
        known = read.get(version)
        if version < newest and known is None:
            return EMPTY_HISTORY
        if known is not None and _identity(known) != _identity(file):
            return EMPTY_HISTORY
    if all(version in listed for version in read):
        return history
    kept = [i for i, record in enumerate(history.records) if record.version in listed]
    intervals = history.intervals.only(np.array(kept, dtype=np.int64))
    states = _by_appearance(history, intervals)
    numbers = np.empty(len(history.states), dtype=np.int64)
    numbers[states] = np.arange(len(states))
    return replace(
        history,
        records=tuple([_without_past(history.records[i], listed) for i in kept]),
        states=history.states.only(states),
        num_deleted_rows=history.num_deleted_rows[states],
        intervals=merge_intervals(numbers[intervals.keys], intervals.first, intervals.last),
        unreadable=tuple([v for v in history.unreadable if v.file.version in listed]),
        findings=tuple(
            [f for f in history.findings if f.versions is None or f.versions[0] in listed]
        ),
    )


def _without_past(record: VersionRecord, listed: Container[int]) -> VersionRecord:
    """Return a record as a new read would give it; facts relative to a lost version go."""
    if record.num_new_row_ids is None or record.version - 1 in listed:
        return record
    return structs.replace(record, num_new_row_ids=None)


def _by_appearance(history: History, intervals: Intervals) -> NDArray[np.int64]:
    """Return the states that are in an interval, in the order of their numbers.

    That is by their first version, and within it by fragment.
    """
    states, where = np.unique(intervals.keys, return_index=True)  # intervals begin in order
    ids = history.states.ids[states]
    ordered: NDArray[np.int64] = states[np.lexsort((ids, intervals.first[where]))]
    return ordered


def _identity(file: VersionFile) -> tuple[str, int, int, str | None]:
    """Return the identity of a file; its name changes with a migration."""
    return file.path, file.size_bytes, file.modified_ns, file.etag


class _Uncounted(NamedTuple):
    """A state whose manifest does not record how many of its rows are deleted."""

    state: int
    root: Storage
    fragment: Fragment
    file: DeletionFile

    @property
    def path(self) -> str:
        return self.file.path(self.fragment.id)

    def num_rows(self) -> int:
        data = self.root.get(self.path)
        return len(decode_deletion_file(data, self.file.file_type, self.fragment.physical_rows))


class _Loader:
    """The work of one ``extend``: it visits manifests and records what is new.

    Parameters
    ----------
    known : History
        What is already known.
    storage : Storage
        The root of the branch.
    note : Note or None
        Receives each manifest.
    one_by_one : bool
        Whether to decode the fragments of each manifest apart, which tells which is damaged.
    """

    def __init__(
        self, known: History, storage: Storage, note: Note | None, *, one_by_one: bool = False
    ) -> None:
        self._known = known
        self._note = note
        self._one_by_one = one_by_one
        self._storage = storage
        self._records = list(known.records)
        self._states = StateBuilder(known.states)
        self._updates: list[tuple[int, list[int]]] = []
        self._unreadable = list(known.unreadable)
        self._findings = list(known.findings)
        self._intervals = IntervalBuilder(known.intervals, len(known.records))
        self._splitter = ManifestSplitter()
        self._duplicated = set(known.duplicated)
        self._is_duplicated = False  # whether the current manifest has an ID twice
        self._current: list[int] = []  # the states of the current manifest of the splitter
        self._left_over = self._intervals.still_open  # states of a manifest it does not stand at
        self._schema_source = b""
        self._schema: tuple[Field, ...] = ()
        self._index_source = b""
        self._indices: tuple[IndexMetadata, ...] = ()

    def read(self, files: list[VersionFile], keep: Callable[[History], object]) -> History:
        """Read manifests in the order of their versions; return the history with them.

        Raises
        ------
        FormatError
            If a fragment is damaged; not if each manifest is decoded apart.
        """
        keep_freed_memory(max(file.size_bytes for file in files))  # manifests grow
        shown = reading_versions(files, is_remote=self._storage.in_flight > 1)
        manifests = map(
            itemgetter(1), zip(shown, read_manifests(self._storage, files), strict=True)
        )
        while some := self._next(manifests, keep):
            with self._storage.reading_ahead(self._transaction_files(some)):
                for manifest in some:
                    if manifest.contents is not None:
                        self._try_to_add(manifest, manifest.contents)
            self._states.decode_if_many()
        return self._finish()

    def _next(
        self,
        manifests: Iterator[ReadManifest],
        keep: Callable[[History], object],
    ) -> list[ReadManifest]:
        """Return the next manifests; an interrupt here finds all before them recorded."""
        try:
            return _first(manifests, self._storage.in_flight)
        except BaseException:
            with suppress(FormatError):
                keep(self._finish())
            raise

    def _finish(self) -> History:
        states, state_of = self._states.finish()
        found = self._intervals.finish(len(self._records))
        intervals = merge_intervals(state_of[found.keys], found.first, found.last)
        known = self._known.num_deleted_rows
        num_deleted_rows = np.concatenate([known, states.num_deleted_rows[len(known) :]])
        for state, count in _counted(self._find_wrong(states, intervals)):
            num_deleted_rows[state] = count
        self._count_new_row_ids(states, state_of)
        return replace(
            self._known,
            records=tuple(self._records),
            states=states,
            num_deleted_rows=num_deleted_rows,
            intervals=intervals,
            unreadable=tuple(self._unreadable),
            findings=tuple(sorted(self._findings, key=lambda finding: finding.versions or ())),
            duplicated=frozenset(self._duplicated),
        )

    def _transaction_files(self, manifests: list[ReadManifest]) -> Iterator[FilePart]:
        """Yield the transaction files of manifests, if there is more than one manifest."""
        for read in manifests if len(manifests) > 1 else []:
            if not isinstance(read.contents, bytes) or read.is_derived:
                continue
            try:
                manifest = decode_manifest_message(_message(read.contents))
            except FormatError:
                continue
            if manifest.transaction_section_offset is None and manifest.transaction_file:
                yield FilePart(f"{TRANSACTIONS_FOLDER}/{manifest.transaction_file}")

    def _try_to_add(self, read: ReadManifest, contents: bytes | FormatError) -> None:
        file = read.file
        if self._note is not None and isinstance(contents, bytes):
            self._note(file, contents, read.is_derived)
        try:
            self._add(file, given(contents), read.is_derived)
        except FormatError as error:
            located = error.located(file.path)
            self._unreadable.append(UnreadableVersion(file, located))
            self._findings.append(unreadable(file, located))
            self._start_over()

    def _start_over(self) -> None:
        """Reset the splitter; the next manifest is split as a whole."""
        self._splitter = ManifestSplitter()
        self._current = []
        self._is_duplicated = False
        self._left_over = self._intervals.still_open

    def _add(self, file: VersionFile, data: bytes, is_derived: bool) -> None:
        layout = read_layout(data)
        split = self._splitter.split(data, layout.message)
        manifest = split.manifest
        if manifest.version != file.version:
            raise CorruptFileError(
                f"expected version {file.version} as in the file name, found {manifest.version}",
                offset=layout.message.offset,
            )
        if manifest.has_fragment_tree:
            raise UnsupportedFeatureError(
                "the fragments are in an experimental fragment tree", offset=layout.message.offset
            )
        if split.schema is not self._schema_source:
            self._schema = _decoded(decode_schema, split.schema, data)
            self._schema_source = split.schema
        index_section_bytes = self._read_indices(data, manifest, layout)
        hunks = split.hunks
        if self._one_by_one or manifest.writer is None:
            hunks = [self._decoded(file, hunk, data, manifest) for hunk in hunks]
        transaction = self._read_transaction(file, data, manifest, layout)
        operation = transaction.header.operation if transaction else None
        is_update = operation == OperationName.UPDATE and self._follows(manifest)
        messages = [message for hunk in hunks for message in hunk.new] if is_update else []
        is_long = any(shortened(message) is not message for message in messages)
        num_new_row_ids = None
        if is_long:  # sequences that are not kept are counted at once
            fragments = zip(messages, read_fragments(messages, data), strict=True)
            num_new_row_ids = count_new_row_ids(self._records[-1].manifest, fragments)
        new = self._replace_states(hunks)
        if self._is_duplicated:
            self._note_duplicates(file)
        if is_update and not is_long:
            self._updates.append((len(self._records), new))
        self._records.append(
            VersionRecord(
                version=file.version,
                operation=operation,
                file=file,
                manifest=manifest,
                schema=self._schema,
                indices=self._indices,
                transaction=transaction,
                schema_bytes=len(split.schema),
                fragment_bytes=split.fragment_bytes,
                index_section_bytes=index_section_bytes,
                num_new_row_ids=num_new_row_ids,
                is_derived=is_derived,
            )
        )

    def _decoded(self, file: VersionFile, hunk: Hunk, data: bytes, manifest: Manifest) -> Hunk:
        """Return what changed, after decoding it; without counts that may be wrong."""
        fragments, new = read_fragments(hunk.new, data), [*hunk.new]
        for number, fragment in enumerate(fragments):
            trusted = fragment if manifest.writer else without_doubtful_count(fragment)
            if trusted != fragment:
                new[number] = encode_fragment(trusted, decode_inline_sequences(new[number]))
                if "rows_miscounted" not in self._codes():
                    self._findings.append(miscounted(file, fragment))
        return Hunk(hunk.start, hunk.stop, new, [fragment.id for fragment in fragments])

    def _follows(self, manifest: Manifest) -> bool:
        """Whether it can be counted which row IDs the version before had not assigned."""
        has_ids = manifest.reader_feature_flags & STABLE_ROW_IDS
        return bool(has_ids and self._records) and self._records[-1].version + 1 == manifest.version

    def _count_new_row_ids(self, states: States, state_of: NDArray[np.int64]) -> None:
        """Count the rows of new fragments whose row IDs the previous version had not assigned."""
        befores = [self._records[position - 1].manifest for position, _ in self._updates]
        new = [state_of[entries] for _, entries in self._updates]
        counts = count_new_row_ids_of(states, list(zip(befores, new, strict=True)))
        for (position, _), count in zip(self._updates, counts, strict=True):
            record = self._records[position]
            self._records[position] = structs.replace(record, num_new_row_ids=count)

    def _replace_states(self, hunks: list[Hunk]) -> list[int]:
        """Record the fragments that come and go; return the entries of those that come."""
        position = len(self._records)
        removed, self._left_over = self._left_over, []
        added = list[int]()
        is_sorted = True
        ids = self._states.ids
        entries_of = [self._states.add(hunk.new, hunk.ids) for hunk in hunks]
        # From the end, so that the places of the hunks before stay as they are.
        for hunk, entries in zip(reversed(hunks), reversed(entries_of), strict=True):
            removed += self._current[hunk.start : hunk.stop]
            added += entries
            self._current[hunk.start : hunk.stop] = entries
            near = self._current[max(hunk.start - 1, 0) : hunk.start + len(entries) + 1]
            some = [ids[entry] for entry in near]
            is_sorted = is_sorted and all(map(lt, some, some[1:]))
        if self._is_duplicated or not is_sorted:
            some = [ids[entry] for entry in self._current]
            self._is_duplicated = len(set(some)) < len(some)
        for entry in removed:
            self._intervals.close(entry, position)
        for entry in added:
            self._intervals.open(entry, position)
        return added

    def _codes(self) -> set[str]:
        return {finding.code for finding in self._findings}

    def _note_duplicates(self, file: VersionFile) -> None:
        self._duplicated.add(file.version)
        if "duplicate_fragment_ids" not in self._codes():
            self._findings.append(duplicates(file))

    def _find_wrong(self, states: States, intervals: Intervals) -> list[_Uncounted]:
        """Record problems of new states; return those whose deleted rows are not counted."""
        uncounted = list[_Uncounted]()
        num_known = len(self._known.states)
        odd = np.flatnonzero(states.look_odd[num_known:]) + num_known
        if not len(odd):
            return uncounted
        keys, where = np.unique(intervals.keys, return_index=True)  # intervals begin in order
        first = dict(zip(keys.tolist(), intervals.first[where].tolist(), strict=True))
        for number in odd.tolist():
            fragment, record = states[number], self._records[first[number]]
            if fragment.physical_rows is None and "rows_not_counted" not in self._codes():
                self._findings.append(not_counted(record.file, fragment))
            if is_overfull(fragment):
                self._findings.append(too_many_deleted(record.file, fragment))
            deleted = fragment.deletion_file
            if deleted is not None and deleted.num_deleted_rows is None:
                with suppress(FormatError):
                    bases = record.manifest.base_paths
                    root = deletion_root(deleted.base_id, bases, self._storage)
                    uncounted.append(_Uncounted(number, root, fragment, deleted))
        return uncounted

    def _read_indices(self, data: bytes, manifest: Manifest, layout: ManifestLayout) -> int:
        """Update ``_indices`` to this manifest; return the size of its index section."""
        if manifest.index_section_offset is None:
            source = b""
        else:
            section = read_section(data, manifest.index_section_offset, layout)
            source = data[section.offset : section.end]
        if source != self._index_source:
            self._indices = _decoded(decode_index_section, source, data)
            self._index_source = source
        return len(source)

    def _read_transaction(
        self, file: VersionFile, data: bytes, manifest: Manifest, layout: ManifestLayout
    ) -> StoredTransaction | None:
        """Return the transaction, inlined or from its own file; None if it is in neither."""
        path, offset = file.path, 0
        try:
            if manifest.transaction_section_offset is not None:
                section = read_section(data, manifest.transaction_section_offset, layout)
                source, offset = "manifest", section.offset
                transaction = data[section.offset : section.end]
            elif manifest.transaction_file is not None:
                source, path = "file", f"{TRANSACTIONS_FOLDER}/{manifest.transaction_file}"
                transaction = self._storage.get(path)
            else:
                return None
            header = decode_transaction_header(transaction)
        except FileNotFoundError:
            return None
        except FormatError as error:
            self._findings.append(corrupt_transaction(file, error.located(path, offset)))
            return None
        size = len(transaction)
        kept = transaction if size <= KEPT_TRANSACTION_BYTES else None
        return StoredTransaction(header, source, path, offset, size, kept)


def _counted(uncounted: list[_Uncounted]) -> Iterator[tuple[int, int]]:
    """Count deleted rows if only the deletion file contains their number."""
    with reading_ahead([(one.root, FilePart(one.path)) for one in uncounted]):
        for one in uncounted:
            with suppress(FileNotFoundError, FormatError):
                yield one.state, one.num_rows()


def _first(manifests: Iterator[ReadManifest], most: int) -> list[ReadManifest]:
    """Return the next manifests, fewer than ``most`` if they are large."""
    some, size = list[ReadManifest](), 0
    for read in islice(manifests, most):
        some.append(read)
        size += read.file.size_bytes
        if size >= _FEW_BYTES:
            break
    return some


def _decoded(decode: Callable[[bytes], _T], part: bytes, data: bytes) -> _T:
    """Return a decoded part of a manifest; an error has the position in the whole file."""
    try:
        return decode(part)
    except FormatError as error:
        raise error.within(part, data) from error


def _message(data: bytes) -> bytes:
    section = read_layout(data).message
    return data[section.offset : section.end]
