"""Values that a ledger keeps: what a cleanup takes is answered as before, and can be forgotten."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError, TableNotFoundError
from lance_explorer.history import view as views
from lance_explorer.ledger.kept_values import KeptValues
from lance_explorer.ledger.ledger import recorded_table
from tests.ledger.test_kills import DiesError, DyingPlace

pytestmark = pytest.mark.sampled(3)

RENAME: Any = {"path": "email", "name": "mail"}
ANN = ("Ann Hill", "ann@x.org")


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Nine people; updates, deletes, a dropped column, a rename and a compaction."""
    path = tmp_path / "people.lance"
    rows = {
        "id": range(9),
        "name": ["Ann Hill" if n == 4 else f"name {n}" for n in range(9)],
        "email": ["ann@x.org" if n == 4 else f"{n}@x.org" for n in range(9)],
        "score": [float(n) for n in range(9)],
    }
    lance.write_dataset(
        pa.table(rows), path, enable_stable_row_ids=request.param, max_rows_per_file=3
    )
    lance.dataset(path).update({"score": "score + 100"}, where="id IN (1, 4)")
    lance.dataset(path).update({"email": "'other@x.org'"}, where="id = 4")
    lance.dataset(path).optimize.compact_files()
    row = pa.table({"id": [20], "name": ["Bo"], "email": ["bo@x.org"], "score": [1.0]})
    lance.write_dataset(row, path, mode="append", commit_message="Nightly")
    lance.dataset(path).drop_columns(["score"])
    lance.dataset(path).alter_columns(RENAME)
    lance.dataset(path).delete("name = 'Ann Hill' OR id = 5")
    return path


def clean_up(path: Path) -> None:
    lance.dataset(path).cleanup_old_versions(timedelta(0), delete_unverified=True)
    assert len(lance.dataset(path).versions()) == 1


def answers(table: lx.Table, ids: list[int]) -> dict[str, pl.DataFrame]:
    """Return what is said of values in all versions."""
    last = lance.dataset(table.uri).version
    every: dict[str, Callable[[], pl.DataFrame]] = {
        "commits": lambda: table.changes(1, last, mode="per_commit", images="both").to_polars(),
        "net": lambda: table.changes(1, last, images="both").to_polars(),
        "near": lambda: table.changes(2, 3, images="both").to_polars(),
        "between": lambda: table.changes(2, 5).to_polars(),
        "found": lambda: table.find("id > 3").to_polars(),
        "word": lambda: table.find("ann").to_polars(),
        "blame": lambda: table.blame("id < 6").to_polars(),
        "blame then": lambda: table.blame("score > 50", version=3).to_polars(),
        "profile": lambda: table.profile().to_polars(),
        "drift": lambda: table.changes(1, 3).drift("score").to_polars(),
        "plan": lambda: pl.DataFrame(table.plan_restore_rows("id IN (1, 4, 5)", at=1).rows()),
    }
    for one in ids:
        every[f"row {one}"] = lambda one=one: table.row(one, 1).history(values=True)  # type: ignore[misc]
    return {name: ask().drop("known_from", strict=False) for name, ask in every.items()}


def cells(*folders: Path) -> Iterator[Any]:
    """Yield every value in every file, and each file that is no Parquet as a whole."""

    def parts(value: Any) -> Iterator[Any]:
        if isinstance(value, dict):
            value = [*value.values()]
        if isinstance(value, list | tuple):
            for one in value:
                yield from parts(one)
        else:
            yield value

    for file in (one for folder in folders for one in folder.rglob("*") if one.is_file()):
        if file.suffix == ".parquet":
            yield from parts(pl.read_parquet(file).rows())
        else:
            yield file.read_bytes()


def tells_of_ann(*folders: Path) -> bool:
    told = [one if isinstance(one, bytes) else str(one).encode() for one in cells(*folders)]
    return any(text.encode() in one for one in told for text in ANN)


def kept(ledger: lx.Ledger, path: Path) -> KeptValues:
    return recorded_table(ledger, str(path)).kept_values(None)


# ------------------------------------------------------------------------------ what is kept


@pytest.mark.parametrize("part_of", [0, 4])  # 0: each question reads its own versions alone
def test_after_a_cleanup_all_is_answered_as_before(
    path: Path, tmp_path: Path, part_of: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "_PART_OF", part_of)
    ledger = lx.Ledger(tmp_path / "ledger")
    assert ledger.record(path, values=True)["kept_rows"].to_list() == [15]
    assert ledger.record(path, values=True)["kept_rows"].to_list() == [0]
    rows = lance.dataset(path, version=1).scanner(with_row_id=True).to_table()
    ids = rows["_rowid"].to_pylist()
    before = answers(lx.open_table(path), ids)
    assert {len(frame) > 0 for frame in before.values()} == {True}
    clean_up(path)
    table = lx.open_table(path, ledger=ledger)
    after = answers(table, ids)
    for name, frame in before.items():
        assert after[name].equals(frame), name
    assert table.find("id > 3").is_complete
    assert table.changes(1, images="both").findings().is_empty()


