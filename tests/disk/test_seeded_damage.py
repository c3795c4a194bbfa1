"""Whatever damages a file of a table, a check names it; ``seeded_damage`` tries hundreds."""

import json
import random
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.disk.seeded_damage import damaged, live, wrong_about, wrong_about_whole


@pytest.mark.slow
@pytest.mark.drawn(4)
def test_one_random_damage_is_named_and_nothing_is_lost_that_is_there(
    tmp_path: Path, seed: int
) -> None:
    case = damaged(tmp_path, seed)
    assert wrong_about(case) is None, (case.how, case.file)


@pytest.mark.slow
@pytest.mark.drawn(4)
def test_of_a_table_that_nothing_damaged_nothing_is_told(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "t.lance"
    live(path, random.Random(seed))
    assert wrong_about_whole(path) is None


def appended(path: Path) -> None:
    for part in range(3):
        rows = pa.table({"id": range(10 * part, 10 * part + 10)})
        lance.write_dataset(rows, str(path), mode="append" if part else "create")


def test_a_newest_manifest_that_is_gone_is_told_from_what_writers_noted(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    appended(path)
    assert lx.open_table(path).check(severity="warning").is_empty()
    (path / "_versions" / f"{2**64 - 1 - 3}.manifest").unlink()
    hint = json.loads((path / "_versions" / "latest_version_hint.json").read_text())
    assert hint == {"version": 3}
    assert lance.dataset(str(path)).version == 2
    [found] = lx.open_table(path).check(severity="warning").to_dicts()
    assert (found["code"], found["first_version"]) == ("newest_manifest_missing", 3)
    assert found["consequence"] == "Version 2 is the latest that can be read."


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP", "ZONEMAP"])
def test_an_index_through_which_no_search_is_answered_is_an_error(
    tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "t.lance"
    appended(path)
    dataset: lance.LanceDataset = lance.dataset(str(path))
    dataset.create_scalar_index("id", kind)  # type: ignore[arg-type]
    for file in path.glob("_indices/*/*.lance"):
        size = file.stat().st_size
        file.write_bytes(bytes(size))
    with pytest.raises((OSError, ValueError)):
        lance.dataset(str(path)).to_table(filter="id = 7")
    found = lx.open_table(path).check(depth="deep", severity="error")
    assert found["code"].to_list() == ["index_unreadable"]
    lance.dataset(str(path)).create_scalar_index("id", kind, replace=True)  # type: ignore[arg-type]
    assert lx.open_table(path).check(depth="deep", severity="error").is_empty()
