"""Bytes by column, compared with pylance's statistics."""

from pathlib import Path
from typing import Any

import lance
import numpy as np
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.stored_tables import is_main, stored_check


def sizes(path: Path) -> dict[int, int]:
    found = lx.open_table(path).inspect.columns()
    totals: dict[int, int] = {}
    for field_id, size in found.select("field_id", "size_bytes").iter_rows():
        totals[field_id] = totals.get(field_id, 0) + size
    return totals


def theirs(path: Path) -> dict[int, int]:
    fields: Any = lance.dataset(str(path)).stats.data_stats().fields
    return {field.id: field.bytes_on_disk for field in fields}


@pytest.mark.parametrize("data_format", ["2.0", "2.1", "2.2"])
def test_sizes_are_those_of_pylance(data_format: Any, tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    count = 3000
    vectors = pa.FixedSizeListArray.from_arrays(np.arange(count * 256, dtype=np.float32), 256)
    table = pa.table(
        {
            "id": np.arange(count),
            "name": [f"name {each}" for each in range(count)],
            "vector": vectors,
            "nothing": pa.nulls(count, pa.int64()),
            "nested": [{"a": each, "b": [each, each]} for each in range(count)],
        }
    )
    lance.write_dataset(table, str(path), max_rows_per_file=1000, data_storage_version=data_format)
    found = {key: size for key, size in sizes(path).items() if size}
    assert found == {key: size for key, size in theirs(path).items() if size}
    names = lx.open_table(path).inspect.columns()
    assert names["path"][0] == "vector"
    assert {"id", "name", "nested.a"} <= set(names["path"].to_list())
    by_path = dict(names.select("path", "layouts").iter_rows())
    if data_format != "2.0":
        assert by_path["vector"].startswith("full-zip")
        assert by_path["nothing"].startswith("constant")
        assert by_path["id"].startswith("mini-block")


@stored_check(lambda asked: is_main(asked) and asked.release in ("8.0.1", "14.0.2"))
def check_columns_of_stored_tables(asked):
    found = asked.table.inspect.columns()
    if "legacy" in asked.scenario:
        assert found["size_bytes"].null_count() == len(found)
        return
    if "overlay" in asked.scenario or "spilled" in asked.scenario:
        return  # pylance opens the one only if told to, and counts hidden columns of the other
    ours = {key: size for key, size in sizes(asked.root).items() if size}
    expected = {key: size for key, size in theirs(asked.root).items() if size}
    assert {key: ours[key] for key in ours if key in expected} == expected


def values_of_many_types(count: int) -> pa.Table:
    """Return columns of types that have a fixed width, and some that have none."""
    numbers = np.arange(count)
    some = numbers % 3 != 0
    lists = [None if i % 5 == 1 else [] if i % 5 == 2 else [i, i + 1, None] for i in range(count)]
    return pa.table(
        {
            "id": numbers,
            "some": pa.array(numbers.astype(np.int32), mask=~some),
            "flag": some,
            "day": pa.array(numbers.astype(np.int32), pa.date32()),
            "time": pa.array(numbers, pa.timestamp("us", tz="UTC")),
            "price": pa.array(list(range(count)), pa.decimal128(20, 2)),
            "key": pa.array([b"%08d" % i for i in range(count)], pa.binary(8)),
            "vector": pa.FixedSizeListArray.from_arrays(np.zeros(count * 24, np.float32), 24),
            "nested": [{"a": i, "b": i / 2} for i in range(count)],
            "items": pa.array(lists, pa.list_(pa.int16())),
            "name": [f"name {i % 3}" for i in range(count)],
        }
    )


IN_MEMORY = {"id": 8, "some": 4, "day": 4, "time": 8, "price": 16, "key": 8, "vector": 96}


@pytest.mark.parametrize("data_format", ["legacy", "2.0", "2.1", "2.2"])
def test_sizes_without_compression_are_those_of_arrow(data_format: Any, tmp_path: Path) -> None:
    path, count = tmp_path / "t.lance", 3000
    table = values_of_many_types(count)
    if data_format == "legacy":
        table = table.drop_columns(["price"])  # which it cannot write
    lance.write_dataset(table, str(path), max_rows_per_file=999, data_storage_version=data_format)
    found = lx.open_table(path).inspect.columns()
    sizes = dict(found.select("path", "uncompressed_bytes").iter_rows())
    read = lance.dataset(str(path)).to_table().combine_chunks()
    for name in IN_MEMORY.keys() & set(table.column_names):
        array = read[name].chunk(0)
        validity = -(-count // 8) if array.null_count else 0
        assert sizes[name] == IN_MEMORY[name] * count == array.nbytes - validity, name
    assert sizes["flag"] == read["flag"].chunk(0).nbytes == 375
    assert sizes["nested.a"] == sizes["nested.b"] == 8 * count
    assert sizes["name"] is None
    of_items = sizes.get("items.item")
    if data_format == "legacy":
        assert of_items is None
    else:
        items = read["items"].chunk(0).flatten()
        assert of_items == 2 * len(items)


def test_of_a_missing_file_no_size_is_told(tmp_path: Path) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(values_of_many_types(20), str(path), max_rows_per_file=10)
    next((path / "data").iterdir()).unlink()
    found = lx.open_table(path).inspect.columns()
    assert found["uncompressed_bytes"].null_count() == len(found)
    assert found["num_unread"].unique().to_list() == [1]


def some(count: int, value: Any) -> list[Any]:
    """Return values by a function of their numbers; every fifth is null."""
    return [None if i % 5 == 1 else value(i) for i in range(count)]


NESTED = {
    "structs": (
        lambda i: [{"a": i, "b": [i % 7] * (i % 3)}] * (i % 4),
        pa.list_(pa.struct({"a": pa.int32(), "b": pa.list_(pa.int8())})),
    ),
    "vectors": (lambda i: [[1.0] * 300] * (i % 3), pa.list_(pa.list_(pa.float32(), 300))),
    "vector": (lambda i: [i] * 8, pa.list_(pa.int16(), 8)),
    "long": (lambda i: [i] * (i % 5), pa.large_list(pa.int64())),
}


def arrow_sizes(name: str, array: pa.Array) -> dict[str, int]:
    """Return the bytes of the values of a column, by the paths of what it consists of."""
    kind = array.type
    if pa.types.is_struct(kind):
        parts = [arrow_sizes(f"{name}.{f.name}", array.field(i)) for i, f in enumerate(kind)]
        return {path: size for part in parts for path, size in part.items()}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return arrow_sizes(f"{name}.item", array.flatten())
    if pa.types.is_fixed_size_list(kind):
        return {name: len(array) * kind.list_size * kind.value_type.bit_width // 8}
    return {name: len(array) * kind.bit_width // 8}


@pytest.mark.parametrize("data_format", ["2.0", "2.1", "2.2"])
@pytest.mark.parametrize("name", NESTED)
def test_items_of_lists_are_counted_as_arrow_has_them(
    name: str, data_format: Any, tmp_path: Path
) -> None:
    value, kind = NESTED[name]
    table = pa.table({name: pa.array(some(500, value), kind)})
    lance.write_dataset(table, str(tmp_path / "t.lance"), data_storage_version=data_format)
    found = lx.open_table(tmp_path / "t.lance").inspect.columns()
    sizes = dict(found.select("path", "uncompressed_bytes").iter_rows())
    read = lance.dataset(str(tmp_path / "t.lance")).to_table()[name].combine_chunks()
    expected = arrow_sizes(name, read)
    assert {path: sizes[path] for path in expected} == expected
