"""Which fields of which messages pylance's own decoders know, found out by asking them.

A field of a wrong wire type is an error where a decoder knows the field, and skipped where it does
not. The error tells the message and the field by name, so that a walk from the messages that files
begin with finds all that can be in them.
"""

import re
import shutil
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import lance
import pyarrow as pa

from lance_explorer.format._pb import index_pb2, table_pb2
from tests.synthetic.manifests import ManifestFile
from tests.synthetic.wire import record, varint

__all__ = ["KnownField", "known_fields", "readable_flags"]

_FIXED_64, _FIXED_32 = 1, 5
_WRONG_TYPE = re.compile(
    r"(\w+)\.((?:r#)?\w+): (?:\w+\.(?:r#)?\w+: )*invalid wire type: \w+ \(expected (\w+)\)"
)
_A_MAP = re.compile(r"invalid tag value: 0|buffer underflow")
_NUMBERS = range(1, 33)
_OPERATIONS = (*range(1, 9), *range(96, 131), *range(198, 210))
_DESCRIBED = (
    index_pb2.AnyDetails(
        type_url="/lance.index.pb.VectorIndexDetails",
        value=index_pb2.VectorDetails(metric=1).SerializeToString(),
    ),
    index_pb2.AnyDetails(type_url="/lance.table.InvertedIndexDetails"),
    index_pb2.AnyDetails(
        type_url="/lance.index.pb.MinHashLshIndexDetails",
        value=index_pb2.MinHashDetails(
            num_hashes=128,
            num_bands=16,
            shingle_size=3,
            tokenizer=index_pb2.TextDetails(base_tokenizer="simple", language='"English"'),
        ).SerializeToString(),
    ),
    index_pb2.AnyDetails(
        type_url="/lance.index.pb.JsonIndexDetails",
        value=index_pb2.JsonDetails(
            path="x", target=index_pb2.AnyDetails(type_url="/lance.table.BTreeIndexDetails")
        ).SerializeToString(),
    ),
)
"""Details that pylance describes: as nothing, where it cannot decode them."""

_Wrap = Callable[[bytes], bytes]


class KnownField(NamedTuple):
    """A field that pylance decodes. Fields of one ``oneof`` share its name."""

    message: str
    number: int
    name: str
    kind: str


def known_fields(folder: Path) -> list[KnownField]:
    """Return the fields of all messages that pylance reads of a table's metadata."""
    walk = _Walk()
    for root, numbers, read in _roots(folder):
        walk.visit(root, read, lambda data: data, numbers)
    return sorted(walk.found | _fields_of_details(folder / "described.lance"))


def readable_flags(folder: Path) -> set[int]:
    """Return the flags that pylance accepts, each in both words or in the reader's alone."""
    table = folder / "flags.lance"
    lance.write_dataset(pa.table({"a": [1, 2, 3]}), table)
    [path] = (table / "_versions").glob("*.manifest")
    file = ManifestFile.from_bytes(path.read_bytes())
    found = set()
    for flag in [1 << bit for bit in range(64)]:
        message = table_pb2.ManifestEnvelope()
        message.CopyFrom(file.message)
        message.reader_feature_flags |= flag
        message.writer_feature_flags |= flag
        path.write_bytes(replace(file, message=message).to_bytes())
        with suppress(Exception):
            if lance.dataset(table).count_rows() == 3:
                found.add(flag)
    return found


def _fields_of_details(table: Path) -> set[KnownField]:
    """Return the fields of index details, which pylance describes as nothing if one is wrong."""
    lance.write_dataset(pa.table({"a": [1, 2, 3]}), table)
    [path] = (table / "_versions").glob("*.manifest")
    file = ManifestFile.from_bytes(path.read_bytes())

    def is_described(details: index_pb2.AnyDetails, more: bytes) -> bool:
        section = _with_details("described", details.type_url, details.value + more)
        path.write_bytes(replace(file, index_section=section).to_bytes())
        try:
            [index] = lance.dataset(table).describe_indices()
        except BaseException:  # noqa: BLE001 - a panic of pylance is no Exception
            return False
        return bool(index.details)

    found = set()
    for details in _DESCRIBED:
        assert is_described(details, b"")
        message = details.type_url.rpartition(".")[2]

        def has_any(numbers: Sequence[int], details: index_pb2.AnyDetails = details) -> bool:
            return not all(is_described(details, wrong) for wrong in _of_wrong_types(numbers))

        for number in _known(_NUMBERS, has_any):
            is_number = is_described(details, varint(number << 3) + b"\1")
            kind = "Varint" if is_number else "LengthDelimited"
            found.add(KnownField(message, number, f"field_{number}", kind))
    return found


