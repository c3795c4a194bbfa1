"""Protobuf parsing with errors of our own, and the wire format that is read by hand."""

from typing import TypeVar

from google.protobuf.message import DecodeError, Message

from lance_explorer.errors import CorruptFileError

__all__ = ["parse", "read_varint"]

_M = TypeVar("_M", bound=Message)


def parse(message_type: type[_M], data: bytes, what: str) -> _M:
    """Return ``data`` as a message; ``what`` names it in the CorruptFileError if it is not one."""
    try:
        return message_type.FromString(data)
    except DecodeError as error:
        raise CorruptFileError(f"not a valid {what} message ({len(data)} bytes)") from error


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
