"""Manifest files, as Lance lays them out (docs/FORMAT.md 2), or laid out wrongly on purpose."""

import struct
from dataclasses import dataclass
from typing import Self

from lance_explorer.format._pb import table_pb2 as pb
from tests.synthetic.wire import record

__all__ = ["ManifestFile"]

_MAGIC = b"LANC"
_FOOTER = struct.Struct("<QHH4s")
_LENGTH = struct.Struct("<I")
_FRAGMENTS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ManifestFile:
    """The parts of a manifest file. Those that follow from others can be set to what is wrong.

    Attributes
    ----------
    message : ManifestEnvelope
        The manifest without its fragments and without the offsets of the two sections.
    fragments : bytes
        The records of the fragments, with tags and lengths.
    index_section, transaction : bytes, optional
        What the sections hold; None leaves them out.
    transaction_field : str
        The field that holds the offset of the transaction: writers before 14 had another.
    shuffled : bool
        Whether the fragments come first, then all fields but the schema, then the schema.
    more : bytes
        Further records at the end of the message.
    index_offset, transaction_offset : int, optional
        What the message says about the places of the sections; by default the truth.
    start, length : int, optional
        What the footer says about the place of the message, and what stands before it.
    magic : bytes
        The end of the file.
    """

    message: pb.ManifestEnvelope
    fragments: bytes = b""
    index_section: bytes | None = None
    transaction: bytes | None = None
    transaction_field: str = "transaction_section"
    shuffled: bool = False
    more: bytes = b""
    index_offset: int | None = None
    transaction_offset: int | None = None
    start: int | None = None
    length: int | None = None
    major_version: int = 0
    minor_version: int = 2
    magic: bytes = _MAGIC

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Take a well-formed file apart."""
        start, major_version, minor_version, _ = _FOOTER.unpack(data[-_FOOTER.size :])
        message = pb.ManifestEnvelope.FromString(_section(data, start))
        transaction = index_section = None
        transaction_field = "transaction_section"
        for field in ("transaction_section_until_13", "transaction_section"):
            if message.HasField(field):
                transaction_field = field
                transaction = _section(data, getattr(message, field))
                message.ClearField(field)
        if message.HasField("index_section"):
            index_section = _section(data, message.index_section)
            message.ClearField("index_section")
        fragments = b"".join([record(_FRAGMENTS, fragment) for fragment in message.fragments])
        message.ClearField("fragments")
        return cls(
            message=message,
            fragments=fragments,
            index_section=index_section,
            transaction=transaction,
            transaction_field=transaction_field,
            major_version=major_version,
            minor_version=minor_version,
        )

    def to_bytes(self) -> bytes:
        """Return the file."""
        message = pb.ManifestEnvelope()
        message.CopyFrom(self.message)
        index = _with_length(self.index_section)
        transaction = _with_length(self.transaction)
        if self.index_section is not None:
            message.index_section = _or(self.index_offset, 0)
        if self.transaction is not None:
            setattr(message, self.transaction_field, _or(self.transaction_offset, len(index)))
        schema = pb.ManifestEnvelope(fields=message.fields).SerializeToString()
        message.ClearField("fields")
        rest = message.SerializeToString() + self.more
        records = (
            [self.fragments, rest, schema] if self.shuffled else [schema, self.fragments, rest]
        )
        body = b"".join(records)
        start = _or(self.start, len(index) + len(transaction))
        length = _LENGTH.pack(_or(self.length, len(body)))
        footer = _FOOTER.pack(start, self.major_version, self.minor_version, self.magic)
        return b"".join([index, transaction, length, body, footer])


def _section(data: bytes, offset: int) -> bytes:
    (length,) = _LENGTH.unpack_from(data, offset)
    return data[offset + _LENGTH.size : offset + _LENGTH.size + length]


def _with_length(section: bytes | None) -> bytes:
    return b"" if section is None else _LENGTH.pack(len(section)) + section


def _or(wrong: int | None, true: int) -> int:
    return true if wrong is None else wrong
