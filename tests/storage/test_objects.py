"""Which options reach which object store, and what is read ahead; nothing here uses a network."""

import base64
from concurrent.futures import Future
from typing import Any

import pytest
from obstore.store import AzureStore, GCSStore, S3Store

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.storage import FilePart, LocalStorage, open_beside, open_storage, reading_ahead
from lance_explorer.storage.ahead import ReadAhead, has_room
from lance_explorer.storage.objects import ObjectStorage, _is_config
from lance_explorer.storage.secrets import without_secrets

KEY = base64.b64encode(b"hush, hush").decode()


@pytest.fixture(autouse=True)
def nothing_from_the_environment(monkeypatch):
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AZURE_STORAGE_ACCOUNT_NAME"):
        monkeypatch.delenv(name, raising=False)


def config(uri: str, **options: str) -> dict[str, Any]:
    """Return what a store was told."""
    storage = open_storage(uri, options)
    assert isinstance(storage, ObjectStorage)
    return dict(storage._store.config)


@pytest.mark.parametrize("prefix", ["", "aws_", "AWS_"])
def test_s3_takes_the_names_that_pylance_takes(prefix):
    names = ("access_key_id", "secret_access_key", "session_token", "region", "endpoint")
    told = config(
        "s3://bucket/t.lance",
        **{f"{prefix}{name}": f"http://{name}" for name in names},
        allow_http="true",
    )
    assert {name: told[f"aws_{name}" if f"aws_{name}" in told else name] for name in names} == {
        name: f"http://{name}" for name in names
    }


@pytest.mark.parametrize("name", ["google_service_account_key", "service_account_key"])
def test_google_takes_the_names_that_pylance_takes(name):
    with pytest.raises(InvalidArgumentError, match="missing field `private_key`"):
        config("gs://bucket/t.lance", **{name: '{"client_email": "a@b.c"}'})


@pytest.mark.parametrize("uri", ["az://box/t.lance", "abfss://box@acc.dfs.core.windows.net/t"])
@pytest.mark.parametrize("name", ["account_key", "azure_storage_account_key"])
def test_azure_takes_the_names_that_pylance_takes(uri, name):
    told = config(uri, account_name="acc", **{name: KEY})
    assert {"acc", KEY, "box"} <= {*map(str, told.values())}


ALIASES = {
    S3Store: """
        access_key_id secret_access_key default_region region bucket endpoint endpoint_url
        session_token token virtual_hosted_style_request unsigned_payload skip_signature
        imdsv1_fallback metadata_endpoint container_credentials_relative_uri checksum_algorithm
        s3_express request_payer disable_tagging server_side_encryption sse_kms_key_id
        sse_bucket_key_enabled sse_customer_key_base64
    """,
    GCSStore: """
        google_service_account service_account google_service_account_path service_account_path
        google_service_account_key service_account_key google_application_credentials
        google_skip_signature skip_signature google_bucket google_bucket_name bucket bucket_name
    """,
    AzureStore: """
        azure_storage_account_name account_name azure_storage_account_key azure_storage_access_key
        azure_storage_master_key access_key account_key master_key azure_storage_client_id
        azure_client_id client_id azure_storage_client_secret azure_client_secret client_secret
        azure_storage_tenant_id azure_storage_authority_id azure_tenant_id azure_authority_id
        tenant_id authority_id azure_storage_sas_key azure_storage_sas_token sas_key sas_token
        azure_storage_token bearer_token token azure_storage_use_emulator use_emulator
        azure_storage_endpoint azure_endpoint endpoint azure_msi_endpoint azure_identity_endpoint
        identity_endpoint msi_endpoint azure_object_id object_id azure_msi_resource_id
        msi_resource_id azure_federated_token_file federated_token_file azure_use_azure_cli
        use_azure_cli azure_skip_signature skip_signature azure_container_name container_name
        azure_disable_tagging disable_tagging azure_use_fabric_endpoint use_fabric_endpoint
    """,
}
"""The names of options that the library below pylance takes."""


@pytest.mark.parametrize(
    ("kind", "names"), ALIASES.items(), ids=lambda k: getattr(k, "__name__", "")
)
def test_every_name_of_an_option_is_known_and_others_are_passed_over(kind, names):
    assert {name: _is_config(kind, name) for name in names.split()} == dict.fromkeys(
        names.split(), True
    )
    assert not _is_config(kind, "download_retry_count")


