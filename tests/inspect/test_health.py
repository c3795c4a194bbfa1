"""What the owner of a table should do: each check with numbers, compared with pylance."""

import shutil
from pathlib import Path

import humanize
import lance
import lance.optimize
import numpy as np
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.findings import TOPICS
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.history.live import LiveTable
from lance_explorer.history.rewrites.reuse_history import reuse_index
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import Inspect
from lance_explorer.inspect.fragment_health import (
    MANY_SPARE_FRAGMENTS,
    SOME_SPARE_FRAGMENTS,
    compaction_settings,
)
from lance_explorer.inspect.health import health
from lance_explorer.inspect.history_health import MANY_VERSIONS
from lance_explorer.inspect.index_health import MANY_SEGMENTS
from tests.format.samples import DATA
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable
from tests.synthetic.wire import record


def found(path: Path, code: str, version: int | None = None) -> dict[str, object]:
    """Return the one finding of a code."""
    rows = lx.open_table(path).inspect.health(version).filter(code=code)
    assert len(rows) == 1, rows
    return rows.row(0, named=True)


def codes(path: Path, version: int | None = None) -> list[str]:
    return lx.open_table(path).inspect.health(version)["code"].to_list()


def numbers(count: int, start: int = 0) -> pa.Table:
    return pa.table({"id": np.arange(start, start + count)})


# ------------------------------------------------------------------------------- fragments


def written(path: Path, *sizes: int, mode: str = "create") -> lance.LanceDataset:
    """Write a table with one fragment of each size."""
    for size in sizes:
        dataset = lance.write_dataset(numbers(size), str(path), mode=mode)
        mode = "append"
    return dataset


def compacted(dataset: lance.LanceDataset) -> tuple[int, int]:
    """Return how many fragments a compaction of pylance takes, and how many it makes of them."""
    plan = lance.optimize.Compaction.plan(dataset, options={})
    metrics = dataset.optimize.compact_files()
    assert metrics.fragments_removed == sum(len(task.fragments) for task in plan.tasks)
    return metrics.fragments_removed, metrics.fragments_added


def test_small_fragments_are_those_that_pylance_compacts(tmp_path):
    dataset = written(tmp_path / "t", *[100] * 25)
    dataset.create_scalar_index("id", "BTREE")
    dataset = written(tmp_path / "t", *[100] * 10, mode="append")
    message = found(tmp_path / "t", "small_fragments")["statement"]
    assert compacted(lance.dataset(str(tmp_path / "t"))) == (35, 2)
    assert message == (
        "35 of 35 fragments are small or hold many deleted rows; compacted they are about 2 "
        "(the aim is 1,048,576 rows each)"
    )


def test_the_aim_of_compactions_is_in_the_config(tmp_path):
    dataset = written(tmp_path / "t", *[100] * 25, 1000, 50, 1000)
    dataset.update_config({"lance.compaction.target_rows_per_fragment": "500"})
    dataset = lance.dataset(str(tmp_path / "t"))
    finding = found(tmp_path / "t", "small_fragments")
    assert finding["severity"] == "info"
    assert "25 of 28 fragments" in str(finding["statement"])
    assert "about 5 (the aim is 500 rows each)" in str(finding["statement"])
    assert compacted(dataset) == (25, 5)


def test_a_config_that_is_no_number_counts_for_nothing(tmp_path):
    dataset = written(tmp_path / "t", 10)
    dataset.update_config({"lance.compaction.target_rows_per_fragment": "many"})
    history = lx.open_table(tmp_path / "t")._view.version(2)
    assert compaction_settings(history).target_rows_per_fragment == 1024 * 1024


def test_many_small_fragments_are_a_warning(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5, fragments=SOME_SPARE_FRAGMENTS)
    assert codes(table.path) == []
    table.append(rows=5)
    assert found(table.path, "small_fragments")["severity"] == "info"
    table.append(rows=5, fragments=MANY_SPARE_FRAGMENTS - SOME_SPARE_FRAGMENTS)
    assert found(table.path, "small_fragments")["severity"] == "warning"


