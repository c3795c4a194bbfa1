"""Transactions against what pylance reads, and versions that have none.

Pylance gives ReserveFragments no name, and fails at a Rewrite with rewritten indices.
"""

import json
import shutil

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.transactions import transactions
from tests.format.samples import DATA
from tests.inspect.tables import manifest_paths, rows_of, stored, write
from tests.stored_tables import stored_check

ABSENT_WITHOUT = ["operation", "number", "read_version", "uuid", "message", "properties"]
ABSENT_WITHOUT += ["source", "path", "transaction_bytes", "summary"]


@stored_check()
def check_the_place_of_a_transaction_holds_as_many_bytes(asked):
    root = asked.root
    for row in transactions(asked.view).iter_rows(named=True):
        size = (root / row["path"]).stat().st_size
        is_file = row["source"] == "file"
        assert row["transaction_bytes"] == size if is_file else row["transaction_bytes"] < size
        assert row["path"].startswith("_transactions/" if is_file else "_versions/")


def test_every_operation_has_a_summary():
    frame = transactions(stored("14.0.2/life_cycle.lance"))
    summaries = dict(rows_of(frame, "version", "summary"))
    assert json.loads(summaries[1]) == {
        "new_fragments": 2,
        "new_rows": 12,
        "fields": 4,
        "config_keys": [],
        "initial_bases": 0,
    }
    assert None not in summaries.values()


def test_numbers_are_those_of_the_format():
    frame = transactions(stored("14.0.2/life_cycle.lance")).select("operation", "number").unique()
    assert {("Append", 100), ("Delete", 101), ("Overwrite", 102)} <= set(frame.rows())


def test_a_commit_message_is_a_property_too(tmp_path):
    path = tmp_path / "t"
    dataset = write(path, n=[1])
    dataset.insert(dataset.to_table(), commit_message="second \u2603")
    [row] = transactions(HistoryView.open(str(path))).tail(1).iter_rows(named=True)
    assert row["message"] == "second \u2603"
    assert json.loads(row["properties"]) == {"__lance_commit_message": "second \u2603"}


def test_a_missing_transaction_leaves_nulls(tmp_path):
    shutil.copytree(DATA / "0.32.1/life_cycle.lance", tmp_path / "t")
    [path] = (tmp_path / "t" / "_transactions").glob("2-*.txn")
    path.unlink()
    frame = transactions(HistoryView.open(str(tmp_path / "t")))
    [row] = frame.filter(version=3).iter_rows(named=True)
    assert [name for name, value in row.items() if value is None] == sorted(
        ["branch", *ABSENT_WITHOUT], key=frame.columns.index
    )
    assert row["kind"] == "other"
    assert frame.filter(version=4)["operation"].null_count() == 0


def test_a_damaged_transaction_leaves_nulls(tmp_path):
    shutil.copytree(DATA / "0.32.1/life_cycle.lance", tmp_path / "t")
    [path] = (tmp_path / "t" / "_transactions").glob("2-*.txn")
    path.write_bytes(b"\xff" * 20)
    row = transactions(HistoryView.open(str(tmp_path / "t"))).row(2, named=True)
    assert {name for name in ABSENT_WITHOUT if row[name] is None} == set(ABSENT_WITHOUT)


def test_a_damaged_operation_leaves_the_header_and_no_summary(tmp_path):
    shutil.copytree(DATA / "0.32.1/life_cycle.lance", tmp_path / "t")
    [path] = (tmp_path / "t" / "_transactions").glob("1-*.txn")
    data = path.read_bytes()
    tag = bytes([0xA2, 0x06])  # operation 100, Append, length-delimited
    start = data.index(tag) + len(tag)
    path.write_bytes(data[:start] + b"\x02\x0a\x05")
    row = transactions(HistoryView.open(str(tmp_path / "t"))).row(1, named=True)
    assert row["operation"] == "Append"
    assert row["uuid"]
    assert row["summary"] is None


def test_versions_of_every_kept_manifest_are_there():
    path = "14.0.2/cleaned.lance"
    assert transactions(stored(path))["version"].to_list() == sorted(manifest_paths(DATA / path))
