"""Tables that are cleaned up, dropped or made again while somebody has them open.

Nothing is ever empty and fine then: it is the answer of before, the answer of after, or an error.
"""

import shutil
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.errors import (
    RefNotFoundError,
    StorageError,
    TableNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.history.branch import TableBranch
from lance_explorer.history.refs import Refs
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.catalogue import FRAMES, Inspect
from lance_explorer.storage import FileInfo, LocalStorage

pytestmark = pytest.mark.sampled(3)

LATEST = 10

_MOST_MOMENTS = 5
"""At how many of its reads an answer is disturbed."""

Call = Callable[[lx.Table], Any]


def inspected(table: lx.Table, name: str) -> pl.DataFrame:
    frame: pl.DataFrame = getattr(table.inspect, name)()
    return frame


OF_TABLE: dict[str, Call] = {
    **{name: partial(inspected, name=name) for name in FRAMES if hasattr(Inspect, name)},
    "versions": lambda table: table.versions(),
    "findings": lambda table: table.inspect.findings(),
    "gaps": lambda table: table.inspect.gaps(),
    "rebases": lambda table: table.inspect.rebases(),
    "check_row_ids": lambda table: table.check_row_ids(),
    "net changes": lambda table: table.changes(0).to_polars(),
    "commits": lambda table: table.changes(0, mode="per_commit").to_polars(),
    "counts of commits": lambda table: table.changes(0, mode="per_commit").summary(),
    "batches": lambda table: pl.concat(table.changes(8, LATEST, images="after").batches()),
    "diff": lambda table: table.diff(8, LATEST).rows(images="both"),
    "follow": lambda table: table.follow([3, 40, 60]),
    "follow addresses": lambda table: table.follow_addresses([3, 4], 8),
    "find": lambda table: table.find("true", limit=1000).to_polars(),
    "blame": lambda table: table.blame().to_polars(),
    "log": lambda table: table.log(),
    "row": lambda table: table.row(60).history(values=True),
    "lineage": lambda table: table.lineage().edges(),
    "sql": lambda table: table.sql("SELECT count(*) AS n FROM dataset JOIN versions ON TRUE"),
    "deletion history": lambda table: table.deletion_history(0),
}  # fmt: skip

ALSO: dict[str, Call] = {
    "latest": lambda table: table.latest,
    "at": lambda table: table.at(LATEST),
    "tags": lambda table: table.tags,
    "branches": lambda table: table.branches,
    "compaction lineage": lambda table: table.compaction_lineage(),
    "report": lambda table: table.report(Path(table.uri).parent / "report.html"),
}

OF_SNAPSHOT: dict[str, Callable[[lx.Snapshot], Any]] = {
    "transaction": lambda snapshot: snapshot.transaction,
    "rows": lambda snapshot: snapshot.row_ids(),
    "row_id_index": lambda snapshot: snapshot.row_id_index(),
    "read": lambda snapshot: snapshot.read(),
    "scan": lambda snapshot: snapshot.scan(),
}


def write(path: Path, values: int = 0) -> None:
    """Write a table of ten versions, of which 5 has a tag: a compaction is two of them."""
    for first in (0, 20, 40):
        rows = pa.table({"id": range(first, first + 20), "value": [values] * 20})
        table: Any = lance.write_dataset(rows, path, mode="append", enable_stable_row_ids=True)
    table.delete("id % 7 = 3")
    table.update({"value": "value + 1"}, where="id % 5 = 1")
    table.delete("id % 11 = 2")
    table.optimize.compact_files()
    table = lance.write_dataset(pa.table({"id": [70], "value": [1]}), path, mode="append")
    table.delete("id = 4")
    table.tags.create("kept", 5)


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    path: Path = tmp_path_factory.mktemp("gone") / "live.lance"
    write(path)
    return path


@pytest.fixture(scope="module")
def another(tmp_path_factory) -> Path:
    """The same commits once more: files of the same names and sizes, of another table."""
    path: Path = tmp_path_factory.mktemp("gone") / "live.lance"
    write(path, values=7)
    return path


@pytest.fixture(scope="module")
def removed(original, tmp_path_factory) -> list[Path]:
    """What a cleanup removes that leaves 5 and the latest, in its order: manifests come last."""
    copy = Path(shutil.copytree(original, tmp_path_factory.mktemp("cleaned") / "live.lance"))
    lance.dataset(copy).cleanup_old_versions(
        timedelta(0), delete_unverified=True, error_if_tagged_old_versions=False
    )
    every = [file.relative_to(original) for file in original.rglob("*") if file.is_file()]
    gone = [file for file in every if not (copy / file).exists()]
    return sorted(gone, key=lambda file: file.suffix == ".manifest")


@pytest.fixture
def path(original, tmp_path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "live.lance"))


