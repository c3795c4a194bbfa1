"""Manifest files of appends, put together from the file before and a few of their own bytes.

An append keeps the schema and the fragments of the version before, byte for byte, and writes its
fragments behind the others; a new index keeps them, too (docs/FORMAT.md 2 and 7). So two stretches
of the file are enough: the sections before the manifest message, and what stands behind the old
fragments. The index section has to be read: an append may change it without changing its length.
Entries of maps in the schema come in any order; here it is that of the file before.
"""

from dataclasses import dataclass

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format._pb import table_pb2 as pb
from lance_explorer.format._wire import parse
from lance_explorer.format.fragment_walk import find_fragments, schema_end
from lance_explorer.format.fragments import Fragment, decode_fragment
from lance_explorer.format.layout_operations import CreateIndex
from lance_explorer.format.manifest import (
    FOOTER_BYTES,
    SECTION_PREFIX_BYTES,
    Manifest,
    decode_schema,
    manifest_from_pb,
    message_start,
    read_layout,
)
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.row_operations import Append
from lance_explorer.format.transactions import decode_transaction, decode_transaction_header

__all__ = ["ManifestFile", "keeps_fragments", "read_appended"]


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A manifest file, and where its fragments are.

    Attributes
    ----------
    data : bytes
        The whole file.
    message_offset, fragments_offset, fragments_end : int
        Where the manifest message begins in it, with the schema, and where its fragments are.
    manifest : Manifest
        What is decoded of it: all but the schema, the fragments and the sections.
    """

    data: bytes
    message_offset: int
    fragments_offset: int
    fragments_end: int
    manifest: Manifest

    @classmethod
    def of(cls, data: bytes) -> "ManifestFile":
        """Return a file that was read whole.

        Raises
        ------
        CorruptFileError
            If it is damaged, or not in the order of writers.
        """
        message = read_layout(data).message
        position = schema_end(data, message.offset, message.end)
        return cls._walked(data, message.offset, position, position)

    @classmethod
    def _walked(
        cls, data: bytes, message_offset: int, fragments_offset: int, position: int
    ) -> "ManifestFile":
        """Return a file, some of whose fragments begin at ``position``."""
        footer = len(data) - FOOTER_BYTES
        end = find_fragments(data, position, footer).stop
        rest = parse(pb.ManifestEnvelope, data[end:footer], "manifest")
        if rest.fields or rest.fragments:
            raise CorruptFileError("fields and fragments are not in the order of writers")
        return cls(data, message_offset, fragments_offset, end, manifest_from_pb(rest))

    @property
    def sections_offset(self) -> int | None:
        """Where its sections begin; None if it has no transaction."""
        transaction, indices = (
            self.manifest.transaction_section_offset,
            self.manifest.index_section_offset,
        )
        if transaction is None or indices is None:
            return transaction
        return min(transaction, indices)

    @property
    def rest_bytes(self) -> int:
        """The size of what stands behind the fragments."""
        return len(self.data) - self.fragments_end

    def may_become(self, later: "ManifestFile") -> bool:
        """Return whether another file has the same schema, and these fragments first."""
        fragments = memoryview(self.data)[self.fragments_offset : self.fragments_end]
        begin, end = later.fragments_offset, later.fragments_offset + len(fragments)
        if end > later.fragments_end or not later.data.startswith(fragments, begin):
            return False
        one, other = [
            file.data[file.message_offset : file.fragments_offset] for file in (self, later)
        ]
        return one == other or decode_schema(one) == decode_schema(other)

    def fragments_from(self, position: int) -> list[Fragment]:
        """Return the fragments from a position of the file on."""
        spans = find_fragments(self.data, position, self.fragments_end)
        return [decode_fragment(message) for message in spans.messages(self.data)]


def read_appended(
    before: ManifestFile, later: ManifestFile, size: int, sections: bytes, end: bytes
) -> ManifestFile | None:
    """Return the manifest file that appended fragments to another; None if that is not certain.

    Parameters
    ----------
    before : ManifestFile
        The version before.
    later : ManifestFile
        A later version, before which only fragments were appended.
    size : int
        The listed size of the file.
    sections : bytes
        Its bytes from where the sections of ``before`` begin up to the manifest message.
    end : bytes
        The last bytes of the file, as many as were read.
    """
    try:
        file = _appended(before, size, sections, end)
        return file if file is not None and file.may_become(later) else None
    except FormatError:
        return None


def keeps_fragments(sections: bytes) -> bool:
    """Return whether the transaction in some sections keeps fragments and schema."""
    try:
        operation = decode_transaction_header(_transaction(sections)).operation
    except FormatError:
        return False
    return operation in (OperationName.APPEND, OperationName.CREATE_INDEX)


def _appended(before: ManifestFile, size: int, sections: bytes, end: bytes) -> ManifestFile | None:
    offset = before.sections_offset
    message_offset = message_start(end, size) + SECTION_PREFIX_BYTES
    kept = before.data[before.message_offset : before.fragments_end]
    new_offset = message_offset + len(kept)
    missing = new_offset - (size - len(end))
    if offset is None or missing < 0 or offset + len(sections) != message_offset:
        return None
    data = b"".join([before.data[:offset], sections, kept, end[missing:]])
    read_layout(data)
    fragments_offset = message_offset + before.fragments_offset - before.message_offset
    file = ManifestFile._walked(data, message_offset, fragments_offset, new_offset)
    is_next = (
        file.manifest.version == before.manifest.version + 1
        and file.sections_offset == offset
        and not file.manifest.has_fragment_tree
    )
    operation = decode_transaction(_transaction(sections)).operation
    told = operation.fragments if isinstance(operation, Append) else ()
    if not is_next or not isinstance(operation, Append | CreateIndex):
        return None
    new = file.fragments_from(new_offset)
    first = -1 if (highest := before.manifest.max_fragment_id) is None else highest
    ids = range(first + 1, first + 1 + len(new))
    is_as_told = [_content(one) for one in new] == [_content(one) for one in told]
    return file if is_as_told and [one.id for one in new] == [*ids] else None


def _transaction(sections: bytes) -> bytes:
    """Return the content of the last section before the length of the manifest message."""
    section, position = b"", 0
    while position < len(sections) - SECTION_PREFIX_BYTES:
        begin = position + SECTION_PREFIX_BYTES
        position = begin + int.from_bytes(sections[position:begin], "little")
        section = sections[begin:position]
    return section


def _content(fragment: Fragment) -> tuple[object, ...]:
    """Return what a commit does not change of a fragment that it appends."""
    return fragment.files, fragment.physical_rows, fragment.deletion_file
