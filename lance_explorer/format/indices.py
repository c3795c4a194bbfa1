"""The index section of a manifest: bytes to records (docs/FORMAT.md 4 to 6).

Knows what a manifest says about indices, the fragment reuse history among it. Index files
themselves are not read, and the settings in the details of an index are shown as far as the bytes
alone tell them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet
from pyroaring import BitMap, BitMap64

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._pb import table_pb2
from lance_explorer.format._roaring import read_bitmap, read_bitmap64
from lance_explorer.format._wire import decoder, parse
from lance_explorer.format.fragments import LARGEST_FILE, ExternalFile

__all__ = [
    "FRAGMENT_REUSE_INDEX",
    "MEM_WAL_INDEX",
    "SYSTEM_INDICES",
    "CompactedSsTable",
    "FragDigest",
    "FragReuseGroup",
    "FragReuseTransition",
    "FragReuseVersion",
    "FragmentReuse",
    "IndexFile",
    "IndexMetadata",
    "OrderedCompaction",
    "StablePartition",
    "compacted_sstable_from_pb",
    "decode_fragment_reuse",
    "decode_fragment_reuse_details",
    "decode_index_section",
    "index_details",
    "index_file_from_pb",
    "index_from_pb",
    "index_type",
    "uuid_from_pb",
]

FRAGMENT_REUSE_INDEX = "__lance_frag_reuse"
"""Name of the entry that holds the fragment reuse history."""

MEM_WAL_INDEX = "__lance_mem_wal"
"""Name of the entry that holds the state of the write-ahead log."""

SYSTEM_INDICES = frozenset({FRAGMENT_REUSE_INDEX, MEM_WAL_INDEX})

_TYPES = {
    "btreeindexdetails": "BTREE",
    "bitmapindexdetails": "BITMAP",
    "labellistindexdetails": "LABEL_LIST",
    "invertedindexdetails": "INVERTED",
    "ngramindexdetails": "NGRAM",
    "zonemapindexdetails": "ZONE_MAP",
    "bloomfilterindexdetails": "BLOOM_FILTER",
    "vectorindexdetails": "VECTOR",
    "fragmentreuseindexdetails": "FRAGMENT_REUSE",
    "memwalindexdetails": "MEM_WAL",
}

_MAX_SHOWN_BYTES = 1 << 16
_MAX_SHOWN_DEPTH = 6
_MAX_SHOWN_HEX = 32
_LENGTH_DELIMITED = 2  # wire types
_START_GROUP = 3


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
        """Return the covered fragments, stale ones included; None if the coverage is unknown.

        Raises
        ------
        CorruptFileError
            If the stored bitmap is damaged.
        """
        if self.fragment_bitmap is None:
            return None
        return read_bitmap(self.fragment_bitmap, f"the fragments of index {self.name!r}")


@dataclass(frozen=True, slots=True)
class FragDigest:
    """A fragment as a rewrite remembers it; ``physical_rows`` counts deleted rows too.

    None is a number that its writer did not store; the reuse history has both.
    """

    id: int
    physical_rows: int | None
    num_deleted_rows: int | None


@dataclass(frozen=True, slots=True)
class FragReuseGroup:
    """Fragments that one compaction task rewrote, in order, into others, in order.

    ``changed_row_addrs`` is a 64-bit Roaring bitmap of the source rows that survived.
    """

    changed_row_addrs: bytes
    old_frags: tuple[FragDigest, ...]
    new_frags: tuple[FragDigest, ...]

    def row_addresses(self) -> BitMap64:
        """Return the addresses of the source rows that survived; all others were deleted before.

        Raises
        ------
        CorruptFileError
            If the stored bitmap is damaged.
        """
        return read_bitmap64(self.changed_row_addrs, "the row addresses of a reuse group")


@dataclass(frozen=True, slots=True)
class FragReuseVersion:
    """One compaction whose indices were left to be remapped later."""

    dataset_version: int
    groups: tuple[FragReuseGroup, ...]


@dataclass(frozen=True, slots=True)
class OrderedCompaction:
    """A mapping that keeps the order of rows; the bytes are those of a :class:`FragReuseGroup`."""

    changed_row_addrs: bytes


@dataclass(frozen=True, slots=True)
class StablePartition:
    """A mapping that a file below ``_fri/{map_id}/`` holds."""

    map_id: str
    map_size_bytes: int
    base_id: int | None


@dataclass(frozen=True, slots=True)
class FragReuseTransition:
    """The newer form of one rewrite; ``mapping`` is None if it is of a kind not known here."""

    sources: tuple[FragDigest, ...]
    destinations: tuple[FragDigest, ...]
    mapping: OrderedCompaction | StablePartition | None


@dataclass(frozen=True, slots=True)
class FragmentReuse:
    """The fragment reuse history, oldest compaction first."""

    versions: tuple[FragReuseVersion, ...]
    transitions: tuple[FragReuseTransition, ...]


@dataclass(frozen=True, slots=True)
class CompactedSsTable:
    """A piece of the write-ahead log that was merged into the table."""

    shard_id: str
    generation: int


@decoder
def decode_index_section(data: bytes) -> tuple[IndexMetadata, ...]:
    """Decode the index section of a manifest.

    Raises
    ------
    CorruptFileError
        If the bytes are not such a section.
    """
    section = parse(pb.IndexSection, data, "index section")
    return tuple([index_from_pb(index) for index in section.indices])


@decoder
def decode_fragment_reuse_details(data: bytes) -> FragmentReuse | ExternalFile:
    """Decode the details of the fragment reuse index: the history, or where its file lies.

    The path of the file starts at the folder of the index; its bytes are for
    :func:`decode_fragment_reuse`.

    Raises
    ------
    CorruptFileError
        If the bytes are no such details.
    """
    message = parse(pb.FragmentReuseDetails, data, "fragment reuse details")
    arm = message.WhichOneof("content")
    if arm is None:
        raise CorruptFileError(f"the fragment reuse details ({len(data)} bytes) hold no history")
    if arm == "external":
        file = message.external
        return ExternalFile(file.path, file.offset, file.size)
    return _fragment_reuse(message.inline)


@decoder
def decode_fragment_reuse(data: bytes) -> FragmentReuse:
    """Decode a fragment reuse history, such as its external file holds.

    Raises
    ------
    CorruptFileError
        If the bytes are no such history.
    """
    return _fragment_reuse(parse(pb.FragmentReuseContent, data, "fragment reuse history"))


def index_type(index: IndexMetadata) -> str:
    """Return the type as users write it, such as ``BTREE`` or ``VECTOR``.

    A type that is not known here goes by the last part of its URL; ``unknown`` if there is none.
    """
    tail = _type_name(index)
    return _TYPES.get(tail.lower(), tail) or "unknown"


def index_details(index: IndexMetadata) -> dict[str, Any]:
    """Return the details as JSON values, for display.

    The fragment reuse index is summed up, the write-ahead log spelled out. Other known types keep
    their settings under the numbers of their fields, since only the bytes tell what they are:
    ``{"1": 8192}``. Of an unknown type, or of details that are too large or not understood, type
    and size are given.

    Raises
    ------
    CorruptFileError
        If the details of the fragment reuse index or of the write-ahead log are damaged.
    """
    kind = _TYPES.get(_type_name(index).lower())
    if kind == "FRAGMENT_REUSE":
        return _fragment_reuse_summary(decode_fragment_reuse_details(index.details))
    if len(index.details) <= _MAX_SHOWN_BYTES:
        if kind == "MEM_WAL":
            return _mem_wal(parse(pb.MemWalDetails, index.details, "write-ahead log details"))
        shown = _wire_fields(index.details) if kind is not None else None
        if shown is not None:
            return shown
    return {"type_url": index.type_url, "num_bytes": len(index.details)}


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
        metadata=tuple(sorted(message.metadata.items())),
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


def _fragment_reuse(message: pb.FragmentReuseContent) -> FragmentReuse:
    return FragmentReuse(
        versions=tuple(
            [
                FragReuseVersion(
                    version.dataset_version, tuple([_group(group) for group in version.groups])
                )
                for version in message.versions
            ]
        ),
        transitions=tuple([_transition(transition) for transition in message.transitions]),
    )


def _group(message: pb.FragmentReuseGroup) -> FragReuseGroup:
    return FragReuseGroup(
        changed_row_addrs=message.changed_row_addrs,
        old_frags=_digests(message.old_fragments),
        new_frags=_digests(message.new_fragments),
    )


def _transition(message: pb.FragmentReuseTransition) -> FragReuseTransition:
    return FragReuseTransition(
        sources=_digests(message.sources),
        destinations=_digests(message.destinations),
        mapping=_mapping(message),
    )


def _mapping(message: pb.FragmentReuseTransition) -> OrderedCompaction | StablePartition | None:
    match message.WhichOneof("mapping"):
        case "ordered_compaction":
            return OrderedCompaction(message.ordered_compaction.changed_row_addrs)
        case "stable_partition":
            partition = message.stable_partition
            return StablePartition(
                map_id=partition.map_id,
                map_size_bytes=partition.map_size_bytes,
                base_id=partition.base_id if partition.HasField("base_id") else None,
            )
    return None


def _digests(messages: Iterable[pb.FragmentDigest]) -> tuple[FragDigest, ...]:
    return tuple(
        [
            FragDigest(message.id, message.physical_rows, message.num_deleted_rows)
            for message in messages
        ]
    )


def _type_name(index: IndexMetadata) -> str:
    return (index.type_url or "").rpartition("/")[2].rpartition(".")[2]


def _fragment_reuse_summary(reuse: FragmentReuse | ExternalFile) -> dict[str, Any]:
    if isinstance(reuse, ExternalFile):
        place = {"path": reuse.path, "offset": reuse.offset, "size_bytes": reuse.size}
        return {"kind": "external", **place}
    groups = [group for version in reuse.versions for group in version.groups]
    return {
        "kind": "inline",
        "versions": len(reuse.versions),
        "groups": len(groups),
        "transitions": len(reuse.transitions),
        "old_fragments": sum([len(group.old_frags) for group in groups]),
        "new_fragments": sum([len(group.new_frags) for group in groups]),
    }


def _mem_wal(message: pb.MemWalDetails) -> dict[str, Any]:
    has_snapshots = message.HasField("inline_snapshots")
    shown: dict[str, Any] = {
        "snapshot_ts_millis": message.snapshot_ts_millis,
        "num_shards": message.num_shards,
        "inline_snapshots_bytes": len(message.inline_snapshots) if has_snapshots else None,
        "sharding_specs": [
            {"spec_id": spec.spec_id, "fields": [_sharding_field(field) for field in spec.fields]}
            for spec in message.sharding_specs
        ],
        "maintained_indexes": list(message.maintained_indexes),
        "compacted_sstables": [
            {"shard_id": uuid_from_pb(table.shard_id), "generation": table.generation}
            for table in message.compacted_sstables
        ],
        "writer_config_defaults": dict(sorted(message.writer_config_defaults.items())),
        "maintain_all_indexes": message.maintain_all_indexes,
    }
    other = _shown_fields(message, _MAX_SHOWN_DEPTH)
    return {**shown, "other_fields": other} if other else shown


def _sharding_field(message: pb.ShardingField) -> dict[str, Any]:
    return {
        "field_id": message.field_id,
        "source_ids": list(message.source_ids),
        "transform": message.transform or None,
        "expression": message.expression or None,
        "result_type": message.result_type,
        "parameters": dict(sorted(message.parameters.items())),
    }


def _wire_fields(data: bytes, depth: int = _MAX_SHOWN_DEPTH) -> dict[str, Any] | None:
    """Return the fields of a message of unknown type by their numbers, None if it is no message."""
    try:
        message = Empty.FromString(data)
    except DecodeError:
        return None
    return _shown_fields(message, depth)


def _shown_fields(message: Message | UnknownFieldSet, depth: int) -> dict[str, Any]:
    """Return the fields that the type of a message does not declare; repeated ones as a list."""
    values: dict[str, list[Any]] = {}
    fields = message if isinstance(message, UnknownFieldSet) else UnknownFieldSet(message)
    for field in [fields[position] for position in range(len(fields))]:
        values.setdefault(str(field.field_number), []).append(_shown_value(field, depth))
    return {number: many[0] if len(many) == 1 else many for number, many in values.items()}


def _shown_value(field: Any, depth: int) -> Any:
    """Return a value as what its bytes look like: text, else a message, else hexadecimal digits."""
    data = field.data
    if field.wire_type == _START_GROUP:
        return _shown_fields(data, depth - 1) if depth else {}
    if field.wire_type != _LENGTH_DELIMITED:
        return data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and text.isprintable():
        return text
    nested = _wire_fields(data, depth - 1) if depth else None
    if nested is not None:
        return nested
    return data.hex() if len(data) <= _MAX_SHOWN_HEX else {"num_bytes": len(data)}
