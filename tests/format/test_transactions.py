"""Transactions against what pylance makes of the same bytes, retired forms, and damaged bytes.

Pylance itself cannot show a Rewrite with rewritten indices, nor three kinds of operations: these
are compared with the manifests before and after.
"""

import json
from pathlib import Path
from typing import Any

import lance
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap

from lance_explorer.errors import CorruptFileError
from lance_explorer.format._pb import index_pb2, table_pb2
from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.format.fragments import DataFile, DataOverlayFile, Fragment
from lance_explorer.format.indices import CompactedSsTable, IndexMetadata
from lance_explorer.format.layout_operations import ReserveFragments, Rewrite
from lance_explorer.format.operation_names import OperationName
from lance_explorer.format.operation_records import Effects
from lance_explorer.format.operations import Operation
from lance_explorer.format.row_operations import KeyExistenceFilter, Update, UpdateMode
from lance_explorer.format.table_operations import (
    Unknown,
    UpdateBases,
    UpdateMap,
    UpdateMemWalState,
)
from lance_explorer.format.transactions import (
    Transaction,
    decode_transaction,
    decode_transaction_header,
)
from tests.format import samples
from tests.stored_tables import is_main, stored_check
from tests.synthetic.wire import record

UUID_BYTES = bytes(range(16))
UUID_TEXT = "00010203-0405-0607-0809-0a0b0c0d0e0f"
ARMS = [field.name for field in pb.TransactionEnvelope.DESCRIPTOR.oneofs[0].fields]


def empty_operation(arm: str) -> bytes:
    """Return a transaction with one operation that holds nothing."""
    filled = pb.TransactionEnvelope(read_version=4, uuid="u")
    setattr(filled, arm, b"")
    return filled.SerializeToString()


def envelope(**arms: Any) -> bytes:
    """Return a transaction with one operation, given as a message."""
    [(arm, message)] = arms.items()
    filled = pb.TransactionEnvelope(read_version=4, uuid="u")
    setattr(filled, arm, message.SerializeToString())
    return filled.SerializeToString()


def operation_of(**arms: Any) -> Any:
    """Return the record of one operation, given as a message."""
    return decode_transaction(envelope(**arms)).operation


def unknown_field(number: int, payload: bytes) -> bytes:
    """Return a length-delimited field of fewer than 128 bytes."""
    tag = number << 3 | 2
    return bytes([tag & 0x7F | 0x80, tag >> 7, len(payload)]) + payload


