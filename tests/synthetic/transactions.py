"""Transactions (docs/FORMAT.md 7)."""

from google.protobuf.message import Message

from lance_explorer.format._pb import transaction_pb2 as pb
from tests.synthetic.wire import record

__all__ = ["encode_transaction"]


def encode_transaction(
    operation: str | int,
    message: Message | bytes,
    read_version: int,
    uuid: str,
    note: str | None = None,
) -> bytes:
    """Encode a transaction.

    ``operation`` is the field that holds the message, or a number that no reader knows; ``note`` is
    the message of the commit.
    """
    properties = {} if note is None else {"__lance_commit_message": note}
    envelope = pb.TransactionEnvelope(
        read_version=read_version, uuid=uuid, transaction_properties=properties
    )
    if isinstance(operation, str):
        operation = pb.TransactionEnvelope.DESCRIPTOR.fields_by_name[operation].number
    data = message if isinstance(message, bytes) else message.SerializeToString()
    return envelope.SerializeToString() + record(operation, data)
