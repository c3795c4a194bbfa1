"""One Spark session for all tests: two tasks at a time, four attempts at each."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.register_assert_rewrite("tests.spark.engines")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a session."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session", autouse=True)
def readable_overlays() -> Iterator[None]:
    """Let pylance read and write overlays, here and in the workers of Spark."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
        yield


@pytest.fixture(scope="session")
def event_log(tmp_path_factory) -> Path:
    """The folder where the session logs what it did, plans included."""
    folder: Path = tmp_path_factory.mktemp("events")
    return folder


@pytest.fixture(scope="session")
def spark(readable_overlays, event_log) -> Iterator[Any]:
    """The session."""
    import lance_explorer as lx

    settings = {
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": event_log.as_uri(),
        "spark.eventLog.compress": "false",
    }
    session = lx.spark.session("local[2,4]", config=settings)
    yield session
    session.stop()