def replace_by(another: Path | None, path: Path) -> None:
    """Drop a table, and make another one in its place."""
    shutil.rmtree(path)
    if another is not None:
        shutil.copytree(another, path)


def remove(path: Path, files: list[Path]) -> None:
    for file in files:
        (path / file).unlink(missing_ok=True)


# -------------------------------------------------------------------------------------- it is gone


@pytest.mark.parametrize("is_warm", [False, True], ids=["cold", "warm"])
@pytest.mark.parametrize("ask", [*OF_TABLE.values(), *ALSO.values()], ids=[*OF_TABLE, *ALSO])
def test_a_table_that_is_gone_is_not_found(path, ask, is_warm):
    table = lx.open_table(path)
    if is_warm:
        ask(table)
    shutil.rmtree(path)
    with pytest.raises(TableNotFoundError, match="no Lance table at"):
        ask(table)


@pytest.mark.parametrize("ask", OF_SNAPSHOT.values(), ids=OF_SNAPSHOT)
@pytest.mark.parametrize("is_made_again", [False, True])
def test_a_snapshot_of_a_table_that_is_gone_is_not_found(path, another, ask, is_made_again):
    snapshot = lx.open_table(path).at(8)
    replace_by(another if is_made_again else None, path)
    with pytest.raises(TableNotFoundError, match=r"no Lance table at|another one is in its place"):
        ask(snapshot)


@pytest.mark.parametrize("ask", [*OF_TABLE.values(), *ALSO.values()], ids=[*OF_TABLE, *ALSO])
def test_a_table_that_was_made_again_is_another_one(path, another, ask):
    table = lx.open_table(path)
    replace_by(another, path)
    with pytest.raises(TableNotFoundError, match="another one is in its place"):
        ask(table)


def test_refreshing_a_table_that_was_made_again_shows_the_new_one(path, another):
    table = lx.open_table(path)
    everything = [ask(table) for ask in OF_TABLE.values()]
    assert everything
    replace_by(another, path)
    fresh = lx.open_table(path)
    table.refresh()
    for ask in OF_TABLE.values():
        assert_frame_equal(ask(table), ask(fresh))
    assert_frame_equal(table.at(2).read(), fresh.at(2).read())


def test_a_table_that_is_gone_shows_itself_as_such(path):
    table = lx.open_table(path)
    shutil.rmtree(path)
    message = f"Table live.lance: no Lance table at {path}: it has no _versions folder"
    assert repr(table) == message
    assert table._repr_html_() == f"<p>{message}</p>"


def test_refreshing_a_table_that_is_gone_says_so(path):
    table = lx.open_table(path)
    shutil.rmtree(path)
    with pytest.raises(TableNotFoundError):
        table.refresh()


def test_a_branch_of_a_table_that_is_gone_says_that_the_table_is(path):
    lance.dataset(path).create_branch("dev", LATEST)
    table = lx.open_table(path, branch="dev")
    shutil.rmtree(path)
    with pytest.raises(TableNotFoundError):
        table.versions()


def test_a_branch_that_is_gone_says_that_it_is(path):
    lance.dataset(path).create_branch("dev", LATEST)
    table = lx.open_table(path, branch="dev")
    shutil.rmtree(path / "tree")
    with pytest.raises(RefNotFoundError, match="no branch 'dev'"):
        table.versions()


# ------------------------------------------------------------------------- versions are cleaned up


class Eventful(LocalStorage):
    """Local files to which something happens before one of them is opened or found."""

    def __init__(self, root: str) -> None:
        super().__init__(root)
        self.reads = 0
        self.event: tuple[int, Callable[[], None]] | None = None
        self.before_looking: Callable[[], object] = lambda: None

    def list_files(self, folder: str) -> list[FileInfo]:
        if folder == "_versions" and self.event and self.event[0] < self.reads:
            self.before_looking()
        return super().list_files(folder)

    def _open(self, path: str) -> int:
        if self.event is not None and self.event[0] == self.reads:
            self.event[1]()
        self.reads += 1
        return super()._open(path)


