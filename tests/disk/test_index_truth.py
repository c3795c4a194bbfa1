"""What index files hold, beside rows: healthy tables give nothing, and damage is found.

pylance is asked the same: a search with an index must find what a scan finds.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lance.file import LanceFileWriter
from pyroaring import BitMap

import lance_explorer as lx
from lance_explorer.checks.index_truth import _in_order, _joined, index_truth
from lance_explorer.errors import CorruptFileError
from lance_explorer.findings import Subject
from lance_explorer.format._pb import index_pb2
from lance_explorer.format.row_sets import decode_row_set
from tests.stored_tables import stored_check
from tests.synthetic.manifests import ManifestFile

LEGACY_INDEX_FILES = "0.20.0"  # and before: pylance's reader of single files does not read these


def codes(path: Path) -> list[str]:
    checked = lx.open_table(path).check(depth="deep").filter(topic="indices")
    return checked.filter(pl.col("code").str.starts_with("index_"))["code"].to_list()


def messages(path: Path) -> list[str]:
    return [finding.statement for finding in index_truth(lx.open_table(path)._view)]


@stored_check()
def check_indices_of_all_releases_tell_the_truth_in_every_version(asked):
    for version in asked.versions:
        found = [*index_truth(asked.view, version)]
        if asked.release == LEGACY_INDEX_FILES:
            found = [finding for finding in found if finding.code != "not_checked"]
        assert not found


def numbers(start: int, stop: int) -> pa.Table:
    return pa.table(
        {
            "id": pa.array(range(start, stop), pa.int64()),
            "kind": pa.array(
                [None if n % 5 == 0 else f"k{n % 3}" for n in range(start, stop)], pa.string()
            ),
            "tags": pa.array(
                [None if n % 4 == 0 else [f"t{n % 2}", "all", None] for n in range(start, stop)],
                pa.list_(pa.string()),
            ),
        }
    )


def indexed(path: Path, *, stable: bool, rows: int = 12) -> Any:
    dataset = lance.write_dataset(
        numbers(0, rows), path, max_rows_per_file=4, enable_stable_row_ids=stable
    )
    dataset.create_scalar_index("id", "BTREE", name="id")
    dataset.create_scalar_index("kind", "BITMAP", name="kind")
    dataset.create_scalar_index("tags", "LABEL_LIST", name="tags")
    return lance.dataset(path)


@pytest.fixture(params=[False, True], ids=["addresses", "stable"])
def stable(request) -> bool:
    return bool(request.param)


@pytest.mark.slow
def test_an_ordinary_life_leaves_nothing_to_find(tmp_path, stable):
    path = tmp_path / "t.lance"
    indexed(path, stable=stable)
    steps: tuple[Callable[[Any], object], ...] = (
        lambda dataset: dataset.delete("id in (1, 5)"),
        lambda dataset: dataset.update({"kind": "'new'"}, where="id = 2"),
        lambda dataset: dataset.update({"id": "id + 100"}, where="id = 3"),
        lambda dataset: lance.write_dataset(numbers(12, 20), dataset, mode="append"),
        lambda dataset: dataset.optimize.optimize_indices(num_indices_to_merge=0),
        lambda dataset: (
            dataset.merge_insert("id")
            .when_matched_update_all()
            .when_not_matched_insert_all()
            .execute(numbers(18, 24))
        ),
        lambda dataset: dataset.optimize.compact_files(),
        lambda dataset: dataset.optimize.optimize_indices(),
    )
    for step in steps:
        step(lance.dataset(path))
        assert messages(path) == []


def covering(path: Path, name: str, fragments: list[int]) -> None:
    """Let the latest version say that an index covers certain fragments."""
    file = min((path / "_versions").glob("*.manifest"))
    manifest = ManifestFile.from_bytes(file.read_bytes())
    section = index_pb2.IndexSection.FromString(manifest.index_section or b"")
    for index in section.indices:
        if index.name == name:
            index.fragment_bitmap = BitMap(fragments).serialize()
    file.write_bytes(replace(manifest, index_section=section.SerializeToString()).to_bytes())


@pytest.mark.parametrize(("name", "value"), [("id", "id = 13"), ("kind", "kind = 'k1'")])
def test_rows_without_entries_are_found_with_the_version(tmp_path, stable, name, value):
    path = tmp_path / "t.lance"
    dataset = indexed(path, stable=stable)
    lance.write_dataset(numbers(12, 15), dataset, mode="append")
    covering(path, name, [0, 1, 2, 3])
    dataset = lance.dataset(path)
    searched = dataset.scanner(filter=value).to_table()
    scanned = dataset.scanner(filter=value, use_scalar_index=False).to_table()
    assert len(searched) < len(scanned)
    assert codes(path) == ["index_misses_rows"]
    [message] = messages(path)
    assert message.startswith(f"the index '{name}' has no entry for 3 rows")
    assert "since version 5:" in message


def test_lists_without_entries_are_found(tmp_path, stable):
    path = tmp_path / "t.lance"
    lance.write_dataset(numbers(12, 15), indexed(path, stable=stable), mode="append")
    covering(path, "tags", [0, 1, 2, 3])
    assert codes(path) == ["index_misses_rows"]


def test_values_that_an_index_never_heard_of_are_found(tmp_path, stable):
    path = tmp_path / "t.lance"
    dataset = indexed(path, stable=stable)
    fragment = dataset.get_fragments()[1]
    changed = pa.table({"id": [4, 6], "kind": ["other", "other"]})
    updated, _ = fragment.update_columns(changed, left_on="id", right_on="id")[:2]
    lance.LanceDataset.commit(
        path,
        lance.LanceOperation.Update(
            removed_fragment_ids=[], updated_fragments=[updated], new_fragments=[]
        ),
        read_version=dataset.version,
    )
    lance.write_dataset(numbers(30, 31), path, mode="append")
    dataset = lance.dataset(path)
    assert dataset.scanner(filter="kind = 'other'").to_table().num_rows == 0
    assert codes(path) == [
        "index_of_other_values",
        "index_misses_rows",
        "index_has_other_values",
    ]
    missed, other = messages(path)
    assert "for 2 rows" in missed
    assert "of 2 rows" in other
    assert "since version 5:" in missed


def test_entries_of_places_that_never_were_are_found(tmp_path, stable):
    path, larger = tmp_path / "t.lance", tmp_path / "larger.lance"
    [index] = [one for one in indexed(path, stable=stable).describe_indices() if one.name == "id"]
    other = lance.write_dataset(
        numbers(0, 24), larger, max_rows_per_file=8, enable_stable_row_ids=stable
    )
    other.create_scalar_index("id", "BTREE", name="id")
    [wrong] = lance.dataset(larger).describe_indices()
    shutil.rmtree(path / "_indices" / index.segments[0].uuid)
    shutil.copytree(
        larger / "_indices" / wrong.segments[0].uuid, path / "_indices" / index.segments[0].uuid
    )
    found = set(codes(path))
    assert "index_names_no_rows" in found
    assert found <= {"index_names_no_rows", "index_has_other_values", "index_misses_rows"}
    assert "or before:" in " ".join(messages(path)) or "since version 2:" in messages(path)[0]


@pytest.mark.parametrize("kind", ["BTREE", "BITMAP", "LABEL_LIST"])
def test_a_search_after_a_deferred_and_an_ordinary_compaction(tmp_path, kind):
    """pylance 14.0.2 loses entries of a BTREE here; what it loses is found."""
    path = tmp_path / "t.lance"
    column = {"BTREE": "id", "BITMAP": "kind", "LABEL_LIST": "tags"}[kind]
    dataset = lance.write_dataset(numbers(0, 12), path, max_rows_per_file=4)
    dataset.create_scalar_index(column, kind, name="it")
    dataset.optimize.compact_files(defer_index_remap=True)
    lance.write_dataset(numbers(12, 16), lance.dataset(path), mode="append")
    lance.dataset(path).delete("id = 2")
    lance.dataset(path).optimize.compact_files(materialize_deletions_threshold=0.0)
    dataset = lance.dataset(path)
    where = {"BTREE": "id = 7", "BITMAP": "kind = 'k1'", "LABEL_LIST": "array_has(tags, 'all')"}
    searched = dataset.scanner(filter=where[kind]).to_table()
    scanned = dataset.scanner(filter=where[kind], use_scalar_index=False).to_table()
    is_lossy = len(searched) != len(scanned)
    assert is_lossy is (kind == "BTREE")
    assert codes(path) == (["index_misses_rows"] if is_lossy else [])


def test_an_index_whose_files_cannot_be_read_is_said_to_be_unchecked(tmp_path):
    path = tmp_path / "t.lance"
    indexed(path, stable=False)
    for file in path.glob("_indices/*/page_data.lance"):
        file.write_bytes(b"nothing")
    [found] = index_truth(lx.open_table(path)._view)
    assert (found.code, found.subject) == ("not_checked", Subject("index", "id"))


@pytest.mark.parametrize(("metric", "told"), [("cosine", "vectors_without_direction"), ("L2", "")])
def test_vectors_of_zeros_have_no_cosine_and_no_index_misses_them(tmp_path, metric, told):
    path = tmp_path / "t.lance"
    values = np.random.default_rng(1).random((600, 8), dtype="f4")
    values[1::10] = 0
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(values.reshape(-1)), 8)
    dataset = lance.write_dataset(pa.table({"id": range(600), "vector": vectors}), path)
    dataset.create_index("vector", "IVF_PQ", metric=metric, num_partitions=2, num_sub_vectors=2)
    scan = {"column": "vector", "q": np.ones(8, "f4"), "k": 600, "use_index": False}
    search = {**scan, "metric": metric}
    rows = lance.dataset(path).to_table(nearest=search, columns=["id"]).num_rows
    assert rows == (540 if told else 600)
    found = [*index_truth(lx.open_table(path)._view)]
    assert [one.code for one in found] == ([told] if told else [])
    assert [one.rows for one in found] == ([60] if told else [])


def test_a_column_of_a_struct_is_said_to_be_unchecked(tmp_path):
    path = tmp_path / "t.lance"
    data = pa.table({"a": [{"b": 1}, {"b": 2}]})
    lance.write_dataset(data, path).create_scalar_index("a.b", "BTREE")
    [found] = index_truth(lx.open_table(path)._view)
    assert found.code == "not_checked"


def test_whole_fragments_in_a_set_of_rows_are_refused():
    with pytest.raises(CorruptFileError, match="all rows of fragment 3"):
        decode_row_set((1).to_bytes(4, "little") + (3).to_bytes(4, "little") + bytes(4))


def with_vectors(start: int, stop: int) -> pa.Table:
    vectors = [None if n % 7 == 3 else [float(n), 1.0] for n in range(start, stop)]
    words = [None if n % 5 == 0 else f"word{n} the" for n in range(start, stop)]
    vector = pa.array(vectors, pa.list_(pa.float32(), 2))
    return pa.table({"id": range(start, stop), "v": vector, "w": words})


@pytest.fixture
def searched(tmp_path: Path, stable: bool) -> Path:
    """A table of 24 rows in three fragments, with a vector index and one of words."""
    path = tmp_path / "t.lance"
    dataset: Any = lance.write_dataset(
        with_vectors(0, 24), path, max_rows_per_file=8, enable_stable_row_ids=stable
    )
    dataset.create_index("v", "IVF_SQ", num_partitions=1)
    dataset.create_scalar_index("w", "INVERTED")
    return path


def test_indices_of_vectors_and_words_that_live_on_have_nothing_to_find(searched):
    assert messages(searched) == []
    steps: tuple[Callable[[Any], object], ...] = (
        lambda dataset: dataset.delete("id in (1, 9)"),
        lambda dataset: dataset.update({"w": "'new'"}, where="id = 2"),
        lambda dataset: lance.write_dataset(with_vectors(24, 30), dataset, mode="append"),
        lambda dataset: dataset.optimize.optimize_indices(num_indices_to_merge=0),
        lambda dataset: dataset.optimize.compact_files(),
        lambda dataset: dataset.optimize.optimize_indices(),
    )
    for step in steps:
        step(lance.dataset(searched))
        assert messages(searched) == []


def test_vectors_without_entries_are_found(searched):
    lance.write_dataset(with_vectors(24, 30), searched, mode="append")
    covering(searched, "v_idx", [0, 1, 2, 3])
    assert codes(searched) == ["index_misses_rows"]
    [message] = messages(searched)
    assert message.startswith("the index 'v_idx' has no entry for 5 rows")


def test_words_of_rows_that_never_were_are_found(searched, stable):
    shutil.rmtree(searched / "_transactions")
    [file] = searched.glob("_indices/*/*docs.lance")
    with LanceFileWriter(
        str(file), pa.schema([("_rowid", pa.uint64()), ("_num_tokens", pa.uint32())])
    ) as writer:
        rows = pa.array([0, 30, 7 << 32], pa.uint64())
        tokens = pa.array([1, 1, 1], pa.uint32())
        writer.write_batch(pa.record_batch({"_rowid": rows, "_num_tokens": tokens}))
    assert codes(searched) == ["index_names_no_rows"]
    [message] = messages(searched)
    assert "has entries of 2 rows that never were" in message


def test_entries_that_do_not_fit_into_memory_are_not_compared(tmp_path, monkeypatch):
    path = tmp_path / "t.lance"
    indexed(path, stable=True)
    monkeypatch.setattr("lance_explorer.checks.index_truth._MOST_BYTES", 10)
    found = [*index_truth(lx.open_table(path)._view)]
    assert {finding.code for finding in found} == {"not_checked"}
    assert all("more than are held in memory" in finding.statement for finding in found)


_VALUES = st.one_of(st.none(), st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf")]))


@pytest.mark.slow
@given(
    st.dictionaries(st.integers(0, 12), _VALUES),
    st.dictionaries(st.integers(0, 12), _VALUES),
    st.integers(1, 5),
)
def test_comparing_in_order_finds_what_joins_find(rows, entries, at_once):
    def frame(pairs: dict[int, float | None]) -> pl.DataFrame:
        schema = {"row": pl.UInt64, "value": pl.Float64}
        return pl.DataFrame(sorted(pairs.items()), schema=schema, orient="row")

    own, theirs = frame(rows), frame(entries)
    quick, slow = _in_order(own, theirs, at_once), _joined(own, theirs, own["row"])
    assert quick is not None
    assert [sorted(some) for some in quick] == [sorted(some) for some in slow]


@pytest.mark.parametrize("at_once", [1, 2])
def test_rows_or_entries_that_are_there_twice_are_joined(at_once):
    pairs = pl.DataFrame({"row": [1, 1], "value": [1.0, 2.0]}, schema_overrides={"row": pl.UInt64})
    assert _in_order(pairs, pairs.head(1), at_once) is None
    assert _in_order(pairs.head(1), pairs, at_once) is None
