"""What should be done about a table over time: found on tables by pylance, and mended as told."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
from lance import LanceOperation as Operation

import lance_explorer as lx
from lance_explorer.format._pb import index_pb2
from lance_explorer.inspect.history_health import MANY_WITHOUT_UPKEEP
from tests.synthetic import SyntheticTable
from tests.synthetic.folders import MetadataFolder


def found(path: Path | str) -> dict[str, dict[str, Any]]:
    """Return what a quick check finds, by its code."""
    return {one["code"]: one for one in lx.open_table(path).check().iter_rows(named=True)}


def follow(path: Path | str, code: str) -> None:
    """Do what a finding advises."""
    exec(found(path)[code]["remedy_code"], {"dataset": lance.dataset(str(path))})


def numbers(count: int, start: int = 0) -> pa.Table:
    ids = [*range(start, start + count)]
    return pa.table({"id": ids, "score": ids})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "t.lance"


# ----------------------------------------------------------------------------------- indices


def overwrite(path: Path) -> None:
    lance.write_dataset(numbers(30), str(path), mode="overwrite")


def go_back(path: Path) -> None:
    lance.dataset(str(path)).checkout_version(1).restore()


def take_the_name(path: Path) -> None:
    lance.dataset(str(path)).drop_columns(["id"])
    change: Any = {"path": "score", "name": "id"}
    lance.dataset(str(path)).alter_columns(change)


@pytest.mark.parametrize("commit", [overwrite, go_back, take_the_name])
def test_an_index_that_a_commit_took_along_is_named_and_built_anew(
    path: Path, commit: Callable[[Path], None]
) -> None:
    dataset = lance.write_dataset(numbers(20), str(path))
    dataset.create_scalar_index("id", "BTREE")
    version = lance.dataset(str(path)).version
    assert "index_lost" not in found(path)
    commit(path)
    lost = found(path)["index_lost"]
    assert (lost["subject_name"], lost["columns"]) == ("id_idx", ["id"])
    assert lost["first_version"] == version + 1
    [line] = lx.open_table(path).log().filter(version=version + 1)["words"]
    assert "index `id_idx` gone with it" in line
    before = lance.dataset(str(path)).to_table()
    follow(path, "index_lost")
    after = lance.dataset(str(path))
    assert [index.name for index in after.describe_indices()] == ["id_idx"]
    assert after.to_table().equals(before)
    assert "index_lost" not in found(path)


def test_an_index_that_was_dropped_or_went_with_its_column_is_not_lost(path: Path) -> None:
    dataset = lance.write_dataset(numbers(20), str(path))
    for column in ("id", "score"):
        dataset.create_scalar_index(column, "BTREE")
        dataset = lance.dataset(str(path))
    dataset.drop_index("id_idx")
    lance.dataset(str(path)).drop_columns(["score"])
    assert "index_lost" not in found(path)


def test_a_reuse_history_that_went_is_no_lost_index(path: Path) -> None:
    for number in range(4):
        lance.write_dataset(
            numbers(5, 5 * number), str(path), mode="append" if number else "create"
        )
    lance.dataset(str(path)).create_scalar_index("id", "BTREE")
    lance.dataset(str(path)).optimize.compact_files(defer_index_remap=True)
    overwrite(path)
    assert found(path)["index_lost"]["subject_name"] == "id_idx"


def test_indices_that_are_alike_are_named_and_one_is_dropped(path: Path) -> None:
    dataset: Any = lance.write_dataset(numbers(20), str(path))
    for name, kind in (("one", "BTREE"), ("two", "BTREE"), ("three", "BITMAP")):
        dataset.create_scalar_index("id", kind, name=name)
        dataset = lance.dataset(str(path))
    assert found(path)["equal_indices"]["statement"] == (
        "the indices 'one', 'two' are alike, on id"
    )
    follow(path, "equal_indices")
    left = {index.name for index in lance.dataset(str(path)).describe_indices()}
    assert left == {"one", "three"}
    assert "equal_indices" not in found(path)


def test_an_index_on_a_dropped_field_is_dropped_as_told(path: Path) -> None:
    table = SyntheticTable(path).append(rows=5).create_index("old", [7])
    follow(table.path, "index_on_dropped_field")
    assert lx.open_table(table.path).inspect.indices().is_empty()
    assert "index_on_dropped_field" not in found(table.path)


def test_an_index_of_unknown_coverage_is_built_anew_as_told(path: Path) -> None:
    lance.write_dataset(numbers(20), str(path)).create_scalar_index("id", "BTREE")
    folder = MetadataFolder(path)
    file = folder.read(2)
    assert file.index_section is not None
    section = index_pb2.IndexSection.FromString(file.index_section)
    section.indices[0].ClearField("fragment_bitmap")
    folder.write(2, replace(file, index_section=section.SerializeToString()))
    follow(path, "index_coverage_unknown")
    found_by = lance.dataset(str(path)).scanner(filter="id = 7").explain_plan()
    assert "id_idx" in found_by
    assert "index_coverage_unknown" not in found(path)


# --------------------------------------------------------------------------------- fragments


def test_rows_of_which_no_file_has_a_column_come_back_as_told(path: Path) -> None:
    dataset = lance.write_dataset(numbers(12), str(path))
    dataset.add_columns([pa.field("note", pa.string())])
    assert "fragments_without_columns" not in found(path)
    lance.dataset(str(path)).drop_columns(["id", "score"])
    with pytest.raises((OSError, pa.ArrowInvalid), match="does not contain any data"):
        lance.dataset(str(path)).to_table()
    finding = found(path)["fragments_without_columns"]
    assert (finding["severity"], finding["num_rows"], finding["first_version"]) == ("error", 12, 3)
    follow(path, "fragments_without_columns")
    assert lance.dataset(str(path)).to_table().num_rows == 12
    assert "fragments_without_columns" not in found(path)


def test_bytes_of_dropped_columns_are_told_and_go_as_told(path: Path) -> None:
    rows = pa.table({"id": range(500), "text": [str(i) * 900 for i in range(500)]})
    lance.write_dataset(rows, str(path))
    assert "dropped_columns_stay" not in {*lx.open_table(path).check(depth="deep")["code"]}
    lance.dataset(str(path)).drop_columns(["text"])
    [found] = lx.open_table(path).check(depth="deep").filter(code="dropped_columns_stay").to_dicts()
    assert found["statement"].endswith("that it does not have: text")
    exec(found["remedy_code"], {"dataset": lance.dataset(str(path)), "lance": lance})
    assert lance.dataset(str(path)).to_table()["id"].to_pylist() == [*range(500)]
    lance.dataset(str(path)).cleanup_old_versions(timedelta(0))
    assert sum([file.stat().st_size for file in path.glob("data/*")]) < 100_000
    assert "dropped_columns_stay" not in {*lx.open_table(path).check(depth="deep")["code"]}


# ----------------------------------------------------------------------------------- history


@pytest.mark.slow
def test_a_table_that_was_never_compacted_is_told_and_is_compacted_as_told(path: Path) -> None:
    for number in range(MANY_WITHOUT_UPKEEP):
        assert number != MANY_WITHOUT_UPKEEP - 1 or "no_upkeep" not in found(path)
        lance.write_dataset(numbers(2, 2 * number), str(path), mode="append")
    finding = found(path)["no_upkeep"]
    assert finding["statement"].startswith("100 versions since ")
    assert finding["statement"].endswith("100 fragments would become about 1")
    follow(path, "no_upkeep")
    assert lance.dataset(str(path)).to_table()["id"].to_pylist() == [*range(200)]
    assert "no_upkeep" not in found(path)


def test_compactions_that_did_not_commit_are_counted(path: Path) -> None:
    table = SyntheticTable(path).append(rows=2).reserve(1).reserve(1).append(rows=1)
    finding = found(table.path)["compactions_not_committed"]
    assert (finding["first_version"], finding["last_version"]) == (2, 3)
    assert finding["statement"].startswith("2 compactions reserved")


def test_a_compaction_that_committed_is_not_among_them(path: Path) -> None:
    for number in range(3):
        lance.write_dataset(numbers(2), str(path), mode="append" if number else "create")
    lance.dataset(str(path)).optimize.compact_files()
    assert "compactions_not_committed" not in found(path)


def timed(path: Path, *times: datetime) -> SyntheticTable:
    """Return a table with one version for each of these times."""
    table = SyntheticTable(path)
    for number, time in enumerate(times, 1):
        table.append(rows=1)
        file = table.folder.read(number)
        file.message.timestamp.seconds = int(time.timestamp())
        table.folder.write(number, file)
    return table


NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


def test_a_clock_that_ran_back_is_told_also_where_a_time_is_resolved(path: Path) -> None:
    table = timed(path, NOON, NOON + 2 * HOUR, NOON + HOUR, NOON + 3 * HOUR)
    finding = found(table.path)["clock_ran_back"]
    assert finding["statement"] == (
        "version 3 was committed after version 2 and has an earlier time: by up to 1 hour"
    )
    assert finding["severity"] == "warning"
    opened = lx.open_table(table.path)
    with pytest.warns(UserWarning, match="version 3 was committed after version 2"):
        assert opened.at(NOON + 1.5 * HOUR).version == 3
    assert opened.at(NOON).version == 1
    assert opened.at(NOON + 3 * HOUR).version == 4


def test_clocks_that_differ_a_little_are_no_finding(path: Path) -> None:
    table = timed(path, NOON, NOON - timedelta(seconds=1))
    assert "clock_ran_back" not in found(table.path)


def test_a_clock_that_is_ahead_is_told(path: Path) -> None:
    table = timed(path, NOON, datetime.now(UTC) + timedelta(days=2))
    assert found(table.path)["clock_ahead"]["first_version"] == 2


@pytest.mark.parametrize("says_which", [True, False])
def test_values_that_lances_change_feed_leaves_out_are_told(path: Path, says_which: bool) -> None:
    dataset: Any = lance.write_dataset(numbers(6), str(path), enable_stable_row_ids=True)
    new = pa.table({"id": [1, 2], "score": [70, 71]})
    fragment, fields, *offsets = dataset.get_fragment(0).update_columns(
        new, "id", "id", with_offsets=says_which
    )
    operation = Operation.Update(
        updated_fragments=[fragment],
        fields_modified=fields,
        update_mode="rewrite_columns",
        updated_fragment_offsets={0: offsets[0]} if says_which else None,
    )
    lance.LanceDataset.commit(dataset, operation, read_version=1)
    told = lance.dataset(str(path)).delta(compared_against=1).get_updated_rows()
    count = pa.RecordBatchReader.from_stream(told).read_all().num_rows
    assert count == (2 if says_which else 0)
    assert ("rewrites_untold" in found(path)) is not says_which
    if not says_which:
        assert "leaves these rows out" in found(path)["rewrites_untold"]["readers"]
