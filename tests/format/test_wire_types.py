"""Known fields of another wire type are damage, unknown fields are not, in every message."""

from collections.abc import Iterator
from importlib import import_module

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import parse
from lance_explorer.format.fragment_walk import columns_of_messages
from lance_explorer.format.fragments import decode_fragment
from lance_explorer.format.manifest import Section, decode_manifest_message, decode_schema
from lance_explorer.format.sequences import decode_row_id_sequence, decode_row_version_sequence
from lance_explorer.format.splitting import ManifestSplitter
from tests.synthetic.wire import varint

FILES = ("data_file", "index", "row_ids", "table", "transaction")
CONTENT = {0: b"\x05", 1: bytes(8), 2: b"\x00", 5: bytes(4)}
FAR_FIELD = b"\xfa\x7d\x01x"  # number 2015: nobody declares it

FRAGMENT = bytes.fromhex("080712060a04612e706c200a")


def messages() -> Iterator[Descriptor]:
    """Yield every message that is declared, those within others too."""
    for name in FILES:
        module = import_module(f"lance_explorer.format._pb.{name}_pb2")
        waiting = list(module.DESCRIPTOR.message_types_by_name.values())
        for message in waiting:
            waiting += message.nested_types
            yield message


MESSAGES = [*messages()]


def record(number: int, wire_type: int, content: bytes | None = None) -> bytes:
    content = CONTENT[wire_type] if content is None else varint(len(content)) + content
    return varint(number << 3 | wire_type) + content


def wrong_types(field: FieldDescriptor) -> set[int]:
    """Return the wire types that pylance refuses for a field."""
    if field.cpp_type in (FieldDescriptor.CPPTYPE_STRING, FieldDescriptor.CPPTYPE_MESSAGE):
        return {0, 1, 5}
    own = {FieldDescriptor.CPPTYPE_DOUBLE: 1, FieldDescriptor.CPPTYPE_FLOAT: 5}
    allowed = {own.get(field.cpp_type, 0), *([2] if field.is_repeated else [])}
    return {0, 1, 2, 5} - allowed


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.full_name)
def test_each_known_field_has_its_wire_type(message):
    kind = GetMessageClass(message)
    for field in message.fields:
        for wire_type in wrong_types(field):
            with pytest.raises(CorruptFileError) as caught:
                parse(kind, FAR_FIELD + record(field.number, wire_type), "thing")
            assert caught.value.offset == len(FAR_FIELD), (field.name, wire_type)
            assert field.name in str(caught.value)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.full_name)
def test_fields_of_messages_within_have_their_wire_types(message):
    kind = GetMessageClass(message)
    for outer in message.fields:
        inner = outer.message_type
        for field in inner.fields if inner else ():
            wire_type = min(wrong_types(field))
            content = FAR_FIELD + record(field.number, wire_type)
            with pytest.raises(CorruptFileError) as caught:
                parse(kind, record(outer.number, 2, content), "thing")
            place = len(record(outer.number, 2, content)) - len(content) + len(FAR_FIELD)
            assert caught.value.offset == place, (outer.name, field.name)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.full_name)
def test_unknown_fields_are_kept(message):
    data = b"".join([record(2015, wire_type) for wire_type in CONTENT])
    group = varint(2015 << 3 | 3) + record(1, 5) + record(2, 0) + varint(2015 << 3 | 4)
    assert parse(GetMessageClass(message), data + group, "thing").ByteSize() == len(data + group)


def test_numbers_of_a_list_may_be_packed_or_not():
    packed, single = record(2, 2, b"\x01\x02"), record(2, 0) + record(2, 0)
    assert list(parse(pb.DataFile, packed + single, "data file").fields) == [1, 2, 5, 5]


def test_a_map_may_have_its_entries_in_any_order():
    fields = [pb.Field(metadata={key: b"1"}).SerializeToString() for key in "cab"]
    assert len(parse(pb.Field, b"".join(fields), "field").metadata) == 3


@pytest.mark.parametrize("wrong", [b"\x0d\x01\x02\x03\x04", b"\x12\x02\x08\x01", b"\x20"], ids=str)
def test_many_fragments_are_judged_as_each_by_itself(wrong):
    damaged = FRAGMENT[:-2] + wrong + FRAGMENT[-2:]
    with pytest.raises(CorruptFileError) as alone:
        decode_fragment(damaged)
    with pytest.raises(CorruptFileError) as together:
        columns_of_messages([*[FRAGMENT] * 30, damaged, *[FRAGMENT] * 30])
    assert together.value.message == alone.value.message
    assert together.value.offset == 30 * len(FRAGMENT) + (alone.value.offset or 0)


@pytest.mark.parametrize("number", [1, 2, 3, 12, 15, 16])
def test_a_split_manifest_is_judged_as_a_whole_one(number):
    wrong = 5 if number == 3 else 0
    data = pb.ManifestEnvelope(version=3).SerializeToString() + record(number, wrong)
    with pytest.raises(CorruptFileError) as whole:
        decode_manifest_message(data)
    with pytest.raises(CorruptFileError) as split:
        ManifestSplitter().split(data, Section(0, len(data)))
    assert split.value.offset == whole.value.offset == 2


@pytest.mark.parametrize("decode", [decode_row_id_sequence, decode_row_version_sequence])
def test_the_records_of_a_sequence_have_their_wire_type(decode):
    with pytest.raises(CorruptFileError) as caught:
        decode(FAR_FIELD + record(1, 0))
    assert caught.value.offset == len(FAR_FIELD)


@pytest.mark.parametrize(
    "fields",
    [
        [pb.Field(name="a", id=0, parent_id=0)],
        [pb.Field(name="a", id=0, parent_id=1), pb.Field(name="b", id=1, parent_id=0)],
        [pb.Field(name="a", id=0, parent_id=-1), pb.Field(name="b", id=1, parent_id=7)],
        [pb.Field(name="a", id=0, parent_id=-2)],
        [pb.Field(name="a", id=0, parent_id=-1), pb.Field(name="b", id=0, parent_id=-1)],
    ],
    ids=["its own parent", "a cycle", "no such parent", "a negative parent", "the same ID"],
)
def test_a_schema_is_a_tree(fields):
    data = pb.ManifestEnvelope(fields=fields).SerializeToString()
    with pytest.raises(CorruptFileError):
        decode_schema(data)
