"""Marks, and what this process reads as the workers of Spark do."""

from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite("tests.spark.engines")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that need a session."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session", autouse=True)
def readable_overlays() -> Iterator[None]:
    """Let pylance read and write overlays."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
        yield
