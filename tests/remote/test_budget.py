"""A table in an object store may be opened with a limit on what is asked of the store."""

import pytest

from lance_explorer import open_table
from lance_explorer.errors import BudgetExceededError
from tests.format.samples import DATA
from tests.remote.bucket import Bucket

NAME = "budget.lance"


@pytest.fixture(scope="module")
def uri(bucket: Bucket) -> str:
    bucket.copy(DATA / "14.0.2" / "stable_row_ids.lance", NAME)
    return bucket.uri(NAME)


def used(bucket: Bucket, uri: str) -> tuple[int, int]:
    """Return the requests and bytes that opening the table and listing its versions takes."""
    table = open_table(uri, storage_options=bucket.options)
    table.versions()
    return table.io.requests, table.io.bytes_read


def test_what_fits_is_read(bucket, uri):
    requests, num_bytes = used(bucket, uri)
    table = open_table(
        uri, storage_options=bucket.options, max_bytes=num_bytes, max_requests=requests
    )
    expected = open_table(uri, storage_options=bucket.options).versions()
    assert table.versions().equals(expected)


def test_one_request_too_many_is_an_error(bucket, uri):
    requests, _ = used(bucket, uri)
    table = open_table(uri, storage_options=bucket.options, max_requests=requests - 1)
    with pytest.raises(BudgetExceededError, match=rf"max_requests is {requests - 1}"):
        table.versions()
    assert table.io.requests < requests


def test_manifests_that_are_too_large_together_are_not_asked_for(bucket, uri):
    requests, _ = used(bucket, uri)
    table = open_table(uri, storage_options=bucket.options, max_bytes=100)
    num_manifests = len(table._view.listing.versions)
    with pytest.raises(BudgetExceededError, match="max_bytes is 100"):
        table.versions()
    assert table.io.bytes_read == 0
    assert table.io.requests <= requests - num_manifests


def test_a_file_of_unknown_size_that_is_too_large_is_not_read(bucket, uri):
    table = open_table(uri, storage_options=bucket.options, max_bytes=10)
    with pytest.raises(BudgetExceededError, match="max_bytes is 10"):
        table._view.storage.get(table._view.listing.versions[-1].path)
    assert table.io.bytes_read == 0


def test_no_request_at_all_may_be_left(bucket, uri):
    with pytest.raises(BudgetExceededError, match="0 requests were made and 1 more are needed"):
        open_table(uri, storage_options=bucket.options, max_requests=0)


def test_local_tables_have_no_limit():
    table = open_table(DATA / "14.0.2" / "stable_row_ids.lance", max_bytes=0, max_requests=0)
    assert len(table.versions())