@pytest.fixture(scope="module", params=[False, True], ids=["addresses", "stable_row_ids"])
def life_cycle(request, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("transactions") / "life_cycle.lance"
    return samples.write_life_cycle(path, stable_row_ids=request.param)


def transactions_of(path: Path) -> dict[int, bytes]:
    """Return the inline transactions by version, those of branches left out."""
    found = {}
    for manifest in path.glob("_versions/*.manifest"):
        file = manifest.read_bytes()
        data = samples.inline_transaction(file)
        if data is not None:
            found[samples.read_manifest(file).version] = data
    return found


def operations_by_name(path: Path) -> dict[str, Any]:
    """Return the last operation of each kind."""
    decoded = [
        decode_transaction(data).operation for _, data in sorted(transactions_of(path).items())
    ]
    return {type(operation).__name__: operation for operation in decoded}


# ------------------------------------------------------------------ the same as pylance understands


def file_facts(file: Any) -> tuple[Any, ...]:
    size = file.size_bytes if isinstance(file, DataFile) else file.file_size_bytes
    major = file.major_version if isinstance(file, DataFile) else file.file_major_version
    minor = file.minor_version if isinstance(file, DataFile) else file.file_minor_version
    return (
        file.path,
        tuple(file.fields),
        tuple(file.column_indices),
        major,
        minor,
        size,
        file.base_id,
    )


def overlay_facts(overlay: Any) -> tuple[Any, ...]:
    if isinstance(overlay, DataOverlayFile):
        offsets = [list(BitMap.deserialize(bitmap)) for bitmap in overlay.coverage]
    else:
        many = isinstance(overlay.offsets, list)
        offsets = [list(offsets) for offsets in (overlay.offsets if many else [overlay.offsets])]
    return file_facts(overlay.data_file), offsets, overlay.committed_version


def fragment_facts(fragments: Any) -> list[tuple[Any, ...]]:
    return [
        (
            fragment.id,
            fragment.physical_rows,
            [file_facts(file) for file in fragment.files],
            fragment.deletion_file and fragment.deletion_file.num_deleted_rows,
            [overlay_facts(overlay) for overlay in fragment.overlays],
            has_row_ids(fragment),
        )
        for fragment in fragments
    ]


def has_row_ids(fragment: Any) -> bool:
    stored = fragment.row_ids if isinstance(fragment, Fragment) else fragment.row_id_meta
    return stored is not None


def schema_facts(schema: Any) -> list[tuple[Any, ...]]:
    if isinstance(schema, tuple):
        return [(field.id, field.name) for field in schema]
    fields: list[tuple[Any, ...]] = []

    def visit(field: Any) -> None:
        fields.append((field.id(), field.name()))
        for child in field.children():
            visit(child)

    for field in schema.fields():
        visit(field)
    return fields


def index_facts(index: Any) -> tuple[Any, ...]:
    if isinstance(index, IndexMetadata):
        covered = index.fragment_ids()
        created, files = index.created_at_ms, [(file.path, file.size_bytes) for file in index.files]
    else:
        covered = index.fragment_ids
        created = index.created_at and round(index.created_at.timestamp() * 1000)
        files = [(file.path, file.size_bytes) for file in index.files or []]
    return (
        *(index.uuid, index.name, tuple(index.fields), index.dataset_version),
        *(sorted(covered or ()), index.index_version, index.base_id),  # pylance: absent is empty
        *(created, sorted(files), tuple(index.covering_fields)),
    )


def map_facts(update: Any) -> tuple[Any, ...] | None:
    if update is None:
        return None
    entries = update.entries if isinstance(update, UpdateMap) else update.updates.items()
    return dict(entries), update.replace


def facts(operation: Any) -> Any:
    """Return what pylance tells of an operation, for its objects as for ours."""
    ours = isinstance(operation, Operation)
    match type(operation).__name__:
        case "Append":
            return fragment_facts(operation.fragments)
        case "Delete":
            return (
                fragment_facts(operation.updated_fragments),
                sorted(operation.deleted_fragment_ids),
                operation.predicate,
            )
        case "Overwrite":
            schema = operation.schema if ours else operation.new_schema
            return fragment_facts(operation.fragments), schema_facts(schema)
        case "CreateIndex":
            return (
                [index_facts(index) for index in operation.new_indices],
                [index_facts(index) for index in operation.removed_indices],
            )
        case "Rewrite":
            assert not operation.rewritten_indices
            return [
                (fragment_facts(group.old_fragments), fragment_facts(group.new_fragments))
                for group in operation.groups
            ]
        case "Merge":
            return fragment_facts(operation.fragments), schema_facts(operation.schema)
        case "Restore":
            return operation.version
        case "Update":
            mode = operation.update_mode
            offsets = operation.updated_offsets if ours else operation.updated_fragment_offsets
            return (
                sorted(operation.removed_fragment_ids),
                fragment_facts(operation.updated_fragments),
                fragment_facts(operation.new_fragments),
                list(operation.fields_modified),
                list(operation.fields_for_preserving_frag_bitmap),
                UpdateMode(mode).name.lower() if ours else mode,
                {id_: BitMap.deserialize(bitmap) for id_, bitmap in dict(offsets or ()).items()},
            )
        case "Project":
            return schema_facts(operation.schema), operation.preserves_nullability
        case "UpdateConfig" if ours:
            fields = {field: map_facts(update) for field, update in operation.field_metadata}
            maps = (operation.config, operation.table_metadata, operation.schema_metadata)
            return [map_facts(update) for update in maps], fields
        case "UpdateConfig":
            updates = operation.field_metadata_updates or {}
            fields = {field: map_facts(update) for field, update in updates.items()}
            maps = (
                operation.config_updates,
                operation.table_metadata_updates,
                operation.schema_metadata_updates,
            )
            return [map_facts(update) for update in maps], fields
        case "DataReplacement":
            return [
                (group.fragment_id, file_facts(group.new_file)) for group in operation.replacements
            ]
        case "Clone":
            names = ("is_shallow", "ref_name", "ref_version", "ref_path", "branch_name")
            return [getattr(operation, name) for name in names]
        case "DataOverlay":
            return [
                (group.fragment_id, [overlay_facts(overlay) for overlay in group.overlays])
                for group in operation.groups
            ]
    raise NotImplementedError(type(operation).__name__)


def shown_by_pylance(table: lance.LanceDataset, version: int, ours: Transaction) -> Any:
    """Return pylance's transaction, None where it is known to have none to show."""
    if isinstance(ours.operation, Rewrite) and ours.operation.rewritten_indices:
        with pytest.raises((TypeError, OSError), match=r"new_details_type_url|new_index_details"):
            table.read_transaction(version)
        return None
    theirs: Any = table.read_transaction(version)
    if type(theirs.operation) is lance.LanceOperation.BaseOperation:
        opaque = (ReserveFragments, UpdateBases, UpdateMemWalState)
        assert isinstance(ours.operation, opaque)
        return None
    return theirs


def compare_with_pylance(path: Path, branch: str | None = None) -> set[str]:
    """Compare all transactions of a branch; return the operations that pylance could show."""
    compared = set()
    table = lance.dataset(path)
    if branch:
        path /= f"tree/{branch}"
        table = table.checkout_version((branch, None))
    for version, data in transactions_of(path).items():
        ours = decode_transaction(data)
        theirs = shown_by_pylance(table, version, ours)
        if theirs is None:
            continue
        name = type(theirs.operation).__name__
        assert type(ours.operation).__name__ == name
        assert (ours.read_version, ours.uuid) == (theirs.read_version, theirs.uuid)
        assert dict(ours.properties) == (theirs.transaction_properties or {})
        assert facts(ours.operation) == facts(theirs.operation)
        compared.add(name)
    return compared


def test_every_operation_of_a_life_cycle_is_what_pylance_reads(life_cycle):
    main = {"Append", "Delete", "Overwrite", "CreateIndex", "Merge", "Restore", "Update"}
    main |= {"Project", "UpdateConfig", "DataReplacement", "DataOverlay"}
    assert compare_with_pylance(life_cycle) == main
    assert compare_with_pylance(life_cycle, "dev") == {"Clone", "Delete"}


@stored_check(is_main)
def check_transactions_of_stored_tables_are_what_pylance_reads(asked):
    compare_with_pylance(asked.root)


def test_rewrites_without_rewritten_indices_are_what_pylance_reads(tmp_path):
    samples.write(samples.rows(0, 60), tmp_path, "create")
    table = lance.dataset(tmp_path)
    table.delete("id IN (1, 30)")
    table.optimize.compact_files()
    assert "Rewrite" in compare_with_pylance(tmp_path)


def test_inline_transactions_are_the_bytes_of_the_transaction_files(life_cycle):
    inline = {samples.inline_transaction(file) for file in samples.manifest_files(life_cycle)}
    assert inline == set(samples.transaction_files(life_cycle))


# ------------------------------------------------------------------------- what pylance cannot show


def test_a_rewrite_names_the_indices_that_it_rewrote(life_cycle):
    """Compare with the index sections before and after."""
    uuids: dict[int, dict[str, str]] = {}
    for file in samples.manifest_files(life_cycle):
        section = index_pb2.IndexSection.FromString(samples.index_section(file) or b"")
        version = samples.read_manifest(file).version
        uuids[version] = {index.name: index.uuid.uuid.hex() for index in section.indices}
    for version, data in transactions_of(life_cycle).items():
        operation = decode_transaction(data).operation
        if isinstance(operation, Rewrite):
            before, after = uuids[version - 1], uuids[version]
            changed = {before[name]: after[name] for name in before if before[name] != after[name]}
            assert changed == {
                index.old_id.replace("-", ""): index.new_id.replace("-", "")
                for index in operation.rewritten_indices
            }
            assert all(index.type_url and index.files for index in operation.rewritten_indices)
            break
    else:
        pytest.fail("no Rewrite in the life cycle")


def test_a_rewrite_replaces_its_old_fragments_by_its_new_ones(life_cycle):
    [rewrite] = [
        operation
        for operation in operations_by_name(life_cycle).values()
        if isinstance(operation, Rewrite)
    ]
    [version] = [
        version
        for version, data in transactions_of(life_cycle).items()
        if decode_transaction_header(data).operation == "Rewrite"
    ]
    before = {f.fragment_id for f in lance.dataset(life_cycle, version - 1).get_fragments()}
    after = {f.fragment_id for f in lance.dataset(life_cycle, version).get_fragments()}
    assert rewrite.reads().fragments == before - after
    assert rewrite.writes().fragments == before ^ after


def test_reserved_fragments_and_new_bases_are_read(life_cycle):
    found = operations_by_name(life_cycle)
    assert found["ReserveFragments"] == ReserveFragments(1)
    [base] = found["UpdateBases"].new_bases
    assert (base.id, base.name, base.path) == (0, "spare", str(life_cycle.parent / "base"))


def test_an_upsert_on_the_primary_key_stores_a_filter_of_inserted_keys(tmp_path):
    data = samples.rows(0, 10)
    key = {"lance-schema:unenforced-primary-key": "true"}
    data = data.cast(
        data.schema.set(0, data.schema.field("id").with_nullable(False).with_metadata(key))
    )
    table = samples.write(data, tmp_path, "create")
    merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
    merge.execute(samples.rows(8, 12).cast(data.schema))
    update = operations_by_name(tmp_path)["Update"]
    assert update.inserted_rows.field_ids == (0,)
    assert update.inserted_rows.key_hashes == ()
    assert len(update.inserted_rows.bloom.bitmap) * 8 == update.inserted_rows.bloom.num_bits
    assert update.reads().fields == {0}
    assert update.summary()["inserted_rows"] == "bloom_filter"


# ------------------------------------------------------------------------------------------ headers


def test_the_header_is_that_of_the_whole_transaction(life_cycle):
    for data in samples.transaction_files(life_cycle):
        header, whole = decode_transaction_header(data), decode_transaction(data)
        assert header.operation == type(whole.operation).__name__
        assert (header.read_version, header.uuid) == (whole.read_version, whole.uuid)
        assert header.properties == whole.properties


def test_the_commit_message_is_read(life_cycle):
    headers = [decode_transaction_header(data) for data in samples.transaction_files(life_cycle)]
    messages = {header.message: header.operation for header in headers}
    assert messages["the last rows"] == "Append"
    assert set(messages) == {None, "the last rows"}


@pytest.mark.parametrize("arm", ARMS)
def test_every_known_operation_has_its_name_and_number(arm):
    data = empty_operation(arm)
    header = decode_transaction_header(data)
    assert header.number == pb.TransactionEnvelope.DESCRIPTOR.fields_by_name[arm].number
    assert header.operation == arm.title().replace("_", "")
    operation = decode_transaction(data).operation
    assert type(operation).__name__ == header.operation
    assert not operation.writes().fragments | operation.reads().fragments


@pytest.mark.parametrize("number", [116, 200, 300])
def test_an_operation_of_the_future_keeps_its_number(number):
    data = pb.TransactionEnvelope(read_version=4, uuid="u").SerializeToString()
    data += unknown_field(number, b"\xff\xff not a message")
    header = decode_transaction_header(data)
    assert (header.read_version, header.operation, header.number) == (
        4,
        OperationName.UNKNOWN,
        number,
    )
    operation = decode_transaction(data).operation
    assert operation == Unknown(number, 16)
    assert operation.writes().whole_table


def test_an_operation_of_the_future_shows_its_fields_by_their_numbers():
    content = record(1, b"words") + bytes([16, 7]) + record(3, bytes([8, 1]))
    operation = decode_transaction(unknown_field(116, content)).operation
    assert operation == Unknown(116, len(content), '{"1": "words", "2": 7, "3": {"1": 1}}')


def test_of_several_unknown_operations_the_last_one_counts():
    data = unknown_field(117, b"one") + unknown_field(116, b"last")
    assert decode_transaction(data).operation == Unknown(116, 4)


def test_a_known_operation_beats_a_retired_one_beside_it():
    data = envelope(append=pb.Append()) + unknown_field(200, b"blobs")
    assert decode_transaction_header(data).operation == "Append"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        pb.TransactionEnvelope(read_version=1, uuid="u").SerializeToString(),
        unknown_field(99, b"not an operation"),
        b"\xa0\x06\x01",  # number 100 as an integer
        b"\xff\xff\xff",
        b"\x12\x01\xff",  # a uuid that is not text
    ],
    ids=["empty", "no_operation", "field_99", "integer", "cut", "not_text"],
)
@pytest.mark.parametrize("decode", [decode_transaction_header, decode_transaction])
def test_bytes_that_are_no_transaction_are_refused(decode, data):
    with pytest.raises(CorruptFileError):
        decode(data)