class _Walk:
    def __init__(self) -> None:
        self.found: set[KnownField] = set()
        self._visited: set[str] = set()

    def visit(
        self, message: str, read: Callable[[bytes], object], wrap: _Wrap, numbers: tuple[int, ...]
    ) -> None:
        """Add the fields of a message, and of those in it; ``wrap`` puts it in its place."""
        if message in self._visited:
            return
        self._visited.add(message)
        for number in _known(numbers, lambda some: _ask(read, wrap, some) is not None):
            name, kind = _ask(read, wrap, [number]) or ("", "")
            self.found.add(KnownField(message, number, name or f"field_{number}", kind))
            inner = _inside(wrap, number, in_map=kind == "map")
            if kind in ("LengthDelimited", "map"):
                nested = _message_at(read, inner)
                if nested is not None:
                    self.visit(nested, read, inner, tuple(_NUMBERS))


def _inside(wrap: _Wrap, number: int, *, in_map: bool) -> _Wrap:
    if in_map:
        return lambda data: wrap(record(number, record(2, data)))
    return lambda data: wrap(record(number, data))


def _known(numbers: Sequence[int], has_any: Callable[[Sequence[int]], bool]) -> Iterator[int]:
    """Yield the numbers of fields that a decoder knows, of which it is asked many at once."""
    if not has_any(numbers):
        return
    if len(numbers) == 1:
        yield from numbers
        return
    half = len(numbers) // 2
    yield from _known(numbers[:half], has_any)
    yield from _known(numbers[half:], has_any)


def _of_wrong_types(numbers: Sequence[int]) -> list[bytes]:
    """Return the fields in two wire types: one of them is wrong for each."""
    return [
        b"".join([varint(number << 3 | wire_type) + bytes(size) for number in numbers])
        for wire_type, size in ((_FIXED_32, 4), (_FIXED_64, 8))
    ]


def _ask(
    read: Callable[[bytes], object], wrap: _Wrap, numbers: Sequence[int]
) -> tuple[str, str] | None:
    """Return name and kind of the first field that is known; None if the decoder skips all."""
    for wrong in _of_wrong_types(numbers):
        problem = _problem(read, wrap(wrong))
        told = _WRONG_TYPE.search(problem)
        if told is not None:
            return told[2], told[3]
        if _A_MAP.search(problem):
            return "", "map"
    return None


def _message_at(
    read: Callable[[bytes], object], wrap: _Wrap, numbers: Sequence[int] = _NUMBERS
) -> str | None:
    """Return the name of the message at a place, None if bytes, text or numbers are there."""
    problems = [_problem(read, wrap(wrong)) for wrong in _of_wrong_types(numbers)]
    for problem in problems:
        told = _WRONG_TYPE.search(problem)
        if told is not None:
            return told[1]
    if len(numbers) > 1 and any(map(_A_MAP.search, problems)):  # the first field is a map
        half = len(numbers) // 2
        return _message_at(read, wrap, numbers[:half]) or _message_at(read, wrap, numbers[half:])
    return None


def _problem(read: Callable[[bytes], object], data: bytes) -> str:
    try:
        read(data)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - a panic of pylance is no Exception
        return str(error)
    return ""


