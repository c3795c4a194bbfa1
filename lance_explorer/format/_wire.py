"""Protobuf parsing with our own errors, and the parts of the wire format that are parsed here."""

from collections.abc import Callable, Mapping
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from lance_explorer.errors import CorruptFileError, FormatError

__all__ = ["decoder", "pairs", "parse", "read_record", "read_varint"]

_M = TypeVar("_M", bound=Message)
_K = TypeVar("_K", int, str)
_V = TypeVar("_V")
_P = ParamSpec("_P")
_T = TypeVar("_T")

_LARGEST_FIELD = (1 << 29) - 1
_WIRE_TYPES = 8
_VARINT, _FIXED64, _LENGTH_DELIMITED, _START_GROUP, _END_GROUP, _FIXED32 = range(6)
_FIXED_SIZES = {_FIXED64: 8, _FIXED32: 4}

_FIXED = {
    FieldDescriptor.TYPE_DOUBLE: _FIXED64,
    FieldDescriptor.TYPE_FIXED64: _FIXED64,
    FieldDescriptor.TYPE_SFIXED64: _FIXED64,
    FieldDescriptor.TYPE_FLOAT: _FIXED32,
    FieldDescriptor.TYPE_FIXED32: _FIXED32,
    FieldDescriptor.TYPE_SFIXED32: _FIXED32,
}
_LONG = (
    FieldDescriptor.TYPE_STRING,
    FieldDescriptor.TYPE_BYTES,
    FieldDescriptor.TYPE_MESSAGE,
)


_UNREAD = {("ManifestEnvelope", 4): _VARINT, ("ManifestEnvelope", 8): _LENGTH_DELIMITED}
"""Fields that Lance knows and no release sets, which our types leave out, with their wire types."""


def decoder(decode: Callable[_P, _T]) -> Callable[_P, _T]:
    """Add an offset to all errors of a decoder: the start of its bytes, if it knows no other."""

    @wraps(decode)
    def placed(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        try:
            return decode(*args, **kwargs)
        except FormatError as error:
            if error.offset is not None:
                raise
            raise type(error)(error.message, error.path, 0) from error

    return placed


def parse(message_type: type[_M], data: bytes, what: str) -> _M:
    """Return ``data`` as a message; ``what`` names it in the CorruptFileError if it is not one.

    A known field of another wire type is an error, as in Lance; protobuf treats it as unknown. Most
    messages have the spelling that protobuf writes, without unknown fields.
    """
    try:
        message = message_type.FromString(data)
        message.DiscardUnknownFields()
        if message.SerializeToString() == data:
            return message
        in_order = _without_maps(message_type.DESCRIPTOR).FromString(data)
        in_order.DiscardUnknownFields()
        if in_order.SerializeToString() == data:
            return message
        _check_wire_types(message_type.DESCRIPTOR, data, 0, what)  # type: ignore[arg-type]
        return message_type.FromString(data)
    except DecodeError as error:
        raise CorruptFileError(
            f"not a valid {what} message ({len(data)} bytes)", offset=_damage(message_type, data)
        ) from error


def pairs(entries: Mapping[_K, _V]) -> tuple[tuple[_K, _V], ...]:
    """Return a map of a message in the order of its keys."""
    return tuple([(key, entries[key]) for key in sorted(entries)]) if entries else ()


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Return the varint at ``position`` and the position after it, at most ``end``."""
    value = shift = 0
    while position < end:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise CorruptFileError("a number of more than 64 bits", offset=position)
    raise CorruptFileError("a number is cut off", offset=end)


def read_record(data: bytes, position: int) -> tuple[int, int, int]:
    """Return the tag of the record at a position, and where its content starts and stops."""
    tag, start = read_varint(data, position, len(data))
    field, wire_type = divmod(tag, _WIRE_TYPES)
    if not 0 < field <= _LARGEST_FIELD:
        raise CorruptFileError(f"a record of the field {field}", offset=position)
    if wire_type == _VARINT:
        return tag, start, read_varint(data, start, len(data))[1]
    if wire_type == _LENGTH_DELIMITED:
        length, start = read_varint(data, start, len(data))
    elif wire_type in _FIXED_SIZES:
        length = _FIXED_SIZES[wire_type]
    else:
        raise CorruptFileError(f"a record of unknown kind {wire_type}", offset=position)
    if start + length > len(data):
        raise CorruptFileError(
            f"a record of {length} bytes with {len(data) - start} bytes left", offset=position
        )
    return tag, start, start + length


@cache
def _without_maps(descriptor: Descriptor) -> type[Message]:
    """Return a message type with lists of entries, which keep their order, instead of maps."""
    pool, files = DescriptorPool(), [descriptor.file]
    for file in files:
        files += file.dependencies
    for file in reversed(files):  # types that others depend on come first
        copy = FileDescriptorProto()
        file.CopyToProto(copy)
        for message in copy.message_type:
            _forget_maps(message)
        pool.Add(copy)
    return GetMessageClass(pool.FindMessageTypeByName(descriptor.full_name))


def _forget_maps(message: DescriptorProto) -> None:
    message.options.ClearField("map_entry")
    for nested in message.nested_type:
        _forget_maps(nested)


def _check_wire_types(descriptor: Descriptor, data: bytes, start: int, what: str) -> None:
    """Raise CorruptFileError at the first known field with a wrong wire type."""
    position = depth = 0
    while position < len(data):
        tag, content = read_varint(data, position, len(data))
        number, wire_type = divmod(tag, _WIRE_TYPES)
        field = None if depth else descriptor.fields_by_number.get(number)
        unread = None if depth else _UNREAD.get((descriptor.name, number))
        is_known = field is not None or unread is not None
        if is_known and not (_fits(field, wire_type) if field else wire_type == unread):
            raise CorruptFileError(
                f"not a valid {what} message: {descriptor.name}.{field.name if field else number} "
                f"has the wire type {wire_type}",
                offset=start + position,
            )
        if wire_type in (_START_GROUP, _END_GROUP):
            depth += 1 if wire_type == _START_GROUP else -1
            position = content
            continue
        _, content, position = read_record(data, position)
        if field is not None and field.message_type is not None:
            _check_wire_types(field.message_type, data[content:position], start + content, what)


def _fits(field: FieldDescriptor, wire_type: int) -> bool:
    """Tell whether a field may have a wire type; a list of numbers may be packed or not."""
    if field.type in _LONG:
        return wire_type == _LENGTH_DELIMITED
    is_packed = field.is_repeated and wire_type == _LENGTH_DELIMITED
    return is_packed or wire_type == _FIXED.get(field.type, _VARINT)


def _damage(message_type: type[Message], data: bytes) -> int:
    """Return where the first record begins that the message, or a nested one, cannot have."""
    position = 0
    while position < len(data):
        start = position
        try:
            tag, content, position = read_record(data, start)
            message_type.FromString(data[start:position])
        except CorruptFileError:
            return start
        except DecodeError:
            number, wire_type = divmod(tag, _WIRE_TYPES)
            field = message_type.DESCRIPTOR.fields_by_number.get(number)
            if field is None or field.message_type is None or wire_type != _LENGTH_DELIMITED:
                return start
            nested = GetMessageClass(field.message_type)  # type: ignore[arg-type]
            return content + _damage(nested, data[content:position])
    return 0
