"""A bucket that all tests of a worker share."""

from collections.abc import Iterator

import pytest

from tests.remote.bucket import Bucket


@pytest.fixture(scope="session", autouse=True)
def no_other_way_in() -> Iterator[None]:
    """Let nothing of the environment lead to an object store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        for name in ("AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def bucket(no_other_way_in: None) -> Iterator[Bucket]:
    server = Bucket()
    yield server
    server.stop()
