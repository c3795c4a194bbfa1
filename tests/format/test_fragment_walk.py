"""Columns of fragments are skipped work: they say what decoding each fragment by itself says."""

import contextlib
import re
import tracemalloc
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import CorruptFileError, FormatError, InvalidArgumentError
from lance_explorer.format import data_file_columns, fragment_walk
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.fragment_columns import FragmentColumns, SequenceStorage
from lance_explorer.format.fragment_walk import (
    columns_of_messages,
    columns_of_spans,
    decode_fragment_columns,
    find_fragments,
)
from lance_explorer.format.fragments import (
    Fragment,
    decode_fragment,
    decode_inline_sequences,
)
from lance_explorer.format.manifest import fragment_messages, read_layout
from tests.format import samples
from tests.synthetic import record, varint

KINDS = ("row_ids", "last_updated_at", "created_at")
MANIFESTS = [file for table in samples.stored_tables() for file in samples.manifest_files(table)]
STORED = sorted({message for file in MANIFESTS for message in fragment_messages(file)})
SMALL_MANIFESTS = sorted({file for file in MANIFESTS if len(file) <= 4096})


@contextlib.contextmanager
def walking(batch: int = 1 << 14, rounds: int = 16, few: int = 0) -> Iterator[None]:
    """Walk however few fragments there are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fragment_walk, "_FEW", few)
        patch.setattr(fragment_walk, "_BATCH", batch)
        patch.setattr(fragment_walk, "_ROUNDS", rounds)
        patch.setattr(data_file_columns, "_FEW", max(few, 1))
        yield


def expect_same(columns: FragmentColumns, messages: Sequence[bytes]) -> None:
    """Check columns against the fragments decoded one by one."""
    records = [decode_fragment(message) for message in messages]
    assert [columns.record(number) for number in range(len(columns))] == records
    expect_keys(columns, records)
    assert columns.id.tolist() == [fragment.id for fragment in records]
    assert columns.physical_rows.tolist() == [fragment.physical_rows or 0 for fragment in records]
    places = zip(columns.begin.tolist(), columns.end.tolist(), strict=True)
    assert [columns.data[begin:end] for begin, end in places] == [*messages]
    expect_same_files(columns, records)
    expect_same_deletions(columns, records)
    for kind in KINDS:
        expect_same_sequences(columns, kind, records, messages)


def expect_keys(columns: FragmentColumns, records: Sequence[Fragment]) -> None:
    """Check that fragments have the same keys if, and only if, they are equal."""
    keys = [columns.key(number) for number in range(len(columns))]
    assert [decode_fragment(key) for key in keys] == [*records]
    pairs = set(zip(keys, records, strict=True))
    assert len(pairs) == len(set(keys)) == len(set(records))


def expect_same_files(columns: FragmentColumns, records: Sequence[Fragment]) -> None:
    files, data = columns.files, columns.data
    expected = [file for fragment in records for file in fragment.files]
    assert np.diff(files.offsets).tolist() == [len(fragment.files) for fragment in records]
    assert files.offsets[0] == 0
    places = zip(files.path_begin.tolist(), files.path_end.tolist(), strict=True)
    assert [data[begin:end].decode() for begin, end in places] == [file.path for file in expected]
    for name in ("major_version", "minor_version"):
        assert getattr(files, name).tolist() == [getattr(file, name) for file in expected]
    numbers = np.arange(len(records))
    for shift in range(3):
        others = np.roll(numbers, shift)
        assert columns.have_same_files(numbers, others).tolist() == [
            columns.unusual.keys().isdisjoint([one, other])
            and records[one].files == records[other].files
            for one, other in zip(numbers.tolist(), others.tolist(), strict=True)
        ]
    assert files.size_bytes.tolist() == [file.size_bytes or 0 for file in expected]
    bases = [-1 if file.base_id is None else file.base_id for file in expected]
    assert files.base_id.tolist() == bases
    for name in ("fields", "column_indices"):
        lists = getattr(files, name)
        wanted = [getattr(file, name) for file in expected]
        assert [lists.at(file) for file in range(len(files))] == wanted
        offsets, values = lists.flat()
        assert offsets.tolist() == [0, *np.cumsum([len(one) for one in wanted]).tolist()]
        assert values.tolist() == [value for one in wanted for value in one]
        pairs = zip(lists.number.tolist(), wanted, strict=True)
        assert len(set(pairs)) == len(set(wanted)) == len(set(lists.number.tolist()))


def expect_same_deletions(columns: FragmentColumns, records: Sequence[Fragment]) -> None:
    deletions = columns.deletion_files
    expected = [fragment.deletion_file for fragment in records]
    assert deletions.present.tolist() == [file is not None for file in expected]
    for name in ("file_type", "read_version", "id", "num_deleted_rows"):
        wanted = [(getattr(file, name) or 0) if file else 0 for file in expected]
        assert getattr(deletions, name).tolist() == wanted
    bases = [
        -1 if file and file.base_id is None else file.base_id if file else 0 for file in expected
    ]
    assert deletions.base_id.tolist() == bases


def expect_same_sequences(
    columns: FragmentColumns, kind: str, records: Sequence[Fragment], messages: Sequence[bytes]
) -> None:
    found = getattr(columns, kind)
    stored = [getattr(fragment, kind) for fragment in records]
    names = [one.storage.upper() if one else "ABSENT" for one in stored]
    assert found.storage.tolist() == [SequenceStorage[name] for name in names]
    pieces = [getattr(decode_inline_sequences(message), kind) for message in messages]
    places = zip(found.begin.tolist(), found.end.tolist(), strict=True)
    for piece, (begin, end) in zip(pieces, places, strict=True):
        if piece is None:
            assert (begin, end) == (0, 0)
        else:
            assert columns.data[begin:end] == piece
    external = {number: one.file for number, one in enumerate(stored) if one and one.file}
    assert found.external == external


def outcome(messages: Sequence[bytes]) -> FormatError | None:
    """Return what decoding messages that stand one behind the other raises."""
    begin = 0
    for message in messages:
        try:
            decode_fragment(message)
        except FormatError as error:
            return error.shifted(begin)
        begin += len(message)
    return None


def expect_same_outcome(messages: Sequence[bytes]) -> None:
    """Check the columns, or the error, of messages with nothing behind the last."""
    ends = np.cumsum([len(message) for message in messages], dtype=np.int64)
    begins = ends - np.array([len(message) for message in messages], dtype=np.int64)
    expected = outcome(messages)
    if expected is None:
        expect_same(columns_of_spans(b"".join(messages), begins, ends), messages)
        expect_same(columns_of_messages(messages), messages)
        return
    for decode in (
        lambda: columns_of_spans(b"".join(messages), begins, ends),
        lambda: columns_of_messages(messages),
    ):
        with pytest.raises(FormatError) as caught:
            decode()
        assert type(caught.value) is type(expected)
        assert caught.value.args == expected.args


# ------------------------------------------------------------------------------- stored tables


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 48])
def test_columns_of_every_stored_manifest_are_those_of_its_fragments(few):
    with walking(batch=7, few=few):
        for file in MANIFESTS:
            columns = decode_fragment_columns(file)
            assert columns.data is file
            expect_same(columns, fragment_messages(file))


def test_columns_of_all_stored_fragments_at_once_are_theirs():
    expect_same(columns_of_messages(STORED), STORED)


def test_what_writers_write_is_usual():
    with walking():
        columns = columns_of_messages(STORED)
    records = [decode_fragment(message) for message in STORED]
    rare = [
        number
        for number, fragment in enumerate(records)
        if fragment.overlays or fragment.clustering_id is not None or fragment.metadata
    ]
    assert sorted(columns.unusual) == rare
    assert len(rare) < len(STORED) / 10


@given(st.lists(samples.damaged(STORED) | st.sampled_from(STORED), max_size=12), st.integers(1, 8))
def test_damaged_fragments_give_the_same_or_are_refused_alike(messages, batch):
    with walking(batch):
        expect_same_outcome(messages)


@given(samples.damaged(SMALL_MANIFESTS))
def test_damaged_manifests_give_the_same_or_are_refused_alike(file):
    with walking():
        try:
            messages = fragment_messages(file)
        except FormatError as error:
            expected = error
        else:
            if outcome(messages) is None:
                expect_same(decode_fragment_columns(file), messages)
            else:
                expect_refused_in_place(file, messages)
            return
        with pytest.raises(FormatError) as caught:
            decode_fragment_columns(file)
        assert caught.value.message == expected.message
        assert caught.value.offset == (expected.offset or 0)


def expect_refused_in_place(file: bytes, messages: Sequence[bytes]) -> None:
    """Check that the first damaged fragment is refused, at a place where it stands."""
    for message in messages:
        try:
            decode_fragment(message)
        except FormatError as error:
            expected, damaged = error, message
            break
    with pytest.raises(type(expected)) as caught:
        decode_fragment_columns(file)
    assert caught.value.message == expected.message
    matches = re.finditer(b"(?=" + re.escape(damaged) + b")", file, re.DOTALL)
    assert caught.value.offset in [match.start() + (expected.offset or 0) for match in matches]


# ------------------------------------------------------------------------------- made fragments

SMALL = st.sampled_from([0, 1, 127, 128, (1 << 14) - 1, 1 << 14, (1 << 28) + 5, 1 << 32])
U32 = st.sampled_from([0, 1, 300, (1 << 32) - 1]) | st.integers(0, (1 << 32) - 1)
U64 = st.sampled_from([0, 1, (1 << 56) - 1, 1 << 56, 1 << 63, (1 << 64) - 1]) | st.integers(
    0, (1 << 64) - 1
)
TEXTS = st.sampled_from(["", "a.lance", "0" * 40 + ".lance", "ä.lance", "x" * 130]) | st.text(
    max_size=9
)
INTS = st.lists(st.integers(-3, 3) | st.integers(-(1 << 31), (1 << 31) - 1), max_size=5)
BYTES = st.binary(max_size=40)


def spelled(value: int, num_bytes: int) -> bytes:
    """Encode a number in at least so many bytes, up to ten."""
    digits = bytearray(varint(value))
    while len(digits) < num_bytes:
        digits[-1] |= 0x80
        digits.append(0)
    return bytes(digits)


@st.composite
def number(draw: st.DrawFn, field: int, values: st.SearchStrategy[int]) -> bytes:
    """Draw a number field, sometimes not written, seldom spelled too long."""
    if draw(st.integers(0, 4)) == 0:
        return b""
    num_bytes = draw(st.integers(2, 10)) if draw(st.integers(0, 30)) == 0 else 0
    return spelled(field << 3, 0) + spelled(draw(values), num_bytes)


@st.composite
def packed(draw: st.DrawFn, field: int) -> bytes:
    values = draw(INTS)
    data = b"".join([varint(value % (1 << 64)) for value in values])
    if draw(st.integers(0, 30)) == 0:  # as a writer may that does not pack
        return b"".join([varint(field << 3) + varint(value % (1 << 64)) for value in values])
    return record(field, data) if data or draw(st.booleans()) else b""


@st.composite
def shaped(draw: st.DrawFn, *pieces: st.SearchStrategy[bytes]) -> bytes:
    """Draw the fields of a message in their order, seldom in another one or changed."""
    drawn = [draw(piece) for piece in pieces]
    match draw(st.sampled_from(["as it is"] * 20 + ["shuffle", "double", "unknown", "cut"])):
        case "shuffle":
            drawn = draw(st.permutations(drawn))
        case "double":
            drawn.append(draw(st.sampled_from(drawn)))
        case "unknown":
            drawn.insert(draw(st.integers(0, len(drawn))), record(99, b"?"))
        case "cut":
            joined = b"".join(drawn)
            drawn = [joined[: draw(st.integers(0, len(joined)))]]
    return b"".join(drawn)


def bytes_field(field: int, values: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.just(b"") | values.map(lambda data: record(field, data))


def sequence(inline: int, external: int, spilled: int) -> st.SearchStrategy[bytes]:
    place = st.builds(pb.ExternalFile, path=TEXTS, offset=U64, size=U64)
    return st.one_of(
        st.just(b""),
        BYTES.map(lambda data: record(inline, data)),
        BYTES.map(lambda data: record(inline, data)),
        st.just(record(spilled, b"")),
        place.map(lambda message: record(external, message.SerializeToString())),
    )


FILES = shaped(
    bytes_field(1, TEXTS.map(str.encode)),
    packed(2),
    packed(3),
    number(4, U32),
    number(5, U32),
    number(6, st.integers(0, 1 << 50)),
    number(7, U32),
)
DELETION_FILES = shaped(
    number(1, st.integers(0, 3)), number(2, U64), number(3, U64), number(4, SMALL), number(7, U32)
)
OVERLAYS = st.builds(pb.DataOverlayFile, committed_version=U64).map(
    lambda message: record(11, message.SerializeToString())
)
RARE = st.sampled_from([b""] * 12 + [record(16, record(1, b"k")), varint(15 << 3) + b"\x07"])
FRAGMENTS = shaped(
    number(1, SMALL),
    st.lists(FILES, max_size=4).map(lambda files: b"".join([record(2, file) for file in files])),
    bytes_field(3, DELETION_FILES),
    number(4, SMALL),
    sequence(5, 6, 12),
    sequence(7, 8, 13),
    sequence(9, 10, 14),
    RARE | OVERLAYS | RARE,
    RARE,
)


@pytest.mark.slow
@given(
    st.lists(FRAGMENTS, max_size=14),
    st.integers(1, 10),
    st.integers(1, 3),
)
def test_columns_of_any_fragments_are_theirs(messages, batch, rounds):
    with walking(batch, rounds):
        expect_same_outcome(messages)


@pytest.mark.slow
@given(st.lists(st.lists(FILES, max_size=2), max_size=8), st.randoms())
def test_spellings_of_one_fragment_have_one_key(fragments, chance):
    messages = []
    for files in fragments:
        records = [record(2, file) for file in files]
        message = b"".join([b"\x08\x07", *records, b"\x20\x03"])
        try:
            decode_fragment(message)
        except FormatError:
            continue
        messages += [message, b"".join([b"\x20\x03", *records, b"\x78\x00", b"\x08\x07"])]
        messages += [b"".join([*records, b"\x08\x07", b"\x20\x03", b"\x08\x07"])]
        messages += [b"".join([message, record(99, b"")])]
    chance.shuffle(messages)
    with walking():
        expect_same_outcome(messages)


@given(st.lists(st.binary(max_size=12), max_size=6))
def test_random_bytes_give_the_same_or_are_refused_alike(messages):
    with walking():
        expect_same_outcome(messages)


@pytest.mark.parametrize("num_bytes", range(1, 11))
@pytest.mark.parametrize("bits", range(1, 65))
def test_numbers_of_every_length_are_read(bits, num_bytes):
    value = (1 << bits) - 1
    deletion = b"\x18" + spelled(value, num_bytes)
    messages = [record(3, deletion), b"\x08\x07"]
    with walking():
        columns = columns_of_messages(messages)
        assert columns.deletion_files.id.tolist() == [value, 0]
        assert [*columns.unusual] == ([0] if num_bytes > len(varint(value)) else [])
        expect_same_outcome(messages)


@pytest.mark.parametrize(
    "message",
    [
        pb.DataFragment(id=2**32 + 1),
        pb.DataFragment(physical_rows=2**32 + 1),
        pb.DataFragment(deletion_file=pb.DeletionFile(num_deleted_rows=2**32 + 1)),
        pb.DataFragment(files=[pb.DataFile(file_size_bytes=2**50 + 1)]),
    ],
    ids=str,
)
def test_numbers_that_cannot_be_are_refused(message):
    with walking(), pytest.raises(CorruptFileError):
        columns_of_messages([message.SerializeToString()])
    with walking():
        expect_same_outcome([b"\x08\x01", message.SerializeToString(), b"\xff"])


def test_a_record_of_no_fragment_is_refused():
    columns = columns_of_messages([b""])
    for number in (-1, 1):
        for ask in (columns.record, columns.key):
            with pytest.raises(InvalidArgumentError):
                ask(number)


def test_fragments_that_are_not_one_behind_the_other_are_refused():
    for begins, ends in (([0, 1], [2, 3]), ([2], [1]), ([0], [9]), ([-1], [2])):
        with pytest.raises(InvalidArgumentError):
            columns_of_spans(bytes(4), np.array(begins), np.array(ends))


# ------------------------------------------------------------------------------- manifests


@given(st.lists(st.binary(max_size=300), max_size=9))
def test_fragments_are_found_where_protobuf_finds_them(messages):
    data = b"ab" + b"".join([record(2, message) for message in messages]) + b"\x18\x01"
    spans = find_fragments(data, 2, len(data))
    places = zip(spans.begins.tolist(), spans.ends.tolist(), strict=True)
    assert [data[begin:end] for begin, end in places] == messages
    assert spans.stop == len(data) - 2


@pytest.mark.parametrize("data", [b"\x12", b"\x12\x02a", b"\x12\x80", b"\x12\x80\x01" + bytes(127)])
def test_a_fragment_that_is_cut_off_is_refused(data):
    with pytest.raises(CorruptFileError):
        find_fragments(data, 0, len(data))


def test_fragments_may_stand_anywhere_in_a_manifest():
    messages = [pb.DataFragment(id=number).SerializeToString() for number in range(5)]
    records = [record(2, message) for message in messages]
    rest = pb.ManifestEnvelope(version=3).SerializeToString()
    message = b"".join([*records[:2], rest, *records[2:]])
    footer = bytes(12) + b"LANC"
    file = len(message).to_bytes(4, "little") + message + footer
    assert read_layout(file).message.length == len(message)
    expect_same(decode_fragment_columns(file), messages)


# ------------------------------------------------------------------------------- hostile bytes


def peak_bytes(messages: Sequence[bytes]) -> int:
    """Return how many bytes decoding takes at most, at once."""
    tracemalloc.start()
    try:
        with contextlib.suppress(FormatError):
            columns_of_messages(messages)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("lie", [2**31 - 1, 2**40, 2**56 - 1, 2**63, 2**64 - 1])
def test_lengths_that_lie_take_no_memory(lie):
    length = varint(lie)
    lies = [
        tag + length
        for tag in (b"\x12", b"\x1a", b"\x2a", b"\x12\x0b\x0a", b"\x12\x0b\x12", b"\x12\x0b\x1a")
    ]
    with walking():
        for message in lies:
            assert peak_bytes([message] * 3) < 1 << 20
            expect_same_outcome([b"\x08\x01", message])


def test_a_fragment_of_very_many_files_takes_what_its_bytes_pay_for():
    many = record(2, record(1, b"a")) * 20_000
    messages = [b"\x08\x01", many, *[record(2, b"") * 3] * 300]
    with walking(few=48):
        columns = columns_of_messages(messages)
        assert [*columns.unusual] == [1]
        assert np.diff(columns.files.offsets).tolist() == [0, 20_000, *[3] * 300]
        expect_same(columns, messages)


def test_very_many_different_lists_are_kept_apart():
    messages = [
        pb.DataFragment(files=[pb.DataFile(fields=[number, number % 3])]).SerializeToString()
        for number in range(300)
    ]
    with walking(few=8):
        expect_same(columns_of_messages(messages), messages)