def test_deleted_rows_are_told_where_a_compaction_drops_them(tmp_path):
    dataset = written(tmp_path / "t", 40_000, 40_000)
    dataset.delete("id < 15000")
    table = lx.open_table(tmp_path / "t")
    size = int(table.inspect.data_files()["size_bytes"].sum())
    finding = found(tmp_path / "t", "deleted_rows")
    dataset = lance.dataset(str(tmp_path / "t"))
    counted = [fragment.num_deletions for fragment in dataset.get_fragments()]
    assert counted == [15_000, 15_000]
    assert finding["subject_name"] == "0"
    held = humanize.naturalsize(size * 15 // 40)
    assert finding["statement"] == (
        f"30,000 deleted rows, about {held} of data, are kept in 2 of 2 fragments: "
        "more than 10 % of their rows; most in fragment 0, 15,000 of 40,000 rows"
    )
    dataset.optimize.compact_files()
    assert codes(tmp_path / "t") == []


def test_deleted_rows_that_a_compaction_passes_over_are_told_apart(tmp_path):
    dataset = lance.write_dataset(numbers(1_300_000), str(tmp_path / "t"))
    dataset.delete("id % 20 = 0")
    finding = found(tmp_path / "t", "spread_deleted_rows")
    assert "65,000 deleted rows" in str(finding["statement"])
    dataset = lance.dataset(str(tmp_path / "t"))
    assert dataset.optimize.compact_files().fragments_removed == 0
    assert "materialize_deletions_threshold=0)" in str(finding["remedy_code"])
    dataset.optimize.compact_files(materialize_deletions_threshold=0)
    assert codes(tmp_path / "t") == []


def test_deleted_rows_that_nobody_counted_are_counted_in_the_file_or_unknown(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=40_000)
    table.delete({0: range(20_000)}, counted=False)
    assert codes(table.path) == ["deleted_rows"]
    [deletions] = (table.path / "_deletions").iterdir()
    deletions.unlink()
    assert codes(table.path) == []


def test_ids_that_run_out_are_a_warning(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=2).reserve((1 << 31) - 1)
    assert codes(table.path) == ["compactions_not_committed"]
    table.reserve(1)
    assert "2,147,483,648 of 4,294,967,295" in str(
        found(table.path, "fragment_ids_run_out")["statement"]
    )


def test_a_fragment_of_more_rows_than_half_of_what_addresses_reach(tmp_path):
    table = SyntheticTable(tmp_path / "t", stable_row_ids=False).append(rows=2)
    message = pb.DataFragment()
    message.CopyFrom(table.state.fragments[0].message)
    message.physical_rows = 1 << 31
    table.amend(fragments=record(2, message.SerializeToString()))
    finding = found(table.path, "fragment_too_large")
    assert (finding["subject_kind"], finding["subject_name"]) == ("fragment", "0")


# --------------------------------------------------------------------------------- indices


def call_in(finding: dict[str, object]) -> str:
    """Return the call of the remedy of a finding."""
    return str(finding["remedy_code"])


def indexed(path: Path, rows: int = 40_000) -> lance.LanceDataset:
    dataset = lance.write_dataset(numbers(rows), str(path))
    dataset.create_scalar_index("id", "BTREE")
    return dataset


def test_rows_that_an_index_does_not_find_are_those_of_pylance(tmp_path):
    indexed(tmp_path / "t")
    dataset = written(tmp_path / "t", 8_000, 12_000, mode="append")
    stats = dataset.stats.index_stats("id_idx")
    assert (stats["num_unindexed_rows"], stats["num_unindexed_fragments"]) == (20_000, 2)
    finding = found(tmp_path / "t", "unindexed_rows")
    assert finding["severity"] == "warning"
    assert "'id_idx' does not find 20,000 of 60,000 rows (33 %), those of 2 fragments" in str(
        finding["statement"]
    )
    assert finding["remedy_code"] == "dataset.optimize.optimize_indices(index_names=['id_idx'])"
    eval(call_in(finding))
    assert codes(tmp_path / "t") == []


def test_few_rows_that_an_index_does_not_find_are_no_finding(tmp_path):
    indexed(tmp_path / "t", 100)
    written(tmp_path / "t", 9_999, mode="append")
    assert codes(tmp_path / "t") == []


def rewritten(path: Path) -> None:
    """All rows go, and others come."""
    dataset = indexed(path, 205)
    dataset.delete("true")
    written(path, 205, mode="append")


def untrained(path: Path) -> None:
    dataset = lance.write_dataset(numbers(205), str(path))
    dataset.create_scalar_index("id", "BTREE", train=False)


def updated(path: Path) -> None:
    indexed(path, 205).update({"id": "id + 1"})


@pytest.mark.parametrize("made", [rewritten, untrained, updated])
def test_an_index_that_covers_nothing_is_told_however_few_rows_there_are(tmp_path, made):
    made(tmp_path / "t")
    dataset = lance.dataset(str(tmp_path / "t"))
    assert dataset.stats.index_stats("id_idx")["num_indexed_rows"] == 0
    finding = found(tmp_path / "t", "index_covers_nothing")
    assert (finding["severity"], finding["topic"]) == ("warning", "indices")
    gone = "" if made is untrained else ": the only fragment that it lists was removed"
    assert finding["statement"] == (
        f"the index 'id_idx' covers none of the 205 rows in 1 fragment{gone}"
    )
    eval(call_in(finding))
    assert codes(tmp_path / "t") == []


def test_an_index_of_a_table_without_rows_lacks_nothing(tmp_path):
    indexed(tmp_path / "t", 205).delete("true")
    assert codes(tmp_path / "t") == []


def test_an_index_that_finds_a_few_rows_is_not_called_empty(tmp_path):
    indexed(tmp_path / "t", 1)
    written(tmp_path / "t", 204, mode="append")
    assert codes(tmp_path / "t") == []


@stored_check()
def check_indices_that_cover_nothing_are_those_that_pylance_finds_empty(asked):
    dataset = asked.dataset()
    rows = dataset.count_rows()
    names = {index.name for index in dataset.describe_indices()}
    counts = {}
    for name in names:
        try:
            counts[name] = dataset.stats.index_stats(name)["num_indexed_rows"]
        except KeyError:
            continue  # what an old release stored has no statistics
    told = Inspect(LiveTable(asked.view)).health().filter(code="index_covers_nothing")["statement"]
    empty = {name for name, count in counts.items() if rows and not count}
    assert {name for name in counts if any(repr(name) in each for each in told)} == empty


def test_an_index_in_many_segments_is_told_with_the_call_that_merges_them(tmp_path):
    indexed(tmp_path / "t", 100)
    for _ in range(MANY_SEGMENTS - 1):
        assert codes(tmp_path / "t") == []
        written(tmp_path / "t", 10, mode="append").optimize.optimize_indices(num_indices_to_merge=0)
    finding = found(tmp_path / "t", "many_index_segments")
    assert "'id_idx' is in 4 segments" in str(finding["statement"])
    eval(call_in(finding), {"dataset": lance.dataset(str(tmp_path / "t"))})
    assert codes(tmp_path / "t") == []


def test_an_index_on_a_field_that_is_gone_is_told(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).create_index("old", [7])
    finding = found(table.path, "index_on_dropped_field")
    assert finding["remedy_code"] == "dataset.drop_index('old')"


def test_an_index_of_unknown_coverage_is_told(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5).create_index("id_idx")
    table.state.indices[0].ClearField("fragment_bitmap")
    table.update_config(a="b")
    finding = found(table.path, "index_coverage_unknown")
    assert "which fragments the index 'id_idx' covers" in str(finding["statement"])
    assert "replace=True" in str(finding["remedy_code"])


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("BTree", "create_scalar_index('id', index_type='BTREE', name='i', replace=True)"),
        ("ZoneMap", "create_scalar_index('id', index_type='ZONEMAP', name='i', replace=True)"),
        ("Vector", "create_index('id', ..., name='i', replace=True)"),
    ],
)
def test_each_type_is_built_anew_by_its_own_call(tmp_path, kind, call):
    table = SyntheticTable(tmp_path / "t").append(rows=5).create_index("i")
    table.state.indices[0].ClearField("fragment_bitmap")
    table.state.indices[0].index_details.type_url = f"/lance.table.{kind}IndexDetails"
    table.update_config(a="b")
    assert call in str(found(table.path, "index_coverage_unknown")["remedy_code"])


