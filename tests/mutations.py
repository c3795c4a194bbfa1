"""Change one file of a table as a bad disk, a bad writer or a bad person would.

What is a message of protobuf is taken apart by its type: a field gets another wire type, another
number, another field's value, or is lost, doubled or moved, and all lengths around it are right
again. JSON gets other values. Everything else is damaged byte by byte.
"""

import json
import random
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lance_explorer.format._pb import index_pb2, row_ids_pb2, table_pb2, transaction_pb2
from lance_explorer.format._wire import read_record
from tests.fuzzing import damaged
from tests.synthetic.wire import varint

__all__ = ["mutated", "table_files"]

_FOOTER = struct.Struct("<QHH4s")
_INDEX_SECTION, _TRANSACTION, _OLD_TRANSACTION = 6, 23, 21
_LONGEST = 256 * 1024

_POWERS = [power + step for power in (1 << 31, 1 << 32, 1 << 63, 1 << 64) for step in (-1, -2)]
_NUMBERS = (0, 1, 2, 3, 5, 7, 200, 1 << 31, 1 << 40, 1 << 63, *_POWERS)
_TEXTS = (b"", b"\0", b"a", b"../x", b"/", b"\xff\xfe", b"x" * 100_000, b"a.b", b"memory://x")

_WITHIN: dict[tuple[str, str], Any] = {
    ("ManifestEnvelope", "fragments"): table_pb2.DataFragment.DESCRIPTOR,
    ("DataFragment", "inline_row_ids"): row_ids_pb2.RowIdSequence.DESCRIPTOR,
    ("DataFragment", "inline_last_updated_at"): row_ids_pb2.RowVersionSequence.DESCRIPTOR,
    ("DataFragment", "inline_created_at"): row_ids_pb2.RowVersionSequence.DESCRIPTOR,
}
"""What our types leave as bytes, and is a message."""

_DETAILS: dict[str, Any] = {
    "FragmentReuseIndexDetails": index_pb2.FragmentReuseDetails,
    "MemWalIndexDetails": index_pb2.MemWalDetails,
    "VectorIndexDetails": index_pb2.VectorDetails,
    "InvertedIndexDetails": index_pb2.TextDetails,
}

Record = tuple[int, int, bytes, bytes]
"""Field, wire type, the bytes of the record, and its content if it has a length."""


def table_files(table: Path) -> list[Path]:
    """Return all files of a table that are small enough to be changed."""
    files = [file for file in sorted(table.rglob("*")) if file.is_file()]
    return [file for file in files if file.stat().st_size <= _LONGEST]


def mutated(chance: random.Random, file: Path, other: bytes) -> tuple[str, bytes]:
    """Return what a file becomes, and in words how."""
    data = file.read_bytes()
    if chance.random() < 0.85:
        change: Callable[[random.Random, bytes], tuple[str, bytes]] | None = None
        match file.suffix:
            case ".manifest":
                change = _manifest
            case ".txn":
                change = _transaction
            case ".json" if data[:1] == b"{":
                change = _json
        if change is not None:
            return change(chance, data)
    if chance.random() < 0.05:
        return "empty", b""
    return "bytes", damaged(chance, data, other)


def _manifest(chance: random.Random, data: bytes) -> tuple[str, bytes]:
    start = _FOOTER.unpack(data[-_FOOTER.size :])[0]
    message = _section(data, start)
    part = chance.choice(("message", "message", "message", "indices", "transaction"))
    fields = {
        "indices": ([_INDEX_SECTION], index_pb2.IndexSection.DESCRIPTOR),
        "transaction": (
            [_TRANSACTION, _OLD_TRANSACTION],
            transaction_pb2.TransactionEnvelope.DESCRIPTOR,
        ),
    }
    before = data[:start]
    records = _records(message)
    numbers, kind = fields.get(part, ([], table_pb2.ManifestEnvelope.DESCRIPTOR))
    places = [place for place, record in enumerate(records) if record[0] in numbers]
    if places:
        number, _, whole, _ = records[places[0]]
        section = _section(data, read_number(whole))
        words, section = _message(chance, section, kind)
        records[places[0]] = _record(number, 0, varint(start))
        before += struct.pack("<I", len(section)) + section
        message = b"".join([record[2] for record in records])
    else:
        words, message = _message(chance, message, table_pb2.ManifestEnvelope.DESCRIPTOR)
    footer = _FOOTER.pack(len(before), *_FOOTER.unpack(data[-_FOOTER.size :])[1:])
    return words, before + struct.pack("<I", len(message)) + message + footer