def test_a_damaged_operation_is_refused_by_name():
    data = pb.TransactionEnvelope(append=b"\xff").SerializeToString()
    assert decode_transaction_header(data).operation == "Append"
    with pytest.raises(CorruptFileError, match="Append operation"):
        decode_transaction(data)


# ------------------------------------------------------------------------------------ retired forms


def fragment(fragment_id: int) -> table_pb2.DataFragment:
    return table_pb2.DataFragment(id=fragment_id, physical_rows=10)


def test_a_rewrite_without_groups_is_one_group():
    message = pb.Rewrite(old_fragments=[fragment(1), fragment(2)], new_fragments=[fragment(3)])
    rewrite = operation_of(rewrite=message)
    [group] = rewrite.groups
    assert [f.id for f in group.old_fragments] == [1, 2]
    assert [f.id for f in group.new_fragments] == [3]
    assert rewrite.summary() == {
        "groups": 1,
        "old_fragments": 2,
        "new_fragments": 1,
        "rewritten_indices": 0,
    }


def test_an_old_update_of_the_config_sets_and_removes_keys():
    message = pb.UpdateConfig(upsert_values={"b": "2", "a": "1"}, delete_keys=["c"])
    update = operation_of(update_config=message)
    assert update.config == UpdateMap((("a", "1"), ("b", "2"), ("c", None)), replace=False)
    assert update.schema_metadata is None
    assert update.writes().config_keys == {"a", "b", "c"}
    assert update.summary() == {"config": {"set": ["a", "b"], "removed": ["c"], "replace": False}}