def test_advice_of_one_topic_is_part_of_all(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5, fragments=40).create_index("old", [7])
    view = lx.open_table(table.path)._view
    every = health(view, table.version)
    assert every["topic"].to_list() == ["files", "indices"]
    for topic in TOPICS:
        assert health(view, table.version, topic).equals(every.filter(topic=topic))


def test_entries_of_rows_that_are_gone_are_counted(tmp_path):
    dataset = indexed(tmp_path / "t")
    dataset.delete("id < 12000")
    finding = found(tmp_path / "t", "stale_index_entries")
    assert "up to 12,000 of 40,000 entries of the index 'id_idx' (30 %)" in str(
        finding["statement"]
    )
    dataset = lance.dataset(str(tmp_path / "t"))
    eval(call_in(finding))
    assert "stale_index_entries" not in codes(tmp_path / "t")


def test_indices_that_have_still_to_follow_a_compaction_are_named(tmp_path):
    path = tmp_path / "t"
    dataset = written(path, 50, 50)
    dataset.create_scalar_index("id", "BTREE")
    dataset.optimize.compact_files(defer_index_remap=True)
    finding = found(path, "fragment_reuse_lags")
    assert "1 of 1 deferred compactions" in str(finding["statement"])
    assert "'id_idx' have not been updated" in str(finding["statement"])
    assert "opening them maps 100 rows" in str(finding["statement"])
    dataset = lance.dataset(str(path))
    eval(call_in(finding))
    assert codes(path) == []


# ------------------------------------------------------------------ manifests, and history


