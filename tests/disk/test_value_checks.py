"""What ``depth="values"`` finds: rows that pylance cannot read, and what a compaction changed."""

import re
import shutil
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.checks.value_checks import value_findings

COUNT = 20_000


def numbers(begin: int, count: int, salt: str = "") -> pa.Table:
    ids = range(begin, begin + count)
    return pa.table({"id": ids, "text": [f"row {salt}{number}" for number in ids]})


def files(path: Path, version: int | None = None) -> list[Path]:
    fragments = lance.dataset(str(path), version=version).get_fragments()
    return [path / "data" / fragment.data_files()[0].path for fragment in fragments]


def flip(file: Path, begin: int, count: int) -> None:
    data = bytearray(file.read_bytes())
    data[begin : begin + count] = bytes([byte ^ 0xFF for byte in data[begin : begin + count]])
    file.write_bytes(data)


def check(path: Path) -> pl.DataFrame:
    return lx.open_table(path).check(depth="values", severity="warning")


def read_by_pylance(path: Path, fragment: int, column: str, rows: range) -> bool:
    one = lance.dataset(str(path)).get_fragment(fragment)
    assert one is not None
    try:
        one.to_table(columns=[column], offset=rows.start, limit=len(rows))
    except (OSError, ValueError):
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("data_format", ["legacy", "2.0", "2.1"])
def test_damaged_values_are_told_by_file_column_and_rows(data_format: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(numbers(0, COUNT), str(path), data_storage_version=data_format)
    lance.write_dataset(numbers(COUNT, 9), str(path), mode="append")
    assert check(path).is_empty()
    damaged = files(path)[0]
    whole = damaged.read_bytes()
    for begin in range(1_000, len(whole) - 4_000, len(whole) // 5):
        flip(damaged, begin, 2_000)
        refused = {
            column
            for column in ("id", "text")
            if not read_by_pylance(path, 0, column, range(COUNT))
        }
        found = check(path).filter(pl.col("code") == "unreadable_values")
        told = {name for names in found["columns"].to_list() for name in names}
        assert told >= refused
        assert set(found["subject_name"]) <= {"0"}
        for line in found.iter_rows(named=True):
            assert damaged.name in line["statement"]
            pairs = re.findall(r"(\d+) to (\d+)", line["statement"].replace(",", ""))
            ranges = [range(int(begin), int(end) + 1) for begin, end in pairs]
            assert sum(map(len, ranges)) == line["num_rows"]
            for offset in range(0, COUNT, 500):
                is_told = any(offset in some for some in ranges)
                assert is_told or read_by_pylance(
                    path, 0, line["columns"][0], range(offset, offset + 1)
                )
        damaged.write_bytes(whole)


def test_files_of_older_versions_are_read_too(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(numbers(0, COUNT), str(path), data_storage_version="2.1")
    [old] = files(path)
    lance.write_dataset(numbers(0, 9), str(path), mode="overwrite")
    flip(old, 1_000, 2_000)
    assert lx.open_table(path).check(depth="deep", severity="error").is_empty()
    [found] = check(path).to_dicts()
    assert (found["code"], found["first_version"], found["last_version"]) == (
        "unreadable_values",
        1,
        1,
    )


def test_a_compaction_that_wrote_other_values_is_found_by_what_it_replaced(tmp_path: Path) -> None:
    path, other = tmp_path / "t.lance", tmp_path / "other.lance"
    for at, salt in ((path, "a"), (other, "b")):
        for part in range(3):
            mode = "append" if part else "create"
            lance.write_dataset(numbers(part * 4, 4, salt), str(at), mode=mode)
        lance.dataset(str(at)).optimize.compact_files()
    assert check(path).is_empty()
    [wrong], [right] = files(other), files(path)
    shutil.copy(wrong, right)
    [found] = check(path).filter(code="compaction_changed_values").to_dicts()
    version = lance.dataset(str(path)).version
    assert (found["columns"], found["since_version"]) == (["text"], version)
    dataset = lance.dataset(str(path))
    exec(found["remedy_code"])  # follows the remedy
    assert dataset.tags.list()[f"before-compaction-{version}"]["version"] == version - 1
    exec(found["undone_by"])
    assert dataset.tags.list() == {}


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    for part in range(2):
        lance.write_dataset(numbers(part, 1), str(path), mode="append" if part else "create")
    dataset = lance.dataset(str(path))
    dataset.optimize.compact_files()
    (path / "_versions" / f"{2**64 - 1 - (dataset.version - 1)}.manifest").unlink()
    found = lx.open_table(path).check(depth="values").filter(code="not_checked")
    assert any("is not kept" in statement for statement in found["statement"])


def test_an_interrupted_check_goes_on_and_the_next_one_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    for part in range(2):
        mode = "append" if part else "create"
        lance.write_dataset(numbers(0, COUNT), str(path), mode=mode, data_storage_version="2.1")
    whole = [file.read_bytes() for file in files(path)]
    for file in files(path):
        flip(file, 1_000, 2_000)
    table = lx.open_table(path)
    view = table._live.answer(lambda view: view)
    first = next(value_findings(view))
    files(path)[0].write_bytes(whole[0])
    found = [*value_findings(view)]  # which do not say that the first file is whole now
    assert [one.subject for one in found][:1] == [first.subject]
    assert len(found) == 2
    assert len([*value_findings(view)]) == 1


@pytest.mark.parametrize(
    ("depth", "left_out"),
    [("quick", ["files", "values"]), ("deep", ["values"]), ("values", ["values"])],
)
def test_what_a_depth_leaves_out_is_not_taken_for_healthy(
    depth: Any, left_out: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(numbers(0, 9), str(path))
    found = lx.open_table(path).check(depth=depth)
    assert found.select("code", "severity").unique().rows() == [("not_checked", "info")]
    assert found["topic"].to_list() == left_out
    assert len(lx.open_table(path).health(depth).words("not_checked")) == len(left_out)


def with_payloads(path: Path, *, stable: bool = False) -> list[bytes]:
    """Write a table with blobs of all kinds, in two fragments, of which a row is deleted."""
    sizes = (10, 2_000, 100_000, 300_000, 5_000_000, 0)
    payloads = [bytes([number]) * size for number, size in enumerate(sizes, 1)]
    schema = pa.schema([pa.field("id", pa.int64()), lance.blob_field("image")])
    for part in range(2):
        ids = pa.array(range(7 * part, 7 * part + 7))
        images = lance.blob_array([*payloads, None])
        lance.write_dataset(
            pa.table([ids, images], schema=schema),
            str(path),
            mode="append" if part else "create",
            data_storage_version="2.2",
            enable_stable_row_ids=stable,
        )
    lance.dataset(str(path)).delete("id = 1")
    return payloads


@pytest.mark.parametrize("stable", [False, True])
def test_whole_payloads_of_blobs_are_no_finding(tmp_path: Path, *, stable: bool) -> None:
    path = tmp_path / "t.lance"
    with_payloads(path, stable=stable)
    assert check(path).is_empty()
    assert not lx.open_table(path).damage("values")
    lance.dataset(str(path)).optimize.compact_files()
    assert check(path).is_empty()


@pytest.mark.parametrize("how", ["removed", "cut"])
@pytest.mark.parametrize("large", [False, True], ids=["several", "alone"])
def test_payloads_that_are_gone_are_told_by_their_rows(
    tmp_path: Path, how: str, *, large: bool
) -> None:
    path = tmp_path / "t.lance"
    with_payloads(path)
    [first, _] = files(path)
    [file] = [
        one for one in first.with_suffix("").iterdir() if (one.stat().st_size > 1_000_000) == large
    ]
    file.unlink() if how == "removed" else file.write_bytes(file.read_bytes()[:1_000])
    unread = [
        row
        for row in range(7)
        if row != 1 and not read_by_pylance_blob(path, row)  # which is deleted
    ]
    assert unread == ([4] if large else [2, 3])
    [found] = check(path).to_dicts()
    assert (found["code"], found["columns"]) == ("unreadable_values", ["image"])
    assert found["num_rows"] == len(unread)
    assert how == "cut" or file.name in found["statement"]
    damage = lx.open_table(path).damage("values")
    assert damage.num_lost == len(unread)
    [one] = damage.files
    assert one.rows is not None
    assert one.rows.tolist() == unread


def read_by_pylance_blob(path: Path, address: int) -> bool:
    try:
        [blob] = lance.dataset(str(path)).take_blobs("image", addresses=[address])
        assert blob is None or blob.read() is not None
    except (OSError, ValueError):
        return False
    return True
