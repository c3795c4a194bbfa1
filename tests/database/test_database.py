"""Many tables as one, compared with each table alone, with pylance and with ``os.walk``."""

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import lance
import lancedb
import polars as pl
import pyarrow as pa
import pytest
from lance.namespace import DirectoryNamespace, RestAdapter

import lance_explorer as lx
from lance_explorer.database import look, looking
from tests.database.databases import bytes_below, grow, random_database, write


@pytest.fixture
def three(tmp_path: Path) -> Path:
    """Three tables, one of them in a folder below."""
    root = tmp_path / "db"
    for name, count in (("photos", 3), ("users", 1), ("team/logs", 2)):
        for version in range(count):
            write(root / f"{name}.lance", [version], "append" if version else "create")
    return root


def test_tables_have_the_names_of_their_folders(three: Path) -> None:
    database = lx.open_database(three)
    assert database.names == ["photos", "team/logs", "users"]
    assert database["team/logs"].latest.num_rows == 2
    rows = database.tables().sort("name").select("name", "num_rows", "num_versions", "problem")
    assert rows.rows() == [("photos", 3, 3, None), ("team/logs", 2, 2, None), ("users", 1, 1, None)]
    with pytest.raises(lx.TableNotFoundError, match="is it photos"):
        database["photo"]


def test_a_folder_that_is_a_table_has_it_alone(three: Path) -> None:
    database = lx.open_database(three / "users.lance")
    assert database.names == ["users"]
    assert database.disk_usage().total_bytes == bytes_below(three / "users.lance")


def test_what_cannot_be_read_is_a_line(three: Path) -> None:
    (three / "half.lance" / "data").mkdir(parents=True)
    (three / "half.lance" / "data" / "x.lance").write_bytes(b"left over")
    lines = lx.open_database(three).tables()
    first = lines.row(0, named=True)
    assert first["name"] == "half"
    assert "no folder _versions" in first["problem"] or "no Lance table" in first["problem"]
    assert (first["size_bytes"], first["num_rows"]) == (9, None)
    found = lx.open_database(three).check(severity="error")
    assert found.select("table", "code").rows() == [("half", "unreadable_table")]


def test_links_out_of_the_folder_are_not_followed(three: Path, tmp_path: Path) -> None:
    write(tmp_path / "other.lance", [1])
    (three / "other.lance").symlink_to(tmp_path / "other.lance")
    (three / "up").symlink_to(tmp_path)
    (three / "again").symlink_to(three / "team")
    database = lx.open_database(three)
    assert database.names == ["other", "photos", "team/logs", "users"]
    assert "leads out of the folder" in database.tables()["problem"][0]
    with pytest.raises(lx.TableNotFoundError, match="leads out of the folder"):
        database["other"]
    assert database.disk_usage().total_bytes == bytes_below(three)


def test_a_lancedb_connection_and_namespaces(tmp_path: Path) -> None:
    connection = lancedb.connect(tmp_path / "a")
    connection.create_table("photos", pa.table({"id": [1, 2]}))
    assert lx.open_database(connection).tables().select("name", "num_rows").rows() == [
        ("photos", 2)
    ]

    namespace = DirectoryNamespace(root=str(tmp_path / "b"), table_version_tracking_enabled="true")
    import lance_namespace

    namespace.create_namespace(lance_namespace.CreateNamespaceRequest(id=["team"]))
    for table_id in (["team", "x"], ["y"]):
        for mode in ("create", "append"):
            lance.write_dataset(
                pa.table({"a": [1]}), namespace_client=namespace, table_id=table_id, mode=mode
            )
    database = lx.open_database(namespace)
    assert database.tables().sort("name").select("name", "num_rows", "num_versions").rows() == [
        ("team.x", 2, 2),
        ("y", 2, 2),
    ]
    calls = database.cleanup_preview(timedelta(0)).code
    exec(calls.replace("namespace = ...", "pass"), {"namespace": namespace})
    assert database.refresh().tables()["num_versions"].to_list() == [1, 1]
    code = lx.widgets.DatabaseExplorer(database, follow=False).code()
    names: dict[str, Any] = {"namespace": namespace}
    exec(code.replace("namespace = ...", "pass"), names)
    assert names["database"].names == database.names

    by_lancedb = lancedb.connect_namespace("dir", {"root": str(tmp_path / "a")})
    assert lx.open_database(by_lancedb).names == ["photos"]
    with RestAdapter("dir", {"root": str(tmp_path / "a")}, port=0) as server:
        rest = lance_namespace.connect("rest", {"uri": f"http://127.0.0.1:{server.port}"})
        assert lx.open_database(rest).tables()["num_rows"].to_list() == [2]