def _roots(
    folder: Path,
) -> Iterator[tuple[str, tuple[int, ...], Callable[[bytes], object]]]:
    """Yield the messages that files begin with, and how to have pylance read more bytes of each."""
    table = folder / "t.lance"
    lance.write_dataset(pa.table({"a": [1, 2, 3]}), table, enable_stable_row_ids=True)
    [path] = (table / "_versions").glob("*.manifest")
    file = ManifestFile.from_bytes(path.read_bytes())
    [fragment] = [table_pb2.DataFragment.FromString(data) for data in _fragments(file)]

    def opened(**changes: object) -> lance.LanceDataset:
        path.write_bytes(replace(file, **changes).to_bytes())  # type: ignore[arg-type]
        return lance.dataset(table)

    def sequence(field: str) -> Callable[[bytes], object]:
        columns = {"inline_row_ids": "_rowid"}
        columns["inline_created_at"] = "_row_created_at_version"

        def read(data: bytes) -> object:
            changed = table_pb2.DataFragment()
            changed.CopyFrom(fragment)
            setattr(changed, field, getattr(fragment, field) + data)
            dataset = opened(fragments=record(2, changed.SerializeToString()))
            return dataset.to_table(columns=[columns[field]])

        return read

    numbers = tuple(_NUMBERS)
    yield "Manifest", numbers, lambda data: opened(more=data)
    transaction = file.transaction or b""
    yield (
        "Transaction",
        _OPERATIONS,
        lambda data: opened(transaction=transaction + data).read_transaction(1),
    )
    yield (
        "IndexSection",
        numbers,
        lambda data: opened(index_section=data).describe_indices(),
    )
    yield "RowIdSequence", numbers, sequence("inline_row_ids")
    yield "RowDatasetVersionSequence", numbers, sequence("inline_created_at")

    def mem_wal(data: bytes) -> object:
        section = _with_details("__lance_mem_wal", "/lance.table.MemWalIndexDetails", data)
        return opened(index_section=section).mem_wal_index_details()

    yield "MemWalIndexDetails", numbers, mem_wal
    yield "ShardManifest", numbers, _shard_reader(folder / "shards.lance")
    yield "FragmentReuseIndexDetails", numbers, _reuse_reader(folder / "reuse.lance")


def _shard_reader(table: Path) -> Callable[[bytes], object]:
    """Return how to have pylance read more bytes of the state of a shard."""
    data = pa.table({"a": pa.array([1, 2, 3], pa.int64())})
    dataset = lance.write_dataset(data, table)
    dataset.initialize_mem_wal(unsharded=True)
    shard = str(UUID(int=1))
    folder = table / "_mem_wal" / shard
    state = folder / "manifest" / f"{1:064b}.binpb"
    state = state.with_name(state.stem[::-1] + ".binpb")

    def read(more: bytes) -> object:
        if folder.exists():
            shutil.rmtree(folder)
        state.parent.mkdir(parents=True)
        known = index_pb2.ShardState(version=1, shard_id=table_pb2.Uuid(uuid=UUID(int=1).bytes))
        state.write_bytes(known.SerializeToString() + more)
        dataset.mem_wal_writer(shard).close()
        return None

    return read


def _reuse_reader(table: Path) -> Callable[[bytes], object]:
    """Return how to have pylance read more bytes of a fragment reuse index."""
    dataset = lance.write_dataset(pa.table({"a": range(8)}), table, max_rows_per_file=4)
    dataset.create_scalar_index("a", "BTREE")
    dataset.optimize.compact_files(defer_index_remap=True)
    path = min((table / "_versions").glob("*.manifest"))  # the newest, by its name
    file = ManifestFile.from_bytes(path.read_bytes())
    section = index_pb2.IndexSection.FromString(file.index_section or b"")
    [entry] = [index for index in section.indices if index.name == "__lance_frag_reuse"]
    details = entry.index_details.value

    def read(data: bytes) -> object:
        entry.index_details.value = details + data
        path.write_bytes(replace(file, index_section=section.SerializeToString()).to_bytes())
        return lance.dataset(table).to_table(filter="a = 1")

    return read


def _with_details(name: str, url: str, data: bytes) -> bytes:
    """Return an index section with one index, whose details are given."""
    index = index_pb2.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=bytes(16)),
        fields=[] if name.startswith("__") else [0],
        name=name,
        dataset_version=1,
        fragment_bitmap=_bitmap_of_zero(),
        index_details=index_pb2.AnyDetails(type_url=url, value=data),
    )
    return index_pb2.IndexSection(indices=[index]).SerializeToString()


def _bitmap_of_zero() -> bytes:
    """Return a portable Roaring bitmap with the value 0."""
    return struct.pack("<IIHHIH", 12346, 1, 0, 0, 16, 0)


def _fragments(file: ManifestFile) -> list[bytes]:
    return list(table_pb2.ManifestEnvelope.FromString(file.fragments).fragments)
