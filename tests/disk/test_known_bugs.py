"""Each known bug is found in a table that it damaged, with the commit that did it."""

import shutil
from collections.abc import Callable
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.checks.depths import Depth
from lance_explorer.checks.known_bugs import KNOWN_BUGS
from tests.format.samples import DATA
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable

HERE = Path(__file__).parent / "known_bugs"


def golden(name: str) -> Callable[[Path], Path]:
    return lambda path: Path(shutil.copytree(HERE / f"{name}.lance", path))


def stored(name: str) -> Callable[[Path], Path]:
    return lambda path: Path(shutil.copytree(DATA / f"{name}.lance", path))


def left_behind(path: Path) -> Path:
    dataset = lance.write_dataset(pa.table({"id": range(12)}), str(path), max_rows_per_file=3)
    dataset.create_scalar_index("id", "ZONEMAP")
    lance.dataset(str(path)).optimize.compact_files()
    return path


def counted_by_0_8_0(path: Path) -> Path:
    """It names no writer, and a fragment has a deletion file."""
    table = SyntheticTable(path).append(rows=9).delete({0: [1, 2]})
    table.amend(lambda manifest: manifest.ClearField("writer_version"))
    return table.path


def with_empty_folders(path: Path) -> Path:
    """Git keeps no empty folder, so a release cannot have left it in a stored table."""
    stored("8.0.1/stable_row_ids")(path)
    (path / "_indices" / "3a0c6a0e-0000-4000-8000-000000000000").mkdir(parents=True)
    return path


SHOWN: dict[str, tuple[Callable[[Path], Path], Depth]] = {
    "Restores up to 8.0.1": (stored("8.0.1/stable_row_ids"), "quick"),
    "Updates by 1.0.4 and 4.0.2": (stored("1.0.4/stable_row_ids"), "quick"),
    "lance#8076": (golden("zone_maps_left_behind-10.0.0"), "deep"),
    "Indices left behind": (left_behind, "quick"),
    "lance#7955": (golden("blobs_emptied-8.0.1"), "values"),
    "lance#7700": (golden("fields_renumbered-8.0.1"), "quick"),
    "lance#6519, lance#6734": (stored("14.0.2/update_columns"), "quick"),
    "Counts by 0.8.0": (counted_by_0_8_0, "quick"),
    "lance#8320": (with_empty_folders, "quick"),
    "lance#6659": (golden("rebuilt_for_nothing-4.0.1"), "quick"),
    "lance#2718": (golden("fragment_ids_given_again-0.16.1"), "quick"),
    "lance#5321": (golden("replaced_column_indexed-2.0.1"), "quick"),
    "lance#7359": (golden("updated_rows_kept-8.0.1"), "deep"),
    "lance#9352": (golden("labels_kept-12.0.0"), "deep"),
    "lance#6116": (golden("moved_rows_dropped-3.0.1"), "deep"),
    "lance#8278": (golden("zone_maps_after_updates-8.0.1"), "deep"),
}


def test_each_known_bug_has_a_table() -> None:
    assert [*SHOWN] == [bug.name for bug in KNOWN_BUGS]


@pytest.mark.parametrize("name", SHOWN)
def test_a_known_bug_is_named_with_the_commit_that_did_it(tmp_path: Path, name: str) -> None:
    make, depth = SHOWN[name]
    [bug] = [bug for bug in KNOWN_BUGS if bug.name == name]
    found = lx.open_table(make(tmp_path / "t.lance")).check(depth=depth).drop_nulls("known_bug")
    shown = found.filter(found["known_bug"].str.starts_with(f"{name}: "))
    assert not shown.is_empty()
    assert set(shown["code"]) <= set(bug.codes)
    assert set(shown["readers"]) == {bug.readers}
    assert shown["known_bug"].str.contains(r"\(version \d+(, by Lance [0-9.]+)?\)$").all()


def test_payloads_are_those_that_pylance_reads_as_empty() -> None:
    path = HERE / "blobs_emptied-8.0.1.lance"
    lengths = {
        version: [
            len((file.read() if file else b"") or b"")
            for file in lance.dataset(str(path), version=version).take_blobs(
                "image", indices=[*range(10)]
            )
        ]
        for version in (3, 4)
    }
    assert sum(was and not now for was, now in zip(lengths[3], lengths[4], strict=True)) == 4


