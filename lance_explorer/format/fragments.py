"""Fragments, data files and deletion files: bytes to records (docs/FORMAT.md 2.5 to 2.8).

A record contains everything about a fragment except its row-ID and row-version sequences, of which
it keeps position, size and digest: two records are equal if and only if the fragments are the same.
"""

from enum import IntEnum
from hashlib import blake2b
from typing import Literal

from msgspec.structs import replace
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._roaring import read_bitmap
from lance_explorer.format._wire import decoder, pairs, parse
from lance_explorer.format.record import Record

__all__ = [
    "DIGEST_BYTES",
    "LARGEST_FRAGMENT",
    "SHORTENED",
    "BasePath",
    "DataFile",
    "DataOverlayFile",
    "DeletionFile",
    "DeletionFileType",
    "ExternalFile",
    "Fragment",
    "InlineSequences",
    "StoredSequence",
    "data_file_from_pb",
    "decode_fragment",
    "decode_fragment_id",
    "decode_inline_sequences",
    "fragment_from_pb",
    "inline_sequence",
    "overlay_from_pb",
    "shortened",
    "without_doubtful_count",
]

TOMBSTONE = -2
"""Field id of a column that a later file of the fragment replaced."""

LARGEST_FRAGMENT = 1 << 32
"""A row address has 32 bits for the fragment and 32 for the offset."""

DIGEST_BYTES = 24
"""A sequence of at most this many bytes is its own digest."""

SHORTENED = b"\x00shortened"
"""What a shortened sequence begins with; no field of a message begins with zero."""

_SIZE_BYTES = 4  # a file that forges one cannot claim more than a message may have
_SHORTENED_BYTES = len(SHORTENED) + _SIZE_BYTES + DIGEST_BYTES
_SHORT_SEQUENCE, _SHORT_MESSAGE = 256, 512
_INLINE = ("inline_row_ids", "inline_last_updated_at", "inline_created_at")

LARGEST_FILE = 1 << 50
"""More bytes than any storage allows in one file, and few enough to add up thousands."""

HIDDEN_FIELDS = {-3: "_rowid", -4: "_row_created_at_version", -5: "_row_last_updated_at_version"}
"""Field ids of spilled sequences, and the names of their columns (docs/FORMAT.md 3.4)."""


class DeletionFileType(IntEnum):
    """How a deletion file stores the deleted offsets."""

    ARROW_ARRAY = 0
    BITMAP = 1


class BasePath(Record, frozen=True):
    """A root outside the table's own that may contain some of its files."""

    id: int
    path: str
    is_dataset_root: bool
    name: str | None


class ExternalFile(Record, frozen=True):
    """A span of a file: ``size`` bytes from ``offset`` on."""

    path: str
    offset: int
    size: int


class DataFile(Record, frozen=True):
    """One data file of a fragment; ``size_bytes`` is None where the writer did not store it."""

    path: str
    fields: tuple[int, ...]
    column_indices: tuple[int, ...]
    major_version: int
    minor_version: int
    size_bytes: int | None
    base_id: int | None


class DataOverlayFile(Record, frozen=True):
    """New values for some rows and columns of a fragment.

    ``coverage`` holds portable Roaring bitmaps over physical offsets: one for all columns of the
    file if ``shared``, else one for each.
    """

    data_file: DataFile
    coverage: tuple[bytes, ...]
    shared: bool
    committed_version: int

    def covered_offsets(self) -> BitMap:
        """Return the rows that have a new value in some column, as physical offsets."""
        bitmaps = [read_bitmap(bitmap, "the rows of an overlay") for bitmap in self.coverage]
        return BitMap.union(BitMap(), *bitmaps)