def test_values_of_a_table_that_is_gone_are_those_that_commits_ended(
    path: Path, tmp_path: Path
) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, values=True)
    whole = lx.open_table(path).changes(1, mode="per_commit").to_polars()
    path.rename(path.with_name("moved"))
    changes = ledger.open("people.lance").changes(1, mode="per_commit")
    lines = changes.to_polars()
    is_deleted = pl.col("_change_type") == "delete"
    assert lines.filter(is_deleted).equals(whole.filter(is_deleted))
    assert lines["score"].equals(whole["score"])  # a commit dropped that column of all rows
    names = lines.filter(_commit_version=2)["name"].to_list()
    assert sorted(names, key=str) == ["Ann Hill", None]  # of the other row it ended nothing since
    assert "values_lost" in changes.findings()["code"]


def test_columns_are_kept_by_any_name_and_later_ones_besides(path: Path, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, values=["mail"])
    columns = {
        name for some in kept(ledger, path).commits.values() for one in some for name in one.columns
    }
    assert columns == {"email", "mail"}
    ledger.record(path, values=["score"])
    clean_up(path)
    found = lx.open_table(path, ledger=ledger).changes(
        1, mode="per_commit", columns=["mail", "score"], images="both"
    )
    assert found.to_polars().filter(_change_type="update_preimage")["score"].null_count() == 0
    with pytest.raises(InvalidArgumentError, match=r"no version has such a column"):
        ledger.record(path, values=["mali"])


def test_what_does_not_fit_is_left_out_and_tried_again(path: Path, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    told = ledger.record(path, values=True, max_bytes=0)
    assert told.select("kept_rows", "kept_bytes", "left_out_rows").rows() == [(0, 0, 15)]
    assert ledger.tables()["kept_bytes"].item() > 0  # commits that ended nothing
    told = ledger.record(path, values=True)
    assert told.select("kept_rows", "left_out_rows").rows() == [(15, 0)]
    assert told["kept_bytes"].item() > 0


def test_values_that_were_gone_before_are_said_to_be_lost(path: Path, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path)
    clean_up(path)
    told = ledger.record(path, values=True)
    assert told.select("kept_rows", "lost_rows").row(0) == (12, 3)  # files since version 4 are left
    changes = lx.open_table(path, ledger=ledger).changes(1)
    changes.to_polars()
    assert changes.findings()["code"].to_list() == ["values_lost"]


def test_blobs_are_kept_where_they_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    rows = pa.table({"id": [1, 2]}).append_column(
        lance.blob_field("image"), lance.blob_array([b"one" * 9, b"two" * 9])
    )
    lance.write_dataset(rows, path, data_storage_version="2.2", enable_stable_row_ids=True)
    lance.dataset(path).delete("id = 2")
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, values=True)
    ledger.record(path, values=["image"])
    clean_up(path)
    [line] = lx.open_table(path, ledger=ledger).changes(1).to_polars().to_dicts()
    assert (line["id"], line["image"]) == (2, b"two" * 9)


def test_a_file_that_no_other_names_does_not_count_and_goes(path: Path, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, values=True)
    values = kept(ledger, path)
    values.delete(values.kept_files())  # as if it had been stopped before they were written
    clean_up(path)
    changes = lx.open_table(path, ledger=ledger).changes(1)
    changes.to_polars()
    assert changes.findings()["code"].to_list() == ["values_lost"]
    assert ledger.record(path, values=True)["lost_rows"].item() == 3
    ledger.forget_values("people.lance", "id = 0")
    values = kept(ledger, path)
    named = {one.file for some in values.commits.values() for one in some if one.file}
    assert {one.name for one in values.infos() if one.name.startswith("values-")} == named


def test_a_damaged_file_is_said_and_its_values_are_lost(path: Path, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, values=True)
    for file in (tmp_path / "ledger").rglob("values-*.parquet"):
        file.write_bytes(file.read_bytes()[:-9])
    clean_up(path)
    table = lx.open_table(path, ledger=ledger)
    changes = table.changes(1)
    changes.to_polars()
    assert set(changes.findings()["code"]) == {"values_lost"}
    assert "damaged_ledger" in table.inspect.findings()["code"]


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "within", "after"])
def test_who_dies_while_values_are_kept_loses_none(path: Path, tmp_path: Path, moment: str) -> None:
    def told(**opened: Any) -> pl.DataFrame:
        changes = lx.open_table(path, **opened).changes(1, mode="per_commit", images="both")
        return changes.to_polars()

    before = told()
    shutil.copytree(path, tmp_path / "whole")
    for number in range(1, 20):
        shutil.rmtree(path)
        shutil.copytree(tmp_path / "whole", path)
        ledger, dying = lx.Ledger(tmp_path / f"{number}"), lx.Ledger(tmp_path / f"{number}")
        dying._place = DyingPlace(ledger, number, moment)
        with suppress(DiesError):
            dying.record(path, values=True)
        is_through = dying._place.left > 0
        ledger.record(path, values=True)
        clean_up(path)
        assert told(ledger=ledger).drop("known_from", strict=False).equals(before)
        if is_through:
            break
    assert number > 3


