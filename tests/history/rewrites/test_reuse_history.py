import shutil
from dataclasses import replace

import pytest
from msgspec import structs
from pyroaring import BitMap, BitMap64

from lance_explorer.errors import CorruptFileError, StorageError, UnsupportedFeatureError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format.fragment_reuse import FragDigest, FragReuseGroup, StablePartition
from lance_explorer.format.fragments import BasePath
from lance_explorer.format.indices import FRAGMENT_REUSE_INDEX, IndexMetadata
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.rewrites.reuse_history import (
    ReuseEntry,
    carried_over,
    fragment_reuse,
    has_caught_up,
    reuse_bytes,
    reuse_index,
    row_map_uri,
)
from lance_explorer.history.view import HistoryView
from tests.format.samples import DATA

TABLE = DATA / "14.0.2/deferred_remap.lance"


def entry(groups: dict[tuple[int, ...], tuple[int, ...]], dataset_version=1) -> ReuseEntry:
    """Return a compaction, given as old fragments and new ones."""

    def digests(ids):
        return tuple(FragDigest(id_, 1, 0) for id_ in ids)

    return ReuseEntry(
        "compaction",
        dataset_version,
        tuple(FragReuseGroup(b"", digests(old), digests(new)) for old, new in groups.items()),
    )


def reuse(*entries: dict[tuple[int, ...], tuple[int, ...]]) -> list[ReuseEntry]:
    """Return a history of compactions."""
    return [entry(groups) for groups in entries]


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
    view = HistoryView.open(str(path))
    return view, view.version(view.latest_version).records[0]


def test_the_history_of_a_version_is_found():
    view, record = last_record(TABLE)
    history = fragment_reuse(view, record)
    assert [entry.dataset_version for entry in history] == [6, 10]
    assert [len(entry.groups) for entry in history] == [2, 1]


def test_a_version_without_deferred_compaction_has_none():
    view = HistoryView.open(str(TABLE))
    assert fragment_reuse(view, view.version(1).records[0]) == ()


def with_entry(record, **changes):
    """Return the record with its reuse entry changed."""
    indices = [
        replace(index, **changes) if index.name == FRAGMENT_REUSE_INDEX else index
        for index in record.indices
    ]
    return structs.replace(record, indices=tuple(indices))


def with_transitions(record, index_version):
    """Return the record with two compactions in the newer form, and one of an unknown kind."""
    transitions = [
        pb.FragmentReuseTransition(
            sources=[{"id": 0, "physical_rows": 5, "num_deleted_rows": 1}],
            destinations=[{"id": 9, "physical_rows": 4}],
            ordered_compaction={"changed_row_addrs": BitMap64(range(4)).serialize()},
        ),
        pb.FragmentReuseTransition(
            sources=[{"id": 9, "physical_rows": 4}],
            destinations=[{"id": 10, "physical_rows": 3}, {"id": 11, "physical_rows": 1}],
            stable_partition={"map_id": "the-map", "map_size_bytes": 7},
        ),
        pb.FragmentReuseTransition(sources=[{"id": 11}], destinations=[{"id": 12}]),
    ]
    details = pb.FragmentReuseDetails(inline={"transitions": transitions})
    return with_entry(record, details=details.SerializeToString(), index_version=index_version)


def test_transitions_are_entries_too():
    view, record = last_record(TABLE)
    ordered, partition, unknown = fragment_reuse(view, with_transitions(record, 1))
    assert (ordered.kind, ordered.dataset_version) == ("ordered_compaction", None)
    assert list(ordered.groups[0].row_addresses()) == [0, 1, 2, 3]
    assert partition.kind == "stable_partition"
    assert partition.partition == StablePartition("the-map", 7, None)
    assert [digest.id for digest in partition.groups[0].new_frags] == [10, 11]
    assert (unknown.kind, unknown.partition) == ("unknown", None)


def test_transitions_count_only_where_the_index_version_allows_them():
    view, record = last_record(TABLE)
    assert fragment_reuse(view, with_transitions(record, 0)) == ()


def test_a_row_map_is_below_its_own_folder():
    view, record = last_record(TABLE)
    uri = row_map_uri(view, record, StablePartition("the-map", 7, None))
    assert uri == f"{view.storage.uri}/_fri/the-map/stable_partition.lance"
    elsewhere = structs.replace(record.manifest, base_paths=(BasePath(3, "/base", True, None),))
    record = structs.replace(record, manifest=elsewhere)
    with pytest.raises(UnsupportedFeatureError, match=r"base path 3 .*'/base' is not opened"):
        row_map_uri(view, record, StablePartition("the-map", 7, 3))
    allowed = HistoryView.open(view.uri, allow_bases=["/base"])
    on_base = row_map_uri(allowed, record, StablePartition("the-map", 7, 3))
    assert on_base == "/base/_fri/the-map/stable_partition.lance"


