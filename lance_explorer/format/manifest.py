"""Manifest files: bytes to records (docs/FORMAT.md 2).

A manifest is decoded in two steps. :mod:`lance_explorer.format.splitting` finds where its fragments
begin and end; this module decodes the rest: the schema once for all manifests that share it, the
remaining fields into a :class:`Manifest`, and the two sections.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import decoder, pairs, parse
from lance_explorer.format.fragments import BasePath, Fragment, decode_fragment
from lance_explorer.format.record import Record
from lance_explorer.format.schema import Field, fields_from_pb

__all__ = [
    "FOOTER_BYTES",
    "LEGACY_FORMAT",
    "SECTION_PREFIX_BYTES",
    "Manifest",
    "ManifestLayout",
    "Section",
    "WriterVersion",
    "base_path_from_pb",
    "decode_manifest",
    "decode_manifest_message",
    "decode_schema",
    "fragment_messages",
    "manifest_from_pb",
    "message_start",
    "read_fragments",
    "read_layout",
    "read_section",
]

FOOTER_BYTES = 16

LEGACY_FORMAT = "legacy"
"""What :attr:`Manifest.data_format` says of the first files."""

_MAGIC = b"LANC"
_FOOTER = struct.Struct("<QHH4s")
_LENGTH = struct.Struct("<I")

SECTION_PREFIX_BYTES = _LENGTH.size
"""Each section follows its length."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Section(Record, frozen=True):
    """A span of a file: ``length`` bytes from ``offset`` on, any length prefix left out."""

    offset: int
    length: int

    @property
    def end(self) -> int:
        """The position after the last byte."""
        return self.offset + self.length


class ManifestLayout(Record, frozen=True):
    """Where the manifest message is in its file, and the footer's format version."""

    message: Section
    major_version: int
    minor_version: int


class WriterVersion(Record, frozen=True):
    """The library that wrote a version."""

    library: str
    version: str
    prerelease: str | None
    build_metadata: str | None

    def __str__(self) -> str:
        tail = f"-{self.prerelease}" if self.prerelease else ""
        return f"{self.version}{tail}" + (f"+{self.build_metadata}" if self.build_metadata else "")


@dataclass(frozen=True, slots=True)
class Clustering:
    """How rows are grouped, under an ID that fragments and index segments refer to."""

    id: int
    columns: tuple[int, ...]
    provider: str
    version: int


class Manifest(Record, frozen=True):
    """The content of a manifest besides its schema, fragments and indices.

    Maps are tuples of pairs in the order of their keys. Offsets are positions in the file, None if
    there is no such section. ``data_format`` is the version of the data storage format, such as
    ``2.1``; ``legacy`` for the first one.
    """

    version: int
    timestamp: datetime | None
    reader_feature_flags: int
    writer_feature_flags: int
    max_fragment_id: int | None
    transaction_file: str | None
    writer: WriterVersion | None
    next_row_id: int
    data_format: str
    config: tuple[tuple[str, str], ...]
    table_metadata: tuple[tuple[str, str], ...]
    schema_metadata: tuple[tuple[str, bytes], ...]
    base_paths: tuple[BasePath, ...]
    branch: str | None
    index_section_offset: int | None
    transaction_section_offset: int | None
    has_fragment_tree: bool
    max_allocated_field_id: int | None
    clustering: tuple[Clustering, ...] = ()
    max_clustering_id: int | None = None


def read_layout(data: bytes) -> ManifestLayout:
    """Find the manifest message in a whole manifest file."""
    size = len(data)
    start, major, minor = _footer(data, size)
    room = size - FOOTER_BYTES - start - _LENGTH.size
    (length,) = _LENGTH.unpack_from(data, start)
    if length != room:
        raise CorruptFileError(
            f"expected a manifest message of {room} bytes, found the length {length}", offset=start
        )
    begin = start + _LENGTH.size
    if length and not data[begin]:  # no record begins so: the rest, a hole perhaps, is not copied
        raise CorruptFileError("a manifest message that begins with zeros", offset=begin)
    return ManifestLayout(Section(begin, length), major, minor)


def message_start(end: bytes, size: int) -> int:
    """Return where the length of the manifest message stands, by the last bytes of a file.

    Parameters
    ----------
    end : bytes
        The last bytes of the manifest file, at least its footer.
    size : int
        The size of the file.
    """
    return _footer(end, size)[0]


def _footer(end: bytes, size: int) -> tuple[int, int, int]:
    """Return where the length of the manifest message stands, and the version of the format."""
    if len(end) < FOOTER_BYTES or size < FOOTER_BYTES + _LENGTH.size:
        raise CorruptFileError(f"{size} bytes are too few for a manifest file", offset=0)
    start, major, minor, magic = _FOOTER.unpack_from(end, len(end) - FOOTER_BYTES)
    if magic != _MAGIC:
        raise CorruptFileError(
            f"expected the file to end in {_MAGIC!r}, found {magic!r}", offset=size - 4
        )
    if start + _LENGTH.size > size - FOOTER_BYTES:
        raise CorruptFileError(
            f"the footer puts the manifest at byte {start} of {size}", offset=size - FOOTER_BYTES
        )
    return start, major, minor


