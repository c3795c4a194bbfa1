"""What the details of an index say about how it was built, type by type (docs/FORMAT.md 4.1)."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from google.protobuf.message import Message

from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._wire import parse

__all__ = ["SETTINGS", "vector_index_type"]

_METRICS = ("L2", "COSINE", "DOT", "HAMMING")
_ROTATIONS = ("fast", "matrix")
_GRANULARITIES = ("row", "list_element")

Settings = dict[str, Any]
Read = tuple[Settings, Message]
"""Settings as JSON values, and the message, whose unknown fields are shown, too."""


def vector_index_type(details: bytes) -> str:
    """Return the type of a vector index as users write it, ``VECTOR`` if it is unknown.

    Examples
    --------
    >>> vector_index_type(bytes([34, 4, 8, 8, 16, 2]))
    'IVF_PQ'
    >>> vector_index_type(b"")
    'VECTOR'
    """
    message = parse(pb.VectorDetails, details, "vector index details")
    compression = message.WhichOneof("compression")
    if compression is None:
        return "VECTOR"
    return f"IVF_{'HNSW_' if message.HasField('graph') else ''}{compression.upper()}"


def _vector(details: bytes) -> Read:
    message = parse(pb.VectorDetails, details, "vector index details")
    shown: Settings = {"metric_type": _named(_METRICS, message.metric)} if details else {}
    if message.target_partition_size:
        shown["target_partition_size"] = message.target_partition_size
    if message.HasField("graph"):
        graph = message.graph
        shown["hnsw"] = {
            "max_connections": graph.max_connections,
            "construction_ef": graph.construction_ef,
        }
        if graph.HasField("max_level"):
            shown["hnsw"]["max_level"] = graph.max_level
    match message.WhichOneof("compression"):
        case "pq":
            pq = message.pq
            bits = {"num_bits": pq.num_bits, "num_sub_vectors": pq.num_sub_vectors}
            shown["compression"] = {"type": "pq", **bits}
        case "sq":
            shown["compression"] = {"type": "sq", "num_bits": message.sq.num_bits}
        case "rq":
            rotation = _named(_ROTATIONS, message.rq.rotation)
            shown["compression"] = {
                "type": "rq",
                "num_bits": message.rq.num_bits,
                "rotation_type": rotation,
            }
    if message.build_hints:
        shown["runtime_hints"] = dict(sorted(message.build_hints.items()))
    return shown, message


def _text(details: bytes) -> Read:
    message = parse(pb.TextDetails, details, "full-text index details")
    if not details:
        return {}, message  # early writers stored no settings, which is different from unset ones
    return {
        **_tokenizer(message),
        "document_granularity": _named(_GRANULARITIES, message.document_granularity),
        **_present(message, "format_version"),
    }, message


def _tokenizer(message: pb.TextDetails) -> Settings:
    shown = {
        **_present(message, "base_tokenizer"),
        "language": message.language.strip('"') or None,
        "with_position": message.with_position,
        **_present(message, "max_token_length"),
        "lower_case": message.lower_case,
        "stem": message.stem,
        "remove_stop_words": message.remove_stop_words,
        "ascii_folding": message.ascii_folding,
        "min_ngram_length": message.min_ngram_length,
        "max_ngram_length": message.max_ngram_length,
        "prefix_only": message.prefix_only,
        **_present(message, "block_size"),
    }
    if message.HasField("code"):
        code = message.code
        shown |= {
            "split_identifiers": code.split_identifiers,
            "split_on_numerics": code.split_on_numerics,
            "preserve_original": code.preserve_original,
            "index_operators": code.index_operators,
        }
    return shown


def _min_hash(details: bytes) -> Read:
    message = parse(pb.MinHashDetails, details, "MinHash index details")
    if not details:
        return {}, message
    return {
        "num_hashes": message.num_hashes,
        "num_bands": message.num_bands,
        "shingle_size": message.shingle_size,
        "tokenizer": _tokenizer(message.tokenizer) if message.HasField("tokenizer") else None,
        "signature_version": message.signature_version,
    }, message


def _json(details: bytes) -> Read:
    message = parse(pb.JsonDetails, details, "JSON index details")
    shown: Settings = {"path": message.path}
    if message.HasField("target"):
        kind = message.target.type_url.rpartition(".")[2].removesuffix("IndexDetails")
        shown["target_index_type"] = kind
        read = SETTINGS.get(f"{kind.lower()}indexdetails")
        is_nested = read is _json  # a JSON index on a JSON index: no writer makes one
        known = None if read is None or is_nested else read(message.target.value)[0]
        shown["target_details"] = known or {}
    return shown, message


def _zone_map(details: bytes) -> Read:
    message = parse(pb.ZoneMapDetails, details, "zone map details")
    shown: Settings = {"rows_per_zone": message.rows_per_zone} if message.rows_per_zone else {}
    return {**shown, **_present(message, "use_seeds")}, message


def _present(message: Message, name: str) -> Settings:
    """Return an optional field where it is set."""
    return {name: getattr(message, name)} if message.HasField(name) else {}


def _named(names: tuple[str, ...], number: int) -> str:
    return names[number] if 0 <= number < len(names) else f"unknown_{number}"


SETTINGS: Mapping[str, Callable[[bytes], Read]] = MappingProxyType(
    {
        "vectorindexdetails": _vector,
        "invertedindexdetails": _text,
        "minhashlshindexdetails": _min_hash,
        "jsonindexdetails": _json,
        "zonemapindexdetails": _zone_map,
    }
)
"""How to read the settings, by the last part of the type's URL, in lower case. The details of other
types were never seen with anything in them."""
