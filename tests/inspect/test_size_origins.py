"""Which versions wrote what the latest one needs, and what is said of it."""

from datetime import timedelta
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.file_lives import file_lives
from lance_explorer.inspect.size_origins import SIZE_ORIGINS, size_origins
from lance_explorer.inspect.size_words import headline, origin_note
from tests.inspect.tables import stored
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


def origins_of(path: Path, branch: str | None = None) -> pl.DataFrame:
    return size_origins(HistoryView.open(str(path), branch))


def said(path: Path, branch: str | None = None) -> str:
    return str(headline(origins_of(path, branch)))


def numbers(count: int, start: int = 0) -> pa.Table:
    return pa.table({"id": range(start, start + count), "text": ["x"] * count})


def files_of_pylance(path: Path, version: int) -> dict[str, int]:
    """Return the data and deletion files of a version below its own root, with their sizes."""
    names = []
    for fragment in lance.dataset(str(path), version=version).get_fragments():
        names += [f"data/{file.path}" for file in fragment.metadata.files]
        if fragment.metadata.deletion_file is not None:
            names.append(fragment.metadata.deletion_file.path(fragment.fragment_id))
    return {name: (path / name).stat().st_size for name in names}


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
def test_what_each_version_wrote_is_what_pylance_has_of_it(tmp_path, stable):
    path = tmp_path / "t.lance"
    data = lance.write_dataset(numbers(5000), str(path), enable_stable_row_ids=stable)
    for start in (5000, 5500, 6000):
        data = lance.write_dataset(numbers(500, start), str(path), mode="append")
    data.update({"text": "'y'"}, where="id < 20")
    data.delete("id > 6400")
    data.optimize.compact_files(target_rows_per_fragment=900)
    data = lance.write_dataset(numbers(300, 9000), str(path), mode="append")
    data.add_columns({"twice": "id * 2"})
    data.delete("id % 7 = 0")
    lance.dataset(str(path), version=5).restore()
    latest = lance.dataset(str(path)).version
    first: dict[str, int] = {}
    for version in range(1, latest + 1):
        for name in files_of_pylance(path, version):
            first.setdefault(name, version)
    expected: dict[int, int] = {}
    for name, size in files_of_pylance(path, latest).items():
        expected[first[name]] = expected.get(first[name], 0) + size
    found = origins_of(path)
    assert dict(found.select("version", "size_bytes").iter_rows()) == expected
    assert len(expected) > 2
    assert found["size_share"].sum() == pytest.approx(1)
    assert found["num_rows"].sum() == lance.dataset(str(path)).count_rows()


@stored_check()
def check_parts_of_tables_of_every_writer_make_the_whole(asked):
    view = asked.view
    found = size_origins(view)
    assert found.schema == SIZE_ORIGINS.polars_schema
    current = file_lives(view).filter("is_current")
    assert found["size_bytes"].sum() == current["size_bytes"].sum()
    assert found["num_files"].sum() == len(current)
    for share in ("size_share", "row_share"):
        has_parts = found[share].count() > 0
        assert found[share].null_count() == (0 if has_parts else len(found))
        assert not has_parts or found[share].sum() == pytest.approx(1)


def test_a_version_of_which_nothing_is_left_made_nothing_big(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=9000).append(rows=10).overwrite(rows=400)
    assert origins_of(table.path)["version"].to_list() == [3]
    assert said(table.path).startswith("Version 3 made it big: Overwrite wrote 100 % of what is ")


def test_a_restore_gives_what_it_brought_back_to_whoever_wrote_it(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=9000).append(rows=10).overwrite(rows=400)
    table.restore(2)
    assert origins_of(table.path)["version"].to_list() == [1, 2]
    assert said(table.path).startswith("Version 1, which created the table, wrote ")


