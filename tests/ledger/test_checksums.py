"""Digests of data files show what the format does not: values that changed and still decode."""

import random
import shutil
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from click.testing import CliRunner
from lance.file import LanceFileReader

import lance_explorer as lx
from lance_explorer.cli.group import main
from lance_explorer.disk.file_digests import REST, file_digests
from lance_explorer.storage import open_storage


def written(path: Path, data_format: str = "2.1") -> Path:
    rows = pa.table({"id": range(3_000), "score": [float(n) for n in range(3_000)]})
    lance.write_dataset(rows, path, max_rows_per_file=1_000, data_storage_version=data_format)  # type: ignore[arg-type]
    lance.dataset(path).add_columns({"twice": "id * 2"})
    return path


def flipped(path: Path, file: str, column: str) -> None:
    """Change a byte of a column, so that it still decodes, and gives another value."""
    target = path / "data" / file
    whole = lance.dataset(path).to_table().to_pydict()
    data = target.read_bytes()
    for begin in range(64, len(data) - 200, 37):
        changed = bytearray(data)
        changed[begin] ^= 0x10
        target.write_bytes(changed)
        try:
            now = lance.dataset(path).to_table().to_pydict()
        except (OSError, ValueError):
            continue
        if [name for name in now if now[name] != whole[name]] == [column]:
            return
    raise AssertionError(f"no byte of {column} decodes to another value")


@pytest.mark.parametrize("data_format", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("column", ["score", "twice"])
def test_a_value_that_changed_and_still_decodes_is_told_by_file_and_column(
    tmp_path: Path, data_format: str, column: str
) -> None:
    path = written(tmp_path / "t.lance", data_format)
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, checksums=True)
    table = lx.open_table(path, ledger=ledger)
    assert table.check(depth="values", severity="warning").is_empty()
    fragment = lance.dataset(path).get_fragments()[1]
    file = fragment.data_files()[1 if column == "twice" else 0].path
    flipped(path, file, column)
    assert lx.open_table(path).check(depth="values", severity="warning").is_empty()
    [found] = lx.open_table(path, ledger=ledger).check(depth="values", severity="error").to_dicts()
    assert (found["code"], found["columns"]) == ("data_file_changed", [column])
    assert found["statement"].startswith(f"column {column} of {file}, of fragment 1, is not what")
    damage = lx.open_table(path, ledger=ledger).damage("values")
    [one] = damage.files
    assert (one.fragment, one.columns, damage.num_lost) == (1, (column,), 1_000)


def test_files_are_read_once_and_what_is_recorded_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "t.lance")
    ledger = lx.Ledger(tmp_path / "ledger")
    taken = list[str]()

    def counted(root: object, name: str, size: int) -> object:
        taken.append(name)
        if len(taken) == 4:
            raise KeyboardInterrupt
        return file_digests(root, name, size)  # type: ignore[arg-type]

    monkeypatch.setattr("lance_explorer.ledger.checksums.file_digests", counted)
    with pytest.raises(KeyboardInterrupt):
        ledger.record(path, checksums=True)
    ledger.record(path, checksums=True)
    assert len(taken) == 7
    assert len(set(taken)) == 6
    ledger.record(path, checksums=True)
    assert len(taken) == 7
    lance.write_dataset(lance.dataset(path).to_table().slice(0, 10), path, mode="append")
    ledger.record(path, checksums=True)
    assert len(taken) == 8


def test_they_outlive_merging_and_go_with_all_else(tmp_path: Path) -> None:
    path = written(tmp_path / "t.lance")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, checksums=True)
    ledger.compact()
    recorded = lx.open_table(path, ledger=ledger)._view.recorded
    assert recorded is not None
    assert len(recorded.digests()) == 6
    ledger.forget("t.lance")
    assert not [one for one in (tmp_path / "ledger").rglob("*") if one.is_file()]


def test_a_damaged_file_of_digests_is_as_none(tmp_path: Path) -> None:
    path = written(tmp_path / "t.lance")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, checksums=True)
    [file] = (tmp_path / "ledger").rglob("checksums/*.parquet")
    chance = random.Random(7)
    whole = file.read_bytes()
    for _ in range(20):
        data = bytearray(whole)
        data[chance.randrange(len(data))] ^= 0xFF
        file.write_bytes(data[: chance.randrange(len(data))])
        table = lx.open_table(path, ledger=lx.Ledger(tmp_path / "ledger"))
        assert table.check(depth="values", severity="error").is_empty()
    ledger.record(path, checksums=True)
    table = lx.open_table(path, ledger=lx.Ledger(tmp_path / "ledger"))
    assert table._view.recorded is not None
    assert len(table._view.recorded.digests()) == 6


def test_each_byte_that_a_reader_uses_is_in_a_digest(tmp_path: Path) -> None:
    path = written(tmp_path / "t.lance")
    file = next((path / "data").iterdir())
    storage, size = open_storage(path), file.stat().st_size
    whole, data = file_digests(storage, f"data/{file.name}", size), file.read_bytes()
    assert REST in whole
    values = LanceFileReader(str(file)).read_all().to_table()
    for place in range(0, size, 7):
        changed = bytearray(data)
        changed[place] ^= 0xFF
        file.write_bytes(changed)
        try:
            is_seen = file_digests(storage, f"data/{file.name}", size) != whole
        except lx.CorruptFileError:
            is_seen = True
        # Between buffers are bytes that fill up.
        assert is_seen or LanceFileReader(str(file)).read_all().to_table().equals(values)


def test_of_a_copy_they_are_those_of_the_table(tmp_path: Path) -> None:
    path = written(tmp_path / "t.lance")
    ledger = lx.Ledger(tmp_path / "ledger")
    result = CliRunner().invoke(
        main, ["record", str(path), "--ledger", str(tmp_path / "ledger"), "--checksums"]
    )
    assert result.exit_code == 0, result.output
    copy = Path(shutil.copytree(path, tmp_path / "copy.lance"))
    ledger.record(copy, as_="t.lance")
    assert lx.open_table(copy, ledger=ledger).check(depth="values", severity="error").is_empty()
