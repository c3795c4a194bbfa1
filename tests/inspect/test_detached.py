"""Detached versions against what pylance reads in them."""

import shutil

import lance
import pytest

from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.detached import detached
from tests.format.samples import DATA
from tests.inspect.tables import rows_of, stored

TABLES = ["8.0.1/detached.lance", "14.0.2/detached.lance"]


@pytest.mark.parametrize("path", TABLES)
def test_detached_versions_are_what_pylance_reads(path):
    frame = detached(stored(path))
    assert len(frame) == 2
    for row in frame.iter_rows(named=True):
        dataset = lance.dataset(DATA / path, version=row["version"])
        assert row["num_rows"] == dataset.count_rows()
        assert row["num_fragments"] == len(dataset.get_fragments())
        assert row["operation"] == "Append"
        assert row["num_deleted_rows"] == 0
        assert row["manifest_bytes"] == (DATA / path / row["path"]).stat().st_size


@pytest.mark.parametrize("path", TABLES)
def test_one_may_be_built_on_another(path):
    bases = dict(rows_of(detached(stored(path)), "version", "read_version"))
    assert 1 in bases.values()
    assert any(base in bases for base in bases.values())


def test_a_damaged_one_is_shown_without_contents(tmp_path):
    shutil.copytree(DATA / "14.0.2/detached.lance", tmp_path / "t")
    view = HistoryView.open(str(tmp_path / "t"))
    path = view.listing.detached[0].path
    (tmp_path / "t" / path).write_bytes(b"nothing of use here")
    damaged, sound = detached(HistoryView.open(str(tmp_path / "t"))).iter_rows(named=True)
    unknown = {name for name, value in damaged.items() if value is None}
    assert unknown == {
        *("branch", "timestamp", "operation", "read_version", "message"),
        *("num_fragments", "num_rows", "num_deleted_rows"),
    }
    assert (damaged["path"], damaged["manifest_bytes"]) == (path, 19)
    assert sound["num_rows"] is not None


def test_one_that_is_gone_by_now_is_shown_without_contents(tmp_path):
    shutil.copytree(DATA / "14.0.2/detached.lance", tmp_path / "t")
    view = HistoryView.open(str(tmp_path / "t"))
    (tmp_path / "t" / view.listing.detached[0].path).unlink()
    assert detached(view)["num_rows"].null_count() == 1
