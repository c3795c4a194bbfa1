import shutil
from dataclasses import replace

import pytest

from lance_explorer.errors import CorruptFileError, StorageError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format.fragments import BasePath
from lance_explorer.format.indices import (
    FRAGMENT_REUSE_INDEX,
    FragDigest,
    FragmentReuse,
    FragReuseGroup,
    FragReuseVersion,
)
from lance_explorer.history.reuse import carried_over, fragment_reuse
from lance_explorer.history.source import TableSource
from tests.format.samples import DATA

TABLE = DATA / "14.0.2/deferred_remap.lance"


def reuse(*versions: dict[tuple[int, ...], tuple[int, ...]]) -> FragmentReuse:
    """Return a history of compactions, each given as old fragments and new ones."""

    def digests(ids):
        return tuple(FragDigest(id_, 1, 0) for id_ in ids)

    return FragmentReuse(
        versions=tuple(
            FragReuseVersion(
                1, tuple(FragReuseGroup(b"", digests(o), digests(n)) for o, n in groups.items())
            )
            for groups in versions
        ),
        transitions=(),
    )


def test_fragments_are_carried_through_one_compaction_after_the_other():
    history = reuse({(0, 1): (4,), (2, 3): (5, 6)}, {(4, 5): (7,)})
    assert carried_over([0, 1, 9], history) == {4, 9}
    assert carried_over([0, 1, 2, 3], history) == {6, 7}


def test_fragments_that_were_carried_over_already_stay():
    assert carried_over([4], reuse({(0, 1): (4,)})) == {4}


def test_part_of_a_group_is_not_carried_over():
    assert carried_over([0], reuse({(0, 1): (4,)})) == {0}


def test_a_group_of_nothing_changes_nothing():
    assert carried_over([0], reuse({(): (4,)})) == {0}


def last_record(path):
    source = TableSource(str(path))
    return source, source.version(source.latest_version).records[0]


def test_the_history_of_a_version_is_found():
    source, record = last_record(TABLE)
    history = fragment_reuse(source, record)
    assert history is not None
    assert [version.dataset_version for version in history.versions] == [6, 10]


def test_a_version_without_deferred_compaction_has_none():
    source = TableSource(str(TABLE))
    assert fragment_reuse(source, source.version(1).records[0]) is None


def with_entry(record, **changes):
    """Return the record with its reuse entry changed."""
    indices = [
        replace(index, **changes) if index.name == FRAGMENT_REUSE_INDEX else index
        for index in record.indices
    ]
    return replace(record, indices=tuple(indices))


def outside(content: bytes, path: str = "details.binpb") -> bytes:
    """Return details that name a file for the history."""
    file = {"path": path, "offset": 0, "size": len(content)}
    return pb.FragmentReuseDetails(external=file).SerializeToString()


@pytest.fixture
def moved(tmp_path):
    """The history in a file of its own: source, record, history as bytes, folder of the file."""
    shutil.copytree(TABLE, tmp_path / "t.lance")
    source, record = last_record(tmp_path / "t.lance")
    [entry] = [index for index in record.indices if index.name == FRAGMENT_REUSE_INDEX]
    content = pb.FragmentReuseDetails.FromString(entry.details).inline.SerializeToString()
    folder = tmp_path / "t.lance/_indices" / entry.uuid
    folder.mkdir()
    (folder / "details.binpb").write_bytes(content)
    return source, record, content, folder


def test_a_long_history_is_in_a_file(moved):
    source, record, content, _ = moved
    inline = fragment_reuse(source, record)
    assert fragment_reuse(source, with_entry(record, details=outside(content))) == inline


@pytest.mark.parametrize("is_dataset_root", [True, False])
def test_the_file_may_be_on_a_base(moved, tmp_path, is_dataset_root):
    source, record, content, folder = moved
    base = tmp_path / "base"
    target = base / "_indices" if is_dataset_root else base
    shutil.move(folder, target / folder.name)
    elsewhere = with_entry(record, details=outside(content), base_id=3)
    bases = (BasePath(3, str(base), is_dataset_root, None),)
    elsewhere = replace(elsewhere, manifest=replace(record.manifest, base_paths=bases))
    assert fragment_reuse(source, elsewhere) == fragment_reuse(source, record)


def test_a_missing_file_is_an_error(moved):
    source, record, content, folder = moved
    (folder / "details.binpb").unlink()
    with pytest.raises(StorageError, match=r"details\.binpb is missing"):
        fragment_reuse(source, with_entry(record, details=outside(content)))


def test_a_damaged_file_is_an_error_that_names_it(moved):
    source, record, content, folder = moved
    (folder / "details.binpb").write_bytes(b"\xff" * len(content))
    with pytest.raises(CorruptFileError, match=r"_indices/.*/details\.binpb: "):
        fragment_reuse(source, with_entry(record, details=outside(content)))


@pytest.mark.parametrize("path", ["../../secret", "a/b", "", "..", "a\\b"])
def test_a_path_that_leads_elsewhere_is_refused(moved, path):
    source, record, content, _ = moved
    with pytest.raises(CorruptFileError, match="expected a file name"):
        fragment_reuse(source, with_entry(record, details=outside(content, path)))
