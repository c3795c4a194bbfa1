"""Changes of values of every type: which rows, which cells, and whether content is the same."""

import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from lance import blob_array, blob_field

import lance_explorer as lx
from lance_explorer import Table

NUM_ROWS = 120
LATEST = 4
WRITTEN = [*range(0, 60, 2), 90]
"""Many rows of one fragment and one of another: those are scanned, and this one is taken."""


def number_to(make: Callable[[int], Any], kind: pa.DataType) -> Callable[[int], pa.Array]:
    """Return what makes the values: every seventh null; all others depend on the shift."""
    return lambda shift: pa.array(
        [make(number + shift) if number % 7 else None for number in range(NUM_ROWS)], kind
    )


STRUCT = pa.struct([("a", pa.struct([("b", pa.int64()), ("c", pa.list_(pa.string()))]))])

WHOLE = number_to(lambda n: b"x" * (n + 1), pa.large_binary())

TYPES = {
    "float": number_to(float, pa.float64()),
    "vector": number_to(lambda n: [n, n], pa.list_(pa.float32(), 2)),
    "struct": number_to(lambda n: {"a": {"b": n, "c": [str(n)]}}, STRUCT),
    "dictionary": number_to(str, pa.dictionary(pa.int16(), pa.string())),
    "map": number_to(lambda n: [("a", n)], pa.map_(pa.string(), pa.int64())),
    "decimal": number_to(Decimal, pa.decimal128(20, 2)),
    "large decimal": number_to(Decimal, pa.decimal256(50, 2)),
    "time": number_to(int, pa.timestamp("us", "Europe/Berlin")),
    "UUID": number_to(lambda n: uuid.UUID(int=n).bytes, pa.uuid()),
    "JSON": number_to(lambda n: f'{{"a":{n}}}', pa.json_()),
    "blob": WHOLE,
    "blob v2": lambda shift: blob_array(WHOLE(shift).to_pylist()),
}


def rows_of(name: str, shift: int) -> pa.Table:
    values = TYPES[name](shift)
    field = pa.field("value", values.type)
    if name == "blob":
        field = field.with_metadata({"lance-encoding:blob": "true"})
    elif name == "blob v2":
        field = blob_field("value")
    return pa.table([range(NUM_ROWS), values], schema=pa.schema([("id", pa.int64()), field]))


@pytest.fixture(params=TYPES)
def table(request, tmp_path) -> Table:
    """Version 2 has other values in some rows; version 4 has the same elsewhere."""
    path, name = str(tmp_path / "t.lance"), request.param
    data_format = "2.1" if name == "blob" else "2.2"
    options: dict[str, Any] = {"max_rows_per_file": 60, "enable_stable_row_ids": True}
    options["data_storage_version"] = data_format
    rows = rows_of(name, 0)
    dataset = lance.write_dataset(rows, path, **options)
    upsert = dataset.merge_insert("id").when_matched_update_all()
    upsert.execute(rows_of(name, 1000).take(WRITTEN))
    lance.dataset(path).optimize.compact_files()
    return lx.open_table(path)


def scanned(table: Table, version: int) -> pl.DataFrame:
    """Return the written rows as pylance scans them."""
    dataset = lance.dataset(table.uri, version=version)
    rows = dataset.to_table(blob_handling="all_binary").sort_by("id").take(WRITTEN)
    place = rows.schema.get_field_index("value")
    if pa.types.is_decimal256(rows["value"].type):
        rows = rows.set_column(place, "value", rows["value"].cast(pa.string()))
    return pl.DataFrame(rows)


def test_both_images_have_the_values_and_their_cells_are_compared(table):
    lines = table.changes(1, images="both").to_polars()
    for change_type, version in (("update_preimage", 1), ("update_postimage", LATEST)):
        image = lines.filter(_change_type=change_type).sort("id")
        assert image.select("id", "value").equals(scanned(table, version))
        names = [["value"] if number % 7 else [] for number in WRITTEN]
        assert image["changed_columns"].to_list() == names


@pytest.mark.slow
def test_batches_and_a_diff_have_the_same_values(table):
    lines = table.changes(1, images="both").to_polars()
    assert pl.concat(table.changes(1, images="both").batches(7, progress=False)).equals(lines)
    assert table.diff(1, LATEST).rows(images="both").equals(lines)


def test_content_is_the_same_after_a_compaction_and_not_after_an_upsert(table):
    assert table.diff(2, LATEST).same_content()
    assert table.diff(1, 2).same_content().columns == ("value",)


def test_the_history_of_a_row_has_the_values_and_a_compaction_changes_none(table):
    history = table.row(2).history(values=True)
    assert history["event"].cast(pl.String).to_list() == ["created", "updated", "moved"]
    assert history["changed_columns"].to_list() == [None, ["value"], []]
    row = scanned(table, LATEST).filter(id=2)["value"].to_list()
    assert history["values"].struct.field("value").to_list()[1:] == row * 2


def test_vectors_that_differ_by_less_than_the_tolerance_are_equal(tmp_path):
    path = str(tmp_path / "t.lance")
    for shift in (0.0, 1e-4):
        vectors = np.arange(8, dtype=np.float32) + np.float32(shift)
        rows = pa.table({"id": range(4), "v": pa.FixedSizeListArray.from_arrays(vectors, 2)})
        lance.write_dataset(rows, path, mode="overwrite")
    table = lx.open_table(path)

    def changed(tolerance: float) -> list[list[str]]:
        found = table.changes(1, 2, key="id", images="both", tolerance=tolerance)
        return found.to_polars()["changed_columns"].to_list()[:4]

    assert changed(0.0) == [["v"]] * 4
    assert changed(1e-3) == [[]] * 4
