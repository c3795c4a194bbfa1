"""Keys that several rows have: counted as a scan counts them, and with the commits behind them."""

from collections import Counter
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError


def upsert(dataset: lance.LanceDataset, rows: pa.Table, key: str) -> None:
    merge = dataset.merge_insert(key).when_matched_update_all()
    merge.when_not_matched_insert_all().execute(rows)


def skus(*names: str | None, job: str) -> pa.Table:
    return pa.table({"sku": pa.array(names, pa.string()), "job": [job] * len(names)})


@pytest.fixture(params=[False, True], ids=["addresses", "row IDs"])
def path(request, tmp_path) -> Path:
    made: Path = tmp_path / "t.lance"
    lance.write_dataset(skus("p0", job="start"), str(made), enable_stable_row_ids=request.param)
    return made


def test_two_upserts_at_once_are_two_commits_of_which_nobody_knows_what_they_had_read(path):
    handles = {job: lance.dataset(str(path)) for job in ("morning", "evening")}
    for job, handle in handles.items():
        upsert(handle, skus("p7", "p8", job=job), "sku")
    found = lx.open_table(path).duplicates("sku")
    assert (found.num_keys, found.num_rows, found.num_null_rows) == (2, 4, 0)
    rows = found.to_polars().select("sku", "copies", "version", "earlier_copy").rows()
    assert rows == [
        ("p7", 2, 2, "none"),
        ("p7", 2, 3, "unknown"),
        ("p8", 2, 2, "none"),
        ("p8", 2, 3, "unknown"),
    ]
    assert found.since == 3
    assert found.sentence == "2 keys of sku are there more than once in version 3, in 4 rows."


def test_an_append_had_read_the_copy_or_had_not(path):
    old = lance.dataset(str(path))
    lance.write_dataset(skus("p1", job="a"), str(path), mode="append")
    lance.write_dataset(skus("p1", "p2", "p2", job="b"), str(path), mode="append")
    old.insert(skus("p1", job="late"))
    rows = lx.open_table(path).duplicates("sku").to_polars()
    assert rows.select("sku", "version", "earlier_copy").rows() == [
        ("p1", 2, "none"),
        ("p1", 3, "read"),
        ("p1", 4, "not read"),
        ("p2", 3, "none"),
        ("p2", 3, "same commit"),
    ]


def test_a_row_has_its_key_from_the_commit_that_gave_it_and_not_from_one_that_moved_it(path):
    lance.write_dataset(skus("p1", "p2", job="a"), str(path), mode="append")
    dataset = lance.dataset(str(path))
    dataset.update({"sku": "'p1'"}, where="sku = 'p2'")
    dataset.optimize.compact_files()
    rows = lx.open_table(path).duplicates(["sku"]).to_polars()
    assert rows.select("sku", "version", "operation").rows() == [
        ("p1", 2, "Append"),
        ("p1", 3, "Update"),
    ]


def test_rows_without_a_key_are_no_copies_of_one_another(path):
    lance.write_dataset(skus(None, None, "p0", job="a"), str(path), mode="append")
    found = lx.open_table(path).duplicates(["sku", "job"])
    assert (found.num_keys, found.num_null_rows, bool(found)) == (0, 2, True)
    assert found.to_polars()["copies"].to_list() == [None, None]
    assert found.sentence.endswith("beside 2 rows with a null key.")


def test_counts_are_those_of_a_scan_of_any_version_and_details_are_cut(path):
    for part in range(4):
        names = [f"p{number % 7}" for number in range(part * 3, part * 3 + 9)]
        lance.write_dataset(skus(*names, job=str(part)), str(path), mode="append")
    lance.dataset(str(path)).delete("sku = 'p3' AND job = '1'")
    table = lx.open_table(path)
    for version in table.versions()["version"].to_list():
        read = lance.dataset(str(path), version=version).to_table(columns=["sku"])
        counts = Counter(read["sku"].to_pylist())
        several = {sku: count for sku, count in counts.items() if count > 1}
        found = table.duplicates("sku", version=version, limit=2)
        assert (found.num_keys, found.num_rows) == (len(several), sum(several.values()))
        shown = Counter(found.to_polars()["sku"].to_list())
        assert shown == {sku: several[sku] for sku in sorted(several)[:2]}


def test_what_is_no_key_is_refused(path):
    table = lx.open_table(path)
    with pytest.raises(InvalidArgumentError, match=r"has no column 'id'; there are: sku, job"):
        table.duplicates(["sku", "id"])
    with pytest.raises(InvalidArgumentError):
        table.duplicates([])


def test_a_check_of_a_key_finds_what_is_there_twice_and_what_is_null(path):
    table = lx.open_table(path)
    assert "duplicate_keys" not in table.check(key="sku")["code"].to_list()
    lance.write_dataset(skus("p0", None, job="a"), str(path), mode="append")
    table.refresh()
    found = table.check(severity="warning", key="sku")
    assert found.select("code", "severity", "since_version").rows() == [
        ("duplicate_keys", "error", 2),
        ("null_keys", "warning", None),
    ]
