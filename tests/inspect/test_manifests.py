"""What manifests spend their bytes on: against the files, taken apart by hand."""

import struct
from datetime import UTC, datetime, timedelta

from lance_explorer.format._wire import read_record
from lance_explorer.format.manifest import read_layout
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.manifests import manifests
from tests.format.samples import DATA, index_section, inline_transaction, read_manifest
from tests.inspect.tables import stored
from tests.stored_tables import stored_check

PARTS = [
    "schema_bytes",
    "fragments_bytes",
    "row_ids_bytes",
    "row_versions_bytes",
    "index_section_bytes",
    "transaction_bytes",
    "rest_bytes",
]


def record_size(payload: int) -> int:
    """Return the size of a length-delimited record with a tag of one byte."""
    return 1 + (max(payload.bit_length(), 1) + 6) // 7 + payload


def schema_bytes(data: bytes) -> int:
    """Return the size of the schema as it is written: an empty value of a map may be left out."""
    section = read_layout(data).message
    message, place, total = data[section.offset : section.end], 0, 0
    while place < len(message):
        start = place
        tag, _, place = read_record(message, start)
        total += place - start if tag >> 3 == 1 else 0
    return total


def taken_apart(data: bytes) -> dict[str, int]:
    """Return the sizes of all parts of a manifest file, from the parsed message."""
    message = read_manifest(data)
    from lance_explorer.format._pb import table_pb2

    fragments = [table_pb2.DataFragment.FromString(fragment) for fragment in message.fragments]
    row_ids = sum(len(fragment.inline_row_ids) for fragment in fragments)
    versions = sum(
        len(fragment.inline_created_at) + len(fragment.inline_last_updated_at)
        for fragment in fragments
    )
    whole = sum(record_size(len(fragment)) for fragment in message.fragments)
    parts = {
        "schema_bytes": schema_bytes(data),
        "fragments_bytes": whole - row_ids - versions,
        "row_ids_bytes": row_ids,
        "row_versions_bytes": versions,
        "index_section_bytes": len(index_section(data) or b""),
        "transaction_bytes": len(inline_transaction(data) or b""),
    }
    return {**parts, "rest_bytes": len(data) - sum(parts.values())}


@stored_check()
def check_parts_add_up_to_the_file(asked):
    frame = manifests(asked.view)
    assert frame.select(PARTS).sum_horizontal().equals(frame["manifest_bytes"], check_names=False)
    assert (frame["rest_bytes"] > 0).all()


@stored_check()
def check_parts_are_those_of_the_file(asked):
    for row in manifests(asked.view).iter_rows(named=True):
        data = (asked.root / row["path"]).read_bytes()
        assert row["manifest_bytes"] == len(data)
        assert {name: row[name] for name in PARTS} == taken_apart(data)


@stored_check()
def check_files_are_named_and_timed(asked):
    for row in manifests(asked.view).iter_rows(named=True):
        nanoseconds = (asked.root / row["path"]).stat().st_mtime_ns
        modified = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=nanoseconds // 1000)
        assert row["modified"] == modified
        name = f"{2**64 - 1 - row['version']:020d}" if row["naming"] == "V2" else row["version"]
        assert row["path"] == f"_versions/{name}.manifest"


def test_old_writers_do_not_inline_transactions():
    frame = manifests(stored("0.32.1/life_cycle.lance"))
    assert set(frame["transaction_bytes"]) == {0}
    assert set(frame["naming"]) == {"V1"}


def test_a_damaged_transaction_counts_as_rest(tmp_path):
    source_path = DATA / "14.0.2/one_version.lance"
    [path] = (source_path / "_versions").glob("*.manifest")
    data = bytearray(path.read_bytes())
    transaction = inline_transaction(bytes(data))
    assert transaction is not None
    start = bytes(data).index(transaction)
    data[start : start + 4] = b"\xff" * 4
    (tmp_path / "t" / "_versions").mkdir(parents=True)
    (tmp_path / "t" / "_versions" / path.name).write_bytes(bytes(data))
    [row] = manifests(HistoryView.open(str(tmp_path / "t"))).iter_rows(named=True)
    assert row["transaction_bytes"] == 0
    assert sum(row[name] for name in PARTS) == row["manifest_bytes"] == len(data)
    assert struct.calcsize("<I") + len(transaction) < row["rest_bytes"]