def test_what_no_table_takes_is_refused_whatever_is_no_table(tmp_path: Path) -> None:
    write(tmp_path / "a.lance", [1])
    (tmp_path / "half.lance" / "data").mkdir(parents=True)
    database = lx.open_database(tmp_path)
    with pytest.raises(lx.InvalidArgumentError, match="expression"):
        database.find("id = ")
    with pytest.raises(lx.RefNotFoundError, match="gold"):
        database.at("gold")


@pytest.mark.drawn(4)
def test_sums_are_those_of_each_table_and_of_the_disk(tmp_path: Path, seed: int) -> None:
    chosen = random.Random(seed)
    root = tmp_path / "db"
    random_database(root, chosen)
    check_database(root, chosen)


def check_database(root: Path, chosen: random.Random) -> None:
    """Compare a database with its tables, pylance and the disk, while it grows."""
    database = lx.open_database(root)
    for _ in range(2):
        assert database.disk_usage().total_bytes == bytes_below(root)
        sizes = dict(database.disk_usage().tables().select("name", "size_bytes").iter_rows())
        for row in database.tables().iter_rows(named=True):
            path = root / f"{row['name']}.lance"
            assert sizes.get(row["name"], 0) == row["size_bytes"] == bytes_below(path)
            if row["problem"] is None:
                compare_with_table(row, path)
        fresh = lx.open_database(root)
        fresh._kept._looks = {}
        assert database.tables().equals(fresh.tables())
        assert database.check().equals(fresh.check())
        whole = database.tables().filter(
            pl.col("problem").is_null(), pl.col("worst").ne_missing("error")
        )
        for row in whole.head(2).iter_rows(named=True):
            grow(root / f"{row['name']}.lance", chosen)
        database.refresh()
    check_moment(root, database)


def compare_with_table(row: dict[str, Any], path: Path) -> None:
    table = lx.open_table(path)
    dataset = lance.dataset(str(path))
    assert row["num_rows"] == dataset.count_rows()
    assert row["num_fragments"] == len(dataset.get_fragments())
    assert row["latest_version"] == dataset.version
    assert row["num_versions"] == len(dataset.versions())
    usage = table.disk_usage()
    assert (row["live_bytes"], row["size_bytes"]) == (usage.live_bytes, usage.total_bytes)
    found = table.check(severity="warning")
    assert (row["worst"] in ("error", "warning")) == (len(found) > 0)
    times: dict[int, Any] = {one["version"]: one["timestamp"] for one in dataset.versions()}
    late = row["last_commit"] - times[dataset.version].astimezone(UTC)
    assert abs(late) < timedelta(milliseconds=1)


