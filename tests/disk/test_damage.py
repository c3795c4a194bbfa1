"""What is lost by a damaged file, and where else the rows stand: as pylance can read them."""

import random
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.cli import main


class Life:
    """A random life of a table in which no two cells ever have one value."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.random = random.Random(seed)
        self.numbers = count(1)
        self.row_ids = self.random.random() < 0.5
        self.is_wild = self.random.random() < 0.3
        self.columns = 1
        self.append("create")
        for _ in range(self.random.randint(2, 7)):
            self.step()

    @property
    def dataset(self) -> lance.LanceDataset:
        return lance.dataset(str(self.path))

    def append(self, mode: Any = "append") -> None:
        size = self.random.randint(2, 9)
        schema = pa.schema([("id", pa.int64())]) if mode == "create" else self.dataset.schema
        names = ["id", "a"] if mode == "create" else schema.names
        table = pa.table({name: [next(self.numbers) for _ in range(size)] for name in names})
        lance.write_dataset(
            table,
            str(self.path),
            mode=mode,
            max_rows_per_file=5,
            enable_stable_row_ids=self.row_ids,
        )

    def step(self) -> None:
        dataset, chance = self.dataset, self.random.random()
        ids = dataset.to_table(columns=["id"])["id"].to_pylist()
        some = self.random.sample(ids, min(len(ids), self.random.randint(1, 3)))
        where = f"id IN ({', '.join(map(str, some))})"
        names = dataset.schema.names
        if self.is_wild and chance < 0.15 and len(names) > 2:
            dataset.drop_columns([self.random.choice(names[1:])])
        elif self.is_wild and chance < 0.25 and dataset.version > 2:
            dataset.checkout_version(self.random.randint(1, dataset.version - 1)).restore()
        elif chance < 0.3 or len(ids) < 4:
            self.append()
        elif chance < 0.5:
            dataset.delete(where)
        elif chance < 0.65:
            dataset.update({names[1]: f"{next(self.numbers)} * 100000 + id"}, where=where)
        elif chance < 0.75:
            self.columns += 1
            name = f"c{self.columns}"
            dataset.add_columns({name: f"{next(self.numbers)} * 100000 + id"})
        else:
            dataset.optimize.compact_files(target_rows_per_fragment=self.random.choice([8, 100]))


def readable(dataset: lance.LanceDataset) -> set[int]:
    """Return all values that can be read; each is in one cell only."""
    found = set[int]()
    for fragment in dataset.get_fragments():
        for name in dataset.schema.names:
            with suppress(OSError, ValueError):
                found.update(fragment.to_table(columns=[name])[name].to_pylist())
    return found


def is_whole(path: Path, version: int) -> bool:
    try:
        lance.dataset(str(path), version=version).to_table()
    except (OSError, ValueError):
        return False
    return True


@pytest.mark.drawn(40)
def test_what_is_lost_by_a_missing_file_is_what_no_version_can_read(
    seed: int, tmp_path: Path
) -> None:
    life, chosen = Life(tmp_path / "t.lance", seed), random.Random(seed)
    rows = life.dataset.to_table().to_pylist()
    is_cut = chosen.random() < 0.3 and life.dataset.version > 3
    if is_cut:
        gone = chosen.randint(2, life.dataset.version - 1)
        (life.path / "_versions" / f"{2**64 - 1 - gone}.manifest").unlink()
    every = sorted((life.path / "data").iterdir())
    gone_files = chosen.sample(every, min(len(every), chosen.choice([1, 1, 2, 3, 5])))
    for file in gone_files:
        file.unlink()
    table = lx.open_table(life.path)
    versions = table.versions()["version"].to_list()
    found = table.damage()
    there = set().union(*[readable(lance.dataset(str(life.path), version=v)) for v in versions])
    lost = sum([not there.issuperset(row.values()) for row in rows])
    assert found.num_lost <= lost <= found.num_lost + found.num_open
    assert life.is_wild or is_cut or not found.num_open
    whole = [version for version in versions if is_whole(life.path, version)]
    assert found.whole_version == max(whole, default=None)
    assert set(found.to_polars()["path"]) <= {file.name for file in gone_files}


def five_appends(path: Path) -> lance.LanceDataset:
    for part in range(5):
        rows = pa.table({"id": range(part * 10, part * 10 + 10)})
        lance.write_dataset(rows, str(path), mode="append" if part else "create")
    return lance.dataset(str(path))


def files(dataset: lance.LanceDataset, path: Path) -> list[Path]:
    return [
        path / "data" / file.path
        for fragment in dataset.get_fragments()
        for file in fragment.data_files()
    ]


def test_the_file_of_a_compaction_is_gone_and_its_remedy_brings_all_rows_back(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.lance"
    five_appends(path).optimize.compact_files()
    [file] = files(lance.dataset(str(path)), path)
    file.unlink()
    table = lx.open_table(path)
    damage = table.damage()
    assert (damage.num_lost, damage.whole_version) == (0, lance.dataset(str(path)).version - 1)
    [found] = table.check(severity="error").to_dicts()
    assert found["consequence"] == damage.consequence
    assert "None is lost: version 6 of this table has all of them" in damage.sentence
    exec(found["remedy_code"], {"dataset": lance.dataset(str(path))})
    after = lance.dataset(str(path))
    assert sorted(after.to_table()["id"].to_pylist()) == [*range(50)]
    table.refresh()
    assert table.damage().sentence == (
        "1 file is damaged. The latest version needs none of them for its rows."
    )


def test_what_no_version_has_is_lost_and_going_back_says_what_it_costs(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = five_appends(path)
    files(dataset, path)[-1].unlink()
    damage = lx.open_table(path).damage()
    assert (damage.num_lost, damage.whole_version) == (10, 4)
    assert "cells are lost, unless another branch, a clone or a backup has them" in damage.sentence
    assert damage.remedy.words.endswith(
        "going back to it changes rows: 10 rows inserted since are lost."
    )
    [line] = damage.to_polars().to_dicts()
    assert (line["fragment_id"], line["columns"], line["num_rows"]) == (4, ["id"], 10)


def test_a_command_says_it_and_ends_with_an_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = five_appends(path)
    run = CliRunner().invoke
    assert run(main, ["damage", str(path)]).exit_code == 0
    assert run(main, ["duplicates", str(path), "id"]).exit_code == 0
    lance.write_dataset(pa.table({"id": [7]}), str(path), mode="append")
    twice = run(main, ["duplicates", str(path), "id"])
    assert (twice.exit_code, twice.output.split(".")[0]) == (
        1,
        "1 key of id is there more than once in version 6, in 2 rows",
    )
    files(dataset, path)[0].unlink()
    gone = run(main, ["damage", str(path), "--depth", "quick"])
    assert gone.exit_code == 1
    assert gone.output.startswith("1 file is damaged.")
    assert run(main, ["damage", str(path / "nowhere")]).exit_code == 2


def test_an_unreadable_latest_manifest_is_moved_away_and_the_version_before_is_the_latest(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.lance"
    five_appends(path)
    newest = path / "_versions" / f"{2**64 - 1 - 5}.manifest"
    newest.write_bytes(b"")
    table = lx.open_table(path)
    with pytest.raises(lx.CorruptFileError, match=r"table.damage\(\) tells which version is whole"):
        _ = table.latest
    damage = table.damage()
    assert damage.whole_version == 4
    [found] = table.check(severity="error").to_dicts()
    assert (found["consequence"], found["remedy"]) == (damage.consequence, damage.remedy.words)
    assert f"move _versions/{newest.name} out of the table" in found["remedy"]
    assert "then version 4, which is whole, is the latest" in found["remedy"]
    newest.rename(tmp_path / newest.name)
    assert lance.dataset(str(path)).version == 4
    assert lx.open_table(path).check(severity="error").is_empty()


def test_a_table_of_which_no_manifest_can_be_read_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": [1]}), str(path))
    for manifest in (path / "_versions").glob("*.manifest"):
        manifest.write_bytes(b"nothing")
    damage = lx.open_table(path).damage()
    assert bool(damage)
    assert damage.whole_version is None


def test_what_only_another_branch_needs_is_no_all_clear(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = five_appends(path)
    dev = dataset.create_branch("dev", 5)
    dev.insert(pa.table({"id": [99]}))
    [file] = (path / "tree" / "dev" / "data").iterdir()
    file.unlink()
    damage = lx.open_table(path).damage()
    assert (bool(damage), damage.num_lost, damage.whole_version) == (True, 0, 5)
    [line] = damage.to_polars().to_dicts()
    assert (line["path"], line["note"]) == (file.name, "branch dev needs it")


def test_a_deletion_file_that_is_gone_leaves_it_open_which_rows_were_deleted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.lance"
    five_appends(path).delete("id = 13")
    [file] = (path / "_deletions").iterdir()
    file.unlink()
    damage = lx.open_table(path).damage()
    assert (damage.num_lost, damage.whole_version) == (0, 5)
    assert damage.sentence == (
        "1 file is damaged. Which rows of 1 fragment of the latest version were deleted is "
        "unknown, and pylance does not read these."
    )
    [line] = damage.to_polars().to_dicts()
    assert (line["kind"], line["fragment_id"]) == ("deletion", 1)
    assert damage.remedy.words.endswith("what going back to it loses is not known.")


@pytest.mark.parametrize("data_format", ["legacy", "2.1"])
def test_of_a_file_with_damaged_values_only_the_damaged_rows_are_lost(
    data_format: Any, tmp_path: Path
) -> None:
    path, count = tmp_path / "t.lance", 20_000
    rows = pa.table({"id": range(count), "x": [number * 7 for number in range(count)]})
    dataset = lance.write_dataset(rows, str(path), data_storage_version=data_format)
    dataset.delete("id < 10000 AND id % 2 = 0")
    [file] = files(dataset, path)
    data = bytearray(file.read_bytes())
    if data_format == "legacy":  # values of 8 bytes, of which none makes a page unreadable
        data[:] = data[:-1000] + bytes(1000)
    else:
        data[1_000:3_000] = bytes([byte ^ 0xFF for byte in data[1_000:3_000]])
    file.write_bytes(data)
    damage = lx.open_table(path).damage("values")
    [line] = damage.to_polars().to_dicts()
    assert line["columns"]
    assert 0 < damage.num_lost == line["num_rows"] <= 15_000
    if data_format != "legacy":
        assert damage.num_lost < 15_000


def test_the_latest_of_a_table_without_damage_is_its_newest_whole_version(tmp_path: Path) -> None:
    lance.write_dataset(pa.table({"a": [1]}), tmp_path / "t.lance")
    lance.write_dataset(pa.table({"a": [2]}), tmp_path / "t.lance", mode="append")
    found = lx.open_table(tmp_path / "t.lance").damage()
    assert not found
    assert found.whole_version == 2