def test_an_old_update_of_metadata_replaces_it():
    message = pb.UpdateConfig(
        schema_metadata={"a": "1"}, field_metadata={7: pb.FieldMetadata(metadata={"m": "x"})}
    )
    update = operation_of(update_config=message)
    assert update.config is None
    assert update.schema_metadata == UpdateMap((("a", "1"),), replace=True)
    assert update.field_metadata == ((7, UpdateMap((("m", "x"),), replace=True)),)
    assert update.writes() == Effects(fields=frozenset({7}), metadata_keys=frozenset({"a"}))


def test_old_lists_of_updated_offsets_become_bitmaps():
    message = pb.Update(
        updated_fragment_offsets={3: pb.FragmentOffsets(values=[9, 1])},
        updated_fragment_offset_bitmaps={2: BitMap([4]).serialize()},
    )
    update = operation_of(update=message)
    assert [fragment_id for fragment_id, _ in update.updated_offsets] == [2, 3]
    assert update.offsets(2) == BitMap([4])
    assert update.offsets(3) == BitMap([1, 9])
    assert update.offsets(5) is None


# -------------------------------------------------------- what the installed pylance does not write


def test_progress_of_the_write_ahead_log_is_read():
    table = index_pb2.CompactedSsTable(shard_id=table_pb2.Uuid(uuid=UUID_BYTES), generation=5)
    message = pb.UpdateMemWalState(compacted_sstables=[table])
    state = operation_of(update_mem_wal_state=message)
    assert state == UpdateMemWalState((CompactedSsTable(UUID_TEXT, 5),))
    assert state.summary() == {"compacted_sstables": 1}


