"""Which fragments a compaction would rewrite: pylance's planner agrees over random tables."""

import random
from pathlib import Path
from typing import Any

import lance
import pytest

import lance_explorer as lx
from tests.disk.agreement import check_compaction, planned, planned_by_us
from tests.disk.lives import Compacted, rows


@pytest.mark.slow
@pytest.mark.drawn(15)
def test_tasks_are_those_of_pylance(seed: int, tmp_path: Path) -> None:
    life = Compacted(tmp_path / "t.lance", seed)
    life.live(16)
    chosen = random.Random(seed)
    for _ in range(8):
        check_compaction(life.path, life.branches, chosen)


def small_and_large(path: Path) -> lance.LanceDataset:
    for size in (20, 2, 3, 30, 4, 25):
        lance.write_dataset(rows(size), str(path), mode="append")
    return lance.dataset(str(path))


def reasons(path: Path, **options: Any) -> list[str]:
    preview = lx.open_table(path).compaction_preview(**options)
    return preview.fragments()["reason"].to_list()


def test_each_fragment_has_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = small_and_large(path)
    aim = {"target_rows_per_fragment": 10}
    assert reasons(path, **aim) == [
        "large_enough", "small", "small", "large_enough", "alone", "large_enough",
    ]  # fmt: skip
    assert reasons(path, **aim, excluded_fragment_ids=[2])[1:3] == ["alone", "excluded"]
    assert reasons(path, **aim, max_source_rows=3)[1:3] == ["over_budget"] * 2
    dataset.delete("id = 0")
    found = reasons(path, **aim, materialize_deletions_threshold=0.04)
    assert found[0] == "many_deleted_rows"
    assert found[3] == "few_deleted_rows"


def test_an_index_that_lags_walls_fragments_in(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(4), str(path))
    lance.dataset(str(path)).create_scalar_index("id", "BTREE")
    lance.write_dataset(rows(4), str(path), mode="append")
    preview = lx.open_table(path).compaction_preview()
    assert preview.fragments()["reason"].to_list() == ["walled_in_by_index"] * 2
    assert preview.sentence == "nothing to rewrite"
    assert "optimize_indices" in preview.fragments()["message"][0]
    lance.dataset(str(path)).optimize.optimize_indices(num_indices_to_merge=1)
    assert reasons(path) == ["small", "small"]


@pytest.mark.parametrize("is_stable", [False, True])
def test_the_summary_is_what_a_compaction_does(is_stable: bool, tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(10), str(path), max_rows_per_file=2, enable_stable_row_ids=is_stable)
    lance.dataset(str(path)).create_scalar_index("id", "BTREE")
    lance.dataset(str(path)).delete("id in (1, 4)")
    found = lx.open_table(path).compaction_preview(target_rows_per_fragment=4)
    expected = found.summary().row(0, named=True)
    dataset = lance.dataset(str(path))
    before = {f.data_files()[0].path for f in dataset.get_fragments()}
    metrics = dataset.optimize.compact_files(target_rows_per_fragment=4)
    dataset = lance.dataset(str(path))
    assert expected["num_rewritten"] == metrics.fragments_removed == 5
    assert expected["num_fragments_after"] == len(dataset.get_fragments())
    assert expected["num_rows"] == dataset.count_rows()
    assert expected["num_deleted_rows"] == 2
    size = sum((path / "data" / name).stat().st_size for name in before)
    assert expected["read_bytes"] == size
    assert expected["indices_to_remap"] == ([] if is_stable else ["id_idx"])
    assert expected["num_remapped_rows"] == (0 if is_stable else 10)
    assert found.code == "dataset.optimize.compact_files(target_rows_per_fragment=4)"


def test_the_config_of_the_table_sets_the_options(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    dataset = small_and_large(path)
    dataset.update_config({"lance.compaction.target_rows_per_fragment": "10"})
    assert planned_by_us(path, None, {}) == planned(path, None, {}) == [[1, 2]]
    assert reasons(path, target_rows_per_fragment=3)[1] == "alone"
    dataset.update_config({"lance.compaction.target_rows_per_fragment": "ten"})
    with pytest.raises(lx.InvalidArgumentError, match="which Lance refuses"):
        lx.open_table(path).compaction_preview()
    with pytest.raises((ValueError, OSError)):
        planned(path, None, {})


@pytest.mark.parametrize(
    "name",
    [
        "target_rows_per_fragment",
        "defer_index_remap",
        "max_source_bytes",
        "max_bytes_per_file",
        "io_buffer_size",
        "batch_size",
        "compaction_mode",
        "num_threads",
        "excluded_fragment_ids",
    ],
)
def test_a_config_that_cannot_be_read_is_refused_as_by_pylance(name: str, tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    small_and_large(path).update_config({f"lance.compaction.{name}": "abc"})
    try:
        expected = planned(path, None, {})
    except (ValueError, OSError):
        with pytest.raises(lx.InvalidArgumentError, match=name):
            lx.open_table(path).compaction_preview()
    else:
        assert planned_by_us(path, None, {}) == expected


def test_what_lance_refuses_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(9), str(path), max_rows_per_file=3, enable_stable_row_ids=True)
    preview = lx.open_table(path).compaction_preview(defer_index_remap=True)
    assert "defer_index_remap" in str(preview.problem)
    assert preview.tasks().is_empty()
    with pytest.raises((ValueError, OSError)):
        planned(path, None, {"defer_index_remap": True})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target_rows", 3),
        ("target_rows_per_fragment", 0),
        ("materialize_deletions", 1),
        ("materialize_deletions_threshold", -0.5),
        ("max_source_rows", "3"),
        ("excluded_fragment_ids", 3),
    ],
)
def test_wrong_options_are_refused(name: str, value: object, tmp_path: Path) -> None:
    lance.write_dataset(rows(3), str(tmp_path / "t.lance"))
    with pytest.raises(lx.InvalidArgumentError, match=name):
        lx.open_table(tmp_path / "t.lance").compaction_preview(**{name: value})
