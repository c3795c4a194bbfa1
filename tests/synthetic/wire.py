"""The two pieces of protobuf's wire format that no generated class writes."""

__all__ = ["record", "varint"]

_LENGTH_DELIMITED = 2


def varint(value: int) -> bytes:
    """Encode an unsigned number."""
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    data.append(value)
    return bytes(data)


def record(number: int, data: bytes) -> bytes:
    """Encode a field that holds bytes, text or a message."""
    return varint(number << 3 | _LENGTH_DELIMITED) + varint(len(data)) + data