def test_exact_keys_of_inserted_rows_are_read():
    keys = pb.KeyExistenceFilter(field_ids=[1, 2], exact=pb.ExactKeys(key_hashes=[2**64 - 1, 7]))
    update = operation_of(update=pb.Update(inserted_rows=keys))
    assert update.inserted_rows == KeyExistenceFilter((1, 2), (2**64 - 1, 7), None)
    assert update.summary()["inserted_rows"] == "exact"


def test_an_unknown_update_mode_is_kept():
    update = operation_of(update=pb.Update(update_mode=9))
    assert update.update_mode == update.summary()["update_mode"] == 9


def test_a_uuid_of_the_wrong_length_is_refused():
    index = pb.RewrittenIndex(old_id=table_pb2.Uuid(uuid=b"short"))
    with pytest.raises(CorruptFileError, match="16 bytes of a UUID, found 5"):
        operation_of(rewrite=pb.Rewrite(rewritten_indices=[index]))


# ---------------------------------------------------------------------------- effects and summaries


def test_fragments_without_an_id_are_in_no_effects(life_cycle):
    found = operations_by_name(life_cycle)
    for name in ("Append", "Overwrite"):
        assert {f.id for f in found[name].fragments} == {0}
        assert found[name].writes().fragments == frozenset()
    assert not found["Append"].writes().whole_table
    assert found["Overwrite"].writes().whole_table


