"""Profiles of tables that pylance wrote, against Polars on what it reads of each version."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import lance
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.profiles.frame import RANKS
from lance_explorer.profiles.reading import ProfileRows
from tests.values.test_gate import with_unknown_type

TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "i8": (pa.int8(), [-128, 5, None, 127]),
    "u64": (pa.uint64(), [0, 2**64 - 1, 7, 7]),
    "f16": (pa.float16(), [np.float16(0.5), np.float16(2), None, np.float16(-1)]),
    "f64": (pa.float64(), [float("nan"), 1.5, None, -0.25]),
    "flag": (pa.bool_(), [True, False, None, True]),
    "text": (pa.string(), ["zoë", "", None, "a"]),
    "coded": (pa.dictionary(pa.int32(), pa.string()), ["x", "y", "x", None]),
    "day": (pa.date32(), [date(2020, 1, 2), None, date(1969, 12, 31), date(2020, 1, 2)]),
    "at": (
        pa.timestamp("us", "UTC"),
        [datetime(2021, 5, 6, 7, tzinfo=UTC), None, datetime(1960, 1, 1, tzinfo=UTC)],
    ),
    "noon": (pa.time64("us"), [time(12), time(0, 0, 1), None, time(12)]),
    "long": (pa.duration("ms"), [timedelta(hours=3), timedelta(0), None, timedelta(days=-1)]),
    "cost": (pa.decimal128(12, 2), [Decimal("1.25"), Decimal("-3.00"), None, Decimal("1.25")]),
    "bytes": (pa.binary(), [b"", b"abc", None, b"abc"]),
    "tags": (pa.list_(pa.string()), [["a"], [], None, ["a", "b", "c"]]),
    "vector": (pa.list_(pa.float32(), 2), [[3, 4], [0, 0], None, [1, 0]]),
    "pair": (
        pa.struct([("x", pa.int32()), ("in.ner", pa.struct([("y", pa.string())]))]),
        [{"x": 1, "in.ner": {"y": "p"}}, {"x": None, "in.ner": None}, None, {"x": 3, "in.ner": {}}],
    ),
}


RENAME: Any = {"path": "a", "name": "c"}
TO_INT64: Any = {"path": "c", "data_type": pa.int64()}


def every_type() -> pa.Table:
    columns = {name: pa.array((values * 2)[:4], kind) for name, (kind, values) in TYPES.items()}
    return pa.table({"key": range(4), **columns})


@pytest.fixture(params=[True, False], ids=["stable row IDs", "addresses"])
def life(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Append, delete, update, compact and restore rows of every type."""
    uri = str(tmp_path / "life.lance")
    rows = every_type()
    lance.write_dataset(rows, uri, enable_stable_row_ids=request.param)
    lance.write_dataset(rows, uri, mode="append")
    lance.dataset(uri).delete("key = 1")
    lance.dataset(uri).update({"f64": "9.75", "text": "'new'"}, where="key = 2")
    lance.write_dataset(rows.take([1, 2]), uri, mode="append")
    lance.dataset(uri).optimize.compact_files()
    lance.dataset(uri, version=3).restore()
    lance.dataset(uri).delete("true")
    return uri


def leaves(frame: pl.DataFrame) -> Iterator[tuple[str, pl.Series]]:
    for column in frame:
        yield from _inside(column.name, column)


def _inside(name: str, values: pl.Series) -> Iterator[tuple[str, pl.Series]]:
    yield name, values
    if isinstance(values.dtype, pl.Struct):
        for field in values.dtype.fields:
            shown = f"`{field.name}`" if "." in field.name else field.name
            yield from _inside(f"{name}.{shown}", values.struct.field(field.name))


def measured(values: pl.Series) -> pl.Series | None:
    known = values.drop_nulls()
    match known.dtype:
        case pl.Struct():
            return None
        case pl.String() | pl.Categorical():
            return known.cast(pl.String).str.len_chars()
        case pl.Binary():
            return known.bin.size()
        case pl.List():
            return known.list.len()
        case pl.Array():
            return pl.Series([float(np.linalg.norm(one)) for one in known.to_list()])
        case pl.Date():
            return known.to_physical() * 86_400
        case pl.Time():
            return known.to_physical() / 1e9
    if known.dtype.is_temporal():
        return (
            known.dt.epoch("us") / 1e6
            if isinstance(known.dtype, pl.Datetime)
            else (known.dt.total_milliseconds() / 1e3)
        )
    return known.drop_nans() if known.dtype.is_float() else known