class DeletionFile(Record, frozen=True):
    """Where the deleted offsets of a fragment are listed.

    ``num_deleted_rows`` is None where the writer did not store it: then the file must be counted.
    """

    file_type: int
    read_version: int
    id: int
    num_deleted_rows: int | None
    base_id: int | None

    def path(self, fragment_id: int) -> str:
        """Return the path below its root: the table's own, or that of ``base_id``."""
        suffix = "bin" if self.file_type == DeletionFileType.BITMAP else "arrow"
        return f"_deletions/{fragment_id}-{self.read_version}-{self.id}.{suffix}"


class StoredSequence(Record, frozen=True):
    """Where a fragment keeps a sequence, and its digest.

    ``storage`` is ``inline`` (in the manifest), ``external`` (the span ``file``) or ``spilled``
    (a hidden column of a data file). ``num_bytes`` and ``digest`` describe the inline bytes; a
    sequence of few bytes is its own digest.
    """

    storage: Literal["inline", "external", "spilled"]
    num_bytes: int = 0
    digest: bytes = b""
    file: ExternalFile | None = None

    @property
    def data(self) -> bytes:
        """The sequence, where it is its own digest; nothing where it is not known here."""
        return self.digest if self.num_bytes <= DIGEST_BYTES else b""


class Fragment(Record, frozen=True):
    """One state of a fragment, as a manifest holds it.

    ``physical_rows`` counts deleted rows too, and is None where the writer did not store it.
    """

    id: int
    files: tuple[DataFile, ...]
    deletion_file: DeletionFile | None
    physical_rows: int | None
    row_ids: StoredSequence | None
    last_updated_at: StoredSequence | None
    created_at: StoredSequence | None
    overlays: tuple[DataOverlayFile, ...]
    clustering_id: int | None
    metadata: tuple[tuple[str, str], ...]

    @property
    def all_files(self) -> tuple[DataFile, ...]:
        """The data files, including those of overlays."""
        return (*self.files, *[overlay.data_file for overlay in self.overlays])


@decoder
def decode_fragment(data: bytes) -> Fragment:
    """Decode one DataFragment message."""
    return fragment_from_pb(parse(pb.DataFragment, data, "fragment"))


@decoder
def without_doubtful_count(fragment: Fragment) -> Fragment:
    """Return a fragment of a manifest without a writer, without its number of rows.

    Such writers could store the live rows as all rows: 0.8.0 did of fragments in which 0.7.5 had
    deleted some (lance#1531). Like pylance, we ignore the number for fragments with deleted rows.
    """
    return fragment if fragment.deletion_file is None else replace(fragment, physical_rows=None)


def decode_fragment_id(data: bytes) -> int:
    """Return the ID alone of one DataFragment message."""
    return parse(pb.DataFragment, data, "fragment").id


class InlineSequences(Record, frozen=True):
    """The bytes of the sequences that a fragment keeps in the manifest, None for others."""

    row_ids: bytes | None
    last_updated_at: bytes | None
    created_at: bytes | None


@decoder
def decode_inline_sequences(data: bytes) -> InlineSequences:
    """Return the bytes of the inline sequences of one DataFragment message."""
    message = parse(pb.DataFragment, data, "fragment")
    has = message.HasField
    return InlineSequences(
        row_ids=message.inline_row_ids if has("inline_row_ids") else None,
        last_updated_at=message.inline_last_updated_at if has("inline_last_updated_at") else None,
        created_at=message.inline_created_at if has("inline_created_at") else None,
    )


def fragment_from_pb(message: pb.DataFragment) -> Fragment:
    """Return a parsed DataFragment as a record."""
    if max(message.id, message.physical_rows) > LARGEST_FRAGMENT:
        raise CorruptFileError(
            f"fragment {message.id} with {message.physical_rows} rows: neither can exceed 2^32"
        )
    return Fragment(
        id=message.id,
        files=tuple([data_file_from_pb(file) for file in message.files]),
        deletion_file=(
            _deletion_file(message.deletion_file) if message.HasField("deletion_file") else None
        ),
        physical_rows=message.physical_rows or None,
        row_ids=_sequence(message, "row_ids"),
        last_updated_at=_sequence(message, "last_updated_at"),
        created_at=_sequence(message, "created_at"),
        overlays=(
            tuple([overlay_from_pb(overlay) for overlay in message.overlays])
            if message.overlays
            else ()
        ),
        clustering_id=message.clustering_id if message.HasField("clustering_id") else None,
        metadata=pairs(message.metadata),
    )


