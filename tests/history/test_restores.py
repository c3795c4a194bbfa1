"""What a restore went back to, and the line of history that a detached version belongs to."""

from typing import Any

import lance
import pyarrow as pa
import pytest

from lance_explorer.history.restores import detached_line, ordinary_version, restored_version
from lance_explorer.history.view import HistoryView
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable
from tests.synthetic.folders import DETACHED


def test_only_a_restore_has_a_restored_version(tmp_path):
    table = SyntheticTable(tmp_path).append().append().restore(1).append()
    view = HistoryView(str(table.path))
    restored = [restored_version(view, record) for record in view.history.records]
    assert restored == [None, None, 1, None]


def test_a_detached_version_belongs_to_the_one_it_was_built_on_over_others():
    view = HistoryView(str(DATA / "14.0.2" / "detached.lance"))
    detached = [file.version for file in view.listing.detached]
    headers = [view.version(version).records[0].transaction for version in detached]
    read_versions = {stored.header.read_version for stored in headers if stored}
    assert {ordinary_version(view, version) for version in detached} == {1} < read_versions


def test_a_detached_write_in_place_was_not_built_on_what_was_built_on_it(tmp_path):
    uri = str(tmp_path / "t.lance")
    dataset: Any = lance.write_dataset(pa.table({"key": [0, 1], "a": [5, 6]}), uri)
    [fragment] = dataset.get_fragments()
    data = pa.table({"key": [1], "a": [7]})
    written, fields = fragment.update_columns(data, "key", "key")
    update = lance.LanceOperation.Update(updated_fragments=[written], fields_modified=fields)
    commit = lance.LanceDataset.commit
    first = commit(dataset, update, read_version=1, detached=True)
    changed = lance.LanceOperation.UpdateConfig(lance.LanceOperation.UpdateMap({"a": "b"}))
    commit(first, changed, read_version=1, detached=True)
    lance.dataset(uri).checkout_version(first.version).restore()
    view = HistoryView(uri)
    assert detached_line(view, first.version) == ([first.version], 1)


def test_a_detached_delete_was_built_on_a_version_with_all_that_it_took_out(tmp_path):
    uri = str(tmp_path / "t.lance")
    for key in (0, 1, 2):
        lance.write_dataset(pa.table({"key": [key]}), uri, mode="append" if key else "create")
    dataset = lance.dataset(uri)
    delete = lance.LanceOperation.Delete([], [1, 2], "key > 0")
    detached = lance.LanceDataset.commit(dataset, delete, read_version=1, detached=True)
    assert detached_line(HistoryView(uri), detached.version) == ([detached.version], 3)


@pytest.mark.parametrize("version", [0, 7, DETACHED - 1])
def test_an_ordinary_version_is_itself_kept_or_not(tmp_path, version):
    view = HistoryView(str(SyntheticTable(tmp_path).append().path))
    assert ordinary_version(view, version) == version


def test_a_detached_version_that_is_gone_tells_nothing(tmp_path):
    view = HistoryView(str(SyntheticTable(tmp_path).append().path))
    assert ordinary_version(view, DETACHED | 5) is None


def test_detached_versions_that_were_built_on_one_another_tell_nothing(tmp_path):
    table = SyntheticTable(tmp_path).append()
    table.commit("append", read_version=DETACHED | 2).detach(1)
    table.commit("append", read_version=DETACHED | 1).detach(2)
    view = HistoryView(str(table.path))
    assert ordinary_version(view, DETACHED | 1) is None
