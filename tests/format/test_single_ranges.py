"""Row IDs that are one range, found for all fragments at once, are what the decoder says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import FormatError
from lance_explorer.format import fragment_walk
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.fragment_walk import columns_of_messages
from lance_explorer.format.manifest import fragment_messages
from lance_explorer.format.sequences import decode_row_id_sequence
from lance_explorer.format.single_ranges import single_ranges
from lance_explorer.rowids.segments import Range
from tests.format import samples
from tests.synthetic import record, varint

MANIFESTS = [file for table in samples.stored_tables() for file in samples.manifest_files(table)]
STORED = sorted({message for file in MANIFESTS for message in fragment_messages(file)})

NUMBERS = st.one_of(st.integers(0, 300), st.sampled_from([2**32, 2**56, 2**63, 2**64 - 1]))


@st.composite
def sequences(draw: st.DrawFn) -> bytes:
    """Draw a sequence of ranges, in the spelling of writers or in others, perhaps damaged."""
    found = b""
    for _ in range(draw(st.integers(0, 2))):
        numbers = [bytes([tag]) + varint(draw(NUMBERS)) for tag in (0x08, 0x10)]
        inner = b"".join(draw(st.sampled_from([numbers, numbers[::-1], numbers[:1], numbers * 2])))
        found += record(1, record(draw(st.sampled_from([1, 1, 1, 2])), inner))
    place = draw(st.integers(0, len(found)))
    return draw(st.sampled_from([found, found[:place], found + found[:place]]))


def fragment(row_ids: bytes) -> bytes:
    return pb.DataFragment(id=1, physical_rows=3, inline_row_ids=row_ids).SerializeToString()


def expect_same(messages: list[bytes]) -> int:
    """Check what is found against the decoder; return how many are found."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fragment_walk, "_FEW", 0)
        start, stop, found = single_ranges(columns_of_messages(messages))
    for number, message in enumerate(messages):
        data = pb.DataFragment.FromString(message).inline_row_ids
        try:
            decoded = decode_row_id_sequence(data).segments
        except FormatError:
            decoded = None
        if found[number]:
            assert decoded == (Range(int(start[number]), int(stop[number])),), message.hex()
    return int(found.sum())


def test_those_of_stored_tables():
    assert 0 < expect_same(STORED) < len(STORED)


@given(st.lists(sequences(), min_size=1, max_size=30))
def test_those_of_any_sequences(drawn):
    expect_same([fragment(row_ids) for row_ids in drawn])
