"""Remove what people wrote into a transaction, without changing its length."""

from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.format._wire import parse

__all__ = ["without_words"]

_PADDING_TAG = b"\xfa\x7d"
"""A field of bytes whose number, 2015, no writer gives."""

_TAG_AND_LENGTH = 3


def without_words(transaction: bytes) -> bytes:
    r"""Return a transaction without predicates, messages and other properties.

    It keeps its size, so that the manifest around it stays valid.

    Raises
    ------
    CorruptFileError
        If it is not a transaction.

    Examples
    --------
    >>> from lance_explorer.format.transactions import decode_transaction
    >>> said = b'\x08\x09\xaa\x06\x0c\x1a\x0aname = "x"'
    >>> decode_transaction(said).operation.predicate
    'name = "x"'
    >>> decode_transaction(without_words(said)).operation.predicate
    ''
    >>> len(without_words(said)) == len(said)
    True
    """
    envelope = parse(pb.TransactionEnvelope, transaction, "transaction")
    envelope.ClearField("transaction_properties")
    envelope.ClearField("tag")
    if envelope.WhichOneof("operation") == "delete":
        operation = parse(pb.Delete, envelope.delete, "delete")
        operation.ClearField("predicate")
        envelope.delete = operation.SerializeToString()
    return _padded(envelope.SerializeToString(), len(transaction))


def _padded(data: bytes, size: int) -> bytes:
    """Return a message padded with a field of zeros to ``size`` bytes."""
    room = size - len(data)
    if room < _TAG_AND_LENGTH:
        return data
    length_bytes = 1
    while (room - len(_PADDING_TAG) - length_bytes) >> (7 * length_bytes):
        length_bytes += 1
    length = room - len(_PADDING_TAG) - length_bytes
    prefix = bytes(
        [
            (length >> 7 * place & 0x7F) | (0x80 if place < length_bytes - 1 else 0)
            for place in range(length_bytes)
        ]
    )
    return data + _PADDING_TAG + prefix + bytes(length)
