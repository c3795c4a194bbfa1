"""Splitting is skipped work, never another answer than that of decoding each manifest in full."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.errors import CorruptFileError
from lance_explorer.format import splitting
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format.fragments import decode_fragment
from lance_explorer.format.manifest import (
    Section,
    decode_manifest,
    decode_schema,
    manifest_from_pb,
    read_layout,
)
from lance_explorer.format.schema import fields_from_pb
from lance_explorer.format.splitting import Hunk, ManifestSplitter
from tests.format.samples import damaged
from tests.synthetic import ManifestFile, column, record

FIELDS, FRAGMENTS = 1, 2

COLUMNS = [record(FIELDS, column(n, name).SerializeToString()) for n, name in enumerate("abc")]


def fragment(number: int, rows: int, filling: int = 0) -> bytes:
    """Return a fragment whose size depends on the filling."""
    file = pb.DataFile(path="x" * filling) if filling else None
    message = pb.DataFragment(id=number, files=[file] if file else [], physical_rows=rows)
    return message.SerializeToString()


def manifest(
    fragments: list[bytes], schema: list[bytes] | None = None, version: int = 1
) -> list[bytes]:
    """Return the records of a manifest in their usual order."""
    rest = pb.ManifestEnvelope(version=version, max_fragment_id=7, config={"key": "value"})
    return [
        *(COLUMNS[:2] if schema is None else schema),
        *[record(FRAGMENTS, data) for data in fragments],
        rest.SerializeToString(),
    ]


# Few numbers and few sizes: so that things are often equal, or nearly so.
FRAGMENT = st.builds(fragment, st.integers(0, 9), st.integers(0, 2), st.sampled_from([0, 1, 130]))
FRAGMENT_LISTS = st.lists(FRAGMENT, max_size=12)


@st.composite
def edited(draw: st.DrawFn, fragments: list[bytes]) -> list[bytes]:
    """Draw a list of fragments that is like another one."""
    result = list(fragments)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(result)))
        stop = draw(st.integers(start, len(result)))
        match draw(st.sampled_from(["replace", "append", "sort", "shuffle", "double", "new"])):
            case "replace":
                result[start:stop] = draw(st.lists(FRAGMENT, max_size=3))
            case "append":
                result += draw(st.lists(FRAGMENT, max_size=3))
            case "sort":
                result.sort()
            case "shuffle":
                result = draw(st.permutations(result))
            case "double":
                result[start:start] = result[start:stop]
            case "new":
                result = draw(FRAGMENT_LISTS)
    return result


@st.composite
def fragment_list_sequences(draw: st.DrawFn) -> list[list[bytes]]:
    """Draw lists of fragments, each like the one before."""
    lists = [draw(FRAGMENT_LISTS)]
    for _ in range(draw(st.integers(1, 6))):
        lists.append(draw(edited(lists[-1])))
    return lists


@st.composite
def record_sequences(draw: st.DrawFn) -> list[list[bytes]]:
    """Draw the records of manifests, some out of order, with one schema or another."""
    manifests = []
    for version, fragments in enumerate(draw(fragment_list_sequences())):
        schema = COLUMNS[: draw(st.integers(0, 3))]
        records = manifest(fragments, schema, version)
        if draw(st.integers(0, 3)) == 0:
            records = draw(st.permutations(records))
        manifests.append(records)
    return manifests


@dataclass
class Reader:
    """Splits one manifest after another, and keeps what the differences come to."""

    splitter: ManifestSplitter
    fragments: list[bytes]

    def read(self, data: bytes, message: Section) -> Any:
        """Return all but the fragments."""
        split = self.splitter.split(data, message)
        self.fragments = applied(split.hunks, self.fragments)
        return split


def new_reader() -> Reader:
    return Reader(ManifestSplitter(), [])


def applied(hunks: list[Hunk], before: list[bytes]) -> list[bytes]:
    """Return the list of fragments that differs by ``hunks`` from the one before."""
    after: list[bytes] = []
    position = 0
    for hunk in hunks:
        assert position <= hunk.start <= hunk.stop <= len(before)
        after += [*before[position : hunk.start], *hunk.new]
        assert len(hunk.ids) == len(hunk.new)
        position = hunk.stop
    return after + before[position:]


def in_file(records: list[bytes]) -> tuple[bytes, Section]:
    """Return a message among other bytes."""
    message = b"".join(records)
    return b"\x12\x03abc" + message + b"\x12\x02", Section(5, len(message))


@given(record_sequences())
def test_differences_add_up_to_what_protobuf_reads(manifests):
    reader = new_reader()
    for records in manifests:
        split = reader.read(*in_file(records))
        full = pb.ManifestEnvelope.FromString(b"".join(records))
        assert reader.fragments == list(full.fragments)
        assert decode_schema(split.schema) == fields_from_pb(full.fields)
        assert split.manifest == manifest_from_pb(full)
        assert split.fragment_bytes == sum(len(record(FRAGMENTS, f)) for f in full.fragments)


@st.composite
def damaged_files(draw: st.DrawFn) -> list[bytes]:
    """Draw manifest files, each like the one before, some of them damaged."""
    files = []
    for version, fragments in enumerate(draw(fragment_list_sequences())):
        message = pb.ManifestEnvelope(
            fields=[column(0, "a"), column(1, "b")], version=version, config={"key": "value"}
        )
        records = b"".join([record(FRAGMENTS, data) for data in fragments])
        file = ManifestFile(message=message, fragments=records).to_bytes()
        files.append(file)
        if draw(st.booleans()):
            # The footer and the length before the message stay: they are checked elsewhere.
            inner = draw(damaged([file[4:-16]]))
            files.append(len(inner).to_bytes(4, "little") + inner + file[-16:])
    return files


@given(damaged_files())
def test_damaged_files_are_refused_or_read_as_decoding_in_full_does(files):
    reader = new_reader()
    for file in files:
        assert outcome_of_splitting(reader, file) == outcome_of_decoding(file)


@given(damaged_files())
def test_stretches_that_are_split_at_once_are_read_as_decoding_in_full_does(files):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "_MANY_BYTES", 0)
        reader = new_reader()
        for file in files:
            assert outcome_of_splitting(reader, file) == outcome_of_decoding(file)


def outcome_of_splitting(reader: Reader, file: bytes) -> Any:
    try:
        split = reader.read(file, read_layout(file).message)
        fragments = tuple([decode_fragment(data) for data in reader.fragments])
        return split.manifest, decode_schema(split.schema), fragments
    except CorruptFileError:
        return "refused"


def outcome_of_decoding(file: bytes) -> Any:
    try:
        return decode_manifest(file)
    except CorruptFileError:
        return "refused"


def test_the_first_manifest_is_one_hunk():
    one, two = fragment(0, 5), fragment(1, 5)
    split = ManifestSplitter().split(*in_file(manifest([one, two])))
    assert split.hunks == [Hunk(0, 0, [one, two], [0, 1])]


@pytest.mark.parametrize(
    ("after", "hunks"),
    [
        ([0, 1, 2, 3, 4], []),
        ([0, 1, 2, 3, 4, 5], [(5, 5, [5])]),
        ([1, 2, 3, 4], [(0, 1, [])]),
        ([0, 1, 4], [(2, 4, [])]),
        ([0, 1, 2], [(3, 5, [])]),
        ([0, 11, 2, 3, 14], [(1, 2, [11]), (4, 5, [14])]),
        ([10, 1, 2, 3, 4, 5, 6], [(0, 1, [10]), (5, 5, [5, 6])]),
        ([], [(0, 5, [])]),
    ],
)
def test_hunks_hold_only_what_differs(after, hunks):
    # Number 10 + n stands for fragment n in another state.
    states = {number: fragment(number % 10, 1 + number // 10) for number in range(20)}
    splitter = ManifestSplitter()
    splitter.split(*in_file(manifest([states[number] for number in range(5)])))
    split = splitter.split(*in_file(manifest([states[number] for number in after])))
    expected = [
        Hunk(start, stop, [states[n] for n in new], [n % 10 for n in new])
        for start, stop, new in hunks
    ]
    assert split.hunks == expected


def test_an_equal_schema_is_the_same_object():
    splitter = ManifestSplitter()
    first = splitter.split(*in_file(manifest([fragment(0, 1)])))
    second = splitter.split(*in_file(manifest([])))
    longer = splitter.split(*in_file(manifest([], COLUMNS)))
    assert second.schema is first.schema
    assert decode_schema(longer.schema) != decode_schema(first.schema)


def test_after_a_refused_manifest_the_one_before_counts():
    splitter = ManifestSplitter()
    splitter.split(*in_file(manifest([fragment(0, 1), fragment(1, 1)])))
    broken = b"".join(manifest([fragment(0, 1), fragment(2, 1)]))[:-1]
    with pytest.raises(CorruptFileError):
        splitter.split(broken, Section(0, len(broken)))
    split = splitter.split(*in_file(manifest([fragment(0, 1), fragment(1, 1), fragment(2, 1)])))
    assert split.hunks == [Hunk(2, 2, [fragment(2, 1)], [2])]


def test_what_stands_behind_the_message_does_not_count():
    one, two = fragment(0, 1), fragment(1, 1)
    splitter = ManifestSplitter()
    splitter.split(*in_file(manifest([one, two])))
    message = b"".join([*COLUMNS[:2], record(FRAGMENTS, one)])
    split = splitter.split(message + record(FRAGMENTS, two), Section(0, len(message)))
    assert split.hunks == [Hunk(1, 2, [], [])]


def test_a_message_that_ends_inside_the_schema_before_is_refused():
    schema = COLUMNS[0]
    splitter = ManifestSplitter()
    splitter.split(*in_file(manifest([], [schema])))
    with pytest.raises(CorruptFileError):
        splitter.split(schema, Section(0, len(schema) - 1))
