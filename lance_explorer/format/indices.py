"""The index section of a manifest: bytes to records (docs/FORMAT.md 4).

It decodes what a manifest records about indices. Index files themselves are not read.
"""

from dataclasses import dataclass

from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._pb import table_pb2
from lance_explorer.format._roaring import read_bitmap
from lance_explorer.format._wire import decoder, pairs, parse
from lance_explorer.format.fragments import LARGEST_FILE

__all__ = [
    "FRAGMENT_REUSE_INDEX",
    "MEM_WAL_INDEX",
    "SYSTEM_INDICES",
    "CompactedSsTable",
    "IndexFile",
    "IndexMetadata",
    "compacted_sstable_from_pb",
    "decode_index_section",
    "index_file_from_pb",
    "index_from_pb",
    "uuid_from_pb",
]

FRAGMENT_REUSE_INDEX = "__lance_frag_reuse"
"""Name of the entry that holds the fragment reuse history."""

MEM_WAL_INDEX = "__lance_mem_wal"
"""Name of the entry that holds the state of the write-ahead log."""

SYSTEM_INDICES = frozenset({FRAGMENT_REUSE_INDEX, MEM_WAL_INDEX})


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One file of an index; the path starts at the folder of the index."""

    path: str
    size_bytes: int | None


@dataclass(frozen=True, slots=True)
class IndexMetadata:
    """One physical segment of an index. Segments of one logical index share the name.

    ``fragment_bitmap`` is a portable Roaring bitmap of the covered fragments, None where the
    coverage is unknown. ``type_url`` is None where the writer stored no details (0.10), ``files``
    is empty where it did not list them (before 4.0).
    """

    uuid: str
    fields: tuple[int, ...]
    name: str
    dataset_version: int
    fragment_bitmap: bytes | None
    type_url: str | None
    details: bytes
    index_version: int | None
    created_at_ms: int | None
    base_id: int | None
    files: tuple[IndexFile, ...]
    covering_fields: tuple[int, ...]
    clustering_id: int | None
    metadata: tuple[tuple[str, str], ...]

    def fragment_ids(self) -> BitMap | None:
        """Return the covered fragments, stale ones included; None if the coverage is unknown."""
        if self.fragment_bitmap is None:
            return None
        return read_bitmap(self.fragment_bitmap, f"the fragments of index {self.name!r}")


@dataclass(frozen=True, slots=True)
class CompactedSsTable:
    """A piece of the write-ahead log that was merged into the table."""

    shard_id: str
    generation: int


@decoder
def decode_index_section(data: bytes) -> tuple[IndexMetadata, ...]:
    """Decode the index section of a manifest."""
    section = parse(pb.IndexSection, data, "index section")
    return tuple([index_from_pb(index) for index in section.indices])


def index_from_pb(message: pb.IndexMetadata) -> IndexMetadata:
    """Return one entry of an index section as a record."""
    has = message.HasField
    return IndexMetadata(
        uuid=uuid_from_pb(message.uuid),
        fields=tuple(message.fields),
        name=message.name,
        dataset_version=message.dataset_version,
        fragment_bitmap=message.fragment_bitmap or None,
        type_url=message.index_details.type_url or None,
        details=message.index_details.value,
        index_version=message.index_version if has("index_version") else None,
        created_at_ms=message.created_at if has("created_at") else None,
        base_id=message.base_id if has("base_id") else None,
        files=tuple([index_file_from_pb(file) for file in message.files]),
        covering_fields=tuple(message.covering_fields),
        clustering_id=message.clustering_id if has("clustering_id") else None,
        metadata=pairs(message.metadata),
    )


def index_file_from_pb(message: pb.IndexFile) -> IndexFile:
    """Return a file of an index as a record."""
    if message.size_bytes > LARGEST_FILE:
        raise CorruptFileError(f"no file has {message.size_bytes} bytes")
    return IndexFile(message.path, message.size_bytes or None)


def compacted_sstable_from_pb(message: pb.CompactedSsTable) -> CompactedSsTable:
    """Return a piece of the write-ahead log as a record."""
    return CompactedSsTable(uuid_from_pb(message.shard_id), message.generation)


def uuid_from_pb(message: table_pb2.Uuid) -> str:
    """Return a UUID in its usual form, hyphenated and in lower case."""
    text = message.uuid.hex()
    if len(text) != 32:
        raise CorruptFileError(f"expected 16 bytes of a UUID, found {len(message.uuid)}")
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
