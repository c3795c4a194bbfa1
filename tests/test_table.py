"""What a user holds: opening, travelling in time, reading, querying; and nothing is written."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lance
import lancedb
import pyarrow as pa
import pytest

import lance_explorer as lx
from conftest import write_people
from lance_explorer.errors import (
    InvalidArgumentError,
    RefNotFoundError,
    TableNotFoundError,
    UnsupportedFeatureError,
    VersionNotFoundError,
)
from lance_explorer.frames.findings import FINDINGS
from lance_explorer.inspect.gaps import GAPS
from lance_explorer.lineage.recording import compact_files
from tests.format.samples import DATA
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    """A table of seven versions, with the tag ``clean`` on 4 and the branch ``dev`` from 2."""
    path: Path = tmp_path_factory.mktemp("table") / "people.lance"
    write_people(path)
    return path


@pytest.fixture
def table(path) -> lx.Table:
    return lx.open_table(path)


def commit_times(path: Path) -> list[datetime]:
    """Return the times of the commits as pylance tells them, to the microsecond.

    Those of its public API went through a float, and may be off by one.
    """
    dataset: Any = lance.dataset(path)
    versions = [entry["version"] for entry in dataset.versions()]
    return [_commit_time(dataset.checkout_version(version)) for version in versions]


def _commit_time(dataset: Any) -> datetime:
    seconds, fraction = divmod(dataset._ds.current_version()["timestamp"], 1_000_000_000)
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=fraction // 1000)


# ----------------------------------------------------------------------------------------- opening


def test_a_table_opens_by_path_or_uri(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    monkeypatch.setenv("HOME", str(path.parent))
    places = [path, str(path), f"{path}/", path.as_uri(), "people.lance", "~/people.lance"]
    assert {lx.open_table(place).uri for place in places} == {str(path)}


def test_a_lance_dataset_opens_its_table(path):
    assert lx.open_table(lance.dataset(path, version=2)).uri == str(path)


def test_a_lance_dataset_of_a_branch_opens_the_branch(path):
    table = lx.open_table(lance.dataset(path / "tree" / "dev"))
    assert (table.uri, table.branch) == (str(path), "dev")


def test_a_lance_dataset_that_moved_to_a_branch_opens_the_branch(path):
    moved = lance.dataset(path).checkout_version(("dev", None))
    table = lx.open_table(moved)
    assert (table.uri, table.branch) == (str(path), "dev")


def test_a_lancedb_table_opens_its_table(tmp_path):
    things = lancedb.connect(tmp_path).create_table("things", pa.table({"id": [1, 2]}))
    assert lx.open_table(things).latest.num_rows == 2


def test_an_asynchronous_lancedb_table_tells_how_to_open_it(tmp_path):
    async def things() -> Any:
        database = await lancedb.connect_async(tmp_path)
        return await database.create_table("things", pa.table({"id": [1, 2]}))

    opened = asyncio.run(things())
    for ask in (lx.open_table, compact_files):
        with pytest.raises(InvalidArgumentError, match=r"AsyncTable give `await table.to_lance"):
            ask(opened)


@pytest.mark.parametrize(
    "thing", [None, 3, b"t.lance", pa.table({"a": [1]}), ["t.lance"]], ids=type
)
def test_nothing_else_opens_a_table(thing):
    with pytest.raises(InvalidArgumentError, match=f"got {type(thing).__name__}$"):
        lx.open_table(thing)


def test_a_table_that_is_not_there_is_not_found(tmp_path):
    with pytest.raises(TableNotFoundError, match="no Lance table at"):
        lx.open_table(tmp_path / "t.lance")


def test_a_branch_is_a_line_of_versions_of_the_same_table(path):
    table = lx.open_table(path, branch="dev")
    assert (table.uri, table.branch) == (str(path), "dev")
    assert table.versions()["operation"].to_list() == ["Clone"]
    assert table.tags.keys() == {"clean"}


def test_a_branch_that_is_not_there_is_not_found(path):
    with pytest.raises(RefNotFoundError, match=r"no branch 'prod' in .*; there are: dev"):
        lx.open_table(path, branch="prod")


# ---------------------------------------------------------------------------------- travel in time


def test_a_number_is_a_version(table):
    assert [table.at(version).version for version in (1, 7)] == [1, 7]


def test_a_text_is_a_tag(table):
    assert (table.at("clean").version, table.at("clean").branch) == (4, None)


def test_a_tag_of_another_branch_leads_there():
    snapshot = lx.open_table(DATA / "14.0.2" / "branches.lance").at("dev-updated")
    assert (snapshot.version, snapshot.branch, snapshot.num_rows) == (6, "dev", 20)


def test_a_pair_is_a_branch_and_a_number(table):
    snapshot = table.at(("dev", 2))
    assert (snapshot.version, snapshot.branch, snapshot.operation) == (2, "dev", "Clone")


def test_a_detached_version_goes_by_its_number():
    path = DATA / "14.0.2" / "detached.lance"
    number = lance.dataset(path).tags.list()["experiment"]["version"]
    table = lx.open_table(path)
    assert table.at("experiment").version == table.at(number).version == number


@pytest.mark.parametrize("version", range(1, 8))
def test_a_time_is_the_latest_version_by_then(table, path, version):
    time = commit_times(path)[version - 1]
    assert table.at(time + timedelta(microseconds=1)).version >= version
    assert table.at(table.at(version).timestamp).version == version


def test_a_time_before_the_first_version_is_none(table):
    with pytest.raises(VersionNotFoundError, match="no kept version is as old as 1999"):
        table.at(datetime(1999, 1, 1))  # noqa: DTZ001 - that is what is tested


def test_a_version_that_is_not_there_says_which_are(table):
    with pytest.raises(VersionNotFoundError, match="8 never existed; 7 versions remain, 1 to 7"):
        table.at(8)


# --------------------------------------------------------------------------------------- snapshots


@stored_check()
def check_a_snapshot_is_what_pylance_says_of_the_version(asked):
    dataset = asked.dataset()
    snapshot = asked.table.latest
    assert snapshot.version == dataset.version
    assert snapshot.num_rows == dataset.count_rows()
    assert snapshot.num_fragments == len(dataset.get_fragments())
    assert snapshot.num_deleted_rows == dataset.stats.dataset_stats()["num_deleted_rows"]
    assert snapshot.has_stable_row_ids == dataset.has_stable_row_ids
    assert snapshot.schema.equals(dataset.schema, check_metadata=True)
    top = [field.name for field in snapshot.fields if field.parent_id < 0]
    assert top == dataset.schema.names


def test_a_snapshot_knows_its_commit(table, path):
    snapshot = table.at(4)
    assert snapshot.operation == "Delete"
    assert snapshot.timestamp == commit_times(path)[3]
    assert snapshot.transaction is not None
    assert snapshot.transaction.operation.summary()["predicate"] == "id = 2"


def test_a_snapshot_names_its_features(table):
    assert table.at(1).feature_flags == ("stable_row_ids",)
    assert table.at(4).feature_flags == ("deletion_files", "stable_row_ids")


def test_a_snapshot_of_the_oldest_writer_is_whole():
    snapshot = lx.open_table(DATA / "0.10.18" / "life_cycle.lance").at(3)
    assert (snapshot.num_rows, snapshot.num_deleted_rows, snapshot.num_fragments) == (15, 3, 3)
    assert (snapshot.has_stable_row_ids, snapshot.operation) == (False, "Delete")


def test_a_snapshot_stays_as_it_was(tmp_path):
    writer = SyntheticTable(tmp_path).append(rows=3)
    table = lx.open_table(tmp_path)
    latest = table.latest
    writer.append(rows=4).remove(1)
    table.refresh()
    assert (latest.version, latest.num_rows) == (1, 3)
    assert (table.latest.version, table.latest.num_rows) == (2, 7)


# ----------------------------------------------------------------------------------------- reading


def test_rows_are_those_of_the_version(table):
    ids = {v: table.at(v).read(columns=["id"])["id"].to_list() for v in (1, 3, 4)}
    assert ids[1] == [1, 2, 3, 4]
    assert (sorted(ids[3]), sorted(ids[4])) == ([*range(1, 11)], [1, *range(3, 11)])


def test_rows_of_a_branch_are_its_own(table):
    assert sorted(table.at(("dev", 2)).read()["id"]) == [1, 2, 3, 4, 5, 6]


def test_reading_takes_columns_a_filter_and_a_limit(table):
    rows = table.latest.read(columns=["id", "_rowid"], filter="id > 6", limit=2)
    assert (rows.columns, len(rows)) == (["id", "_rowid"], 2)
    assert rows["id"].min() > 6


def test_a_filter_that_does_not_fit_is_at_fault(table):
    with pytest.raises(InvalidArgumentError, match="version 7 cannot be read like this"):
        table.latest.read(filter="nope = 1")


def test_scanning_gives_what_reading_gives(table):
    columns = ["id", "city", "score", "_rowid", "_rowaddr"]
    columns += ["_row_created_at_version", "_row_last_updated_at_version"]
    assert table.latest.scan().collect().equals(table.latest.read(columns=columns))


@pytest.mark.parametrize("read", [lx.Snapshot.read, lx.Snapshot.scan])
def test_rows_with_an_unknown_feature_are_refused_by_its_name(tmp_path, read):
    writer = SyntheticTable(tmp_path).append(rows=3)
    writer.amend(lambda manifest: setattr(manifest, "reader_feature_flags", 512 | 1 << 20))
    message = (
        "rows of version 1 cannot be read: unknown feature "
        "fragment_reuse_with_stable_row_ids, unknown_1048576"
    )
    with pytest.raises(UnsupportedFeatureError, match=message):
        read(lx.open_table(tmp_path).latest)


# --------------------------------------------------------------------------------------------- SQL


def test_a_query_runs_over_frames(table):
    query = "SELECT operation, sum(rows_added) AS rows FROM versions WHERE version < 3 GROUP BY 1"
    assert sorted(table.sql(query).rows()) == [("Append", 2), ("Overwrite", 4)]


def test_a_query_joins_frames_and_rows(table):
    query = """
        SELECT v.operation, f.fragment_id, d.id
        FROM versions v
        JOIN all_fragments f ON f.first_version = v.version
        JOIN dataset d ON d.id = v.version
        ORDER BY v.version, f.fragment_id
    """
    assert table.sql(query).rows() == [
        ("Overwrite", 0, 1),
        ("Update", 0, 3),
        ("Update", 2, 3),
        ("Delete", 0, 4),
    ]


def test_rows_in_a_query_are_the_latest_with_system_columns(table):
    rows = table.sql("SELECT * FROM dataset")
    assert rows.equals(table.latest.scan().collect())


@pytest.mark.parametrize("name", ["findings", "gaps"])
def test_findings_and_gaps_are_in_queries_too(table, name):
    assert table.sql(f"SELECT count(*) AS n FROM {name}").item() == 0


def test_a_query_reads_only_what_it_names(path):
    table = lx.open_table(path)
    before = table._view.storage.io.bytes_read
    table.sql("SELECT count(*) AS n FROM refs")
    assert table._view.storage.io.bytes_read - before < 1000


def test_a_limit_inside_a_query_comes_before_the_condition_around_it(table):
    query = "SELECT version FROM (SELECT * FROM versions LIMIT 3) WHERE version > 2"
    assert table.sql(query)["version"].to_list() == [3]


def test_a_limit_on_rows_comes_before_the_condition_around_it(table):
    query = "SELECT id FROM (SELECT * FROM dataset LIMIT 3) WHERE id > 3"
    first = table.latest.read(columns=["id"], limit=3)["id"].to_list()
    assert table.sql(query)["id"].to_list() == [id_ for id_ in first if id_ > 3]


@pytest.mark.parametrize(
    "query",
    ["", "SELEC 1", "SELECT nope FROM versions", "SELECT * FROM nope", "SELECT 1; SELECT 2"],
)
def test_a_wrong_query_lists_the_frames_there_are(table, query):
    with pytest.raises(InvalidArgumentError, match=r"the frames are all_base_paths, .*, versions$"):
        table.sql(query)


# ------------------------------------------------------------------------------- what else there is


def test_a_sound_table_has_no_findings_and_no_gaps(table):
    assert table.inspect.findings().equals(FINDINGS.polars_schema.to_frame())
    assert table.inspect.gaps().equals(GAPS.polars_schema.to_frame())


def test_what_is_wrong_or_missing_is_told_in_frames(tmp_path):
    writer = SyntheticTable(tmp_path).append().append().append().amend(magic=b"LANX")
    writer.append().remove(1)
    table = lx.open_table(tmp_path)
    assert table.inspect.findings().select("code", "first_version").rows() == [
        ("unreadable_manifest", 3)
    ]
    assert table.inspect.gaps().select("first_version", "reason").rows() == [
        (1, "removed"),
        (3, "unreadable"),
    ]
    assert table.versions()["version"].to_list() == [2, 4]


def test_tags_and_branches_go_by_their_names(table):
    assert [(name, tag.version) for name, tag in table.tags.items()] == [("clean", 4)]
    assert [(name, b.parent_version) for name, b in table.branches.items()] == [("dev", 2)]


def test_refreshing_shows_what_is_new(tmp_path):
    writer = SyntheticTable(tmp_path).append()
    table = lx.open_table(tmp_path)
    before = table.versions()
    writer.append().tag("gold")
    assert (len(table.versions()), table.latest.version, len(table.tags)) == (1, 1, 0)
    assert table.refresh() is table
    assert (len(table.versions()), table.latest.version, len(table.tags)) == (2, 2, 1)
    assert len(before) == 1


def test_a_version_from_a_frame_is_a_version(table):
    for version in table.versions()["version"]:
        assert table.at(version).version == version


# ------------------------------------------------------------------------------- nothing is written


def files_of(path: Path) -> dict[str, tuple[int, int]]:
    """Return size and time of every file and folder below one."""
    found = {}
    for entry in (path, *path.rglob("*")):
        facts = entry.stat()
        found[str(entry)] = facts.st_size, facts.st_mtime_ns
    return found


def test_nothing_writes_to_a_table(path):
    before = files_of(path)
    table = lx.open_table(path).refresh()
    for name in [name for name in dir(table.inspect) if not name.startswith("_")]:
        getattr(table.inspect, name)()
    table.sql("SELECT count(*) AS n FROM dataset JOIN versions ON id = version")
    for version in table.versions()["version"]:
        table.at(version).read()
    assert repr(table) != table._repr_html_() != table.latest._repr_html_()
    assert files_of(path) == before
