"""An object store may take long, but not pause; one that never answers is given up soon."""

import os

import pytest

from lance_explorer.errors import StorageError
from lance_explorer.storage import objects as objects_module
from lance_explorer.storage import open_storage
from lance_explorer.storage.limits import with_limits
from lance_explorer.values import read_rows
from lance_explorer.values.opening import options_of
from tests.remote.bucket import Bucket
from tests.remote.faults import breaking_server, faulty_server, silent_server

SOON = {"read_timeout": "100ms", "client_max_retries": "0"}
CHUNK = objects_module._CHUNK_BYTES


def seconds(limits: dict[str, str], name: str) -> float:
    return float(limits[name].removesuffix("s"))


def test_a_store_that_never_answers_is_asked_once_and_for_less_than_ten_seconds():
    limits = with_limits({})
    for name in ("connect_timeout", "read_timeout"):
        assert seconds(limits, "client_retry_timeout") < seconds(limits, name) < 10


def test_a_whole_answer_may_take_as_long_as_it_likes():
    assert with_limits({})["timeout"] == "1day"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"timeout": "2m"}, {"timeout": "2m", "read_timeout": None}),
        ({"timeout": "2m", "read_timeout": "9s"}, {"timeout": "2m", "read_timeout": "9s"}),
        ({"connect_timeout": "1m"}, {"connect_timeout": "1m", "read_timeout": "1m"}),
        ({"connect_timeout": "500ms"}, {"connect_timeout": "500ms", "read_timeout": "8s"}),
        ({"CONNECT_TIMEOUT": "3s"}, {"connect_timeout": "3s"}),
        ({"client_max_retries": "9"}, {"client_max_retries": "9", "client_retry_timeout": "180"}),
        ({"client_retry_timeout": "60"}, {"client_retry_timeout": "60", "read_timeout": "8s"}),
    ],
    ids=str,
)
def test_options_of_the_user_win(options, expected):
    limits = with_limits(options)
    assert {name: limits.get(name) for name in expected} == expected


def test_pylance_gets_the_same_limits_for_object_stores_alone():
    assert options_of("s3://bucket/t.lance", {"timeout": "2m"}) == with_limits({"timeout": "2m"})
    assert options_of("s3://bucket/t.lance", None) == with_limits({})
    assert options_of("/tmp/t.lance", {}) is None


def test_an_endpoint_that_is_silent(bucket: Bucket):
    with silent_server() as endpoint:
        options = {**bucket.options, **SOON, "aws_endpoint": endpoint}
        storage = open_storage("s3://tables/t.lance", options)
        for ask in (lambda: storage.list_files("a"), lambda: storage.get_range("a", 1, 2)):
            with pytest.raises(
                StorageError, match=r'within read_timeout="100ms".* a longer read_t'
            ):
                ask()
        with pytest.raises(StorageError, match=r"longer read_timeout, connect_timeout or client_r"):
            read_rows("s3://tables/t.lance", 1, storage_options=options)


def test_a_total_limit_of_the_user_is_named_where_it_ended_it(bucket: Bucket):
    with silent_server() as endpoint:
        options = {**bucket.options, "aws_endpoint": endpoint, "timeout": "100ms"}
        storage = open_storage("s3://tables/t.lance", {**options, "client_max_retries": "0"})
        with pytest.raises(StorageError, match=r'within timeout="100ms".* set a longer timeout'):
            storage.get("a")


def test_an_endpoint_where_nothing_listens(bucket: Bucket):
    options = {**bucket.options, "aws_endpoint": "http://127.0.0.1:1", "client_max_retries": "0"}
    with pytest.raises(StorageError, match="nothing answers there: check the endpoint"):
        open_storage("s3://tables/t.lance", options).list_files("")


def test_requests_that_were_made_again_in_vain_name_the_option(bucket: Bucket):
    with faulty_server(503) as faulty:
        options = {**bucket.options, "aws_endpoint": faulty.endpoint, "client_max_retries": "1"}
        with pytest.raises(StorageError, match="set more client_max_retries or a longer client_r"):
            open_storage("s3://tables/t.lance", options).list_files("")


def test_after_silence_nothing_is_asked_for_a_while(bucket: Bucket, monkeypatch):
    monkeypatch.setattr(objects_module, "_GONE_SECONDS", 1e6)
    with silent_server() as endpoint:
        options = {**bucket.options, **SOON, "aws_endpoint": endpoint}
        storage = open_storage("s3://tables/t.lance", options)
        with pytest.raises(StorageError, match="read_timeout"):
            storage.get("a")
    # Nothing listens there any more, which would be told otherwise.
    with pytest.raises(StorageError, match=r"t\.lance/b: .*no data came within read_timeout"):
        storage.get("b")


def test_an_answer_that_breaks_off_is_gone_on_with(bucket: Bucket):
    data = os.urandom(4 * CHUNK)
    with breaking_server(data, [2 * CHUNK, CHUNK]) as server:
        options = {**bucket.options, "aws_endpoint": server.endpoint, "client_max_retries": "0"}
        assert open_storage("s3://tables/t.lance", options).get("a") == data
    assert len(server.asked) == 3
    assert {condition for _, condition in server.asked[1:]} == {'"this-one"'}
    starts = [
        int(asked.removeprefix("bytes=").rstrip("-")) for asked, _ in server.asked[1:] if asked
    ]
    assert 0 < starts[0] <= 2 * CHUNK
    assert starts[0] < starts[1] <= 3 * CHUNK


def test_a_part_that_breaks_off_is_gone_on_with(bucket: Bucket):
    data = os.urandom(4 * CHUNK)
    with breaking_server(data, [2 * CHUNK]) as server:
        options = {**bucket.options, "aws_endpoint": server.endpoint, "client_max_retries": "0"}
        storage = open_storage("s3://tables/t.lance", options)
        assert storage.get_range("a", 10, 3 * CHUNK) == data[10 : 10 + 3 * CHUNK]
    assert len(server.asked) == 2


def test_an_answer_that_breaks_off_before_anything_came_is_given_up(bucket: Bucket):
    with breaking_server(bytes(CHUNK), [0] * 10) as server:
        options = {**bucket.options, "aws_endpoint": server.endpoint, "client_max_retries": "0"}
        with pytest.raises(StorageError, match="check the endpoint, or set a longer"):
            open_storage("s3://tables/t.lance", options).get("a")
    assert len(server.asked) == 1
