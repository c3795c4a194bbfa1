"""The row-ID index of every version of the stored tables, against pylance's scan of the data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest
from pyroaring import BitMap

from lance_explorer.format._pb import table_pb2
from lance_explorer.format.deletions import decode_deletion_file
from lance_explorer.format.fragments import decode_fragment
from lance_explorer.format.sequences import decode_row_id_sequence
from lance_explorer.rowids.index import FragmentRows, RowIdIndex, address_rows
from tests.format import samples
from tests.stored_tables import stored_check

STABLE_ROW_IDS = 2


def manifests(table: Path) -> Iterator[table_pb2.ManifestEnvelope]:
    """Yield the manifests of the main branch, oldest first; detached ones are none of it."""
    files = [samples.read_manifest(f.read_bytes()) for f in table.glob("_versions/[0-9]*.manifest")]
    yield from sorted(files, key=lambda manifest: manifest.version)


def fragment_rows(table: Path, data: bytes, *, stable: bool) -> FragmentRows | None:
    """Return the rows of a fragment, None if its row IDs are not in the manifest."""
    fragment = decode_fragment(data)
    assert fragment.physical_rows is not None
    deleted = BitMap()
    if fragment.deletion_file is not None:
        file = table / fragment.deletion_file.path(fragment.id)
        deleted = decode_deletion_file(
            file.read_bytes(), fragment.deletion_file.file_type, fragment.physical_rows
        )
    if not stable:
        return address_rows(fragment.id, fragment.physical_rows, deleted)
    message = table_pb2.DataFragment.FromString(data)
    if not message.HasField("inline_row_ids"):
        return None
    sequence = decode_row_id_sequence(message.inline_row_ids, fragment.physical_rows)
    return FragmentRows(fragment.id, sequence, deleted)


def index_of(table: Path, manifest: table_pb2.ManifestEnvelope) -> RowIdIndex | None:
    """Return the index of a version, None if some row IDs are not in the manifest."""
    stable = bool(manifest.reader_feature_flags & STABLE_ROW_IDS)
    fragments = [fragment_rows(table, data, stable=stable) for data in manifest.fragments]
    known = [fragment for fragment in fragments if fragment is not None]
    if len(known) < len(fragments):
        return None
    return RowIdIndex.of_fragments(known, is_identity=not stable)


def check(table: Path, manifest: table_pb2.ManifestEnvelope, index: RowIdIndex) -> None:
    """Check both directions of the index of a version against pylance."""
    dataset: Any = lance.dataset(table, version=manifest.version)
    rows = dataset.scanner(columns=[], with_row_id=True, with_row_address=True).to_table()
    ids, addresses = (rows.column(name).to_numpy() for name in ("_rowid", "_rowaddr"))
    located, found = index.locate_many(ids)
    there, known = index.ids_at(addresses)
    assert len(index) == len(rows)
    assert found.all()
    assert known.all()
    assert np.array_equal(located, addresses)
    assert np.array_equal(there, ids)


@stored_check(lambda asked: asked.scenario == "stable_row_ids")
def check_the_index_of_a_version_follows_from_the_one_before(asked):
    table = asked.root
    before: dict[bytes, FragmentRows] = {}
    index = RowIdIndex.of_fragments([])
    for manifest in manifests(table):
        now = {data: fragment_rows(table, data, stable=True) for data in manifest.fragments}
        states = {data: rows for data, rows in now.items() if rows is not None}
        removed = [rows.fragment_id for data, rows in before.items() if data not in states]
        index = index.replaced(
            removed, [rows for data, rows in states.items() if data not in before]
        )
        fresh = index_of(table, manifest)
        assert fresh is not None
        assert [column.tolist() for column in index.id_map.runs.columns] == [
            column.tolist() for column in fresh.id_map.runs.columns
        ]
        before = states


@pytest.mark.parametrize("stable", [False, True])
def test_dense_changes_are_indexed_as_pylance_scans_them(tmp_path, stable):
    path = tmp_path / "dense.lance"
    lance.write_dataset(
        rows(0, 60_000), path, max_rows_per_file=25_000, enable_stable_row_ids=stable
    )
    for step, divisor in enumerate([17, 3, 40]):
        lance.dataset(path).delete(f"id % {divisor} = 1")
        changes: Any = lance.dataset(path)
        changes.update({"score": "score + 1"}, where=f"id % {divisor + 2} = 0")
        merge = lance.dataset(path).merge_insert("id").when_matched_update_all()
        merge.when_not_matched_insert_all().execute(rows(20_000 * step, 20_000 * step + 10_000))
        lance.dataset(path).optimize.compact_files(target_rows_per_fragment=40_000)
    kinds = set()
    for manifest in manifests(path):
        index = index_of(path, manifest)
        assert index is not None
        check(path, manifest, index)
        kinds |= {(some.present is None, some.is_masked) for some in index.id_map.blocks}
    assert kinds == ({(True, False), (False, False), (False, True)} if stable else {(True, False)})


def rows(start: int, stop: int) -> pa.Table:
    return pa.table({"id": pa.array(range(start, stop)), "score": np.zeros(stop - start)})
