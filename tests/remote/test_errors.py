"""What goes wrong with an object store is one clear error, which lets nobody in."""

import pytest

import lance_explorer as lx
from lance_explorer.errors import InvalidArgumentError, StorageError, TableNotFoundError
from tests.format.samples import DATA
from tests.remote.bucket import SECRET, Bucket
from tests.remote.faults import faulty_server

QUICK = {"client_max_retries": "1", "client_retry_timeout": "60", "connect_timeout": "30s"}

FORBIDDEN = (
    "<Error><Code>SignatureDoesNotMatch</Code><Message>no</Message>"
    f"<AWSAccessKeyId>{SECRET}</AWSAccessKeyId></Error>"
)


def opening_fails(options: dict[str, str], error: type[Exception], match: str) -> str:
    """Check how opening fails, and that the error shows no secret; return its message."""
    with pytest.raises(error, match=match) as failure:
        lx.open_table("s3://tables/t.lance", storage_options=options)
    shown: BaseException | None = failure.value
    while shown is not None:
        assert SECRET not in f"{shown!r} {shown}"
        shown = None if shown.__suppress_context__ else shown.__cause__ or shown.__context__
    assert "\n" not in str(failure.value)
    return str(failure.value)


def test_a_missing_table(bucket: Bucket):
    bucket.copy(DATA / "14.0.2" / "one_version.lance", "folder/a.lance")
    with pytest.raises(TableNotFoundError, match=r"s3://tables/missing\.lance: it has no _vers"):
        bucket.table("missing.lance")
    with pytest.raises(TableNotFoundError, match=r"s3://tables/folder .* holds 1: a\.lance"):
        bucket.table("folder")


def test_a_missing_bucket(bucket: Bucket):
    with pytest.raises(StorageError, match=r"s3://nowhere/t\.lance/_versions: .*NoSuchBucket"):
        lx.open_table("s3://nowhere/t.lance", storage_options=bucket.options)


def test_no_permission(bucket: Bucket):
    with faulty_server(403, FORBIDDEN) as faulty:
        options = {**bucket.options, "aws_endpoint": faulty.endpoint}
        opening_fails(options, StorageError, "SignatureDoesNotMatch; check the credentials")
        assert faulty.requests == 1


def test_requests_that_fail_are_made_again(bucket: Bucket):
    with faulty_server(503, failures=2) as faulty:
        options = {**bucket.options, "aws_endpoint": faulty.endpoint}
        opening_fails(options, TableNotFoundError, "it has no _versions folder")
        assert faulty.requests == 4  # two listings


def test_requests_that_go_on_failing_are_given_up(bucket: Bucket):
    with faulty_server(500, "<Error><Code>InternalError</Code></Error>") as faulty:
        options = {**bucket.options, **QUICK, "aws_endpoint": faulty.endpoint}
        opening_fails(options, StorageError, r"_versions: .* after 1 retries.*; InternalError")
        assert faulty.requests == 2


def test_a_host_that_cannot_be_reached(bucket: Bucket):
    options = {**bucket.options, **QUICK, "aws_endpoint": "http://127.0.0.1:1"}
    opening_fails(options, StorageError, r"cannot read s3://tables/t\.lance/_versions: ")


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"timeout": "soon"}, "soon"),
        ({"client_max_retries": "many"}, "many"),
        ({"aws_endpoint": "not a url"}, "expected a URL without password for aws_endpoint"),
        ({"aws_endpoint": f"http://me:{SECRET}@127.0.0.1"}, "expected a URL without password"),
        ({"allow_http": True}, "storage_options is a mapping of text to text, and at 'allow_http'"),
    ],
    ids=str,
)
def test_an_option_that_cannot_be(bucket: Bucket, wrong, match):
    opening_fails({**bucket.options, **wrong}, InvalidArgumentError, match)


def test_http_must_be_allowed(bucket: Bucket):
    options = {name: value for name, value in bucket.options.items() if name != "allow_http"}
    opening_fails(options, StorageError, 'an endpoint without TLS needs allow_http="true"')


def test_options_of_pylance_alone_are_passed_over(bucket: Bucket):
    options = {**bucket.options, "download_retry_count": "3", "new_table_enable": "x"}
    opening_fails(options, TableNotFoundError, "no Lance table")


@pytest.mark.parametrize(
    "uri", ["s3://key:hush@tables/t", "s3://tables/t?sig=hush", "az://c/t?s=h"]
)
def test_a_uri_that_lets_in_is_refused(uri):
    with pytest.raises(InvalidArgumentError, match="use storage_options") as refused:
        lx.open_table(uri)
    assert "hush" not in str(refused.value)


def test_a_file_of_values_that_is_missing(bucket: Bucket):
    name = "no_values.lance"
    bucket.copy(DATA / "14.0.2" / "one_version.lance", name)
    table = bucket.table(name)
    store = bucket.store(name)
    for found in store.list().collect():
        if found["path"].startswith("data/"):
            store.delete(found["path"])
    with pytest.raises(StorageError, match="cannot be read") as failure:
        table.latest.read()
    assert SECRET not in str(failure.value)
    assert failure.value.__cause__ is None
