"""Values of all types go back exactly, in every data format."""

import datetime as dt
import math
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, get_args

import lance
import numpy as np
import pyarrow as pa
import pytest

import lance_explorer as lx
from tests.plans.carrying_out import carried_out

_DAY = dt.datetime(2026, 1, 1)  # noqa: DTZ001  Arrow gives the zone

VALUES: dict[str, tuple[pa.DataType, Callable[[int], Any]]] = {
    "i8": (pa.int8(), lambda n: n),
    "u64": (pa.uint64(), lambda n: 2**63 + n),
    "f16": (pa.float16(), lambda n: np.float16(n / 2)),
    "f64": (pa.float64(), lambda n: math.nan if n % 2 else n / 7),
    "bool": (pa.bool_(), lambda n: n % 2 == 0),
    "text": (pa.string(), lambda n: f"s{n}é"),
    "long_text": (pa.large_string(), str),
    "bytes": (pa.binary(), lambda n: bytes([n, 0])),
    "fixed": (pa.binary(4), lambda n: bytes([n] * 4)),
    "date": (pa.date32(), lambda n: _DAY.date() + dt.timedelta(n)),
    "date64": (pa.date64(), lambda n: _DAY.date() + dt.timedelta(n)),
    "seconds": (pa.timestamp("s"), lambda n: _DAY + dt.timedelta(seconds=n)),
    "zoned": (pa.timestamp("ms", "Europe/Berlin"), lambda n: _DAY + dt.timedelta(seconds=n)),
    "nanoseconds": (pa.timestamp("ns"), lambda n: n),
    "time": (pa.time32("s"), lambda n: dt.time(1, 2, n)),
    "duration": (pa.duration("us"), lambda n: dt.timedelta(seconds=n)),
    "decimal": (pa.decimal128(10, 2), lambda n: Decimal(n) / 100),
    "long_decimal": (pa.decimal256(50, 0), Decimal),
    "vector": (pa.list_(pa.float32(), 2), lambda n: [float(n), n / 2]),
    "short_vector": (pa.list_(pa.float16(), 2), lambda n: [np.float16(n), np.float16(1)]),
    "list": (pa.list_(pa.string()), lambda n: [f"a{n}", None]),
    "large_list": (pa.large_list(pa.int32()), lambda n: [n]),
    "structs": (pa.list_(pa.struct([("x", pa.int64())])), lambda n: [{"x": n}]),
    "category": (pa.dictionary(pa.int32(), pa.string()), lambda n: f"c{n % 3}"),
    "nothing": (pa.null(), lambda _: None),
}
_NOT_IN_2_0 = {
    "struct": (pa.struct([("x", pa.int64())]), lambda n: {"x": n}),
}


DataFormat = Literal["2.0", "2.1", "2.2"]


@pytest.mark.parametrize("data_format", get_args(DataFormat))
def test_values_of_all_types_go_back(tmp_path: Path, data_format: DataFormat) -> None:
    values = VALUES if data_format == "2.0" else VALUES | _NOT_IN_2_0

    def rows(shift: int) -> pa.Table:
        columns = {
            name: pa.array([None if n == 3 else value(n + shift) for n in range(8)], kind)
            for name, (kind, value) in values.items()
        }
        return pa.table({"id": pa.array(range(8)), **columns})

    uri = str(tmp_path / "types.lance")
    lance.write_dataset(rows(0), uri, data_storage_version=data_format)
    before = lance.dataset(uri).to_table()
    lance.dataset(uri).merge_insert("id").when_matched_update_all().execute(rows(7))
    lance.dataset(uri).delete("id = 5")
    lance.dataset(uri).update_config({"later": "it"})
    plan = lx.open_table(uri).plan_restore_rows("id >= 0", at=1, key="id")
    assert "The first 5 of 7 rows" in plan.answer.text(200)
    carried_out(plan, uri, tmp_path / "plan")
    after = lance.dataset(uri).to_table()
    assert after.schema == before.schema
    order = np.argsort(after["id"].to_numpy())
    for name in before.column_names:
        found = after[name].to_pylist()
        assert repr([found[place] for place in order]) == repr(before[name].to_pylist()), name


@pytest.mark.parametrize("data_format", get_args(DataFormat))
def test_blobs_go_back(tmp_path: Path, data_format: DataFormat) -> None:
    blob = (
        lance.blob_field("image")
        if data_format == "2.2"
        else pa.field("image", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    )
    images = [b"one", b"two" * 100_000, b"three"]
    array = lance.blob_array(images) if data_format == "2.2" else pa.array(images, blob.type)
    uri = str(tmp_path / "images.lance")
    schema = pa.schema([("id", pa.int64()), blob])
    rows = pa.table([pa.array([1, 2, 3]), array], schema=schema)
    lance.write_dataset(rows, uri, data_storage_version=data_format)
    lance.dataset(uri).delete("id = 2")
    lance.dataset(uri).update_config({"later": "it"})
    plan = lx.open_table(uri).plan_revert(2)
    assert "insert" in plan.answer.text(200)
    carried_out(plan, uri, tmp_path / "plan")
    dataset = lance.dataset(uri)
    found = dataset.to_table(columns=["id"], with_row_address=True)
    blobs = dataset.take_blobs("image", addresses=found["_rowaddr"].to_pylist())
    contents = [one and one.readall() for one in blobs]
    read = dict(zip(found["id"].to_pylist(), contents, strict=True))
    assert [read[one] for one in (1, 2, 3)] == images
