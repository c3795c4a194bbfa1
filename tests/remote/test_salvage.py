"""What is left of a table in a bucket is what is left of the same one on the disk."""

import os
from pathlib import Path

import lance
import polars as pl
import pytest
from lance.file import LanceFileReader

import lance_explorer as lx
from tests.disk.test_salvage import half
from tests.remote.bucket import Bucket


def test_in_a_bucket_it_is_the_same(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = half("14.0.2/update_columns", tmp_path / "t.lance")
    uri = bucket.copy(path, "half.lance")
    left = lx.salvage(uri, bucket.options)
    assert left.to_polars().equals(lx.salvage(path).to_polars())
    assert bucket.options["aws_secret_access_key"] not in left.code
    monkeypatch.chdir(tmp_path)
    line = next(line for line in left.code.splitlines() if line.startswith("storage_options"))
    exec(left.code.replace(line, ""), {"storage_options": bucket.options})
    names = left.to_polars().filter(pl.col("note").is_null())["path"]
    rows = [LanceFileReader(os.fspath(path / name)).num_rows() for name in names]
    copies = [lance.dataset(each).count_rows() for each in tmp_path.glob("salvaged-*.lance")]
    assert sum(copies) >= sum(rows) > 0