def test_every_line_is_what_polars_says_of_the_version(life: str):
    table = lx.open_table(life)
    lines = {
        (line["version"], line["column"]): line for line in table.profile().to_polars().to_dicts()
    }
    for version in table.versions()["version"]:
        for name, values in leaves(table.at(version).read()):
            line = lines.pop((version, name))
            told: dict[str, Any] = {"num_rows": len(values), "num_nulls": values.null_count()}
            numbers = measured(values)
            if numbers is not None:
                numbers = numbers.cast(pl.Float64)
                told |= {"mean": numbers.mean(), "std": numbers.std()}
                told["quantiles"] = []
                if len(numbers):
                    ordered = sorted(numbers)
                    places = [max(int(np.ceil(rank * len(ordered))) - 1, 0) for rank in RANKS]
                    told["quantiles"] = [ordered[place] for place in places]
                    assert sum(line["bin_counts"]) == len(numbers)
            if not values.dtype.is_nested() and values.dtype != pl.Binary:
                told["num_distinct"] = values.drop_nulls().n_unique()
                known = values.drop_nulls()
                known = known.drop_nans() if known.dtype.is_float() else known
                counts = known.value_counts(name="count")["count"].sort(descending=True).to_list()
                assert [one["count"] for one in line["top_values"]] == counts[:10]
                told |= {"distinct_error": 0, "top_values_error": 0}
            for what, value in told.items():
                assert line[what] == pytest.approx(value, nan_ok=True), (version, name, what)
    assert not lines


def test_least_and_largest_values_are_written_as_the_table_has_them(life: str):
    lines = lx.open_table(life).profile(versions=[1]).to_polars()
    ends = {
        name: (least, most) for name, least, most in lines.select("column", "min", "max").rows()
    }
    assert ends["u64"] == ("0", "18446744073709551615")
    assert ends["day"] == ("1969-12-31", "2020-01-02")
    assert ends["cost"] == ("-3.00", "1.25")
    assert ends["at"][0].startswith("1960-01-01")
    assert ends["noon"] == ("00:00:01", "12:00:00")
    assert ends["text"] == ("", "zoë")
    assert ends["bytes"] == ends["vector"] == ends["pair"] == (None, None)


def test_columns_go_on_when_they_are_renamed_cast_or_replaced(tmp_path: Path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"a": pa.array([1, 2], pa.int32()), "b": ["p", "q"]}), uri)
    lance.dataset(uri).alter_columns(RENAME)
    lance.dataset(uri).alter_columns(TO_INT64)
    lance.dataset(uri).drop_columns(["b"])
    lance.dataset(uri).add_columns({"b": "c * 10"})
    lines = lx.open_table(uri).profile().to_polars()
    assert lines.select("version", "column", "type").rows() == [
        (1, "c", "Int32"),
        (1, "b@1", "String"),
        (2, "c", "Int32"),
        (2, "b@1", "String"),
        (3, "c", "Int64"),
        (3, "b@1", "String"),
        (4, "c", "Int64"),
        (5, "c", "Int64"),
        (5, "b", "Int64"),
    ]
    assert lines.filter(pl.col("column") == "c")["shift"].to_list() == [None, 0.0, 0.0, 0.0, 0.0]


def test_each_value_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    values = import_module("lance_explorer.values.rows")
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"a": range(100), "b": range(100)}), uri, max_rows_per_file=25)
    for key in range(10):
        lance.dataset(uri).delete(f"a = {key * 9}")
    lance.dataset(uri).update({"b": "1"}, where="a = 50")
    read = list[int]()
    batch_of = values.next_batch

    def counting(*arguments: Any) -> pa.RecordBatch | None:
        batch = batch_of(*arguments)
        read.append(0 if batch is None else batch.num_rows)
        return batch

    monkeypatch.setattr(values, "next_batch", counting)
    lines = lx.open_table(uri).profile().to_polars()
    assert lines.filter(column="a")["num_rows"].to_list() == [100, *range(99, 89, -1), 90]
    assert sum(read) == 100 + 1, "the rows of the first version, and the one that was updated"


def test_lost_files_leave_null_and_a_finding(tmp_path: Path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"a": [1, 2]}), uri)
    lance.write_dataset(pa.table({"a": [3]}), uri, mode="append")
    [file] = {*(tmp_path / "t.lance" / "data").iterdir()} - {
        tmp_path / "t.lance" / "data" / f.path
        for fragment in lance.dataset(uri, version=1).get_fragments()
        for f in fragment.data_files()
    }
    file.unlink()
    profile = lx.open_table(uri).profile()
    assert profile.to_polars().select("version", "num_rows", "mean", "shift").rows() == [
        (1, 2, 1.5, None),
        (2, None, None, None),
    ]
    assert profile.findings().select("code", "first_version").rows() == [("values_lost", 2)]


def test_reading_goes_on_where_it_ended(life: str):
    table = lx.open_table(life)
    part = table.profile(max_bytes=1)
    assert not part.is_complete
    assert "go_on()" in part.sentence
    assert part.to_polars()["num_rows"].null_count() > 0
    whole = part.go_on()
    names = ["version", "column", "num_rows", "num_nulls", "min", "max", "num_distinct"]
    assert whole.is_complete
    assert whole.to_polars().select(names).equals(table.profile().to_polars().select(names))