def test_what_a_restore_brought_back_from_a_lost_version_is_not_its_own(tmp_path):
    table = (
        SyntheticTable(tmp_path / "t").append(rows=9000).overwrite(rows=400).update_config(a="b")
    )
    table.restore(1).remove(1)
    [row] = origins_of(table.path).filter(version=4).iter_rows(named=True)
    assert row["origin"] == "restore"
    assert said(table.path) == (
        "Version 4 brought back 100 % of what is there now "
        f"({row['size_bytes'] / 1000:.1f} kB); the version that wrote it is not kept."
    )


def test_a_compaction_wrote_files_but_brought_no_rows(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=900, fragments=3)
    table.compact([0, 1, 2])
    [row] = origins_of(table.path).iter_rows(named=True)
    assert (row["version"], row["origin"], row["num_rows"]) == (3, "compaction", 2700)
    assert said(table.path).startswith("Version 3, a compaction, wrote 100 %")
    assert said(table.path).endswith("; the rows were added in earlier versions.")
    assert origin_note(row) == "the rows were added in earlier versions"


def test_files_that_follow_lost_versions_may_be_older(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=5000).append(rows=40).append(rows=40)
    table.append(rows=40).append(rows=7).remove(1, 3)
    found = origins_of(table.path)
    assert found.select("version", "origin", "after").rows() == [
        (2, "unknown", None),
        (4, "unknown", 2),
        (5, "commit", None),
    ]
    assert said(table.path).startswith("Version 2, or an earlier version, which is not kept, wrote")
    note = origin_note(found.row(1, named=True))
    assert note == "or one of the lost versions after 2"


def test_a_cleanup_does_not_make_its_oldest_version_the_writer(tmp_path):
    path = tmp_path / "t.lance"
    data = lance.write_dataset(numbers(5000), str(path))
    data.delete("id = 3")
    data.cleanup_old_versions(timedelta(0), delete_unverified=True)
    found = origins_of(path)
    assert found.select("version", "origin").rows() == [(2, "unknown")]


def test_a_branch_begins_with_what_its_parent_had(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=500)
    table.branch("dev").append(rows=2)
    found = origins_of(table.path, "dev")
    assert found["origin"].to_list() == ["fork", "commit"]
    assert ", where the branch or clone begins, had " in said(table.path, "dev")


def test_a_shallow_clone_begins_with_the_files_of_another_table():
    found = size_origins(stored("14.0.2/shallow_clone.lance"))
    assert found["origin"].to_list()[0] == "fork"
    assert found["size_share"].sum() == pytest.approx(1)


def test_sizes_that_no_writer_recorded_leave_shares_of_bytes_unknown():
    found = size_origins(stored("0.10.18/life_cycle.lance"))
    assert found["size_share"].null_count() == len(found)
    assert "of the rows that are there now (17 rows)" in str(headline(found))


def test_rows_that_cannot_be_counted_are_nobody_s(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=4).append(rows=8)
    table.delete({0: [1]}, counted=False)
    for file in (table.path / "_deletions").iterdir():
        file.unlink()
    found = origins_of(table.path)
    assert found["num_rows"].to_list()[:2] == [None, 8]
    assert found["row_share"].null_count() == len(found)


def test_many_small_commits_are_summed_up_by_kind(tmp_path):
    table = SyntheticTable(tmp_path / "t").append(rows=10)
    for _ in range(20):
        table.append(rows=10)
    told = said(table.path)
    assert told.startswith("No single commit made it big: 20 append commits wrote 95 % of what is")
    assert told.endswith("The largest single part, 5 %, came with version 1.")


def test_of_a_table_without_files_nothing_is_said(tmp_path):
    table = SyntheticTable(tmp_path / "t").overwrite(0, 0)
    assert headline(origins_of(table.path)) is None


def test_index_segments_belong_to_the_version_that_built_them(tmp_path):
    path = tmp_path / "t.lance"
    data = lance.write_dataset(numbers(3000), str(path))
    data.create_scalar_index("id", "BTREE")
    folder = next((path / "_indices").iterdir())
    size = sum([file.stat().st_size for file in folder.iterdir()])
    [row] = origins_of(path).filter(version=2).iter_rows(named=True)
    assert (row["index_bytes"], row["data_bytes"], row["num_rows"]) == (size, 0, 0)
