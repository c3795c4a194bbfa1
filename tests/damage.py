"""Tables on which pylance ends its process, or panics."""

import struct
from pathlib import Path

import lance
import pyarrow as pa

__all__ = ["make_bomb", "make_killer"]


def make_killer(path: Path) -> Path:
    """Make a table of 3,000 rows; to read its data file ends the process (pylance 14: SIGABRT)."""
    rows = pa.table({"id": range(3000), "word": [f"text {n % 50}" for n in range(3000)]})
    lance.write_dataset(rows, path, data_storage_version="2.1")
    [file] = (path / "data").glob("*.lance")
    data = file.read_bytes()
    place = data.rindex(b"PageLayout")  # the name of a type of protobuf
    file.write_bytes(data[:place] + b"\0" + data[place + 1 :])
    return path


def make_bomb(path: Path) -> Path:
    """Make a table with a deletion file that claims 2^59 bytes (pylance 14: SIGABRT)."""
    rows = pa.table({"id": range(1000), "word": ["x"] * 1000})
    lance.write_dataset(rows, path, enable_stable_row_ids=True)
    lance.dataset(path).delete("id % 20 = 3")
    [file] = (path / "_deletions").glob("*.arrow")
    data = bytearray(file.read_bytes())
    place = data.index(struct.pack("<q", 200) + b"\x28\xb5\x2f\xfd")
    struct.pack_into("<q", data, place, 1 << 59)
    file.write_bytes(data)
    return path