def eventful_table(path: Path) -> tuple[lx.Table, Eventful]:
    view, storage = HistoryView.open(str(path)), Eventful(str(path))
    at = TableBranch(storage, storage, None)
    return lx.Table(HistoryView(at, view.listing, Refs(storage))), storage


def outcome(ask: Call, table: lx.Table) -> pl.DataFrame | str:
    """Return an answer, or the name of the error."""
    try:
        found: pl.DataFrame = ask(table)
    except VersionNotFoundError:
        return VersionNotFoundError.__name__
    return found.drop("base_uri", strict=False)


def manifests_of(files: list[Path]) -> list[Path]:
    return [file for file in files if file.suffix == ".manifest"]


def is_same(one: pl.DataFrame | str, other: pl.DataFrame | str) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    return one.equals(other, null_equal=True)


@pytest.mark.parametrize("order", ["at once", "manifests when somebody looks"])
@pytest.mark.parametrize("ask", OF_TABLE.values(), ids=OF_TABLE)
def test_an_answer_is_that_before_a_cleanup_or_after_it(original, removed, tmp_path, ask, order):
    table, storage = eventful_table(original)
    before = outcome(ask, table)
    reads = storage.reads
    answers = []
    first = len(removed) if order == "at once" else removed.index(manifests_of(removed)[0])
    for number in range(0, reads, max(reads // _MOST_MOMENTS, 1)):
        path = Path(shutil.copytree(original, tmp_path / f"{number}" / "live.lance"))
        table, storage = eventful_table(path)
        storage.event = number, partial(remove, path, removed[:first])
        storage.before_looking = partial(remove, path, removed[first:])
        answers.append(outcome(ask, table))
        remove(path, removed)
    after = outcome(ask, lx.open_table(path)) if reads else before
    wrong = [
        number for number, answer in enumerate(answers)
        if not is_same(answer, before) and not is_same(answer, after)
        and not (isinstance(answer, str) and ask is OF_TABLE["batches"])
    ]  # fmt: skip
    assert wrong == []


def test_a_file_that_is_missing_though_its_version_is_there_is_damage(path):
    for file in (path / "_deletions").iterdir():
        file.unlink()
    table = lx.open_table(path)
    assert "rows_unreadable" in table.check_row_ids()["code"].to_list()
    assert table.versions()["version"].to_list() == [*range(1, LATEST + 1)]
    with pytest.raises(StorageError, match="is missing"):
        table.at(LATEST).row_ids()


def test_a_version_that_was_cleaned_away_says_to_refresh(path, removed):
    table = lx.open_table(path)
    snapshot = table.at(8)
    remove(path, removed)
    for name in ("rows", "row_id_index", "read", "scan"):
        with pytest.raises(VersionNotFoundError, match=r"version 8 was removed .*refresh\(\) it"):
            OF_SNAPSHOT[name](snapshot)
    assert table.versions()["version"].to_list() == [5, LATEST]
    assert table.inspect.gaps()["num_versions"].sum() == LATEST - 2


def test_a_table_whose_latest_version_was_cleaned_away_goes_on_with_what_is_there(path):
    table = lx.open_table(path)
    lance.write_dataset(pa.table({"id": [71], "value": [1]}), path, mode="append")
    lance.dataset(path).cleanup_old_versions(
        timedelta(0), delete_unverified=True, error_if_tagged_old_versions=False
    )
    assert table.versions()["version"].to_list() == [5, LATEST + 1]
    assert table.latest.version == LATEST + 1


def test_who_looks_again_disturbs_nobody(path):
    table = lx.open_table(path)
    view, before = table._view, table.versions()
    lance.write_dataset(pa.table({"id": [71], "value": [1]}), path, mode="append")
    table.refresh()
    assert view.latest_version == LATEST
    assert len(view.history) == len(before) == len(table.versions()) - 1


def test_a_branch_that_was_made_after_one_looked_is_compared_with(path):
    table = lx.open_table(path)
    latest = table.latest
    lance.write_dataset(pa.table({"id": [71, 72], "value": [1, 1]}), path, mode="append")
    lance.dataset(path).create_branch("late", LATEST + 1)
    late = table.at(("late", LATEST + 1))
    assert table.diff(latest, late).summary().select("inserted", "deleted").row(0) == (2, 0)
    assert len(table.diff(latest, late).rows()) == 2
