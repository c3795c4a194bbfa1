"""What searches by words and by vectors miss, and how old the training of a vector index is."""

from pathlib import Path
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx

SIZE = 16


def rows(count: int, begin: int = 0, shift: float = 0.0) -> pa.Table:
    chance = np.random.default_rng(begin)
    vectors = (chance.normal(size=(count, SIZE)) + shift).astype(np.float32)
    ids = range(begin, begin + count)
    return pa.table(
        {
            "id": ids,
            "text": [f"The running dogs saw number{number} and a cat" for number in ids],
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), SIZE),
        }
    )


def found(path: Path, name: str) -> list[dict[str, Any]]:
    every = lx.open_table(path).check(depth="deep")
    return every.filter(subject_name=name).to_dicts()


@pytest.mark.parametrize("stable", [False, True])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"with_position": True, "stem": False, "remove_stop_words": False},
        {"base_tokenizer": "whitespace", "lower_case": False},
        {"base_tokenizer": "ngram", "min_ngram_length": 3, "max_ngram_length": 5},
    ],
    ids=str,
)
def test_words_of_a_whole_index_are_found(
    tmp_path: Path, settings: dict[str, Any], *, stable: bool
) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(100), path, max_rows_per_file=20, enable_stable_row_ids=stable)
    lance.dataset(path).create_scalar_index("text", "INVERTED", **settings)
    lance.dataset(path).delete("id % 7 = 3")
    lance.dataset(path).optimize.compact_files()
    lance.write_dataset(rows(30, 100), path, mode="append")
    assert found(path, "text_idx") == []


def test_words_that_were_written_behind_the_back_of_an_index_are_missed(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(60), path, max_rows_per_file=20)
    lance.dataset(path).create_scalar_index("text", "INVERTED")
    dataset = lance.dataset(path)
    changed = pa.table({"id": list(range(20, 40)), "text": [f"other{n}" for n in range(20)]})
    [_, fragment, _] = dataset.get_fragments()
    updated = fragment.update_columns(changed, left_on="id", right_on="id")[0]
    update = lance.LanceOperation.Update(
        removed_fragment_ids=[], updated_fragments=[updated], new_fragments=[]
    )
    lance.LanceDataset.commit(path, update, read_version=dataset.version)
    told = {one["code"]: one for one in found(path, "text_idx")}
    assert set(told) == {"index_of_other_values", "index_misses_rows"}
    assert "by a word of each do not find 20 of 60 rows" in told["index_misses_rows"]["statement"]
    exec(told["index_misses_rows"]["remedy_code"], {"dataset": lance.dataset(path)})
    assert found(path, "text_idx") == []


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("IVF_FLAT", {}),
        ("IVF_PQ", {"num_sub_vectors": SIZE}),
        ("IVF_HNSW_SQ", {}),
    ],
)
@pytest.mark.parametrize("metric", ["l2", "cosine", "dot"])
def test_a_vector_index_that_finds_most_neighbours_is_no_finding(
    tmp_path: Path, kind: str, settings: dict[str, Any], metric: str
) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(600), path, max_rows_per_file=200, enable_stable_row_ids=True)
    lance.dataset(path).create_index("vector", kind, metric=metric, num_partitions=1, **settings)
    lance.dataset(path).delete("id % 7 = 3")
    assert found(path, "vector_idx") == []


def test_an_index_of_vectors_that_were_never_trained_on_is_told_until_it_is_built_anew(
    tmp_path: Path,
) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(500), path)
    lance.dataset(path).create_index(
        "vector", "IVF_PQ", metric="l2", num_partitions=2, num_sub_vectors=SIZE
    )
    for part in range(4):
        lance.write_dataset(rows(1_000, 500 + 1_000 * part, 8.0), path, mode="append")
    lance.dataset(path).optimize.optimize_indices()
    told = {one["code"]: one for one in found(path, "vector_idx")}
    assert set(told) == {"vector_index_aged", "few_neighbours_found"}
    aged = told["vector_index_aged"]
    assert (
        "has centroids of version 2, when it covered 500 rows: 89 % of its 4,500"
        in (aged["statement"])
    )
    assert (aged["severity"], aged["num_rows"]) == ("info", 4_000)
    few = told["few_neighbours_found"]
    assert few["severity"] == "warning"
    values = lance.dataset(path).to_table()
    exec(few["remedy_code"], {"dataset": lance.dataset(path)})
    assert found(path, "vector_idx") == []
    assert lance.dataset(path).to_table().equals(values)


def test_nulls_zeros_and_no_numbers_are_not_searched(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    vectors = [None, [0.0] * SIZE, [float("nan")] * SIZE]
    vectors += np.random.default_rng(1).normal(size=(300, SIZE)).tolist()
    texts = [None, "", "   ", *["word"] * 300]
    values = pa.array(vectors, pa.list_(pa.float32(), SIZE))
    lance.write_dataset(pa.table({"vector": values, "text": texts}), path)
    lance.dataset(path).create_index("vector", "IVF_FLAT", metric="l2", num_partitions=1)
    lance.dataset(path).create_scalar_index("text", "INVERTED")
    assert pl.DataFrame([*found(path, "vector_idx"), *found(path, "text_idx")]).is_empty()


def test_an_index_with_the_name_of_its_column_counts_as_asked_only_if_it_was(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "t.lance")
    lance.write_dataset(rows(300), path)
    for name in ("other", "vector"):  # the first is asked
        lance.dataset(path).create_index(
            "vector", "IVF_FLAT", metric="l2", num_partitions=1, name=name
        )
    lance.write_dataset(rows(20, 300), path, mode="append")  # its scan names the column
    check = lx.open_table(path).check(depth="deep").filter(code="not_checked")
    unasked = check.filter(pl.col("statement").str.contains("no search asked it"))
    assert unasked["subject_name"].to_list() == ["vector"]
