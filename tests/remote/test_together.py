"""Requests that do not depend on one another are made together, and nothing is read twice."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.inspect.commit_words import describe_commits
from lance_explorer.storage import Contents, FilePart
from lance_explorer.storage.objects import ObjectStorage
from tests.remote.bucket import Bucket

TURNS = 12
FEW = 4
"""How many rounds of requests an answer may need, however many versions there are."""


def write_turns(path: str, *, stable: bool) -> None:
    """Make a table of appends, updates, deletions and compactions."""
    rows = pa.table({"id": range(40), "value": [0] * 40})
    lance.write_dataset(rows, path, max_rows_per_file=10, enable_stable_row_ids=stable)
    for turn in range(TURNS):
        begin = 40 + 4 * turn
        new = pa.table({"id": range(begin, begin + 4), "value": [0] * 4})
        lance.write_dataset(new, path, mode="append")
        lance.dataset(path).update({"value": f"{turn + 1}"}, where=f"id % 10 = {turn % 3}")
        lance.dataset(path).delete(f"id = {3 + 10 * (turn % 4) + turn // 4}")
        if turn % 5 == 4:
            lance.dataset(path).optimize.compact_files(target_rows_per_fragment=20)


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "plain"])
def name(request, bucket: Bucket, tmp_path_factory) -> str:
    stable: bool = request.param
    path: Path = tmp_path_factory.mktemp("together") / "t.lance"
    write_turns(str(path), stable=stable)
    called = f"together-{stable}.lance"
    bucket.copy(path, called)
    return called


class Asked:
    """What was asked of storage, and in how many rounds: what is asked for together is one."""

    def __init__(self) -> None:
        self.all = list[FilePart]()
        self.rounds = 0

    def repeated(self) -> list[FilePart]:
        return [part for part, count in Counter(self.all).items() if count > 1]


@pytest.fixture
def asked(monkeypatch) -> Asked:
    notes = Asked()
    fetch, read, get_many, reading_ahead = (
        ObjectStorage._fetch,
        ObjectStorage._read,
        ObjectStorage.get_many,
        ObjectStorage.reading_ahead,
    )

    def noting_fetch(storage: ObjectStorage, part: FilePart) -> bytes:
        notes.all.append(part)
        return fetch(storage, part)

    def noting_read(storage: ObjectStorage, part: FilePart) -> bytes:
        notes.rounds += not any(part in ahead._begun for ahead in storage._ahead)
        return read(storage, part)

    def noting_many(
        storage: ObjectStorage, paths: Iterable[str], sizes: Sequence[int] = ()
    ) -> Iterator[Contents]:
        some = [*paths]
        notes.rounds += bool(some)
        return get_many(storage, some, sizes)

    def noting_ahead(
        storage: ObjectStorage, parts: Iterable[FilePart]
    ) -> AbstractContextManager[None]:
        some = [*parts]
        notes.rounds += bool(some)
        return reading_ahead(storage, some)

    monkeypatch.setattr(ObjectStorage, "_fetch", noting_fetch)
    monkeypatch.setattr(ObjectStorage, "_read", noting_read)
    monkeypatch.setattr(ObjectStorage, "get_many", noting_many)
    monkeypatch.setattr(ObjectStorage, "reading_ahead", noting_ahead)
    return notes


ANSWERS: dict[str, Callable[[lx.Table], object]] = {
    "commit by commit": lambda table: table.changes(0, mode="per_commit").summary(),
    "a feed": lambda table: table.changes(0, mode="per_commit", images=None).to_polars(),
    "net": lambda table: table.changes(1, images=None).to_polars(),
    "one row": lambda table: table.row(5).history(),
    "rows by address": lambda table: table.follow_addresses([1, 5, 12]),
    "lineage": lambda table: table.lineage().edges(),
    "compactions": lambda table: table.compaction_lineage(),
    "deletions of a fragment": lambda table: table.deletion_history(0),
    "words": lambda table: describe_commits(table._view),
    "checks": lambda table: table.check_row_ids(),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_known_to_be_needed_is_asked_for_together(bucket: Bucket, name, asked, answer):
    table = bucket.table(name)
    table.versions()
    asked.rounds = 0
    ANSWERS[answer](table)
    assert asked.rounds <= FEW


def test_a_report_needs_few_rounds(bucket: Bucket, name, asked, tmp_path):
    bucket.table(name).report(tmp_path / "report.html")
    assert asked.rounds <= 3 * FEW


@pytest.mark.parametrize("answer", ["commit by commit", "one row", "deletions of a fragment"])
def test_what_several_commits_need_is_read_once(bucket: Bucket, name, asked, answer):
    table = bucket.table(name)
    table.versions()
    asked.all.clear()
    ANSWERS[answer](table)
    repeated = [part for part in asked.repeated() if part.path.startswith("_versions/")]
    assert len(repeated) <= FEW
    if "True" in name:
        assert len([part for part in asked.repeated() if part not in repeated]) == 0


def test_the_values_of_a_row_are_the_same_read_together(bucket: Bucket, name, tmp_path):
    stable = "True" in name
    write_turns(str(tmp_path / "t.lance"), stable=stable)
    local = lx.open_table(tmp_path / "t.lance").row(2).history(values=True)
    remote = bucket.table(name).row(2).history(values=True)
    columns = ["version", "event", "values", "changed_columns"]
    assert len(local) > FEW
    assert remote.select(columns).equals(local.select(columns))


def test_a_feed_with_values_is_the_same_read_together(bucket: Bucket, name, tmp_path):
    write_turns(str(tmp_path / "t.lance"), stable="True" in name)
    feeds = [
        table.changes(0, mode="per_commit", images="both").to_polars().drop("_commit_timestamp")
        for table in (lx.open_table(tmp_path / "t.lance"), bucket.table(name))
    ]
    assert feeds[1].equals(feeds[0])
