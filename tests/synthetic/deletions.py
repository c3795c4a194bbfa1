"""Deletion files (docs/FORMAT.md 2.8)."""

import pyarrow as pa
from pyroaring import BitMap

__all__ = ["ARROW_ARRAY", "BITMAP", "deletion_file", "usual_type"]

ARROW_ARRAY = 0
BITMAP = 1

_FIRST_BITMAP = 5000  # deleted rows; below that writers prefer an array

_SCHEMA = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])


def usual_type(deleted: BitMap) -> int:
    """Return the type of file that a delete writes."""
    return ARROW_ARRAY if len(deleted) < _FIRST_BITMAP else BITMAP


def deletion_file(deleted: BitMap, file_type: int) -> bytes:
    """Encode the offsets of deleted rows."""
    if file_type == BITMAP:
        return bytes(deleted.serialize())
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_file(sink, _SCHEMA, options=options) as writer:
        writer.write_batch(pa.record_batch([pa.array(deleted, pa.uint32())], schema=_SCHEMA))
    return bytes(sink.getvalue())
