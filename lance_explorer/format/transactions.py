"""Transactions: bytes to records (docs/FORMAT.md 7).

A transaction file, and the section of a manifest file that repeats it, hold the same message. Its
header is cheap, whatever the size of the operation; the operation itself is decoded on request.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError, FormatError
from lance_explorer.format._pb import index_pb2, table_pb2
from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.format._wire import decoder, pairs, parse
from lance_explorer.format.column_operations import (
    DataOverlay,
    DataOverlayGroup,
    DataReplacement,
    DataReplacementGroup,
    Merge,
    Project,
)
from lance_explorer.format.fragments import (
    Fragment,
    data_file_from_pb,
    fragment_from_pb,
    overlay_from_pb,
)
from lance_explorer.format.indices import (
    CompactedSsTable,
    compacted_sstable_from_pb,
    index_file_from_pb,
    index_from_pb,
    uuid_from_pb,
)
from lance_explorer.format.layout_operations import (
    CreateIndex,
    ReserveFragments,
    Rewrite,
    RewriteGroup,
    RewrittenIndex,
)
from lance_explorer.format.manifest import base_path_from_pb
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.operations import Operation
from lance_explorer.format.raw_fields import MAX_SHOWN_BYTES, raw_fields
from lance_explorer.format.record import Record
from lance_explorer.format.row_operations import (
    Append,
    BloomFilter,
    Delete,
    KeyExistenceFilter,
    Overwrite,
    Update,
)
from lance_explorer.format.schema import fields_from_pb
from lance_explorer.format.table_operations import (
    Clone,
    Restore,
    Unknown,
    UpdateBases,
    UpdateConfig,
    UpdateMap,
    UpdateMemWalState,
)
from lance_explorer.shown import visible_json

__all__ = [
    "COMMIT_MESSAGE",
    "Transaction",
    "TransactionHeader",
    "decode_transaction",
    "decode_transaction_header",
]

COMMIT_MESSAGE = "__lance_commit_message"
"""The property that holds the message of the commit."""

_FIRST_OPERATION = 100
_LENGTH_DELIMITED = 2  # wire type

_M = TypeVar("_M", bound=Message)


class TransactionHeader(Record, frozen=True):
    """A transaction without the content of its operation.

    ``operation`` is the name in Lance, such as ``CreateIndex``, or ``unknown``; ``number`` is its
    number in the format, which says more in that case. ``restored_version`` is what a Restore went
    back to: None for other operations, and where the operation cannot be decoded.
    """

    read_version: int
    uuid: str
    operation: OperationName
    number: int
    properties: tuple[tuple[str, str], ...]
    message: str | None
    restored_version: int | None = None


@dataclass(frozen=True, slots=True)
class Transaction:
    """A whole transaction."""

    read_version: int
    uuid: str
    tag: str | None
    properties: tuple[tuple[str, str], ...]
    operation: Operation


@dataclass(frozen=True, slots=True)
class _Arm:
    number: int
    name: OperationName
    decode: Callable[[bytes], Operation]


@decoder
def decode_transaction_header(data: bytes) -> TransactionHeader:
    r"""Decode a transaction without its operation.

    Examples
    --------
    >>> from lance_explorer.format.transactions import decode_transaction_header
    >>> header = decode_transaction_header(b"\x08\x09\x12\x02id\xd2\x06\x02\x08\x07")
    >>> header.read_version, header.operation, header.number, header.restored_version
    (9, <OperationName.RESTORE: 'Restore'>, 106, 7)
    """
    envelope = parse(pb.TransactionEnvelope, data, "transaction")
    arm = envelope.WhichOneof("operation")
    if arm is not None:
        name = _ARMS[arm].name
        number = _ARMS[arm].number
    else:
        name = OperationName.UNKNOWN
        number = _unknown_operation(envelope).number
    properties = envelope.transaction_properties
    return TransactionHeader(
        envelope.read_version,
        envelope.uuid,
        name,
        number,
        pairs(properties),
        properties.get(COMMIT_MESSAGE) if properties else None,
        _restored_version(envelope.restore) if arm == "restore" else None,
    )


def _restored_version(operation: bytes) -> int | None:
    try:
        return parse(pb.Restore, operation, "Restore operation").version
    except FormatError:
        return None  # reading the whole operation raises the error


@decoder
def decode_transaction(data: bytes) -> Transaction:
    r"""Decode a transaction with its operation.

    Examples
    --------
    >>> from lance_explorer.format.transactions import decode_transaction
    >>> decode_transaction(b"\x08\x09\x12\x02id\xd2\x06\x02\x08\x07").operation
    Restore(version=7)
    """
    envelope = parse(pb.TransactionEnvelope, data, "transaction")
    arm = envelope.WhichOneof("operation")
    return Transaction(
        read_version=envelope.read_version,
        uuid=envelope.uuid,
        tag=envelope.tag or None,
        properties=pairs(envelope.transaction_properties),
        operation=(
            _known_operation(_ARMS[arm], getattr(envelope, arm), data)
            if arm is not None
            else _unknown_operation(envelope)
        ),
    )


def _known_operation(arm: "_Arm", operation: bytes, data: bytes) -> Operation:
    try:
        return arm.decode(operation)
    except FormatError as error:
        raise error.within(operation, data) from error


def _unknown_operation(envelope: pb.TransactionEnvelope) -> Unknown:
    """Return the last operation whose number the envelope does not declare."""
    fields = UnknownFieldSet(envelope)
    for position in reversed(range(len(fields))):
        field = fields[position]
        if field.field_number >= _FIRST_OPERATION and field.wire_type == _LENGTH_DELIMITED:
            return Unknown(field.field_number, len(field.data), _as_json(field.data))
    raise CorruptFileError("the transaction holds no operation")


def _as_json(data: bytes) -> str | None:
    """Return the fields of a message by their numbers; None if it is not one, or has very many."""
    fields = raw_fields(data) if len(data) <= MAX_SHOWN_BYTES else None
    return None if fields is None else visible_json(json.dumps(fields))


def _arm(number: int, message_type: type[_M], convert: Callable[[_M], Operation]) -> _Arm:
    name = OperationName(message_type.DESCRIPTOR.name)
    return _Arm(number, name, lambda data: convert(parse(message_type, data, f"{name} operation")))


def _append(message: pb.Append) -> Append:
    return Append(_fragments(message.fragments))


def _delete(message: pb.Delete) -> Delete:
    return Delete(
        updated_fragments=_fragments(message.updated_fragments),
        deleted_fragment_ids=tuple(message.deleted_fragment_ids),
        predicate=message.predicate,
    )


def _overwrite(message: pb.Overwrite) -> Overwrite:
    return Overwrite(
        fragments=_fragments(message.fragments),
        schema=fields_from_pb(message.schema),
        schema_metadata=pairs(message.schema_metadata),
        config_upsert_values=pairs(message.config_upsert_values),
        initial_bases=tuple([base_path_from_pb(base) for base in message.initial_bases]),
    )


def _create_index(message: pb.CreateIndex) -> CreateIndex:
    return CreateIndex(
        new_indices=tuple([index_from_pb(index) for index in message.new_indices]),
        removed_indices=tuple([index_from_pb(index) for index in message.removed_indices]),
    )


def _rewrite(message: pb.Rewrite) -> Rewrite:
    groups = [
        RewriteGroup(_fragments(group.old_fragments), _fragments(group.new_fragments))
        for group in message.groups
    ]
    if not groups and (message.old_fragments or message.new_fragments):
        groups = [
            RewriteGroup(_fragments(message.old_fragments), _fragments(message.new_fragments))
        ]
    return Rewrite(
        groups=tuple(groups),
        rewritten_indices=tuple([_rewritten_index(index) for index in message.rewritten_indices]),
    )


def _merge(message: pb.Merge) -> Merge:
    return Merge(
        fragments=_fragments(message.fragments),
        schema=fields_from_pb(message.schema),
        schema_metadata=pairs(message.schema_metadata),
        preserves_nullability=message.preserves_nullability,
    )


def _restore(message: pb.Restore) -> Restore:
    return Restore(message.version)


def _reserve_fragments(message: pb.ReserveFragments) -> ReserveFragments:
    return ReserveFragments(message.num_fragments)


def _update(message: pb.Update) -> Update:
    return Update(
        removed_fragment_ids=tuple(message.removed_fragment_ids),
        updated_fragments=_fragments(message.updated_fragments),
        new_fragments=_fragments(message.new_fragments),
        fields_modified=tuple(message.fields_modified),
        compacted_sstables=_sstables(message.compacted_sstables),
        fields_for_preserving_frag_bitmap=tuple(message.fields_for_preserving_frag_bitmap),
        update_mode=message.update_mode,
        inserted_rows=(
            _key_filter(message.inserted_rows) if message.HasField("inserted_rows") else None
        ),
        updated_offsets=_updated_offsets(message),
    )


def _project(message: pb.Project) -> Project:
    return Project(fields_from_pb(message.schema), message.preserves_nullability)


def _update_config(message: pb.UpdateConfig) -> UpdateConfig:
    has = message.HasField
    return UpdateConfig(
        config=_update_map(message.config_updates)
        if has("config_updates")
        else _old_config(message),
        table_metadata=(
            _update_map(message.table_metadata_updates) if has("table_metadata_updates") else None
        ),
        schema_metadata=(
            _update_map(message.schema_metadata_updates)
            if has("schema_metadata_updates")
            else _replaced(message.schema_metadata.items())
        ),
        field_metadata=_field_metadata(message),
    )


def _data_replacement(message: pb.DataReplacement) -> DataReplacement:
    return DataReplacement(
        tuple(
            [
                DataReplacementGroup(group.fragment_id, data_file_from_pb(group.new_file))
                for group in message.replacements
            ]
        )
    )


def _update_mem_wal_state(message: pb.UpdateMemWalState) -> UpdateMemWalState:
    return UpdateMemWalState(_sstables(message.compacted_sstables))


def _clone(message: pb.Clone) -> Clone:
    return Clone(
        is_shallow=message.is_shallow,
        ref_name=message.ref_name if message.HasField("ref_name") else None,
        ref_version=message.ref_version,
        ref_path=message.ref_path,
        branch_name=message.branch_name if message.HasField("branch_name") else None,
    )


def _update_bases(message: pb.UpdateBases) -> UpdateBases:
    return UpdateBases(tuple([base_path_from_pb(base) for base in message.new_bases]))


def _data_overlay(message: pb.DataOverlay) -> DataOverlay:
    return DataOverlay(
        tuple(
            [
                DataOverlayGroup(
                    group.fragment_id, tuple([overlay_from_pb(file) for file in group.overlays])
                )
                for group in message.groups
            ]
        )
    )


def _fragments(messages: Iterable[table_pb2.DataFragment]) -> tuple[Fragment, ...]:
    return tuple([fragment_from_pb(message) for message in messages])


def _sstables(messages: Iterable[index_pb2.CompactedSsTable]) -> tuple[CompactedSsTable, ...]:
    return tuple([compacted_sstable_from_pb(message) for message in messages])


def _rewritten_index(message: pb.RewrittenIndex) -> RewrittenIndex:
    return RewrittenIndex(
        old_id=uuid_from_pb(message.old_id),
        new_id=uuid_from_pb(message.new_id),
        type_url=message.new_index_details.type_url or None,
        details=message.new_index_details.value,
        index_version=message.new_index_version,
        files=tuple([index_file_from_pb(file) for file in message.new_index_files]),
    )


def _key_filter(message: pb.KeyExistenceFilter) -> KeyExistenceFilter:
    bloom = message.bloom
    return KeyExistenceFilter(
        field_ids=tuple(message.field_ids),
        key_hashes=tuple(message.exact.key_hashes),
        bloom=(
            BloomFilter(bloom.bitmap, bloom.num_bits, bloom.number_of_items, bloom.probability)
            if message.HasField("bloom")
            else None
        ),
    )


def _updated_offsets(message: pb.Update) -> tuple[tuple[int, bytes], ...]:
    """Return the bitmaps as stored; the lists of older writers as bitmaps, too."""
    bitmaps = {
        fragment_id: BitMap(offsets.values).serialize()
        for fragment_id, offsets in message.updated_fragment_offsets.items()
    }
    bitmaps.update(message.updated_fragment_offset_bitmaps)
    return tuple(sorted(bitmaps.items()))


def _update_map(message: pb.UpdateMap) -> UpdateMap:
    return UpdateMap(
        entries=tuple(
            [
                (entry.key, entry.value if entry.HasField("value") else None)
                for entry in message.update_entries
            ]
        ),
        replace=message.replace,
    )


def _old_config(message: pb.UpdateConfig) -> UpdateMap | None:
    """Return the changes of the config as writers until 0.32 stored them."""
    if not message.upsert_values and not message.delete_keys:
        return None
    removed = [(key, None) for key in message.delete_keys]
    return UpdateMap((*sorted(message.upsert_values.items()), *removed), replace=False)


def _field_metadata(message: pb.UpdateConfig) -> tuple[tuple[int, UpdateMap], ...]:
    updates = [
        (field_id, _update_map(update))
        for field_id, update in message.field_metadata_updates.items()
    ]
    for field_id, field in message.field_metadata.items():
        replaced = _replaced(field.metadata.items())
        updates.append((field_id, replaced or UpdateMap((), replace=True)))
    return tuple(sorted(updates, key=lambda update: update[0]))


def _replaced(items: Iterable[tuple[str, str]]) -> UpdateMap | None:
    """Return a whole map as writers until 0.32 stored it, None if it is empty or unchanged."""
    entries = tuple(sorted(items))
    return UpdateMap(entries, replace=True) if entries else None


_ARMS = {
    "append": _arm(100, pb.Append, _append),
    "delete": _arm(101, pb.Delete, _delete),
    "overwrite": _arm(102, pb.Overwrite, _overwrite),
    "create_index": _arm(103, pb.CreateIndex, _create_index),
    "rewrite": _arm(104, pb.Rewrite, _rewrite),
    "merge": _arm(105, pb.Merge, _merge),
    "restore": _arm(106, pb.Restore, _restore),
    "reserve_fragments": _arm(107, pb.ReserveFragments, _reserve_fragments),
    "update": _arm(108, pb.Update, _update),
    "project": _arm(109, pb.Project, _project),
    "update_config": _arm(110, pb.UpdateConfig, _update_config),
    "data_replacement": _arm(111, pb.DataReplacement, _data_replacement),
    "update_mem_wal_state": _arm(112, pb.UpdateMemWalState, _update_mem_wal_state),
    "clone": _arm(113, pb.Clone, _clone),
    "update_bases": _arm(114, pb.UpdateBases, _update_bases),
    "data_overlay": _arm(115, pb.DataOverlay, _data_overlay),
}
