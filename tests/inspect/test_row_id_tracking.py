"""Row IDs of fragments: short cuts give what the long way gives."""

import numpy as np
import pytest
from pyroaring import BitMap

from lance_explorer.format.fragments import Fragment
from lance_explorer.history.reading.row_reader import FragmentContent
from lance_explorer.inspect.row_id_tracking import FragmentIds, end_of, ids_from
from lance_explorer.rowids.segments import Range
from lance_explorer.rowids.sequence import RowIdSequence


def content(*ranges: Range, deleted: BitMap | None = None) -> FragmentContent:
    sequence = RowIdSequence.of(ranges)
    fragment = Fragment(
        id=3,
        files=(),
        deletion_file=None,
        physical_rows=len(sequence),
        row_ids=None,
        created_at=None,
        last_updated_at=None,
        overlays=(),
        clustering_id=None,
        metadata=(),
    )
    return FragmentContent(fragment, len(sequence), sequence, None, None, deleted or BitMap())


def runs(ids: FragmentIds) -> list[list[int]]:
    return [column.tolist() for column in ids.every.runs.columns]


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (5, 900), (2**63, 2**63 + 7)])
def test_one_range_is_known_without_building_a_map(start: int, stop: int) -> None:
    one = FragmentIds.of(content(Range(start, stop)))
    middle = start + (stop - start) // 2
    two = FragmentIds.of(content(Range(start, middle), Range(middle, stop)))
    assert runs(one) == runs(two)
    assert one.live == one.every
    assert len(one.repeated.start) == 0


def test_a_range_with_deleted_rows_is_not_whole() -> None:
    ids = FragmentIds.of(content(Range(5, 9), deleted=BitMap([1])))
    assert ids.every.num_rows == 4
    assert ids.live.num_rows == 3


@pytest.mark.parametrize(("low", "expected"), [(0, 4), (5, 4), (6, 3), (8, 1), (9, 0), (50, 0)])
def test_row_ids_from_one_on(low: int, expected: int) -> None:
    ids = FragmentIds.of(content(Range(5, 9))).every
    found = ids_from(ids, low)
    assert found.num_rows == expected
    assert not expected or np.array_equal(found.runs.stop, [end_of(ids)])