def _transaction(chance: random.Random, data: bytes) -> tuple[str, bytes]:
    return _message(chance, data, transaction_pb2.TransactionEnvelope.DESCRIPTOR)


def _message(chance: random.Random, data: bytes, kind: Any) -> tuple[str, bytes]:
    """Return a message with one change in it, or in one that is within."""
    try:
        records = _records(data)
    except ValueError:
        return "bytes", damaged(chance, data, data)
    if not records:
        return "a new field", _record(chance.randrange(1, 12), 0, varint(chance.choice(_NUMBERS)))[
            2
        ]
    place = chance.randrange(len(records))
    number, wire, _whole, content = records[place]
    field = kind.fields_by_number.get(number) if kind else None
    name = f"{kind.name if kind else '?'}.{field.name if field else number}"
    within = _inner(kind, field, content, records) if wire == 2 else None
    if within is not None and content and chance.random() < 0.75:
        words, content = _message(chance, content, within)
        records[place] = _record(number, 2, content)
        return f"{name} > {words}", b"".join([record[2] for record in records])
    how = chance.choice(
        ("wire", "wire", "value", "value", "value", "lose", "double", "move", "swap")
    )
    match how:
        case "wire":
            wire = chance.choice([each for each in (0, 1, 2, 5) if each != wire])
            value = {0: varint(chance.choice(_NUMBERS)), 1: bytes(8), 2: b"ab", 5: bytes(4)}[wire]
            records[place] = _record(number, wire, value)
        case "value":
            if wire == 2:
                value = chance.choice([*_TEXTS, content[:-1], content + b"\x05", content * 2])
            else:
                value = {0: varint(chance.choice(_NUMBERS)), 1: b"\xff" * 8, 5: b"\xff" * 4}[wire]
            records[place] = _record(number, wire, value)
        case "lose":
            del records[place]
        case "double":
            records.insert(chance.randrange(len(records) + 1), records[place])
        case "move":
            records.insert(chance.randrange(len(records)), records.pop(place))
        case "swap":
            other = chance.choice(records)
            records[place] = _record(number, other[1], other[3])
    return f"{name} {how}", b"".join([record[2] for record in records])


def _inner(kind: Any, field: Any, content: bytes, records: list[Record]) -> Any:
    if field is None:
        return None
    if field.message_type is not None:
        return field.message_type
    if kind.name == "TransactionEnvelope" and field.containing_oneof is not None:
        camel = "".join([part.capitalize() for part in field.name.split("_")])
        return transaction_pb2.DESCRIPTOR.message_types_by_name.get(camel)
    if kind.name == "AnyDetails" and field.name == "value":
        [url] = [record[3] for record in records if record[0] == 1][:1] or [b""]
        details = _DETAILS.get(url.decode(errors="replace").rpartition(".")[2])
        return None if details is None else details.DESCRIPTOR
    return _WITHIN.get((kind.name, field.name))


def _records(data: bytes) -> list[Record]:
    return [*_each_record(data)]


def _each_record(data: bytes) -> Iterator[Record]:
    position = 0
    while position < len(data):
        begin = position
        tag, start, position = read_record(data, begin)
        yield tag >> 3, tag & 7, data[begin:position], data[start:position]


def _record(number: int, wire: int, content: bytes) -> Record:
    length = varint(len(content)) if wire == 2 else b""
    return number, wire, varint(number << 3 | wire) + length + content, content


def read_number(record: bytes) -> int:
    """Return the number of a record."""
    _, start, stop = read_record(record, 0)
    value = 0
    for byte in reversed(record[start:stop]):
        value = value << 7 | byte & 0x7F
    return value


def _section(data: bytes, offset: int) -> bytes:
    [length] = struct.unpack_from("<I", data, offset)
    return data[offset + 4 : offset + 4 + length]


_JSON: tuple[Any, ...] = (None, 0, 1, -1, 2**64, 1.5, "", "dev", "main", "x" * 10_000, [], {}, True)
_JSON += ("../x", "2020-13-01", float("nan"))


def _json(chance: random.Random, data: bytes) -> tuple[str, bytes]:
    fields = json.loads(data)
    key = chance.choice([*fields, "parentBranch", "branch", "metadata", "identifier"])
    if key in fields and chance.random() < 0.2:
        del fields[key]
        return f"{key} lost", json.dumps(fields).encode()
    fields[key] = chance.choice(_JSON)
    return f"{key} = {str(fields[key])[:20]!r}", json.dumps(fields).encode()