def test_a_delete_changes_fragments_in_part_and_in_whole():
    message = pb.Delete(updated_fragments=[fragment(4)], deleted_fragment_ids=[7], predicate="x")
    delete = operation_of(delete=message)
    assert delete.writes() == delete.reads() == Effects(frozenset({4, 7}))


def test_an_update_changes_the_fragments_and_fields_that_pylance_changed(life_cycle):
    by_version = {
        v: decode_transaction(data).operation for v, data in transactions_of(life_cycle).items()
    }
    version = min(v for v, operation in by_version.items() if _updates_one_field(operation))
    before, after = lance.dataset(life_cycle, version - 1), lance.dataset(life_cycle, version)
    masked = {
        new.fragment_id
        for old, new in zip(before.get_fragments(), after.get_fragments(), strict=False)
        if old.deletion_file() != new.deletion_file()
    }
    assert by_version[version].writes().fragments == masked
    assert by_version[version].writes().fields == {2}


def _updates_one_field(operation: Operation) -> bool:
    return isinstance(operation, Update) and len(operation.writes().fields) == 1


def test_an_index_depends_upon_the_fragments_and_fields_that_it_covers(life_cycle):
    transactions = transactions_of(life_cycle)
    first = min(v for v, t in transactions.items() if decode_transaction_header(t).number == 103)
    operation: Any = decode_transaction(transactions[first]).operation
    fragments = {f.fragment_id for f in lance.dataset(life_cycle, first).get_fragments()}
    assert operation.reads() == Effects(frozenset(fragments), frozenset({0}))
    assert operation.writes().indices == {operation.new_indices[0].uuid}
    assert operation.summary() == {"new_indices": ["id_idx (BTREE)"], "removed_indices": []}


