"""A database in a bucket answers as the same folder does."""

from datetime import timedelta
from pathlib import Path

import lancedb

import lance_explorer as lx
from tests.database.databases import write
from tests.remote.bucket import Bucket


def made(root: Path) -> Path:
    for name, versions in (("photos", 3), ("team/logs", 2), ("users", 1)):
        for version in range(versions):
            write(root / f"{name}.lance", [version, 7], "append" if version else "create")
    (root / "half.lance" / "data").mkdir(parents=True)
    (root / "half.lance" / "data" / "x.lance").write_bytes(b"left over")
    (root / "notes.txt").write_text("beside")
    return root


def test_a_bucket_answers_as_a_folder_does(bucket: Bucket, tmp_path: Path) -> None:
    local = lx.open_database(made(tmp_path / "db"))
    there = lx.open_database(bucket.copy(tmp_path / "db", "db"), storage_options=bucket.options)
    assert there.names == local.names
    assert there.tables().drop("uri", "problem").equals(local.tables().drop("uri", "problem"))
    ours, theirs = there.disk_usage(), local.disk_usage()
    assert ours.kinds().equals(theirs.kinds())
    assert ours.other_files == theirs.other_files
    assert ours.total_bytes == theirs.total_bytes
    assert there.check().drop("statement").equals(local.check().drop("statement"))
    assert there.log(limit=None).equals(local.log(limit=None))
    assert there.find("id = 7").tables()["num_rows"].to_list() == [3, 2, 1, None]


def test_a_lock_of_a_bucket_is_verified_with_its_options(bucket: Bucket, tmp_path: Path) -> None:
    write(tmp_path / "db" / "photos.lance", [1])
    there = lx.open_database(bucket.copy(tmp_path / "db", "locked"), bucket.options)
    text = there.lock()
    assert there.verify(text)
    assert "do-not-show" not in text + repr(there) + there.answer.json()
    write(tmp_path / "db" / "photos.lance", [2], "overwrite")
    assert there.refresh().verify(text)


def test_other_processes_look_at_many_tables_with_the_options(
    bucket: Bucket, tmp_path: Path
) -> None:
    for number in range(30):  # more than one process looks at
        write(tmp_path / "db" / f"t{number:02}.lance", [number])
    there = lx.open_database(bucket.copy(tmp_path / "db", "many"), bucket.options)
    local = lx.open_database(tmp_path / "db")
    assert there.tables().drop("uri").equals(local.tables().drop("uri"))
    assert there.tables()["problem"].null_count() == 30


def test_a_lancedb_connection_to_a_bucket_brings_its_options(
    bucket: Bucket, tmp_path: Path
) -> None:
    uri = bucket.copy(made(tmp_path / "db"), "connected")
    options = dict(bucket.options)
    database = lx.open_database(lancedb.connect(uri, storage_options=options))
    given = lx.open_database(uri, bucket.options)
    assert database.disk_usage().other_files == given.disk_usage().other_files
    assert database.tables().equals(given.tables())
    calls = database.cleanup_preview(older_than=timedelta(0)).code
    code = lx.widgets.DatabaseExplorer(database, follow=False).code()
    for text in (calls, code):
        assert "storage_options=storage_options" in text
        assert "do-not-show" not in text
        names: dict[str, object] = {}
        filled = text.replace("...", "''")
        line = next(one for one in filled.splitlines() if one.startswith("storage_options = "))
        exec(line, names)
        assert sorted(names["storage_options"]) == sorted(options)  # type: ignore[call-overload]
    exec(calls.replace("storage_options = {", "other = {"), {"storage_options": options})
    assert lx.open_database(uri, bucket.options)["photos"].versions().height == 1