def test_what_an_interrupt_cut_off_is_not_counted(life: str, monkeypatch: pytest.MonkeyPatch):
    part = lx.open_table(life).profile("key", max_bytes=0)
    hold = ProfileRows.hold

    def interrupted(*_: Any) -> None:
        monkeypatch.setattr(ProfileRows, "hold", hold)
        raise KeyboardInterrupt

    monkeypatch.setattr(ProfileRows, "hold", interrupted)
    with pytest.raises(KeyboardInterrupt):
        part.go_on()
    whole = part.go_on()
    assert whole.is_complete
    assert "it was interrupted" in whole.findings()["statement"][0]
    lines, table = whole.to_polars(), lx.open_table(life)
    assert lines["num_rows"].null_count() > 0
    for version, num_rows in lines.drop_nulls("num_rows").select("version", "num_rows").rows():
        assert num_rows == table.at(version).num_rows


def test_a_snapshot_has_the_lines_of_its_version(life: str):
    table = lx.open_table(life)
    names = ["version", "column", "num_rows", "mean", "num_distinct"]
    lines = table.profile().to_polars().filter(version=3).select(names)
    assert table.at(3).profile().to_polars().select(names).equals(lines)
    assert table.at(3).profile("key").columns == ["key"]


def test_commits_that_moved_values_are_named(tmp_path: Path):
    uri = str(tmp_path / "t.lance")
    rng = np.random.default_rng(3)
    lance.write_dataset(pa.table({"score": rng.uniform(size=400), "kind": ["a", "b"] * 200}), uri)
    lance.write_dataset(
        pa.table({"score": rng.uniform(size=4), "kind": ["b"] * 4}), uri, mode="append"
    )
    lance.dataset(uri).delete("score < 0.3")
    profile = lx.open_table(uri).profile()
    version, column, of, what = (
        profile.shifts(1).select("version", "column", "shift_of", "what").row(0)
    )
    assert (version, column, of) == (3, "score", "numbers")
    assert "rows deleted where `score < 0.3`" in what
    assert 0.25 < profile.shifts(1)["shift"].item() < 0.35
    assert profile.sentence.startswith(
        "2 columns in 3 versions; `score` moved furthest in version 3"
    )


def test_keys_do_not_move_by_their_values(tmp_path: Path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"name": [f"{n:04}" for n in range(100)]}), uri)
    lance.dataset(uri).delete("name >= '0050'")
    assert lx.open_table(uri).profile().to_polars()["shift"].to_list() == [None, 0.0]


@pytest.mark.parametrize("kind", ["2.0", "2.1", "2.2", "v2"])
def test_blobs_are_measured_and_not_read(tmp_path: Path, kind: Any):
    uri = str(tmp_path / "t.lance")
    values = [b"abc", None, b"x" * 70_000, b""]
    if kind == "v2":
        field, column = lance.blob_field("b"), lance.blob_array(values)
    else:
        field = pa.field("b", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
        column = pa.array(values, pa.large_binary())
    rows = pa.table([column], schema=pa.schema([field]))
    lance.write_dataset(rows, uri, data_storage_version="2.2" if kind == "v2" else kind)
    line = lx.open_table(uri).profile().to_polars().row(0, named=True)
    assert (line["type"], line["measure"]) == ("Blob", "bytes")
    assert (line["num_rows"], line["num_nulls"], line["quantiles"][-1]) == (4, 1, 70_000)
    assert line["mean"] == pytest.approx(70_003 / 3)


def test_an_empty_table_has_lines_without_values(tmp_path: Path):
    uri = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"a": pa.array([], pa.int64())}), uri)
    profile = lx.open_table(uri).profile()
    line = profile.to_polars().row(0, named=True)
    assert (line["num_rows"], line["min"], line["mean"], line["quantiles"]) == (0, None, None, [])
    assert profile.sentence == "1 column in 1 version."


def test_a_type_that_pylance_does_not_know_leaves_the_others(tmp_path: Path):
    uri = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"a": [1, 2], "b": [3, 4]}), uri)
    profile = lx.open_table(with_unknown_type(uri, "b", "vector3")).profile()
    assert profile.to_polars().select("column", "num_rows").rows() == [("a", 2)]
    [finding] = profile.findings().select("code", "statement").rows()
    assert finding[0] == "values_lost"
    assert finding[1].startswith("b has a type that this release of pylance does not know")


def test_wrong_arguments_are_refused(life: str):
    table = lx.open_table(life)
    with pytest.raises(lx.InvalidArgumentError, match="nope"):
        table.profile("nope")
    with pytest.raises(lx.InvalidArgumentError, match="one version at least"):
        table.profile(versions=[])