def test_an_index_that_claims_to_cover_billions_of_fragments_is_refused():
    everything = BitMap(range(1 << 23))
    everything.run_optimize()
    index = index_pb2.IndexMetadata(
        uuid=table_pb2.Uuid(uuid=UUID_BYTES), fragment_bitmap=everything.serialize()
    )
    operation = operation_of(create_index=pb.CreateIndex(new_indices=[index]))
    with pytest.raises(CorruptFileError, match="claim to cover"):
        operation.reads()


def test_columns_in_place_depend_upon_their_fragments():
    file = table_pb2.DataFile(path="f", fields=[3, -2, 5])
    replaced = operation_of(
        data_replacement=pb.DataReplacement(
            replacements=[pb.DataReplacementGroup(fragment_id=8, new_file=file)]
        )
    )
    overlaid = operation_of(
        data_overlay=pb.DataOverlay(
            groups=[
                pb.DataOverlayGroup(
                    fragment_id=8, overlays=[table_pb2.DataOverlayFile(data_file=file)]
                )
            ]
        )
    )
    for operation in (replaced, overlaid):
        assert operation.reads() == Effects(frozenset({8}))
        assert operation.writes() == Effects(frozenset({8}), frozenset({3, 5}))


@pytest.mark.parametrize("arm", ["restore", "clone", "overwrite"])
def test_operations_that_replace_the_table_say_so(arm):
    assert decode_transaction(empty_operation(arm)).operation.writes().whole_table


def test_summaries_are_json_and_short(life_cycle):
    for data in samples.transaction_files(life_cycle):
        assert len(json.dumps(decode_transaction(data).operation.summary())) < 1000


def test_a_summary_stays_short_whatever_a_transaction_holds():
    message = pb.UpdateConfig(
        config_updates=pb.UpdateMap(
            update_entries=[pb.UpdateMapEntry(key=f"{n:04} {'k' * 1000}") for n in range(1000)]
        )
    )
    summary = operation_of(update_config=message).summary()
    assert len(json.dumps(summary)) < 5000
    assert summary["config"]["removed"][-1] == "and 980 more"
    delete = operation_of(delete=pb.Delete(predicate="x" * 10_000))
    assert len(delete.summary()["predicate"]) == 200
    assert delete.predicate == "x" * 10_000


# ------------------------------------------------------------------------------------ damaged bytes


@pytest.fixture(scope="module")
def transaction_samples(life_cycle) -> list[bytes]:
    rare = (
        pb.Rewrite(old_fragments=[fragment(1)], new_fragments=[fragment(2)]),
        pb.UpdateConfig(upsert_values={"a": "1"}, delete_keys=["b"]),
        pb.Update(updated_fragment_offsets={3: pb.FragmentOffsets(values=[9, 1])}),
    )
    arms = ("rewrite", "update_config", "update")
    made = [envelope(**{arm: message}) for arm, message in zip(arms, rare, strict=True)]
    return [*samples.transaction_files(life_cycle), *made, unknown_field(116, b"future")]


@given(data=st.data())
def test_damaged_transactions_give_a_record_or_an_error_of_ours(transaction_samples, data):
    damaged = data.draw(samples.damaged(transaction_samples))
    try:
        header, whole = decode_transaction_header(damaged), decode_transaction(damaged)
        json.dumps(whole.operation.summary())
        whole.operation.writes()
        whole.operation.reads()
    except CorruptFileError:
        return
    assert header.read_version == whole.read_version
