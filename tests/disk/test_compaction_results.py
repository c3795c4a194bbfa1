"""What a compaction leaves in metadata is what pylance writes."""

import random
from pathlib import Path
from typing import Any

import lance
import pytest

import lance_explorer as lx
from lance_explorer.disk import compaction_preview
from tests.disk.agreement import random_options
from tests.disk.lives import Compacted, rows
from tests.disk.random_compactions import (
    check_compaction_of,
    predicted,
    sequences,
    write_at_random,
)


@pytest.mark.drawn(10)
def test_row_id_sequences_become_what_pylance_writes(seed: int, tmp_path: Path) -> None:
    life = Compacted(tmp_path / "t.lance", 2 * seed)  # an even seed: stable row IDs
    life.live(16)
    before = [fragment.fragment_id for fragment in lance.dataset(str(life.path)).get_fragments()]
    options = random_options(random.Random(seed), before)
    expected = predicted(life.path, options)
    preview = lx.open_table(life.path).compaction_preview(**options)
    told = preview.summary().row(0, named=True)
    lance.dataset(str(life.path)).optimize.compact_files(**options)
    assert sequences(life.path, set(before)) == expected
    assert told["num_fragments_after"] == len(lance.dataset(str(life.path)).get_fragments())
    assert told["row_id_bytes_after"] == sum(size for _, _, size, _ in expected)


@pytest.mark.drawn(6)
def test_upserts_in_any_order_are_compacted_as_foretold(seed: int, tmp_path: Path) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    has_ids = write_at_random(tmp_path / "t.lance", rng)
    check_compaction_of(tmp_path / "t.lance", rng, has_ids=has_ids)


def test_ascending_ranges_of_one_fragment_become_one_segment(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(6), str(path), enable_stable_row_ids=True)
    some = rows(6).take([3, 2, 0, 5, 1])
    lance.dataset(str(path)).merge_insert("id").when_matched_update_all().execute(some)
    assert predicted(path, {}) == [(6, 5, 41, "4 range, 1 range_with_bitmap")]
    lance.dataset(str(path)).optimize.compact_files()
    assert sequences(path, {0, 1}) == [(6, 5, 41, "4 range, 1 range_with_bitmap")]


def test_scattered_updates_and_deletions_are_told(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(3000), str(path), max_rows_per_file=1000, enable_stable_row_ids=True)
    dataset = lance.dataset(str(path))
    dataset.update({"score": "score + 1"}, where="id % 7 = 3")
    dataset.delete("id % 11 = 5")
    options: dict[str, Any] = {"target_rows_per_fragment": 1200}
    expected = predicted(path, options)
    before = {fragment.fragment_id for fragment in dataset.get_fragments()}
    dataset.optimize.compact_files(**options)
    assert sequences(path, before) == expected
    assert sum(segments for _, segments, _, _ in expected) > 4


@pytest.mark.drawn(8)
def test_the_reuse_history_grows_by_what_pylance_writes(seed: int, tmp_path: Path) -> None:
    life = Compacted(tmp_path / "t.lance", 2 * seed + 1)  # none
    life.live(16)
    ids = [fragment.fragment_id for fragment in lance.dataset(str(life.path)).get_fragments()]
    options = random_options(random.Random(seed), ids) | {"defer_index_remap": True}
    told = lx.open_table(life.path).compaction_preview(**options).summary()
    lance.dataset(str(life.path)).optimize.compact_files(**options)
    after = lx.open_table(life.path).compaction_preview().summary()
    assert told["reuse_bytes_after"].item() == after["reuse_bytes"].item()


def test_what_an_earlier_deferred_compaction_wrote_is_noted_though_no_index_covers_it(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "t.lance")
    lance.write_dataset(rows(8), path, max_rows_per_file=4)
    lance.dataset(path).create_scalar_index("id", "BTREE")
    options: dict[str, Any] = {"defer_index_remap": True, "target_rows_per_fragment": 8}
    for part in (20, 30):
        lance.write_dataset(rows(4, part), path, mode="append")
    lance.dataset(path).optimize.compact_files(**options)
    lance.write_dataset(rows(3, 50), path, mode="append")
    options["target_rows_per_fragment"] = 11
    told = lx.open_table(path).compaction_preview(**options)
    assert told.tasks()["fragment_ids"].to_list() == [[5, 6]]  # of which the index has none
    lance.dataset(path).optimize.compact_files(**options)
    after = lx.open_table(path).compaction_preview().summary()["reuse_bytes"].item()
    assert told.summary().select("reuse_bytes", "reuse_bytes_after").row(0) == (142, after)
    assert after > 142


def test_large_fragments_in_the_reuse_history(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(200_000), str(path), max_rows_per_file=100_000)
    dataset = lance.dataset(str(path))
    dataset.create_scalar_index("id", "BTREE")
    dataset.delete("id % 9 = 1 and id < 150000")
    told = lx.open_table(path).compaction_preview(defer_index_remap=True)
    dataset = lance.dataset(str(path))
    dataset.optimize.compact_files(defer_index_remap=True)
    after = lx.open_table(path).compaction_preview().summary()
    assert told.summary()["reuse_bytes_after"].item() == after["reuse_bytes"].item() > 20_000
    assert "reuse history" in " ".join(told.costs)


def test_what_cannot_be_read_is_null(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(40), str(path), max_rows_per_file=10, enable_stable_row_ids=True)
    lance.dataset(str(path)).delete("id = 3")
    [file] = (path / "_deletions").iterdir()
    file.write_bytes(b"nothing of use")
    preview = lx.open_table(path).compaction_preview()
    assert preview.new_fragments().select("num_rows", "row_id_bytes").rows() == [(39, None)]
    assert preview.tasks()["row_id_bytes_after"].to_list() == [None]
    assert preview.sentence.startswith("4 fragments become 1")


def test_spilled_sequences_take_nothing_in_the_manifest(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(60), str(path), max_rows_per_file=20, enable_stable_row_ids=True)
    settings: dict[str, str | None] = {
        "lance.row_lineage.spill": "true",
        "lance.row_lineage.inline_max_bytes": "16",
    }
    lance.dataset(str(path)).update_config(settings)
    lance.dataset(str(path)).update({"score": "score + 1"}, where="id % 7 = 1")
    new = lx.open_table(path).compaction_preview().new_fragments()
    assert new.select("num_row_id_segments", "row_id_bytes", "row_id_encodings").rows() == [
        (None, 0, "spilled")
    ]
    lance.dataset(str(path)).optimize.compact_files()
    assert lx.open_table(path).inspect.fragments()["row_ids_storage"].to_list() == ["spilled"]


def test_very_many_deletions_are_read_only_if_that_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(40), str(path), max_rows_per_file=10, enable_stable_row_ids=True)
    lance.dataset(str(path)).delete("id % 10 = 3")
    assert "Row IDs of these fragments" in lx.open_table(path).compaction_preview().costs[-1]
    monkeypatch.setattr(compaction_preview, "_MOST_DELETION_FILES", 3)
    preview = lx.open_table(path).compaction_preview()
    assert "4 deletion files" in preview.costs[-1]
    assert preview.summary()["row_id_bytes_after"].item() > 0
