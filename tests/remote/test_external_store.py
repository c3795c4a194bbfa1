"""Tables whose commits are in an external manifest store, beside pylance, which writes them."""

from collections.abc import Iterator
from datetime import timedelta

import lance
import obstore
import pyarrow as pa
import pytest
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.cli import main
from lance_explorer.errors import StorageError
from lance_explorer.widgets.code_lines import dataset_code, opening_code
from tests.remote.bucket import KEY_ID, SECRET, Bucket
from tests.remote.dynamo import STORE, Dynamo


@pytest.fixture(scope="module")
def dynamo(bucket: Bucket) -> Iterator[Dynamo]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)  # pylance takes those of the store from there
        patch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
        patch.setenv("AWS_REGION", "us-east-1")
        yield Dynamo(bucket)


def written(dynamo: Dynamo, name: str) -> None:
    dynamo.write(name, 3, "create")
    dynamo.write(name, 2)
    dynamo.write(name, 1)


def codes(table: lx.Table) -> list[str]:
    return table.inspect.findings()["code"].to_list()


def test_versions_are_those_that_pylance_sees(dynamo):
    written(dynamo, "plain.lance")
    table = dynamo.table("plain.lance")
    theirs = dynamo.read("plain.lance")
    assert table.latest.version == theirs.version == 3
    assert table.versions()["version"].to_list() == [one["version"] for one in theirs.versions()]
    assert table.at(-1).read().height == theirs.count_rows() == 6
    assert codes(table) == []
    dynamo.write("plain.lance", 4)
    table.refresh()
    assert table.latest.version == 4


def test_a_commit_that_was_not_yet_copied_is_read_where_it_is(dynamo):
    written(dynamo, "staged.lance")
    staged = dynamo.stage("staged.lance", 3)
    before = obstore.get(dynamo.bucket.store("staged.lance"), staged).bytes().to_bytes()
    table = dynamo.table("staged.lance")
    assert table.latest.version == 3
    assert codes(table) == ["commit_not_copied"]
    assert table.versions()["num_rows"].to_list() == [3, 5, 6]
    assert sorted(table.at(3).read()["a"].to_list()) == [0, 0, 0, 1, 1, 2]
    after = obstore.get(dynamo.bucket.store("staged.lance"), staged).bytes().to_bytes()
    assert after == before  # nothing was moved, nothing written
    assert (
        lx.open_table(
            dynamo.bucket.uri("staged.lance"), storage_options=dynamo.options
        ).latest.version
        == 2
    )
    assert dynamo.read("staged.lance").version == 3  # which moves it to its place
    table.refresh()
    assert table.latest.version == 3
    assert codes(table) == []


def test_a_folder_that_is_ahead_of_the_store_is_a_finding(dynamo):
    written(dynamo, "ahead.lance")
    data = pa.table({"a": [7]})
    lance.write_dataset(
        data,
        dynamo.bucket.uri("ahead.lance"),
        mode="append",
        storage_options=dynamo.bucket.options,
    )
    table = dynamo.table("ahead.lance")
    assert table.latest.version == dynamo.read("ahead.lance").version == 3
    [finding] = table.inspect.findings().rows(named=True)
    assert finding["code"] == "versions_not_in_store"
    assert "has 1 version after 3" in finding["statement"]
    assert table.check(severity="error")["code"].to_list() == ["versions_not_in_store"]


def test_a_latest_version_without_manifest_is_a_finding(dynamo):
    written(dynamo, "lost_rows.lance")
    path = dynamo.item("lost_rows.lance", 3)["path"]["S"].removeprefix("lost_rows.lance/")
    obstore.delete(dynamo.bucket.store("lost_rows.lance"), path)
    with pytest.raises(ValueError, match="not found"):
        dynamo.read("lost_rows.lance")
    table = dynamo.table("lost_rows.lance")
    assert table.latest.version == 2
    assert codes(table) == ["latest_manifest_missing"]


