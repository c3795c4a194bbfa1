"""One flipped bit of a manifest contradicts its neighbours; sound tables contradict nothing."""

import random
import shutil
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from lance_explorer.inspect.catalogue import frame
from lance_explorer.inspect.contradictions import contradictions
from tests.format.samples import DATA, covering_tables
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable

TABLES = covering_tables()
FRAMES = ("all_fragments", "all_data_files", "versions")

UNCONTRADICTED = {
    "timestamp",
    "writer",
    "writer_version",
    "reader_flags",
    "writer_flags",
    "is_noop",
    "deletion_file",
    "schema_changed",
}
"""What only one manifest tells: times, writers, flags, the random number of a deletion file."""


@stored_check()
def check_a_sound_table_contradicts_nothing(asked):
    assert contradictions(asked.view) == []


def test_a_commit_that_drops_a_file_of_columns_given_up_or_cast_contradicts_nothing(tmp_path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"key": [0, 1], "a": [0, 0], "b": [0, 0]}), uri)
    _write_in_place(uri, pa.table({"key": [0], "a": [7], "b": [8]}))
    dataset: Any = lance.dataset(uri)
    dataset.alter_columns({"path": "b", "data_type": pa.int32()})
    _write_in_place(uri, pa.table({"key": [0], "a": [9]}))
    assert contradictions(lx.open_table(uri)._view) == []


def _write_in_place(uri: str, data: pa.Table) -> None:
    dataset: Any = lance.dataset(uri)
    written, fields = dataset.get_fragment(0).update_columns(data, "key", "key")
    operation = lance.LanceOperation.Update(
        updated_fragments=[written], fields_modified=fields, update_mode="rewrite_columns"
    )
    lance.LanceDataset.commit(uri, operation, read_version=dataset.version)


def test_a_schema_that_differs_though_nothing_changed_it_is_a_finding(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=2)
    table.state.manifest.fields[0].name = "other"
    table.append(rows=2)
    [finding] = contradictions(lx.open_table(table.path)._view)
    assert (finding.code, finding.versions) == ("contradicting_manifests", (2, 2))
    assert "the schema differs, and Append changes none" in finding.statement


def test_commits_with_very_many_fragments_are_not_compared(tmp_path, monkeypatch):
    monkeypatch.setattr("lance_explorer.inspect.contradictions.MOST_COMPARED", 3)
    table = SyntheticTable(tmp_path / "t").append(rows=2).append(rows=8, fragments=4)
    [finding] = contradictions(lx.open_table(table.path)._view)
    assert (finding.code, finding.versions) == ("not_compared", (2, 2))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stable_row_ids", "life_cycle", "schema_changes"])
@pytest.mark.drawn(1)
def test_a_flipped_bit_is_told_where_anything_repeats_it(tmp_path, name, seed):
    path = Path(shutil.copytree(DATA / f"14.0.2/{name}.lance", tmp_path / "t.lance"))
    sound = answers(path)
    files = sorted((path / "_versions").glob("*.manifest"))
    chance, told, silent = random.Random(seed), 0, 0
    for _ in range(80):
        file = chance.choice(files)
        data = file.read_bytes()
        at = chance.randrange(len(data))
        flipped = data[at] ^ (1 << chance.randrange(8))
        file.write_bytes(data[:at] + bytes([flipped]) + data[at + 1 :])
        try:
            found = answers(path)
        except LanceExplorerError:
            told += 1
        else:
            is_told = "error" in found["findings"]["severity"].cast(pl.String)
            told += is_told
            silent += not is_told and differ(sound, found)
        finally:
            file.write_bytes(data)
    # Of 80, 30 to 50 and 1 to 8 in fifteen runs: the bounds hold for nearly every seed.
    assert told > 10
    assert silent <= 16


def answers(path: Path) -> dict[str, pl.DataFrame]:
    source = lx.open_table(path)._view
    return {name: frame(source, name) for name in (*FRAMES, "findings")}


def differ(sound: dict[str, pl.DataFrame], found: dict[str, pl.DataFrame]) -> bool:
    """Tell whether frames differ in anything that more than one file tells."""
    for name in FRAMES:
        columns = [column for column in sound[name].columns if column not in UNCONTRADICTED]
        if not sound[name].select(columns).equals(found[name].select(columns)):
            return True
    return False