def test_names_stand_for_other_values_as_pylance_reads_them(tmp_path: Path) -> None:
    path = golden("fields_renumbered-8.0.1")(tmp_path / "t.lance")
    old, new = [lance.dataset(str(path), version=version).to_table() for version in (3, 4)]
    assert (old["price"].to_pylist(), new["price"].to_pylist()) == ([100, 200, 300], [10, 20, 30])
    [found] = lx.open_table(path).check(severity="error").to_dicts()
    assert found["columns"] == ["price", "twice"]
    exec(found["remedy_code"], {"dataset": lance.dataset(str(path))})
    assert lance.dataset(str(path)).to_table().equals(old)
    left = lx.open_table(path).check(severity="error").filter(first_version=5)
    assert left.is_empty()


@pytest.mark.parametrize(
    ("name", "searched"),
    [
        ("fragment_ids_given_again-0.16.1", "id = 105"),
        ("replaced_column_indexed-2.0.1", "price = 105"),
        ("moved_rows_dropped-3.0.1", "id = 5"),
        ("zone_maps_after_updates-8.0.1", "id = 0"),
    ],
)
def test_a_row_that_an_index_misses_is_found_once_the_remedy_was_followed(
    tmp_path: Path, name: str, searched: str
) -> None:
    path = golden(name)(tmp_path / "t.lance")
    values = lance.dataset(str(path)).to_table()
    assert lance.dataset(str(path)).count_rows(searched) == 0
    found = lx.open_table(path).check(depth="deep").drop_nulls("known_bug")
    codes = set(found["code"])
    remedies = [code for code in found["remedy_code"] if code is not None and "..." not in code]
    column = searched.partition(" ")[0]
    rebuild = f'dataset.create_scalar_index("{column}", "BTREE", name="{column}_idx")'
    exec(remedies[0] if remedies else rebuild, {"dataset": lance.dataset(str(path))})
    assert lance.dataset(str(path)).count_rows(searched) == 1
    assert lance.dataset(str(path)).to_table().equals(values)
    left = lx.open_table(path).check(depth="deep")
    assert left.filter(left["code"].is_in(codes)).is_empty()


@pytest.mark.parametrize(
    ("name", "searched", "count"),
    [
        ("updated_rows_kept-8.0.1", "word = 'old'", 5),
        ("labels_kept-12.0.0", "array_has_any(labels, ['old'])", 7),
    ],
)
def test_rows_are_found_by_values_that_they_had_until_the_index_is_built_anew(
    tmp_path: Path, name: str, searched: str, count: int
) -> None:
    path = golden(name)(tmp_path / "t.lance")
    assert lance.dataset(str(path)).count_rows(searched) == 10
    [found] = lx.open_table(path).check(depth="deep").drop_nulls("known_bug").to_dicts()
    assert (found["code"], found["num_rows"]) == ("index_has_other_values", 10 - count)
    exec(found["remedy_code"], {"dataset": lance.dataset(str(path))})
    assert lance.dataset(str(path)).count_rows(searched) == count
    assert lx.open_table(path).check(depth="deep").drop_nulls("known_bug").is_empty()


def test_an_index_that_is_built_again_over_new_rows_is_not_built_for_nothing(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(12)}), path)
    for part in range(4):
        lance.dataset(path).create_scalar_index("id", "BTREE", replace=True)
        lance.write_dataset(pa.table({"id": range(12 * part, 12 * part + 12)}), path, mode="append")
    assert "index_rebuilt_for_nothing" not in set(lx.open_table(path).check()["code"])
    for _ in range(4):
        lance.dataset(path).create_scalar_index("id", "BTREE", replace=True)
    [found] = lx.open_table(path).check().filter(code="index_rebuilt_for_nothing").to_dicts()
    assert (found["known_bug"], found["statement"][:9]) == (None, "3 commits")


@stored_check(lambda asked: asked.release in ("13.0.0", "14.0.2"))
def check_no_known_bug_is_found_in_tables_of_new_releases(asked):
    found = asked.table.check().drop_nulls("known_bug")
    assert set(found["code"]) <= {"index_covers_nothing", "rewrites_untold"}
