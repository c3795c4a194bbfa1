"""Which files of the folder of versions are versions."""

import pytest

from lance_explorer.errors import CorruptFileError
from lance_explorer.history.listing import DirectoryLister, VersionListing
from lance_explorer.history.view import HistoryView
from lance_explorer.storage.local import LocalStorage
from tests.synthetic import DETACHED, SyntheticTable


@pytest.fixture
def table(tmp_path):
    """A table of two versions."""
    return SyntheticTable(tmp_path).append().append()


def listing(table: SyntheticTable) -> VersionListing:
    return DirectoryLister(LocalStorage(table.path)).list_versions()


@pytest.mark.parametrize("naming", ["V1", "V2"])
def test_both_schemes_of_names_are_read(tmp_path, naming):
    table = SyntheticTable(tmp_path, naming=naming)
    for _ in range(12):
        table.append()
    files = listing(table).versions
    assert [file.version for file in files] == list(range(1, 13))
    paths = [table.folder.manifest_path(version) for version in range(1, 13)]
    assert [tmp_path / file.path for file in files] == paths
    assert [file.size_bytes for file in files] == [path.stat().st_size for path in paths]


def test_versions_may_be_missing(table):
    table.append().append().remove(1, 3)
    assert [file.version for file in listing(table).versions] == [2, 4]


def test_a_mixture_of_names_is_refused(table):
    path = table.folder.manifest_path(1)
    path.rename(path.with_name("1.manifest"))
    with pytest.raises(CorruptFileError, match=r"named by both schemes .1\.manifest"):
        listing(table)


@pytest.mark.parametrize(
    "name",
    [
        "latest_version_hint.json",
        "18446744073709551600.manifest-7a1c",
        "18446744073709551600.manifest.tmp",
        ".18446744073709551600.manifest",
        "99999999999999999999.manifest",
        "d7.manifest",
        "x7.manifest",
        "-7.manifest",
        "\u0667.manifest",
    ],
)
def test_other_files_in_the_folder_of_versions_are_not_looked_at(table, name):
    before = listing(table)
    (table.path / "_versions" / name).write_bytes(b"{")
    assert listing(table) == before


def test_detached_versions_stand_apart(table):
    before = listing(table)
    after = listing(table.detach(5))
    assert after.versions == before.versions
    assert [file.version for file in after.detached] == [DETACHED | 5]
    alone = HistoryView.open(str(table.path)).version(DETACHED | 5)
    assert alone.records[0].manifest.version == DETACHED | 5
