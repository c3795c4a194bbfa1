"""What is decoded before pylance opens it, and what pylance panics at."""

import re
import subprocess
import sys
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import UnsupportedFeatureError
from lance_explorer.format._pb import table_pb2
from lance_explorer.format.manifest import read_layout
from tests.damage import make_bomb

_ASK = """
import lance_explorer as lx, sys
table = lx.open_table(sys.argv[1])
asks = {
    "read": lambda: table.latest.read(),
    "head": lambda: table.latest.head(),
    "scan": lambda: table.latest.scan().collect(),
    "blame": lambda: table.blame("id = 5").to_polars(),
    "sql": lambda: table.sql("SELECT count(*) FROM dataset"),
    "changes": lambda: table.changes(1).to_polars(),
    "check": lambda: table.check(depth="deep"),
    "find": lambda: table.find("id = 7"),
}
for name, ask in asks.items():
    try:
        print(name, "answered", ask() is None)
    except lx.LanceExplorerError as error:
        print(name, type(error).__name__)
"""


def test_a_deletion_file_that_would_end_the_process_is_refused(tmp_path):
    path = make_bomb(tmp_path / "bomb.lance")
    done = subprocess.run(
        [sys.executable, "-c", _ASK, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert {told[name] for name in ("read", "head", "scan", "blame", "sql")} == {"CorruptFileError"}
    assert len(told) == 8


def test_only_deletion_files_of_fragments_that_are_read_are_decoded(tmp_path):
    path = tmp_path / "t.lance"
    for number in range(3):
        rows = pa.table({"id": range(number * 10, number * 10 + 10)})
        lance.write_dataset(rows, path, mode="append" if number else "create")
    lance.dataset(path).delete("id >= 20 and id < 25")
    [file] = (path / "_deletions").iterdir()
    table = lx.open_table(path)
    table.latest.read()
    num_bytes = table.io.bytes_read
    table.latest.read()
    assert table.io.bytes_read == num_bytes
    file.write_bytes(b"damaged")
    assert table.latest.head(20).height == 20
    for ask in (lambda: table.latest.head(21), table.latest.read):
        with pytest.raises(lx.CorruptFileError, match=file.name):
            ask()


def with_unknown_type(path: Path, column: str, type_: str) -> Path:
    """Give a column of all versions a type that nobody knows."""
    for manifest in (path / "_versions").glob("*.manifest"):
        data = manifest.read_bytes()
        part = read_layout(data).message
        message = table_pb2.ManifestEnvelope.FromString(data[part.offset : part.end])
        for field in message.fields:
            if field.name == column:
                field.logical_type = type_
        new = message.SerializeToString()
        size = len(new).to_bytes(4, "little")
        manifest.write_bytes(data[: part.offset - 4] + size + new + data[-16:])
    return path


@pytest.mark.parametrize("type_", ["vector3", "fixed_size_list:vector3:4", "decimal:7:x:y", ""])
@pytest.mark.parametrize("values_apart", [False, True])
def test_a_type_that_pylance_does_not_know_is_named(tmp_path, type_, values_apart):
    path = tmp_path / "t.lance"
    rows = pa.table({"a": [1, 2], "b": [3, 4]})
    lance.write_dataset(rows, path, enable_stable_row_ids=True)
    lance.write_dataset(rows, path, mode="append")
    table = lx.open_table(with_unknown_type(path, "b", type_), values_apart=values_apart)
    words = f"'b' has the type {re.escape(repr(type_))}"
    for ask in (
        lambda: table.latest.schema,
        table.latest.read,
        lambda: table.latest.read(columns=["b"]),
        lambda: table.changes(1).to_polars(),
        lambda: table.blame("a = 1").to_polars(),
        lambda: table.latest.scan().collect(),
    ):
        with pytest.raises(UnsupportedFeatureError, match=words):
            ask()
    assert table.latest.read(columns=["a"], filter="a > 1")["a"].to_list() == [2, 2]
    found = table.find("a > 1")
    assert found.to_polars()["_rowid"].len() == 2
    assert re.search(words, str(found.findings()["statement"].to_list()))
    assert table.find("a > 1", columns=["a"]).to_polars()["a"].to_list() == [2, 2]
    assert table.versions()["num_rows"].to_list() == [2, 4]
    assert table.changes(1).summary()["inserted"].item() == 2