def data_file_from_pb(message: pb.DataFile) -> DataFile:
    """Return a parsed DataFile as a record."""
    if message.file_size_bytes > LARGEST_FILE:
        raise CorruptFileError(f"no file has {message.file_size_bytes} bytes")
    return DataFile(
        path=message.path,
        fields=tuple(message.fields),
        column_indices=tuple(message.column_indices),
        major_version=message.file_major_version,
        minor_version=message.file_minor_version,
        size_bytes=message.file_size_bytes or None,
        base_id=message.base_id if message.HasField("base_id") else None,
    )


def overlay_from_pb(message: pb.DataOverlayFile) -> DataOverlayFile:
    """Return a parsed DataOverlayFile as a record."""
    shared = message.WhichOneof("coverage") == "shared_offset_bitmap"
    return DataOverlayFile(
        data_file=data_file_from_pb(message.data_file),
        coverage=(
            (message.shared_offset_bitmap,)
            if shared
            else tuple(message.field_coverage.offset_bitmaps)
        ),
        shared=shared,
        committed_version=message.committed_version,
    )


def inline_sequence(data: bytes) -> StoredSequence:
    """Return the record of a sequence that a fragment keeps in the manifest, as these bytes."""
    if len(data) <= DIGEST_BYTES:
        return StoredSequence("inline", len(data), data)
    if data.startswith(SHORTENED) and len(data) == _SHORTENED_BYTES:
        size, digest = data[len(SHORTENED) : -DIGEST_BYTES], data[-DIGEST_BYTES:]
        return StoredSequence("inline", int.from_bytes(size, "little"), digest)
    return StoredSequence("inline", len(data), blake2b(data, digest_size=DIGEST_BYTES).digest())


def shortened(message: bytes) -> bytes:
    """Return a DataFragment message with size and digest in place of its long inline sequences.

    It decodes to the same record, so two are equal where the fragments are. A message that is
    damaged stays as it is.
    """
    if len(message) <= _SHORT_MESSAGE:
        return message
    try:
        fragment = parse(pb.DataFragment, message, "fragment")
    except CorruptFileError:
        return message
    is_long = False
    for name in _INLINE:
        data = getattr(fragment, name)
        if len(data) > _SHORT_SEQUENCE:
            stored = inline_sequence(data)
            size = stored.num_bytes.to_bytes(_SIZE_BYTES, "little")
            setattr(fragment, name, SHORTENED + size + stored.digest)
            is_long = True
    return fragment.SerializeToString() if is_long else message


def _deletion_file(message: pb.DeletionFile) -> DeletionFile:
    if message.num_deleted_rows > LARGEST_FRAGMENT:
        raise CorruptFileError(f"no fragment has {message.num_deleted_rows} deleted rows")
    return DeletionFile(
        file_type=message.file_type,
        read_version=message.read_version,
        id=message.id,
        num_deleted_rows=message.num_deleted_rows or None,
        base_id=message.base_id if message.HasField("base_id") else None,
    )


_SequenceKind = Literal["row_ids", "last_updated_at", "created_at"]


def _sequence(message: pb.DataFragment, kind: _SequenceKind) -> StoredSequence | None:
    arm = message.WhichOneof(kind)
    if arm is None:
        return None
    if arm.startswith("inline"):
        return inline_sequence(getattr(message, arm))
    if arm.startswith("external"):
        file = getattr(message, arm)
        return StoredSequence("external", file=ExternalFile(file.path, file.offset, file.size))
    return StoredSequence("spilled")
