"""Tables of namespaces that manage versions, beside pylance, which commits through them."""

from pathlib import Path
from typing import Any

import lance
import lance.namespace
import lance_namespace
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import StorageError

TABLE = ["photos"]


class Recording(lance_namespace.LanceNamespace):
    """A namespace that records commits, and leaves their manifests where they were staged."""

    def __init__(self, root: Path) -> None:
        self.inner = lance.namespace.DirectoryNamespace(
            root=str(root), table_version_tracking_enabled="true"
        )
        self.recorded: dict[int, dict[str, Any]] = {}
        self.is_broken = False

    def namespace_id(self) -> str:
        return "recording"

    def declare_table(self, request: Any) -> Any:
        return self.inner.declare_table(request)

    def describe_table(self, request: Any) -> Any:
        return self.inner.describe_table(request)

    def create_table_version(self, request: Any) -> Any:
        names = ("version", "manifest_path", "manifest_size", "e_tag")
        self.recorded[request["version"]] = {name: request[name] for name in names}
        return {"version": self.recorded[request["version"]]}

    def list_table_versions(self, request: Any) -> Any:
        if self.is_broken:
            raise RuntimeError("out of order")
        asked = request if isinstance(request, dict) else request.to_dict()
        newest = sorted(self.recorded, reverse=True)[: asked["limit"]]
        return lance_namespace.ListTableVersionsResponse.model_validate(
            {"versions": [self.recorded[version] for version in newest]}
        )

    def describe_table_version(self, request: Any) -> Any:
        return {"version": self.recorded[request["version"]]}


def written(namespace: Any) -> Any:
    """Write three versions, and return the table as it was after the last."""
    for mode in ("create", "append", "append"):
        dataset = lance.write_dataset(
            pa.table({"a": [1, 2]}), namespace_client=namespace, table_id=TABLE, mode=mode
        )
    return dataset


def versions(dataset: Any) -> list[int]:
    return [one["version"] for one in dataset.versions()]


def test_a_directory_that_tracks_versions(tmp_path):
    namespace = lance.namespace.DirectoryNamespace(
        root=str(tmp_path), table_version_tracking_enabled="true"
    )
    written(namespace)
    dataset = lance.dataset(namespace_client=namespace, table_id=TABLE)
    for table in (lx.open_table(dataset), lx.open_table(dataset.uri)):
        assert table.versions()["version"].to_list() == versions(dataset) == [1, 2, 3]
        assert table.inspect.findings().is_empty()
        assert table.latest.read().height == dataset.count_rows() == 6


def test_a_commit_that_only_the_namespace_knows(tmp_path):
    namespace = Recording(tmp_path)
    written(namespace)
    listed = lx.open_table(tmp_path / "photos.lance")
    assert listed.versions()["version"].to_list() == [1, 2]  # nobody tells the folder of the third
    dataset = lance.dataset(namespace_client=namespace, table_id=TABLE)
    table = lx.open_table(dataset)
    assert table.versions()["version"].to_list() == versions(dataset) == [1, 2, 3]
    lance.write_dataset(
        pa.table({"a": [3]}), namespace_client=namespace, table_id=TABLE, mode="append"
    )
    assert table.refresh().latest.version == 4
    assert table.inspect.findings()["code"].to_list() == ["commit_not_copied"]


def test_a_namespace_that_does_not_answer_is_named(tmp_path):
    namespace = Recording(tmp_path)
    dataset = written(namespace)
    namespace.is_broken = True
    with pytest.raises(StorageError, match="does not list the versions of table 'photos': out of"):
        lx.open_table(dataset)
