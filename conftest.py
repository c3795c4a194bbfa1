"""One Spark session for examples and tests, and the names that examples in docstrings may use.

The names are ``lx``, ``table``, a small table, ``database``, which has it alone, ``ledger``, which
has recorded it, ``folder``, which is empty, and ``spark``.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ["LANCE_EXPLORER_CACHE"] = "off"  # what a test reads, no other one has kept

JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java ends before thorough compiling would pay: with these, it and Python compute 40 % less."""
os.environ["SPARK_LAUNCHER_OPTS"] = os.environ["SPARK_SUBMIT_OPTS"] = JAVA_OPTIONS
os.environ["SPARK_DAEMON_JAVA_OPTS"] = JAVA_OPTIONS

COUNTING = Path(__file__).parent / "tests" / "spark" / "counting"
"""The folder of what notes which files of tables the Python of Spark opens."""


@pytest.fixture(scope="session")
def example_names(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the names; the table is written once, when an example first runs."""
    import lance_explorer as lx

    path = tmp_path_factory.mktemp("examples") / "db" / "people.lance"
    path.parent.mkdir()
    write_people(path)
    ledger = lx.Ledger(path.parent.with_name("ledger"))
    ledger.record(path)
    return {
        "lx": lx,
        "table": lx.open_table(path),
        "database": lx.open_database(path.parent),
        "ledger": ledger,
    }


@pytest.fixture(scope="session")
def spark_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where the session logs what it did, and its processes what they opened."""
    folder: Path = tmp_path_factory.mktemp("spark")
    (folder / "events").mkdir()
    return folder


@pytest.fixture(scope="session")
def spark(spark_folder: Path) -> Iterator[Any]:
    """Return a session that does two tasks at a time, and four attempts at each."""
    import lance_explorer as lx

    config = {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": (spark_folder / "events").as_uri(),
        "spark.eventLog.compress": "false",
    }
    path = os.pathsep.join([str(COUNTING), *filter(None, [os.environ.get("PYTHONPATH")])])
    with pytest.MonkeyPatch.context() as environment:  # Java takes it when it starts
        environment.setenv("PYTHONPATH", path)
        environment.setenv("LANCE_EXPLORER_OPENED", str(spark_folder / "opened.log"))
        environment.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
        session = lx.spark.session("local[2,4]", config=config)
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def _name_examples(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any]) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        doctest_namespace.update(request.getfixturevalue("example_names"))
        doctest_namespace["folder"] = request.getfixturevalue("tmp_path")
        if any("spark" in example.source for example in request.node.dtest.examples):
            doctest_namespace["spark"] = request.getfixturevalue("spark")


def write_people(path: Path) -> None:
    """Write a table of seven versions, one kind of commit each, with a tag and a branch."""
    import lance
    import pyarrow as pa

    def people(*ids: int) -> pa.Table:
        return pa.table(
            {
                "id": pa.array(ids, pa.int64()),
                "city": [f"city {id_ % 3}" for id_ in ids],
                "mood": pa.array([id_ % 2 for id_ in ids], pa.int32()),
            }
        )

    table: Any = lance.write_dataset(
        people(1, 2, 3, 4), path, enable_stable_row_ids=True, data_storage_version="2.1"
    )
    table.insert(people(5, 6))
    upsert = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    upsert.execute(people(3, 7, 8, 9, 10))
    table.delete("id = 2")
    table.create_scalar_index("id", "BTREE")
    table.update_config({"owner": "docs"})
    table.alter_columns({"path": "mood", "name": "score"})
    table.tags.create("clean", 4)
    table.create_branch("dev", 2)
