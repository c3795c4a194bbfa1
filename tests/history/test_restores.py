"""What a restore went back to, and the line of history that a detached version belongs to."""

import pytest

from lance_explorer.history.restores import ordinary_version, restored_version
from lance_explorer.history.source import TableSource
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable
from tests.synthetic.folders import DETACHED


def test_only_a_restore_has_a_restored_version(tmp_path):
    table = SyntheticTable(tmp_path).append().append().restore(1).append()
    source = TableSource(str(table.path))
    restored = [restored_version(source, record) for record in source.history.records]
    assert restored == [None, None, 1, None]


def test_a_detached_version_belongs_to_the_one_it_was_built_on_over_others():
    source = TableSource(str(DATA / "14.0.2" / "detached.lance"))
    detached = [file.version for file in source.listing.detached]
    headers = [source.version(version).records[0].transaction for version in detached]
    read_versions = {stored.header.read_version for stored in headers if stored}
    assert {ordinary_version(source, version) for version in detached} == {1} < read_versions


@pytest.mark.parametrize("version", [0, 7, DETACHED - 1])
def test_an_ordinary_version_is_itself_kept_or_not(tmp_path, version):
    source = TableSource(str(SyntheticTable(tmp_path).append().path))
    assert ordinary_version(source, version) == version


def test_a_detached_version_that_is_gone_tells_nothing(tmp_path):
    source = TableSource(str(SyntheticTable(tmp_path).append().path))
    assert ordinary_version(source, DETACHED | 5) is None


def test_detached_versions_that_were_built_on_one_another_tell_nothing(tmp_path):
    table = SyntheticTable(tmp_path).append()
    table.commit("append", read_version=DETACHED | 2).detach(1)
    table.commit("append", read_version=DETACHED | 1).detach(2)
    source = TableSource(str(table.path))
    assert ordinary_version(source, DETACHED | 1) is None