def check_moment(root: Path, database: lx.Database) -> None:
    """Compare all tables at one time with each of them, and lock what can be."""
    log = database.log(limit=None)
    when = log["timestamp"].drop_nulls().sort()
    middle = when[len(when) // 2]
    moment = database.at(middle)
    for row in moment.to_polars().iter_rows(named=True):
        path = root / f"{row['name']}.lance"
        try:
            expected = lx.open_table(path).at(middle).version
        except lx.LanceExplorerError:
            expected = None
        assert row["version"] == expected
    for name in database:
        try:
            own = lx.open_table(root / f"{name}.lance").log()
        except lx.LanceExplorerError:
            continue
        assert log.filter(table=name).height == own.height


def test_a_lock_of_many_is_verified_after_cleanups_and_drops(three: Path) -> None:
    database = lx.open_database(three)
    text = database.lock()
    assert database.verify(text)
    write(three / "photos.lance", [9], "append")
    assert database.refresh().verify(text)
    lance.dataset(str(three / "photos.lance")).cleanup_old_versions(timedelta(0))
    lance.dataset(str(three / "photos.lance"))
    database.refresh()
    found = database.verify(text)
    assert not found
    assert found["users"]
    assert found["team/logs"]
    assert not found["photos"]
    for part in sorted((three / "users.lance").rglob("*"), reverse=True):
        part.rmdir() if part.is_dir() else part.unlink()
    (three / "users.lance").rmdir()
    later = database.refresh().verify(text)
    assert not later
    assert later["team/logs"]
    assert not later["users"]


def test_a_moment_before_a_table_existed(three: Path) -> None:
    first = lx.open_database(three)["photos"].versions()["timestamp"][0]
    moment = lx.open_database(three).at(first)
    assert moment.to_polars().filter(name="photos")["version"].item() == 1
    assert [*moment] == ["photos"]
    with pytest.raises(lx.StorageError, match="2 tables cannot be locked"):
        moment.lock()
    with pytest.raises(lx.InvalidArgumentError, match="numbers of their own"):
        lx.open_database(three).at("3")


def test_a_tag_that_one_table_lacks_is_told(three: Path) -> None:
    for name in ("photos", "users"):
        lance.dataset(str(three / f"{name}.lance")).tags.create("gold", 1)
    database = lx.open_database(three)
    found = database.check().filter(code="tag_on_other_tables")
    assert found.select("table", "subject_name").rows() == [("team/logs", "gold")]
    moment = database.at("gold")
    assert [*moment] == ["photos", "users"]
    with pytest.raises(lx.RefNotFoundError):
        database.at("silver")


def test_rows_are_found_in_all_tables(three: Path) -> None:
    write(three / "photos.lance", [77], "append")
    lance.dataset(str(three / "photos.lance")).delete("id = 77")
    lance.write_dataset(pa.table({"other": [1]}), str(three / "z.lance"))
    found = lx.open_database(three).find("id = 77")
    assert found.tables().row(0, named=True)["name"] == "photos"
    assert found["photos"].to_polars()["ended_as"].to_list() == ["deleted"]
    assert found.num_rows == 1
    not_searched = found.tables().filter(pl.col("num_rows").is_null())
    assert not_searched["name"].to_list() == ["z"]
    assert not found.is_complete


def test_a_cleanup_spares_what_a_clone_of_the_database_reads(tmp_path: Path) -> None:
    root = tmp_path / "db"
    write(root / "source.lance", [1, 2, 3])
    source = lance.dataset(str(root / "source.lance"))
    source.shallow_clone(str(root / "clone.lance"), 1)
    write(root / "source.lance", [4], "overwrite")
    database = lx.open_database(root)
    kinds = database.disk_usage().kinds()
    assert kinds.filter(name="source", kind="data", status="pinned").height == 1
    line = database.cleanup_preview(timedelta(0)).tables().filter(name="source").row(0, named=True)
    assert "clone" in line["problem"]
    assert line["code"].startswith('dataset.tags.create("keep-main-1", 1)')
    assert database.disk_usage().total_bytes == bytes_below(root)


def test_calls_of_a_cleanup_free_what_is_said(three: Path) -> None:
    database = lx.open_database(three)
    preview = database.cleanup_preview(timedelta(0))
    before = bytes_below(three)
    expected = preview.freed_bytes
    assert expected > 0
    exec(preview.code, {"lance": lance, "timedelta": timedelta})
    assert before - bytes_below(three) == expected
    assert database.refresh().cleanup_preview(timedelta(0)).freed_bytes == 0


def test_looks_are_kept_until_a_table_changes(
    three: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANCE_EXPLORER_CACHE", str(tmp_path / "cache"))
    first = lx.open_database(three)
    before = first.tables()
    again = lx.open_database(three)
    seen = list[str]()
    real = look.look_at

    def noting(member: Any, clones: Any = ()) -> Any:
        seen.append(member.name)
        return real(member, clones)

    monkeypatch.setattr(looking, "look_at", noting)
    assert again.tables().equals(before)
    assert again.check().equals(first.check())
    assert again.disk_usage().kinds().equals(first.disk_usage().kinds())
    assert seen == []
    write(three / "users.lance", [5], "append")
    assert again.refresh().tables().filter(name="users")["num_rows"].item() == 2
    assert seen == ["users"]
    assert lx.clear_cache() > 0


def test_times_are_one_time_for_all(three: Path) -> None:
    database = lx.open_database(three)
    assert len(database.at(datetime.now(UTC))) == 3
    assert len(database.log(since="1 hour ago", limit=None)) == 6
    assert database.log(until="yesterday").is_empty()
    with pytest.raises(lx.InvalidArgumentError, match="since is a time"):
        database.log(since="gold")
    assert database.log(operation="Append", limit=None).height == 3


def test_a_folder_without_tables_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(lx.TableNotFoundError, match="none in that folder"):
        lx.open_database(tmp_path)
    with pytest.raises(lx.InvalidArgumentError, match="lancedb connection"):
        lx.open_database(3)


def test_rows_that_were_found_in_two_tables_are_all_in_json(tmp_path):
    for name in ("a", "b"):
        lance.write_dataset(pa.table({"id": [2]}), tmp_path / f"{name}.lance")
    told = json.loads(lx.open_database(tmp_path).find("id = 2").answer.json())
    rows = {name: part["rows"] for name, part in told["sections"].items()}
    assert [row["id"] for row in rows["a: rows"] + rows["b: rows"]] == [2, 2]