def read_section(data: bytes, offset: int, layout: ManifestLayout) -> Section:
    """Find the length-prefixed section at ``offset``, which ends before the manifest message."""
    room = layout.message.offset - _LENGTH.size - offset - _LENGTH.size
    if room < 0:
        raise CorruptFileError("a section starts behind the place where it must end", offset=offset)
    (length,) = _LENGTH.unpack_from(data, offset)
    if length > room:
        raise CorruptFileError(
            f"a section of {length} bytes does not fit into the {room} bytes before the manifest",
            offset=offset,
        )
    return Section(offset + _LENGTH.size, length)


@decoder
def decode_manifest(data: bytes) -> tuple[Manifest, tuple[Field, ...], tuple[Fragment, ...]]:
    """Decode a whole manifest file: the manifest, its schema and its fragments."""
    envelope = _envelope(data)
    fragments = tuple(read_fragments(envelope.fragments, data))
    return manifest_from_pb(envelope), fields_from_pb(envelope.fields), fragments


def read_fragments(messages: Iterable[bytes], data: bytes) -> list[Fragment]:
    """Decode fragments of a manifest file, given as undecoded DataFragment messages.

    Raises
    ------
    CorruptFileError
        If one is damaged, with the position in the file whose bytes are ``data``.
    """
    fragments: list[Fragment] = []
    for message in messages:
        try:
            fragments.append(decode_fragment(message))
        except FormatError as error:
            raise error.within(message, data) from error
    return fragments


def fragment_messages(data: bytes) -> list[bytes]:
    """Return the fragments of a whole manifest file, each as an undecoded DataFragment message."""
    return list(_envelope(data).fragments)


@decoder
def decode_manifest_message(data: bytes) -> Manifest:
    """Decode a manifest message without the file around it; schema and fragments are left out."""
    return manifest_from_pb(parse(pb.ManifestEnvelope, data, "manifest"))


@decoder
def decode_schema(data: bytes) -> tuple[Field, ...]:
    """Decode the ``fields`` records of a manifest message, which must be its only records."""
    return fields_from_pb(parse(pb.ManifestEnvelope, data, "schema").fields)


def base_path_from_pb(message: pb.BasePath) -> BasePath:
    """Return a parsed BasePath as a record."""
    return BasePath(
        id=message.id,
        path=message.path,
        is_dataset_root=message.is_dataset_root,
        name=message.name if message.HasField("name") else None,
    )


def manifest_from_pb(message: pb.ManifestEnvelope) -> Manifest:
    """Return a parsed manifest without its schema and fragments."""
    has = message.HasField
    transaction_offset = None
    if has("transaction_section"):
        transaction_offset = message.transaction_section
    elif has("transaction_section_until_13"):
        transaction_offset = message.transaction_section_until_13
    return Manifest(
        version=message.version,
        timestamp=_timestamp(message.timestamp) if has("timestamp") else None,
        reader_feature_flags=message.reader_feature_flags,
        writer_feature_flags=message.writer_feature_flags,
        max_fragment_id=message.max_fragment_id if has("max_fragment_id") else None,
        transaction_file=message.transaction_file or None,
        writer=_writer(message.writer_version) if has("writer_version") else None,
        next_row_id=message.next_row_id,
        data_format=_data_format(message.data_format.version),
        config=pairs(message.config),
        table_metadata=pairs(message.table_metadata),
        schema_metadata=pairs(message.schema_metadata),
        base_paths=(
            tuple([base_path_from_pb(base) for base in message.base_paths])
            if message.base_paths
            else ()
        ),
        branch=message.branch if has("branch") else None,
        index_section_offset=message.index_section if has("index_section") else None,
        transaction_section_offset=transaction_offset,
        has_fragment_tree=has("fragment_tree"),
        max_allocated_field_id=(
            message.max_allocated_field_id if has("max_allocated_field_id") else None
        ),
        clustering=tuple(
            [
                Clustering(one.id, tuple(one.columns), one.provider, one.version)
                for one in message.clustering
            ]
        )
        if message.clustering
        else (),
        max_clustering_id=message.max_clustering_id if has("max_clustering_id") else None,
    )


def _envelope(data: bytes) -> pb.ManifestEnvelope:
    """Return the message in a whole manifest file."""
    message = read_layout(data).message
    try:
        return parse(pb.ManifestEnvelope, data[message.offset : message.end], "manifest")
    except FormatError as error:
        raise error.shifted(message.offset) from error


def _timestamp(message: pb.Instant) -> datetime:
    """Return the time to the microsecond, rounded down."""
    try:
        return _EPOCH + timedelta(seconds=message.seconds, microseconds=message.nanos // 1000)
    except OverflowError as error:
        raise CorruptFileError(
            f"{message.seconds} s since 1970 is not a possible commit time"
        ) from error


def _writer(message: pb.WriterVersion) -> WriterVersion:
    return WriterVersion(
        library=message.library,
        version=message.version,
        prerelease=message.prerelease if message.HasField("prerelease") else None,
        build_metadata=message.build_metadata if message.HasField("build_metadata") else None,
    )


def _data_format(version: str) -> str:
    """Return the storage format as users write it; writers before 0.20 store nothing or ``0.1``."""
    return version if version not in ("", "0.1") else LEGACY_FORMAT
