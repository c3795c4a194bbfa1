"""What the details of an index tell: its type and its settings (docs/FORMAT.md 4 and 6).

Settings are for display, and shown as far as the bytes alone tell them.
"""

from contextlib import suppress
from typing import Any

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from lance_explorer.errors import FormatError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._wire import parse
from lance_explorer.format.fragment_reuse import FragmentReuse, decode_fragment_reuse_details
from lance_explorer.format.fragments import ExternalFile
from lance_explorer.format.index_settings import SETTINGS, vector_index_type
from lance_explorer.format.indices import IndexMetadata, uuid_from_pb

__all__ = ["index_details", "index_type"]

_TYPES = {
    "btreeindexdetails": "BTREE",
    "bitmapindexdetails": "BITMAP",
    "labellistindexdetails": "LABEL_LIST",
    "invertedindexdetails": "INVERTED",
    "ngramindexdetails": "NGRAM",
    "zonemapindexdetails": "ZONE_MAP",
    "bloomfilterindexdetails": "BLOOM_FILTER",
    "vectorindexdetails": "VECTOR",
    "fmindexdetails": "FM",
    "jsonindexdetails": "JSON",
    "minhashlshindexdetails": "MINHASH_LSH",
    "rtreeindexdetails": "RTREE",
    "fragmentreuseindexdetails": "FRAGMENT_REUSE",
    "memwalindexdetails": "MEM_WAL",
}

_MAX_SHOWN_BYTES = 1 << 16
_MAX_SHOWN_DEPTH = 6
_MAX_SHOWN_HEX = 32
_LENGTH_DELIMITED = 2  # wire types
_START_GROUP = 3


def index_type(index: IndexMetadata) -> str:
    """Return the type as users write it, such as ``BTREE`` or ``IVF_PQ``.

    A vector index whose details do not tell its kind is ``VECTOR``. A type that is not known here
    goes by the last part of its URL; ``unknown`` if there is none.
    """
    tail = _type_name(index)
    kind = _TYPES.get(tail.lower(), tail) or "unknown"
    if kind == "VECTOR":
        with suppress(FormatError):
            return vector_index_type(index.details)
    return kind


def index_details(index: IndexMetadata) -> dict[str, Any]:
    """Return the details as JSON values, for display.

    The fragment reuse index is summed up, the write-ahead log spelled out, and the settings of
    other types go by the names that pylance gives them: ``{"rows_per_zone": 8192}``. Fields without
    a known name are under ``other_fields``, by their numbers. Of an unknown type, or of details
    that are too large or not understood, type and size are given.
    """
    tail = _type_name(index).lower()
    kind = _TYPES.get(tail)
    if kind == "FRAGMENT_REUSE":
        return _fragment_reuse_summary(decode_fragment_reuse_details(index.details))
    if len(index.details) <= _MAX_SHOWN_BYTES:
        if kind == "MEM_WAL":
            return _mem_wal(parse(pb.MemWalDetails, index.details, "write-ahead log details"))
        if tail in SETTINGS:
            settings, message = SETTINGS[tail](index.details)
            return _with_others(settings, message)
        other = _wire_fields(index.details) if kind is not None else None
        if other is not None:
            return {"other_fields": other} if other else {}
    return {"type_url": index.type_url, "num_bytes": len(index.details)}


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
        "compacted_sstables": [_generation(table) for table in message.compacted_sstables],
        "writer_config_defaults": dict(sorted(message.writer_config_defaults.items())),
        "maintain_all_indexes": message.maintain_all_indexes,
    }
    if message.index_catch_up:
        shown["index_catch_up"] = [
            {
                "index_name": index.index_name,
                "generations": [_generation(table) for table in index.generations],
            }
            for index in message.index_catch_up
        ]
    return _with_others(shown, message)


def _generation(table: pb.CompactedSsTable) -> dict[str, Any]:
    return {"shard_id": uuid_from_pb(table.shard_id), "generation": table.generation}


def _with_others(shown: dict[str, Any], message: Message) -> dict[str, Any]:
    """Return what is shown of a message with the fields that its type does not declare."""
    other = _undeclared(message)
    return {**shown, "other_fields": other} if other else shown


def _undeclared(message: Message) -> dict[str, Any]:
    """Return the fields of a message, and of those in it, that their types do not declare."""
    other = _shown_fields(message, _MAX_SHOWN_DEPTH)
    for field, value in message.ListFields():
        nested = _undeclared(value) if isinstance(value, Message) else None
        if nested:
            other[field.name] = nested
    return other


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