# ---------------------------------------------------------------------- what is forgotten


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["before", "within", "after"])
def test_what_a_death_left_is_forgotten_the_next_time(
    path: Path, tmp_path: Path, moment: str
) -> None:
    lx.Ledger(tmp_path / "ledger").record(path, values=True)
    for number in range(1, 20):
        shutil.copytree(tmp_path / "ledger", tmp_path / f"{number}")
        ledger, dying = lx.Ledger(tmp_path / f"{number}"), lx.Ledger(tmp_path / f"{number}")
        dying._place = DyingPlace(ledger, number, moment)
        with suppress(DiesError):
            dying.forget_values("people.lance", "email = 'ann@x.org'")
        is_through = dying._place.left > 0
        ledger.forget_values("people.lance", "email = 'ann@x.org'")
        assert not tells_of_ann(tmp_path / f"{number}")
        others = ledger.open("people.lance").changes(8, 9).to_polars()
        assert others["id"].drop_nulls().to_list() == [5]
        if is_through:
            break
    assert number > 3


@pytest.mark.parametrize("where", ["email = 'ann@x.org'", "mail = 'other@x.org'", "Ann Hill"])
def test_nothing_of_a_person_is_left(
    path: Path, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, place = tmp_path / "cache", tmp_path / "ledger"
    monkeypatch.setenv("LANCE_EXPLORER_CACHE", str(cache))
    lance.dataset(path).tags.create("first", 1)
    lx.open_table(path).profile().to_polars()
    ledger = lx.Ledger(place)
    ledger.record(path, values=True)
    assert tells_of_ann(cache)
    assert tells_of_ann(place)
    told = ledger.forget_values("people.lance", where)
    assert not tells_of_ann(cache, place)
    messages = ledger.open("people.lance").versions()["message"].drop_nulls().to_list()
    assert messages == ["Nightly"]  # what others said stays, also of the same author
    assert told.filter(place="ledger", what="removed")["num_rows"].to_list()[0] >= 3
    assert told.filter(place="table", what="still there")["statement"].to_list() == [
        (
            "data files of the latest version of main hold deleted copies of 1 row: compact with "
            "materialize_deletions_threshold=0.0, then clean up"
        ),
        "1 row stands in versions 1 to 8 of main: clean up",
        "tag first keeps version 1, which has such rows",
    ]
    ledger.record(path, values=True)  # does not keep them again
    assert not tells_of_ann(place)
    lance.dataset(path).tags.delete("first")
    lance.dataset(path).optimize.compact_files(materialize_deletions_threshold=0.0)
    ledger.record(path)
    clean_up(path)
    changes = lx.open_table(path, ledger=ledger).changes(1, mode="per_commit")
    lines = changes.to_polars().filter(_change_type="delete")
    assert lines["id"].to_list() == [5, None]
    assert ledger.forget_values("people.lance", where).filter(what="removed").is_empty()


def test_rows_of_a_branch_are_those_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(
        pa.table({"id": [1, 2], "name": ["Ann Hill", "Bo"]}), path, enable_stable_row_ids=True
    )
    lance.dataset(path).update({"name": "'A.'"}, where="id = 1")
    lance.dataset(path).create_branch("dev")
    dev = lance.dataset(path).checkout_version(("dev", None))
    dev.delete("id = 1")
    ledger = lx.Ledger(tmp_path / "ledger")
    assert ledger.record(path, values=True)["kept_rows"].to_list() == [1, 1]
    told = ledger.forget_values("t.lance", "name = 'Ann Hill'").filter(what="removed")
    assert told.select("branch", "num_rows").rows() == [(None, 1), ("dev", 1)]


def test_a_table_that_is_gone_is_forgotten_too(path: Path, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, values=True)
    path.rename(path.with_name("moved"))
    told = ledger.forget_values(str(path), "email = 'ann@x.org'")
    assert told.filter(what="removed")["num_rows"].to_list() == [4, None]
    assert "table" not in told["place"].to_list()
    assert not tells_of_ann(tmp_path / "ledger")


def test_forgotten_versions_take_their_values(path: Path, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, values=True)
    ledger.forget("people.lance", before=3)
    assert {*kept(ledger, path).commits} == {4, 5, 6, 7, 8, 9}
    ledger.forget("people.lance")
    assert not [*(tmp_path / "ledger").rglob("*.parquet")]


def test_a_filter_that_fits_nothing_is_refused(path: Path, tmp_path: Path) -> None:
    ledger = lx.Ledger(tmp_path / "ledger")
    ledger.record(path, values=True)
    for where in ("", "nmae = 'Ann'", "id = = 2"):
        with pytest.raises(InvalidArgumentError):
            ledger.forget_values("people.lance", where)
    with pytest.raises(TableNotFoundError):
        ledger.forget_values("other.lance", "id = 1")
