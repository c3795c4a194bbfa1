"""Every message, field and flag that pylance knows: what becomes of each here.

``known_fields.txt`` lists them, one a line: the message, number and name in pylance, and what we
do with it. A newer pylance that knows more makes the list differ.
"""

from functools import cache
from pathlib import Path

import pytest
from google.protobuf.message import Message

from lance_explorer.format._pb import index_pb2, row_ids_pb2, table_pb2
from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.format.flags import flag_names, unreadable_flags
from tests.format.pylance_fields import KnownField, known_fields, readable_flags

STORED = Path(__file__).with_name("known_fields.txt")

MESSAGES: dict[str, type[Message]] = {
    "Any": index_pb2.AnyDetails,
    "CompactedSsTable": index_pb2.CompactedSsTable,
    "EncodedU64Array": row_ids_pb2.EncodedU64Array,
    "ExactKeySetFilter": pb.ExactKeys,
    "FragmentReuseIndexDetails": index_pb2.FragmentReuseDetails,
    "Group": index_pb2.FragmentReuseGroup,
    "IndexCatchupProgress": index_pb2.IndexCatchUp,
    "InlineContent": index_pb2.FragmentReuseContent,
    "InvertedIndexDetails": index_pb2.TextDetails,
    "JsonIndexDetails": index_pb2.JsonDetails,
    "Manifest": table_pb2.ManifestEnvelope,
    "MemWalIndexDetails": index_pb2.MemWalDetails,
    "MinHashLshIndexDetails": index_pb2.MinHashDetails,
    "ShardFieldEntry": index_pb2.ShardValue,
    "Range": row_ids_pb2.U64Segment.Range,
    "RangeWithBitmap": row_ids_pb2.U64Segment.RangeWithBitmap,
    "RangeWithHoles": row_ids_pb2.U64Segment.RangeWithHoles,
    "RowDatasetVersionRun": row_ids_pb2.RowVersionRun,
    "RowDatasetVersionSequence": row_ids_pb2.RowVersionSequence,
    "ShardManifest": index_pb2.ShardState,
    "Timestamp": table_pb2.Instant,
    "Transaction": pb.TransactionEnvelope,
    "Transition": index_pb2.FragmentReuseTransition,
    "U16Array": row_ids_pb2.EncodedU64Array.U16Array,
    "U32Array": row_ids_pb2.EncodedU64Array.U32Array,
    "U64Array": row_ids_pb2.EncodedU64Array.U64Array,
    "UInt32List": pb.FragmentOffsets,
    "VectorIndexDetails": index_pb2.VectorDetails,
    "Version": index_pb2.FragmentReuseVersion,
    "FieldMetadataUpdate": pb.FieldMetadata,
}
"""Our messages that have another name than pylance's."""

OURS = (index_pb2, row_ids_pb2, table_pb2, pb)

FRAGMENT_TREE = "refused: a version with a fragment tree is an error that says so"
UNSET = "not read: no release sets it"

ELSEWHERE = {
    ("Manifest", 4): UNSET,
    ("Manifest", 8): UNSET,
    ("Manifest", 22): FRAGMENT_TREE,
    ("JsonIndexDetails", 3): "shown raw, by its number",
}
IN_A_FRAGMENT_TREE = {
    "AddDataFile",
    "AddDeletionFile",
    "ClearDeletionFile",
    "FragmentAction",
    "FragmentTree",
    "FragmentTreeChild",
    "FragmentTreeMetadata",
    "FragmentTreeMutation",
    "FragmentTreeRoot",
    "RemoveDataFile",
    "ReplaceDataFile",
}


@pytest.fixture(scope="module")
def known(tmp_path_factory) -> list[KnownField]:
    return known_fields(tmp_path_factory.mktemp("known"))


@pytest.mark.slow
def test_all_fields_that_pylance_knows_are_listed_with_what_becomes_of_them(known):
    """``STORED.write_text(listed(known))`` writes the list anew."""
    assert listed(known).splitlines() == STORED.read_text().splitlines()


@pytest.mark.slow
def test_no_field_that_pylance_knows_is_passed_over(known):
    assert [line for line in listed(known).splitlines() if line.endswith(": ?")] == []


@pytest.mark.slow
def test_messages_are_reached_from_all_files_of_a_table(known):
    reached = {field.message for field in known}
    assert reached >= {"Manifest", "Transaction", "IndexMetadata", "U64Segment", "ShardManifest"}
    assert reached >= set(MESSAGES) - {"FieldMetadataUpdate"}
    assert len(known) > 300


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> set[int]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("LANCE_ENABLE_UNSTABLE_DATA_OVERLAY_FILES", "1")
        return readable_flags(tmp_path_factory.mktemp("flags"))


def test_a_flag_that_pylance_opens_is_readable_here(opened):
    assert opened >= {1, 4, 8, 16, 32, 64, 128, 256, 1024, 2048, 16384}
    assert [flag for flag in opened if unreadable_flags(flag)] == []


def test_flags_that_pylance_refuses_are_refused_by_name_or_known(opened):
    """Of a table without row IDs, and without a highest ID of fields, that say they have them."""
    told = {2: "stable_row_ids", 8192: "covering_fields", 32768: "non_reusable_field_ids"}
    refused = {1 << bit for bit in range(64)} - opened
    readable_here = {flag for flag in refused if not unreadable_flags(flag)}
    assert {flag: flag_names(flag)[0] for flag in readable_here} == told


def listed(known: list[KnownField]) -> str:
    """Return the text of the list."""
    return "".join(
        [f"{field.message}.{field.number} {field.name}: {_fate(field)}\n" for field in known]
    )


def _fate(field: KnownField) -> str:
    if field.message in IN_A_FRAGMENT_TREE:
        return FRAGMENT_TREE
    told = ELSEWHERE.get((field.message, field.number))
    if told is not None:
        return told
    message = _our_message(field.message)
    ours = None if message is None else message.DESCRIPTOR.fields_by_number.get(field.number)
    return "?" if ours is None else f"read as {ours.name}"


@cache
def _our_message(name: str) -> type[Message] | None:
    if name in MESSAGES:
        return MESSAGES[name]
    found = [getattr(module, name) for module in OURS if hasattr(module, name)]
    return found[0] if found else None
