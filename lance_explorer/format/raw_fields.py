"""Fields of messages without a name here, shown by their numbers."""

from typing import Any

from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

__all__ = ["MAX_SHOWN_BYTES", "raw_fields", "undeclared_fields"]

MAX_SHOWN_BYTES = 1 << 16
"""The largest message whose fields are shown."""

_MAX_SHOWN_DEPTH = 6
_MAX_SHOWN_HEX = 32
_LENGTH_DELIMITED = 2  # wire types
_START_GROUP = 3


def undeclared_fields(message: Message) -> dict[str, Any]:
    """Return the fields of a message, and of nested ones, that their types do not declare."""
    other = _shown(message, _MAX_SHOWN_DEPTH)
    for field, value in message.ListFields():
        nested = undeclared_fields(value) if isinstance(value, Message) else None
        if nested:
            other[field.name] = nested
    return other


def raw_fields(data: bytes, depth: int = _MAX_SHOWN_DEPTH) -> dict[str, Any] | None:
    """Return the fields of a message of unknown type by number; None if it is not a message."""
    try:
        message = Empty.FromString(data)
    except DecodeError:
        return None
    return _shown(message, depth)


def _shown(message: Message | UnknownFieldSet, depth: int) -> dict[str, Any]:
    """Return the fields that the type of a message does not declare; repeated ones as a list."""
    values: dict[str, list[Any]] = {}
    fields = message if isinstance(message, UnknownFieldSet) else UnknownFieldSet(message)
    for field in [fields[position] for position in range(len(fields))]:
        values.setdefault(str(field.field_number), []).append(_value(field, depth))
    return {number: many[0] if len(many) == 1 else many for number, many in values.items()}


def _value(field: Any, depth: int) -> Any:
    """Return a value in the form that its bytes suggest: text, else a message, else hexadecimal."""
    data = field.data
    if field.wire_type == _START_GROUP:
        return _shown(data, depth - 1) if depth else {}
    if field.wire_type != _LENGTH_DELIMITED:
        return data
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = None
    if text is not None and text.isprintable():
        return text
    nested = raw_fields(data, depth - 1) if depth else None
    if nested is not None:
        return nested
    return data.hex() if len(data) <= _MAX_SHOWN_HEX else {"num_bytes": len(data)}
