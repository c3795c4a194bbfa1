"""Files that cannot be reached are not checked: they are neither damaged nor lost."""

import os
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.checks.depths import Depth
from lance_explorer.disk.named_data_files import named_data_files
from lance_explorer.errors import UnreachableError
from lance_explorer.history.view import HistoryView
from tests.remote.bucket import Bucket
from tests.remote.faults import faulty_proxy

QUICK = {"client_max_retries": "1", "client_retry_timeout": "1"}


@pytest.fixture(scope="module")
def copied(bucket: Bucket, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tables") / "t.lance"
    words = [f"text {number}" for number in range(300)]
    lance.write_dataset(pa.table({"id": range(300), "w": words}), path, max_rows_per_file=100)
    lance.dataset(path).create_scalar_index("id", "BTREE")
    lance.dataset(path).create_scalar_index("w", "NGRAM")
    lance.dataset(path).delete("id % 7 = 3")
    return bucket.copy(path, "unreachable.lance")


@pytest.mark.parametrize(
    ("part", "how"),
    [("/data/", "403"), ("/data/", "cut off"), ("/_indices/", "500"), ("/_deletions/", "reset")],
)
def test_a_store_that_refuses_is_told_as_not_checked(
    bucket: Bucket, copied: str, part: str, how: str
) -> None:
    with faulty_proxy(bucket.options["aws_endpoint"], 0, 0.0, (part, how)) as endpoint:
        options = {**bucket.options, **QUICK, "aws_endpoint": endpoint}
        table = lx.open_table(copied, storage_options=options)
        found = table.check(depth="values", severity="warning")
        assert set(found["code"]) == {"not_checked"}
        if how != "cut off":  # of which pylance says no more than that
            assert found["statement"].str.contains(part, literal=True).all()
        if part != "/_indices/":
            with pytest.raises(UnreachableError):
                table.damage()


@pytest.mark.parametrize("depth", ["deep", "values"])
def test_what_was_found_before_a_file_that_cannot_be_reached_is_told(
    tmp_path: Path, depth: Depth, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": range(300)}), path, max_rows_per_file=100)
    first, _, last = [
        path / "data" / named.file.path for named in named_data_files(HistoryView.open(str(path)))
    ]
    first.write_bytes(first.read_bytes()[:-4] + b"none")
    descriptor_of = os.open

    def refused(name: str, *given: Any, **named: Any) -> int:
        if Path(name) == last:
            raise PermissionError(13, "Permission denied")
        return descriptor_of(name, *given, **named)

    monkeypatch.setattr("os.open", refused)
    found = lx.open_table(path).check(depth=depth, severity="warning")
    assert {"corrupt_data_file", "not_checked"} <= set(found["code"])
    told = found.filter(found["code"] == "not_checked")["statement"]
    assert told.str.starts_with("values could not be checked further: cannot read ").any()
