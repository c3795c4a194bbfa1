"""The details of an index: its type and its settings (docs/FORMAT.md 4 and 6).

Settings are for display, as far as the bytes alone show them.
"""

from contextlib import suppress
from typing import Any

from google.protobuf.message import Message

from lance_explorer.errors import FormatError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._wire import parse
from lance_explorer.format.fragment_reuse import FragmentReuse, decode_fragment_reuse_details
from lance_explorer.format.fragments import ExternalFile
from lance_explorer.format.index_settings import SETTINGS, vector_index_type
from lance_explorer.format.indices import IndexMetadata, uuid_from_pb
from lance_explorer.format.raw_fields import MAX_SHOWN_BYTES, raw_fields, undeclared_fields

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


def index_type(index: IndexMetadata) -> str:
    """Return the type as users write it, such as ``BTREE`` or ``IVF_PQ``.

    A vector index of unknown kind is ``VECTOR``. An unknown type is named by the last part of its
    URL; ``unknown`` if there is none.
    """
    tail = _type_name(index)
    kind = _TYPES.get(tail.lower(), tail) or "unknown"
    if kind == "VECTOR":
        with suppress(FormatError):
            return vector_index_type(index.details)
    return kind


def index_details(index: IndexMetadata) -> dict[str, Any]:
    """Return the details as JSON values, for display.

    The fragment reuse index is summarised, the write-ahead log spelled out, and the settings of
    other types have pylance's names: ``{"rows_per_zone": 8192}``. Fields without a known name are
    under ``other_fields``, by their numbers. For an unknown type, or details that are too large or
    not understood, type and size are given.
    """
    tail = _type_name(index).lower()
    kind = _TYPES.get(tail)
    if kind == "FRAGMENT_REUSE":
        return _fragment_reuse_summary(decode_fragment_reuse_details(index.details))
    if len(index.details) <= MAX_SHOWN_BYTES:
        if kind == "MEM_WAL":
            return _mem_wal(parse(pb.MemWalDetails, index.details, "write-ahead log details"))
        if tail in SETTINGS:
            settings, message = SETTINGS[tail](index.details)
            return _with_others(settings, message)
        other = raw_fields(index.details) if kind is not None else None
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
    """Return the display of a message, with the fields that its type does not declare."""
    other = undeclared_fields(message)
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