def test_a_large_manifest_is_told_with_what_it_is_spent_on(tmp_path, monkeypatch):
    table = SyntheticTable(tmp_path / "t").append(rows=5, fragments=90)
    size = table.folder.manifest_path(1).stat().st_size
    assert codes(table.path) == ["small_fragments"]
    monkeypatch.setattr("lance_explorer.inspect.manifest_health.LARGE_MANIFEST", size)
    finding = found(table.path, "large_manifest")
    assert f"{size / 1000:.1f} kB, " in str(finding["statement"])
    assert "for fragments" in str(finding["statement"])
    assert "compact_files()" in str(finding["remedy"])


def test_a_manifest_with_a_large_transaction_needs_nothing(tmp_path, monkeypatch):
    table = SyntheticTable(tmp_path / "t").append(rows=4_000).commit("append", note="x" * 5_000)
    monkeypatch.setattr("lance_explorer.inspect.manifest_health.LARGE_MANIFEST", 5_000)
    finding = found(table.path, "large_manifest")
    assert "kB of them for its transaction" in str(finding["statement"])
    assert "Nothing needs to be done" in str(finding["remedy"])
    assert finding["severity"] == "info"


def test_row_ids_that_could_take_fewer_bytes_are_told(tmp_path, monkeypatch):
    table = SyntheticTable(tmp_path / "t").append(rows=4_000).append(rows=50)
    table.update({0: range(0, 4_000, 2)})
    sizes = lx.open_table(table.path).inspect.row_id_encodings()
    saving = int(sizes["saving_bytes"].sum())
    assert saving > 1_000
    assert sizes["saving_bytes"].to_list() == [0, 0, saving]
    assert codes(table.path) == []
    monkeypatch.setattr("lance_explorer.inspect.manifest_health.LARGE_SAVING", saving)
    finding = found(table.path, "row_id_encoding")
    assert finding["subject_name"] == "2"
    assert f"at least {humanize.naturalsize(saving)} could be saved" in str(finding["statement"])
    monkeypatch.setattr("lance_explorer.inspect.manifest_health.MOST_CHECKED_ROWS", 1_999)
    assert codes(table.path) == []


def test_many_versions_are_told(tmp_path):
    table = SyntheticTable(tmp_path / "t", transaction_files=False).append(rows=1)
    while table.version < MANY_VERSIONS - 1:
        table.update_config(key=str(table.version))
    assert codes(table.path) == []
    table.update_config(key="last")
    assert "1,000 versions are kept" in str(found(table.path, "many_versions")["statement"])
    assert codes(table.path, 999) == []


def test_names_of_the_older_scheme_are_told(tmp_path):
    lance.write_dataset(numbers(3), str(tmp_path / "t"), enable_v2_manifest_paths=False)
    finding = found(tmp_path / "t", "v1_manifest_names")
    assert "dataset.migrate_manifest_paths_v2()" in str(finding["remedy_code"])
    lance.dataset(str(tmp_path / "t")).migrate_manifest_paths_v2()
    assert codes(tmp_path / "t") == []


def test_stable_row_ids_are_advised_where_rows_move_under_indices(tmp_path, monkeypatch):
    monkeypatch.setattr("lance_explorer.inspect.history_health.MANY_MOVED_ROWS", 200)
    path = tmp_path / "t"
    dataset = written(path, 100, 100)
    dataset.optimize.compact_files()
    assert codes(path) == []
    lance.dataset(str(path)).create_scalar_index("id", "BTREE")
    finding = found(path, "unstable_row_ids")
    assert "1 commit moved 200 rows, and the table has an index" in str(finding["statement"])


# ----------------------------------------------------------------------------------- all


@stored_check()
def check_small_tables_of_every_writer_have_next_to_nothing_to_do(asked):
    found = set(Inspect(LiveTable(asked.view)).health()["code"])
    told = {"fragment_reuse_lags", "v1_manifest_names", "index_covers_nothing"}
    told |= {"index_lost", "rewrites_untold"}
    assert found <= told | ({"rows_not_scanned"} if asked.scenario == "mem_wal" else set())


def test_a_file_that_a_check_needs_and_that_is_damaged_is_told(tmp_path):
    path = tmp_path / "t"
    shutil.copytree(DATA / "14.0.2" / "deferred_remap.lance", path)
    view = HistoryView.open(str(path))
    record = view.version(view.latest_version).records[0]
    entry = reuse_index(record)
    assert entry is not None
    manifest = path / record.file.path
    at = manifest.read_bytes().index(entry.details[-16:])
    data = bytearray(manifest.read_bytes())
    data[at : at + 16] = b"\xff" * 16
    manifest.write_bytes(data)
    found = Inspect(LiveTable(HistoryView.open(str(path)))).health()
    assert "not_checked" in found["code"].to_list()


def test_warnings_come_first(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=500, fragments=30).append(rows=30_000)
    assert codes(table.path) == ["small_fragments"]
    table.delete({30: range(15_000)})
    assert codes(table.path) == ["deleted_rows", "small_fragments"]
