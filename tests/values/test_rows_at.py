"""Rows that are read by their places, and values of every type as they are written."""

import datetime as dt
import decimal
import uuid
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from lance import blob_array, blob_field

from lance_explorer.errors import StorageError
from lance_explorer.values import (
    SYSTEM_COLUMNS,
    content_batches,
    read_rows,
    read_rows_at,
    row_schema,
    row_types,
    scan_rows,
)


@pytest.mark.parametrize("stable", [True, False], ids=["stable", "addresses"])
@pytest.mark.parametrize("step", [1, 7, 100, 600], ids=["all", "dense", "narrow", "sparse"])
@pytest.mark.drawn(1)
def test_rows_at_places_come_in_the_order_asked_for(tmp_path, stable, step, seed):
    path = str(tmp_path / "t.lance")
    rows = pa.table({"id": range(3000), "name": [f"n{number}" for number in range(3000)]})
    lance.write_dataset(rows, path, max_rows_per_file=600, enable_stable_row_ids=stable)
    lance.dataset(path).update({"name": "'new'"}, where="id % 50 = 3")
    lance.dataset(path).delete("id % 10 = 5")
    whole = read_rows(path, 3, columns=["id", "name", *SYSTEM_COLUMNS])
    wanted = whole.sample(fraction=1.0, shuffle=True, seed=seed).filter(pl.col("id") % step == 0)
    found = read_rows_at(
        path, 3, wanted["_rowaddr"].to_numpy(), wanted["_rowid"].to_numpy(), ["name", "id"]
    )
    assert found.equals(wanted.select("name", "id"))


def test_dense_and_sparse_fragments_are_read_together(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(3000)}), path, max_rows_per_file=1000)
    ids = np.array([2500, 3, 1, 2, 1100, 0, 4, *range(5, 90)], dtype=np.uint64)
    places = (ids // np.uint64(1000) << np.uint64(32)) + ids % np.uint64(1000)
    found = read_rows_at(path, 1, places, places, ["id"])
    assert found["id"].to_list() == ids.tolist()


def test_a_row_that_is_not_there_is_an_error(tmp_path):
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(3)}), path)
    lance.dataset(path).delete("id = 1")
    places = np.arange(3, dtype=np.uint64)
    with pytest.raises(StorageError, match=r"^version 2: 3 rows were asked for, 2 are there"):
        read_rows_at(path, 2, places, places, ["id"])


# ------------------------------------------------------------------------------------------ blobs


def write_blobs(path: str, kind: str) -> list[bytes | None]:
    """Write 100 blobs in two fragments, every seventh null; return them."""
    values = [None if number % 7 == 0 else b"x" * number for number in range(100)]
    if kind == "v2":
        field, column, data_format = blob_field("blob"), blob_array(values), "2.2"
    else:
        is_blob = {"lance-encoding:blob": "true"}
        field = pa.field("blob", pa.large_binary(), metadata=is_blob)
        column, data_format = pa.array(values, pa.large_binary()), kind
    schema = pa.schema([pa.field("id", pa.int64()), field])
    rows = pa.table([pa.array(range(100)), column], schema=schema)
    options: dict[str, Any] = {"max_rows_per_file": 50, "data_storage_version": data_format}
    lance.write_dataset(rows, path, **options)
    return values


@pytest.fixture(params=["2.0", "2.1", "v2"])
def blobs(request, tmp_path) -> tuple[str, list[bytes | None]]:
    path = str(tmp_path / "t.lance")
    return path, write_blobs(path, request.param)