@pytest.mark.parametrize(
    ("uri", "options", "match"),
    [
        ("az://box/t.lance", {}, "Account must be specified"),
        ("az://box/t.lance", {"account_name": "a", "account_key": "!"}, "Invalid Access Key"),
        ("gs://bucket/t", {"google_service_account": "/none.json"}, "/none.json: No such file"),
        ("s3:///t.lance", {}, "Unable to recognise URL"),
    ],
)
def test_what_a_store_cannot_use_is_refused(uri, options, match):
    with pytest.raises(InvalidArgumentError, match=match):
        open_storage(uri, options)


def test_options_never_show():
    storage = open_storage("az://box/t.lance", {"account_name": "acc", "account_key": KEY})
    assert repr(storage) == "ObjectStorage('az://box/t.lance')"


@pytest.mark.parametrize(
    "name",
    "secret_access_key session_token aws_access_key_id google_service_account_key account_key "
    "azure_storage_sas_key bearer_token client_secret sse_customer_key_base64 proxy_url".split(),
)
def test_values_that_let_in_are_left_out_of_texts(name):
    assert without_secrets("it says hush twice: hush", {name: "hush"}) == ("it says *** twice: ***")


@pytest.mark.parametrize("name", ["aws_endpoint", "region", "timeout", "account_name"])
def test_other_values_show(name):
    assert without_secrets("it says west", {name: "west"}) == "it says west"


def test_a_switch_is_no_secret():
    assert without_secrets("true", {"skip_signature": "true"}) == "true"


def test_queries_are_left_out():
    assert (
        without_secrets("GET https://h/b?sv=1&sig=hush in 1 s", {}) == "GET https://h/b?... in 1 s"
    )


def test_another_root_is_opened_once_and_let_in_like_the_first(tmp_path):
    options = {"account_name": "acc", "account_key": KEY}
    storage = open_storage(tmp_path, options, allow_bases=["az://box"])
    other = open_beside(storage, "az://box/other")
    assert (other.options, other.io) == (options, storage.io)
    assert open_beside(storage, "az://box/other") is other
    assert open_beside(other, "az://box/other") is other


# ------------------------------------------------------------------------------- reading ahead

PARTS = [FilePart(name) for name in "abcde"]


class Reader:
    """Notes what is begun to be read."""

    def __init__(self) -> None:
        self.begun: list[str] = []

    def submit(self, part: FilePart) -> Future[bytes]:
        self.begun.append(part.path)
        future: Future[bytes] = Future()
        future.set_result(part.path.encode())
        return future


@pytest.fixture
def reader() -> Reader:
    return Reader()


def taken(ahead: ReadAhead, name: str) -> bytes | None:
    future = ahead.take(FilePart(name))
    return None if future is None else future.result()


def test_some_are_begun_and_one_more_for_each_that_is_taken(reader):
    ahead = ReadAhead(reader.submit, PARTS, 2)
    assert reader.begun == ["a", "b"]
    assert [taken(ahead, "a"), reader.begun] == [b"a", ["a", "b", "c"]]


def test_each_is_read_once(reader):
    ahead = ReadAhead(reader.submit, PARTS * 2, 2)
    assert [taken(ahead, part.path) for part in PARTS] == [b"a", b"b", b"c", b"d", b"e"]
    assert reader.begun == [*"abcde"]
    assert taken(ahead, "a") is None


def test_what_comes_before_its_turn_is_left_to_who_asks(reader):
    ahead = ReadAhead(reader.submit, PARTS, 1)
    assert taken(ahead, "c") is None
    assert [taken(ahead, name) for name in "abde"] == [b"a", b"b", b"d", b"e"]
    assert "c" not in reader.begun


def test_large_parts_are_begun_as_far_as_they_fit_into_memory(reader):
    parts = [FilePart(name, 0, 40 << 20) for name in "abcde"]
    ahead = ReadAhead(reader.submit, parts, 4)
    assert reader.begun == ["a", "b"]
    ahead.take(parts[0])
    assert reader.begun == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("sizes", "is_there"),
    [([], True), ([1 << 40], False), ([1, 1], True), ([1] * 4, False), ([32 << 20] * 2, False)],
)
def test_there_is_room_for_some_parts_and_for_some_bytes(sizes, is_there):
    assert has_room(sizes, 4) == is_there


def test_nothing_is_begun_after_the_end(reader):
    ahead = ReadAhead(reader.submit, PARTS, 1)
    ahead.cancel()
    ahead.take(PARTS[0])
    assert reader.begun == ["a"]


def test_local_files_are_read_when_they_are_asked_for(tmp_path):
    storage = LocalStorage(tmp_path)
    with reading_ahead([(storage, part) for part in PARTS]):
        assert storage.io.requests == 0
