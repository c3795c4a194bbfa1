"""Protobuf parsing with errors of our own, and the wire format that is read by hand."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from lance_explorer.errors import CorruptFileError, FormatError

__all__ = ["decoder", "parse", "read_record", "read_varint"]

_M = TypeVar("_M", bound=Message)
_P = ParamSpec("_P")
_T = TypeVar("_T")

_LARGEST_FIELD = (1 << 29) - 1
_WIRE_TYPES = 8
_VARINT, _LENGTH_DELIMITED = 0, 2
_FIXED_SIZES = {1: 8, 5: 4}


def decoder(decode: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let all errors of a decoder tell a place: the start of its bytes, if it knows no better."""

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
    """Return ``data`` as a message; ``what`` names it in the CorruptFileError if it is not one."""
    try:
        return message_type.FromString(data)
    except DecodeError as error:
        raise CorruptFileError(
            f"not a valid {what} message ({len(data)} bytes)", offset=_damage(message_type, data)
        ) from error


def read_varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    """Return the varint at ``position`` and the position behind it, which is ``end`` at most."""
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


def _damage(message_type: type[Message], data: bytes) -> int:
    """Return where the first record begins that the message, or one nested in it, cannot have."""
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