@pytest.mark.parametrize("map_id", ["../secret", "", "a/b", ".."])
def test_a_row_map_cannot_be_elsewhere(map_id):
    view, record = last_record(TABLE)
    with pytest.raises(CorruptFileError, match="expected the name of a folder"):
        row_map_uri(view, record, StablePartition(map_id, 7, None))


def segment(dataset_version: int, *covered: int, knows_coverage: bool = True) -> IndexMetadata:
    """Return an index segment that was built from a version and covers some fragments."""
    record: VersionRecord = last_record(TABLE)[1]
    bitmap = BitMap(covered).serialize() if knows_coverage else None
    return replace(record.indices[0], dataset_version=dataset_version, fragment_bitmap=bitmap)


ENTRY = entry({(0, 1): (4,)}, dataset_version=6)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (segment(2, 9), True),  # of other fragments
        (segment(6, 0, 1), False),
        (segment(6, 4), False),  # carried on in the bitmap only
        (segment(7, 0, 1), False),
        (segment(7, 4), True),
        (segment(6, knows_coverage=False), False),
        (segment(7, knows_coverage=False), True),
    ],
)
def test_an_index_has_caught_up_when_it_needs_the_entry_no_more(index, expected):
    assert has_caught_up(ENTRY, [ENTRY], index) is expected


def test_whether_an_index_needs_a_transition_is_told_only_if_it_has_nothing_to_do_with_it():
    transition = replace(ENTRY, kind="ordered_compaction", dataset_version=None)
    assert has_caught_up(transition, [transition], segment(7, 4)) is None
    assert has_caught_up(transition, [transition], segment(7, 9)) is True


def test_the_size_is_that_of_the_whole_history(moved):
    _, record, content, _ = moved
    inline = reuse_index(record)
    assert inline is not None
    assert reuse_bytes(inline) == ("inline", len(inline.details))
    external = reuse_index(with_entry(record, details=outside(content)))
    assert external is not None
    assert reuse_bytes(external) == ("external", len(content))


def outside(content: bytes, path: str = "details.binpb") -> bytes:
    """Return details that name a file for the history."""
    file = {"path": path, "offset": 0, "size": len(content)}
    return pb.FragmentReuseDetails(external=file).SerializeToString()


@pytest.fixture
def moved(tmp_path):
    """The history in a file of its own: source, record, history as bytes, folder of the file."""
    shutil.copytree(TABLE, tmp_path / "t.lance")
    view, record = last_record(tmp_path / "t.lance")
    [entry] = [index for index in record.indices if index.name == FRAGMENT_REUSE_INDEX]
    content = pb.FragmentReuseDetails.FromString(entry.details).inline.SerializeToString()
    folder = tmp_path / "t.lance/_indices" / entry.uuid
    folder.mkdir()
    (folder / "details.binpb").write_bytes(content)
    return view, record, content, folder


def test_a_long_history_is_in_a_file(moved):
    view, record, content, _ = moved
    inline = fragment_reuse(view, record)
    assert fragment_reuse(view, with_entry(record, details=outside(content))) == inline


@pytest.mark.parametrize("is_dataset_root", [True, False])
def test_the_file_may_be_on_a_base(moved, tmp_path, is_dataset_root):
    view, record, content, folder = moved
    base = tmp_path / "base"
    target = base / "_indices" if is_dataset_root else base
    shutil.move(folder, target / folder.name)
    elsewhere = with_entry(record, details=outside(content), base_id=3)
    bases = (BasePath(3, str(base), is_dataset_root, None),)
    elsewhere = structs.replace(
        elsewhere, manifest=structs.replace(record.manifest, base_paths=bases)
    )
    assert fragment_reuse(view, elsewhere) == fragment_reuse(view, record)


def test_a_missing_file_is_an_error(moved):
    view, record, content, folder = moved
    (folder / "details.binpb").unlink()
    with pytest.raises(StorageError, match=r"details\.binpb is missing"):
        fragment_reuse(view, with_entry(record, details=outside(content)))


def test_a_damaged_file_is_an_error_that_names_it(moved):
    view, record, content, folder = moved
    (folder / "details.binpb").write_bytes(b"\xff" * len(content))
    with pytest.raises(CorruptFileError, match=r"_indices/.*/details\.binpb at byte 0: "):
        fragment_reuse(view, with_entry(record, details=outside(content)))


@pytest.mark.parametrize("path", ["../../secret", "a/b", "", "..", "a\\b"])
def test_a_path_that_leads_elsewhere_is_refused(moved, path):
    view, record, content, _ = moved
    with pytest.raises(CorruptFileError, match="expected a file name"):
        fragment_reuse(view, with_entry(record, details=outside(content, path)))
