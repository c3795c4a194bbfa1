"""The index section against what pylance says about the same indices."""

from pathlib import Path
from typing import Any

import lance
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import index_pb2 as pb
from lance_explorer.format._pb import table_pb2
from lance_explorer.format.fragment_reuse import (
    FragmentReuse,
    decode_fragment_reuse_details,
)
from lance_explorer.format.indices import (
    FRAGMENT_REUSE_INDEX,
    SYSTEM_INDICES,
    IndexMetadata,
    decode_index_section,
)
from tests.format import samples

UUID_BYTES = bytes(range(16))
UUID_TEXT = "00010203-0405-0607-0809-0a0b0c0d0e0f"


def described(table: lance.LanceDataset) -> set[tuple[Any, ...]]:
    """Return what pylance says about each segment of each index."""
    facts = set()
    for index in table.describe_indices():
        for segment in index.segments if index.name not in SYSTEM_INDICES else ():
            created = segment.created_at and round(segment.created_at.timestamp() * 1000)
            facts.add(
                (
                    *(index.name, segment.uuid, segment.dataset_version_at_last_update),
                    *(frozenset(segment.fragment_ids), segment.index_version, created),
                    *(index.type_url, tuple(index.fields), segment.size_bytes, segment.base_id),
                )
            )
    return facts


def decoded(indices: list[IndexMetadata]) -> set[tuple[Any, ...]]:
    """Return the same of the records, as pylance shows it: where fragments were rewritten since."""
    reuse = [
        decode_fragment_reuse_details(index.details)
        for index in indices
        if index.name == FRAGMENT_REUSE_INDEX
    ]
    facts = set()
    for index in indices:
        if index.name not in SYSTEM_INDICES:
            covered = set(index.fragment_ids() or ())
            for history in reuse:
                assert isinstance(history, FragmentReuse)
                covered = covered_since(covered, history)
            sizes = [file.size_bytes or 0 for file in index.files]
            facts.add(
                (
                    *(index.name, index.uuid, index.dataset_version),
                    *(frozenset(covered), index.index_version, index.created_at_ms),
                    *(index.type_url, index.fields, sum(sizes) if sizes else None, index.base_id),
                )
            )
    return facts


def covered_since(covered: set[int], history: FragmentReuse) -> set[int]:
    """Return the fragments that hold the covered rows after all compactions of the history."""
    for version in history.versions:
        for group in version.groups:
            old = {fragment.id for fragment in group.old_frags}
            if old <= covered:
                covered = covered - old | {fragment.id for fragment in group.new_frags}
    return covered


@pytest.fixture(scope="module", params=[False, True], ids=["addresses", "stable_row_ids"])
def life_cycle(request, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("indices") / "life_cycle.lance"
    return samples.write_life_cycle(path, stable_row_ids=request.param)


def test_segments_of_all_versions_are_what_pylance_describes(life_cycle):
    seen = set()
    for version in lance.dataset(life_cycle).versions():
        indices = samples.indices_of(life_cycle, version["version"])
        table = lance.dataset(life_cycle, version["version"])
        assert decoded(indices) == described(table)
        seen |= {index.name for index in indices}
    assert seen == {"id_idx", "kind_idx", "vector_idx"}


@pytest.mark.parametrize("writer", ["8.0.1", "13.0.0", "14.0.2"])
def test_segments_of_stored_tables_are_what_pylance_describes(writer):
    for path in (samples.DATA / writer).glob("*.lance"):
        assert decoded(samples.indices_of(path)) == described(lance.dataset(path))


def test_unknown_is_none():
    message = pb.IndexMetadata(uuid=table_pb2.Uuid(uuid=UUID_BYTES))
    [index] = decode_index_section(pb.IndexSection(indices=[message]).SerializeToString())
    assert (index.uuid, index.type_url, index.fragment_ids()) == (UUID_TEXT, None, None)
    assert (index.index_version, index.created_at_ms, index.base_id) == (None, None, None)


def test_zero_is_a_value():
    message = pb.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=UUID_BYTES), index_version=0, base_id=0, created_at=0
    )
    [index] = decode_index_section(pb.IndexSection(indices=[message]).SerializeToString())
    assert (index.index_version, index.created_at_ms, index.base_id) == (0, 0, 0)


def test_an_empty_section_holds_no_index():
    assert decode_index_section(b"") == ()


def test_an_index_without_a_uuid_is_refused():
    section = pb.IndexSection(indices=[pb.IndexMetadata(name="x")]).SerializeToString()
    with pytest.raises(CorruptFileError, match="UUID"):
        decode_index_section(section)


def test_a_damaged_bitmap_is_refused_by_the_name_of_its_index():
    message = pb.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=UUID_BYTES), name="idx", fragment_bitmap=b"nonsense"
    )
    [index] = decode_index_section(pb.IndexSection(indices=[message]).SerializeToString())
    with pytest.raises(CorruptFileError, match="'idx'"):
        index.fragment_ids()


@pytest.fixture(scope="module")
def section_samples(life_cycle) -> list[bytes]:
    sections = [samples.index_section(file) for file in samples.manifest_files(life_cycle)]
    return [section for section in sections if section]


@given(data=st.data())
def test_damaged_sections_give_records_or_an_error_of_ours(section_samples, data):
    damaged = data.draw(samples.damaged(section_samples))
    try:
        for index in decode_index_section(damaged):
            index.fragment_ids()
    except CorruptFileError:
        pass
