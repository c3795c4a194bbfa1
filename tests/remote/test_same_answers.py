"""A table says in an object store what it says on the disk."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.flags import unreadable_flags
from lance_explorer.inspect.catalogue import FRAMES, frame
from lance_explorer.lineage.row import Row
from lance_explorer.storage import FilePart, IoCounts
from lance_explorer.storage.objects import ObjectStorage
from tests.format.samples import DATA
from tests.remote.bucket import Bucket

pytestmark = pytest.mark.sampled(3)

TABLES = [
    ("0.10.18/life_cycle", None),
    ("0.32.1/stable_row_ids", None),
    ("1.0.4/cleaned_stable_row_ids", None),
    ("8.0.1/deferred_remap", None),
    ("13.0.0/branches", "dev"),
    ("14.0.2/bitmap_deletions", None),
    ("14.0.2/branches", None),
    ("14.0.2/branches", "dev/deep"),
    ("14.0.2/data_overlay", None),
    ("14.0.2/detached", None),
    ("14.0.2/schema_changes", None),
    ("14.0.2/spilled", None),
    ("14.0.2/stable_row_ids", None),
    ("14.0.2/v1_names", None),
]

Pair = tuple[lx.Table, lx.Table]


@pytest.fixture(scope="module", params=TABLES, ids=lambda p: f"{p[0]}@{p[1] or 'main'}")
def pair(request, bucket: Bucket) -> Pair:
    """A stored table, and its copy in a bucket."""
    name, branch = request.param
    path = DATA / f"{name}.lance"
    copy = f"{'at_branch/' if branch else ''}{name}.lance"  # bases may be spelled by its name
    bucket.copy(path, copy)
    return lx.open_table(path, branch), bucket.table(copy, branch)


def comparable(answer: pl.DataFrame, table: lx.Table) -> pl.DataFrame:
    """Return an answer without times of files, and with places as they are below the table."""
    text = pl.selectors.string().str.replace_all(table.uri, "TABLE", literal=True)
    return answer.drop("modified", strict=False).with_columns(text)


def both(pair: Pair, ask: Callable[[lx.Table], pl.DataFrame]) -> None:
    """Check that a frame is the same on both sides, or refused on both for the same reason."""
    local, remote = pair
    try:
        expected = comparable(ask(local), local)
    except LanceExplorerError as error:
        with pytest.raises(type(error)):
            ask(remote)
    else:
        assert_frame_equal(comparable(ask(remote), remote), expected)


def test_versions(pair):
    both(pair, lx.Table.versions)


def test_frames(pair):
    for name in FRAMES:
        both(pair, partial(frame_of, name))


def readable_versions(table: lx.Table) -> list[int]:
    records = table._view.history.records
    flags = {record.version: record.manifest.reader_feature_flags for record in records}
    return [version for version, bits in flags.items() if not unreadable_flags(bits)]


def test_rows(pair):
    for version in readable_versions(pair[0]):
        both(pair, partial(rows_of, version))


def test_deletions_row_by_row(pair):
    for fragment in pair[0].inspect.all_fragments()["fragment_id"].unique():
        both(pair, partial(lx.Table.deletion_history, fragment_id=fragment))


def test_row_ids_are_checked(pair):
    both(pair, lx.Table.check_row_ids)


def test_fragment_lineage(pair):
    both(pair, lambda table: table.lineage().fragments().drop("table"))
    both(pair, lambda table: table.lineage().edges())


def frame_of(name: str, table: lx.Table) -> pl.DataFrame:
    return frame(table._view, name)


def rows_of(version: int, table: lx.Table) -> pl.DataFrame:
    return table.at(version).row_ids()


def values_of(version: int, table: lx.Table) -> pl.DataFrame:
    return table.at(version).read()


def row_history(row: int, table: lx.Table) -> pl.DataFrame:
    return Row(table._view, row).history(values=True)


def test_values(bucket, tmp_path):
    for name in ("14.0.2/stable_row_ids", "14.0.2/branches", "1.0.4/life_cycle"):
        path = DATA / f"{name}.lance"
        bucket.copy(path, f"values/{name}.lance")
        local, remote = lx.open_table(path), bucket.table(f"values/{name}.lance")
        for version in local.versions()["version"]:
            both((local, remote), partial(values_of, version))
        both((local, remote), lambda table: table.latest.scan().collect())
        both((local, remote), lambda table: table.latest.row_ids(columns=["id"]))
        both((local, remote), lambda table: table.changes(1, images="both").to_polars())
        row = int(local.latest.row_ids()["_rowid"][0])
        both((local, remote), partial(row_history, row))


def test_reading_ahead_asks_for_nothing_that_is_not_needed(bucket, monkeypatch):
    bucket.copy(DATA / "0.32.1" / "stable_row_ids.lance", "read_ahead.lance")

    def asked() -> IoCounts:
        table: lx.Table = bucket.table("read_ahead.lance")
        table.versions()
        table.latest.row_ids()
        return table.io

    ahead = asked()
    monkeypatch.setattr(ObjectStorage, "reading_ahead", lambda *_: nullcontext())
    assert asked() == ahead


def test_a_question_asks_for_each_file_once(bucket, monkeypatch):
    asked = Counter[FilePart]()
    submit = ObjectStorage._submit

    def counted(storage: ObjectStorage, part: FilePart) -> Future[bytes]:
        asked[part] += 1
        return submit(storage, part)

    bucket.copy(DATA / "14.0.2" / "stable_row_ids.lance", "once.lance")
    monkeypatch.setattr(ObjectStorage, "_submit", counted)
    table = bucket.table("once.lance")
    table.inspect.health()
    assert set(asked.values()) == {1}
    table.refresh().inspect.health()
    assert max(asked.values()) > 1  # another table might be there now


@pytest.mark.parametrize(
    "name", ["updated_rows_kept-8.0.1", "moved_rows_dropped-3.0.1", "replaced_column_indexed-2.0.1"]
)
def test_a_deep_check_reads_what_indices_hold(bucket: Bucket, name: str) -> None:
    path = DATA.parent / "disk" / "known_bugs" / f"{name}.lance"
    bucket.copy(path, f"indices/{name}.lance")
    local, remote = lx.open_table(path), bucket.table(f"indices/{name}.lance")
    both((local, remote), lambda table: table.check(depth="deep").drop("remedy_code"))


def test_folders_are_listed_with_a_slash_or_without(bucket: Bucket) -> None:
    path = DATA / "14.0.2" / "index_types.lance"
    bucket.copy(path, "slashes.lance")
    for table in (lx.open_table(path), bucket.table("slashes.lance")):
        storage = table._view.storage
        for folder in ("_versions", "data", "_indices"):
            for list_ in (storage.list_files, storage.list_folders):
                assert sorted(list_(folder)) == sorted(list_(f"{folder}/"))
            assert storage.list_files(folder) or storage.list_folders(folder)