@pytest.mark.parametrize("ids", [[49, 3, 48], range(40), [99, *range(40), 60], []], ids=str)
def test_blobs_at_places_are_whole(blobs, ids):
    path, values = blobs
    places = np.array([number // 50 << 32 | number % 50 for number in ids], dtype=np.uint64)
    found = read_rows_at(path, 1, places, places, ["blob", "id"])
    assert found["id"].to_list() == [*ids]
    assert found["blob"].to_list() == [values[number] for number in ids]


def test_a_blob_of_a_row_that_is_not_there_is_an_error(blobs):
    path, _ = blobs
    places = np.array([1, 70], dtype=np.uint64)
    with pytest.raises(StorageError, match=r"^version 1: 2 rows were asked for, 1 are there"):
        read_rows_at(path, 1, places, places, ["blob"])


def test_blobs_are_described_unless_they_are_asked_for_whole(blobs):
    path, values = blobs
    sizes = read_rows(path, 1)["blob"].struct.field("size")
    assert sizes.fill_null(0).to_list() == [len(value or b"") for value in values]
    assert read_rows(path, 1, whole_blobs=True)["blob"].to_list() == values


def test_types_of_blobs_are_those_that_are_read(blobs):
    path, values = blobs
    assert row_schema(path, 1) == read_rows(path, 1).schema
    assert row_schema(path, 1, whole_blobs=True) == {"id": pl.Int64, "blob": pl.Binary}
    assert row_types(path, 1) == lance.dataset(path).to_table().schema
    assert scan_rows(path, 1).select("blob").collect().equals(read_rows(path, 1).select("blob"))
    [first, *_] = content_batches(path, 1, [0], ["blob"])
    assert first["blob"].to_list() == values[:50]


# ------------------------------------------------------------------------------------------ types

BERLIN = dt.timezone(dt.timedelta(hours=1))
DECIMAL = decimal.Decimal("12345678901234567890123456789012345678901.25")

TYPES = {
    "half floats": pa.array(np.arange(3, dtype=np.float16)),
    "vectors": pa.FixedSizeListArray.from_arrays(pa.array(np.arange(6, dtype=np.float32)), 2),
    "large numbers": pa.array([2**64 - 1, None, 0], pa.uint64()),
    "structs": pa.array([{"a": {"b": 1}, "c": [1]}, {"a": None, "c": None}, None]),
    "dictionaries": pa.array(["x", None, "x"]).dictionary_encode(),
    "maps": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())),
    "decimals": pa.array([decimal.Decimal("1.25"), None, None], pa.decimal128(10, 2)),
    "times with a zone": pa.array(
        [dt.datetime(2024, 1, 1, tzinfo=BERLIN), None, None], pa.timestamp("us", "Europe/Berlin")
    ),
    "times of a day": pa.array([dt.time(1, 2, 3), None, None], pa.time64("us")),
    "durations": pa.array([dt.timedelta(seconds=1), None, None], pa.duration("us")),
    "nulls": pa.nulls(3),
    "lists of structs": pa.array([[{"x": 1}], None, []]),
    "bytes": pa.array([b"ab", None, b"cd"], pa.binary(2)),
    "UUIDs": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([uuid.UUID(int=7).bytes, None, None], pa.binary(16))
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_values_of_every_type_are_those_that_pylance_reads(tmp_path, name):
    path = str(tmp_path / "t.lance")
    rows = pa.table({"id": range(3), "value": TYPES[name]})
    lance.write_dataset(rows, path, data_storage_version="2.2")
    theirs = pl.DataFrame(lance.dataset(path).to_table())
    assert read_rows(path, 1).equals(theirs)
    assert row_schema(path, 1) == theirs.schema
    places = np.arange(3, dtype=np.uint64)
    assert read_rows_at(path, 1, places, places, ["value"]).equals(theirs.select("value"))


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (pa.decimal256(50, 2), DECIMAL, str(DECIMAL)),
        (pa.list_(pa.decimal256(50, 2)), [DECIMAL], [str(DECIMAL)]),
        (pa.large_list(pa.decimal256(50, 2)), [DECIMAL], [str(DECIMAL)]),
        (pa.list_(pa.decimal256(50, 2), 1), [DECIMAL], [str(DECIMAL)]),
        (pa.struct([("x", pa.decimal256(50, 2))]), {"x": DECIMAL}, {"x": str(DECIMAL)}),
    ],
    ids=["plain", "list", "large list", "vector", "struct"],
)
def test_decimals_that_polars_has_not_are_text(tmp_path, kind, value, text):
    path = str(tmp_path / "t.lance")
    rows = pa.table({"value": pa.array([value, None], kind)})
    lance.write_dataset(rows, path, data_storage_version="2.2")
    assert read_rows(path, 1)["value"].to_list() == [text, None]
    assert row_schema(path, 1) == read_rows(path, 1).schema
