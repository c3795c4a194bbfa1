"""The newer form of the reuse history, which no released writer makes: written by hand."""

import numpy as np
import pyarrow as pa
import pytest
from lance.file import LanceFileWriter
from pyroaring import BitMap, BitMap64

from lance_explorer.format._pb import index_pb2, table_pb2
from lance_explorer.history.rewrites.address_maps import address_map
from lance_explorer.history.rewrites.all_groups import rewrites
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_reuse import fragment_reuse_entries
from lance_explorer.inspect.index_coverage import index_coverage
from tests.history.compactions import ids_of
from tests.synthetic.tables import SyntheticTable


def digest(id_: int, rows: int) -> dict[str, int]:
    return {"id": id_, "physical_rows": rows}


def transitions() -> list[index_pb2.FragmentReuseTransition]:
    """Fragments 0 and 1 became 2, without two deleted rows; 2 was parted in 3 and 4."""
    survivors = BitMap64([0, 1, 3, *[(1 << 32) + offset for offset in (0, 1, 2)]])
    return [
        index_pb2.FragmentReuseTransition(
            sources=[digest(0, 4), digest(1, 4)],
            destinations=[digest(2, 6)],
            ordered_compaction={"changed_row_addrs": survivors.serialize()},
        ),
        index_pb2.FragmentReuseTransition(
            sources=[digest(2, 6)],
            destinations=[digest(3, 2), digest(4, 4)],
            stable_partition={"map_id": "a-map", "map_size_bytes": 100},
        ),
    ]


@pytest.fixture
def table(tmp_path):
    """A table with the two transitions, whose versions are lost."""
    table = SyntheticTable(tmp_path / "t", stable_row_ids=False).append(4, fragments=2)
    table.create_index("name_idx")
    table.delete({0: [2], 1: [3]}).compact([0, 1]).compact([2], into=2)
    details = index_pb2.FragmentReuseDetails(inline={"transitions": transitions()})
    entry = index_pb2.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=b"0123456789abcdef"),
        name="__lance_frag_reuse",
        dataset_version=table.version,
        fragment_bitmap=BitMap([3, 4]).serialize(),
        index_details={
            "type_url": "/lance.table.FragmentReuseIndexDetails",
            "value": details.SerializeToString(),
        },
        index_version=1,
    )
    table.state.indices.append(entry)
    table.append(2)
    return table.remove(4, 5, 6, 7)


def write_map(table: SyntheticTable, *labels: int | None) -> None:
    folder = table.path / "_fri/a-map"
    folder.mkdir(parents=True)
    rows = pa.table({"label": pa.array(labels, pa.uint16())})
    with LanceFileWriter(str(folder / "stable_partition.lance"), rows.schema) as writer:
        writer.write_batch(rows)


def test_transitions_are_followed_one_after_the_other(table):
    write_map(table, 1, 0, 1, 1, 0, 1)
    view = HistoryView.open(str(table.path))
    groups = rewrites(view).groups
    assert ids_of(groups) == [((0, 1), (2,)), ((2,), (3, 4))]
    assert {group.source for group in groups} == {"fragment reuse index of version 8"}
    assert {group.note for group in groups} == {"it is one of the versions 4 to 7"}
    assert [group.in_order for group in groups] == [True, False]
    moves = address_map(view, 3, 8)
    assert len(moves.rounds) == 2
    old = [0, 1, 2, 3, *[(1 << 32) + offset for offset in range(4)]]
    new, found = moves.carry(np.array(old, dtype=np.uint64))
    assert found.tolist() == [True, True, False, True, True, True, True, False]
    three, four = 3 << 32, 4 << 32
    assert new[found].tolist() == [four, three, four + 1, four + 2, three + 1, four + 3]


def test_without_its_map_a_partition_is_named_as_not_followed(table):
    moves = address_map(HistoryView.open(str(table.path)), 3, 8)
    partition = moves.rounds[1]
    assert partition.unrecorded == {0}
    assert "the row map cannot be read" in (partition.groups[0].note or "")
    assert not moves.carry(np.zeros(1, dtype=np.uint64))[1].any()


def test_transitions_are_entries_and_carry_coverage(table):
    view = HistoryView.open(str(table.path))
    frame = fragment_reuse_entries(view, 8)
    assert frame["kind"].to_list() == ["ordered_compaction", "stable_partition"]
    assert frame["rows_dropped"].to_list() == [2, 0]
    assert frame["indices_behind"].to_list() == [None, None]
    covered = index_coverage(view, 8).filter("is_covered")
    assert covered["fragment_id"].to_list() == [3, 4]
