"""The write-ahead log of a table, in ``_mem_wal/``: bytes to records (docs/FORMAT.md 6.1, 6.2).

Each shard has its own folder with states of the shard, each of which replaces the previous one; log
entries with batches of rows; and generations, which are log entries written as a small table.
"""

import struct
from dataclasses import dataclass

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format._arrow import batch_rows, header_place
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._wire import decoder, parse
from lance_explorer.format.indices import (
    MEM_WAL_INDEX,
    CompactedSsTable,
    IndexMetadata,
    compacted_sstable_from_pb,
    uuid_from_pb,
)

__all__ = [
    "MEM_WAL_FOLDER",
    "Generation",
    "LogEntry",
    "ShardState",
    "decode_log_entry",
    "decode_shard_state",
    "merged_generations",
    "number_of_name",
]

MEM_WAL_FOLDER = "_mem_wal"
"""The folder of all shards, below the root of the table."""

_BITS = 64
_MOST_ROWS_OF_A_BYTE = 8


@dataclass(frozen=True, slots=True)
class Generation:
    """Rows of a shard that were written as a table, in the folder ``path`` of the shard."""

    generation: int
    path: str
    num_rows: int
    in_memory_bytes: int


@dataclass(frozen=True, slots=True)
class ShardState:
    """The content of one state of a shard.

    ``replay_after`` is the position of the last entry of the log whose rows are in a generation,
    ``current_generation`` the one that newer entries belong to.
    """

    shard_id: str
    version: int
    spec_id: int
    writer_epoch: int
    replay_after: int
    current_generation: int
    generations: tuple[Generation, ...]


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry of the log: ``generation`` is None for one that only keeps an old writer out."""

    generation: int | None
    writer_epoch: int | None
    num_rows: int


@decoder
def decode_shard_state(data: bytes) -> ShardState:
    """Decode one state of a shard."""
    message = parse(pb.ShardState, data, "shard state")
    return ShardState(
        shard_id=uuid_from_pb(message.shard_id),
        version=message.version,
        spec_id=message.spec_id,
        writer_epoch=message.writer_epoch,
        replay_after=message.replay_after,
        current_generation=message.current_generation,
        generations=tuple(
            [
                Generation(one.generation, one.path, one.physical_rows, one.in_memory_bytes)
                for one in message.sstables
            ]
        ),
    )


@decoder
def decode_log_entry(data: bytes) -> LogEntry:
    """Decode an entry of the log, only to count its rows."""
    import pyarrow as pa  # takes long, and few tables have a log

    try:
        return _counted(data)
    except FormatError:
        raise
    except (pa.ArrowException, OSError, ValueError, struct.error) as error:
        raise CorruptFileError(f"not a valid Arrow stream: {error}") from error


def merged_generations(indices: tuple[IndexMetadata, ...]) -> tuple[CompactedSsTable, ...] | None:
    """Return what a version records as merged, None if it has no write-ahead log."""
    for index in indices:
        if index.name == MEM_WAL_INDEX:
            message = parse(pb.MemWalDetails, index.details, "write-ahead log details")
            return tuple([compacted_sstable_from_pb(one) for one in message.compacted_sstables])
    return None


def number_of_name(name: str) -> int | None:
    """Return the number in the name of a file of the log: 64 binary digits, the lowest first.

    Examples
    --------
    >>> number_of_name("0100000000000000000000000000000000000000000000000000000000000000.arrow")
    2
    >>> number_of_name("version_hint.json") is None
    True
    """
    digits = name.partition(".")[0]
    if len(digits) != _BITS or digits.strip("01"):
        return None
    return int(digits[::-1], 2)


def _counted(data: bytes) -> LogEntry:
    import pyarrow as pa

    messages = list(pa.ipc.MessageReader.open_stream(data))
    if not messages:
        raise CorruptFileError("an Arrow stream without a schema")
    first, *batches = messages
    header_place(first, first.metadata.to_pybytes(), "schema")
    metadata = pa.ipc.read_schema(first).metadata or {}
    rows = 0
    for message in batches:
        if message.type == "dictionary":
            continue
        head = message.metadata.to_pybytes()
        rows += batch_rows(head, header_place(message, head, "record batch"))
    if not 0 <= rows <= len(data) * _MOST_ROWS_OF_A_BYTE:
        raise CorruptFileError(f"{len(data)} bytes claim to have {rows} rows")
    return LogEntry(_number(metadata, b"generation"), _number(metadata, b"writer_epoch"), rows)


def _number(metadata: dict[bytes, bytes], key: bytes) -> int | None:
    if key not in metadata:
        return None
    text = metadata[key]
    if not text.isdigit() or len(text) > len(str(1 << _BITS)):
        raise CorruptFileError(f"expected a number as {key.decode()}, found {text[:30]!r}")
    return int(text)