def test_a_manifest_of_another_size_is_a_finding(dynamo):
    written(dynamo, "sizes.lance")
    item = dynamo.item("sizes.lance", 2)
    dynamo.put({**item, "size": {"N": "1"}})
    assert codes(dynamo.table("sizes.lance")) == ["manifest_of_other_size"]


def test_versions_that_were_cleaned_up_stay_in_the_store_and_are_no_finding(dynamo):
    written(dynamo, "cleaned.lance")
    dynamo.read("cleaned.lance").cleanup_old_versions(older_than=timedelta(0))
    assert dynamo.item("cleaned.lance", 1)["version"] == {"N": "1"}
    table = dynamo.table("cleaned.lance")
    assert table.versions()["version"].to_list() == [3]
    assert codes(table) == []


def test_branches_have_versions_of_their_own_in_the_store(dynamo):
    written(dynamo, "forked.lance")
    dynamo.read("forked.lance").create_branch("dev")
    uri = dynamo.uri("forked.lance").replace("forked.lance", "forked.lance/tree/dev")
    lance.write_dataset(pa.table({"a": [9]}), uri, mode="append", storage_options=dynamo.options)
    dynamo.stage("forked.lance/tree/dev", 4)
    branch = dynamo.table("forked.lance", branch="dev")
    assert branch.latest.version == 4
    assert branch.at(4).num_rows == 7
    assert branch.at(3).read().height == 6
    assert codes(branch) == ["commit_not_copied"]


def test_a_table_that_the_store_does_not_know_has_its_folder(dynamo):
    lance.write_dataset(
        pa.table({"a": [1]}),
        dynamo.bucket.uri("folder.lance"),
        storage_options=dynamo.bucket.options,
    )
    table = dynamo.table("folder.lance")
    assert table.latest.version == 1
    assert codes(table) == []


def test_a_store_that_does_not_exist_is_named_without_credentials(dynamo):
    uri = dynamo.uri("plain.lance").replace(STORE, "elsewhere")
    with pytest.raises(StorageError, match="'elsewhere' cannot be read") as caught:
        lx.open_table(uri, storage_options=dynamo.options)
    assert SECRET not in str(caught.value)
    assert KEY_ID not in str(caught.value)


def test_a_ledger_records_it_and_outlives_a_cleanup(dynamo, tmp_path):
    written(dynamo, "recorded.lance")
    dynamo.stage("recorded.lance", 3)
    uri, ledger = dynamo.uri("recorded.lance"), lx.Ledger(tmp_path / "ledger")
    added = ledger.record(uri, storage_options=dynamo.options)
    assert added.select("new_versions", "last_version").rows() == [(3, 3)]
    before = dynamo.table("recorded.lance").versions().drop("known_from")
    dynamo.write("recorded.lance", 1)
    dynamo.read("recorded.lance").cleanup_old_versions(timedelta(0))
    assert dynamo.table("recorded.lance").versions()["version"].to_list() == [4]
    again = dynamo.table("recorded.lance", ledger=ledger)
    assert again.versions().drop("known_from")[:3].equals(before)
    ledger.record(again)
    assert ledger.open("recorded.lance").versions()["version"].to_list() == [1, 2, 3, 4]


def test_the_command_records_it_by_what_the_environment_says(dynamo, tmp_path, monkeypatch):
    written(dynamo, "commanded.lance")
    monkeypatch.setenv("AWS_ENDPOINT", dynamo.endpoint)
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    monkeypatch.setenv("DYNAMODB_ENDPOINT", dynamo.endpoint)
    uri = dynamo.uri("commanded.lance")
    told = CliRunner().invoke(main, ["record", uri, "--ledger", str(tmp_path)])
    assert told.exit_code == 0, told.output
    assert lx.Ledger(tmp_path).tables()["versions"].to_list() == [3]


def test_code_that_views_show_opens_it_with_the_store(dynamo):
    written(dynamo, "coded.lance")
    table = dynamo.table("coded.lance")
    for code in (opening_code(table, "table"), dataset_code(table, "dataset")):
        assert f'"{dynamo.uri("coded.lance")}"' in code
