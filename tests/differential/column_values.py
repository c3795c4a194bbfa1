"""Every value that is shown, beside what pylance reads.

Run it by ``python -m tests.differential.column_values``:

``--pairs`` overwrites a column of each type by one of each other type. ``--lives 200 --seed 0``
makes random tables: columns are renamed, swapped, cast, dropped and added again, tables are
overwritten and restored, branches made. Of each version pylance reads all rows, and which column is
which is written down as it is made. Then each line of a feed, a diff, a search, the history of a
row or a preview of a merge must have exactly the values that its row has there, each in a column of
the right name.
"""

import argparse
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import lance
import polars as pl
import pyarrow as pa

import lance_explorer as lx
from lance_explorer import InvalidArgumentError, Table

__all__ = [
    "TYPES",
    "Told",
    "check_pair",
    "differences",
    "live",
    "live_apart",
    "main",
    "merge_differences",
]

_REFUSED = (OSError, ValueError, RuntimeError, pa.ArrowException, NotImplementedError)
"""What pylance raises for casts and values that it does not take."""

_UTC = "UTC"
_NOW = datetime.fromisoformat("2024-02-29T23:59:59.999")

TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    **{
        f"int{n}": (getattr(pa, f"int{n}")(), [-(1 << (n - 1)), (1 << (n - 1)) - 1, 7, None])
        for n in (8, 16, 32, 64)
    },
    **{
        f"uint{n}": (getattr(pa, f"uint{n}")(), [0, (1 << n) - 1, 7, None]) for n in (8, 16, 32, 64)
    },
    "big": (pa.int64(), [2**53, 2**53 + 1, 2**53 + 2, None]),
    "float16": (pa.float16(), [0.5, float("inf"), 7.0, None]),
    "float32": (pa.float32(), [16_777_216.0, float("nan"), 7.0, None]),
    "float64": (pa.float64(), [2.0**53, 0.1, 7.0, None]),
    "decimal": (pa.decimal128(10, 2), [Decimal("1.23"), Decimal("99999999.99"), None, Decimal(7)]),
    "fine": (pa.decimal128(38, 10), [Decimal("1.0000000001"), Decimal(10) ** 27, None, Decimal(7)]),
    "string": (pa.string(), ["7", "", "true", None]),
    "large_string": (pa.large_string(), ["7", "é", "x" * 40, None]),
    "binary": (pa.binary(), [b"7", b"\x00\xff", b"", None]),
    "large_binary": (pa.large_binary(), [b"7", b"\x00", b"b", None]),
    "fixed_binary": (pa.binary(2), [b"77", b"\x00\xff", b"ab", None]),
    "bool": (pa.bool_(), [True, False, True, None]),
    "date32": (pa.date32(), [date(2024, 2, 29), date(1, 1, 1), date(9999, 12, 31), None]),
    "date64": (pa.date64(), [date(2024, 2, 29), date(1970, 1, 1), date(2030, 1, 1), None]),
    "time32": (pa.time32("ms"), [time(1, 2, 3, 4_000), time(0), time(23, 59, 59), None]),
    "time64": (pa.time64("us"), [time(1, 2, 3, 4), time(0), time(23, 59, 59, 999_999), None]),
    **{
        f"timestamp_{unit}": (
            pa.timestamp(unit),
            [_NOW.replace(microsecond=0), None, _NOW.min, _NOW],
        )
        for unit in ("s", "ms", "us")
    },
    "timestamp_ns": (
        pa.timestamp("ns"),
        [_NOW, datetime.fromisoformat("1970-01-01"), None, datetime.fromisoformat("2200-01-01")],
    ),
    "timestamp_utc": (
        pa.timestamp("us", _UTC),
        [_NOW, datetime.fromisoformat("1970-01-01"), None, _NOW],
    ),
    "timestamp_zone": (
        pa.timestamp("us", "Europe/Berlin"),
        [_NOW, datetime.fromisoformat("2024-07-01"), None, _NOW],
    ),
    "duration_s": (pa.duration("s"), [timedelta(days=3), timedelta(0), None, timedelta(seconds=7)]),
    "duration_us": (
        pa.duration("us"),
        [timedelta(microseconds=1), timedelta(0), None, timedelta(7)],
    ),
    "list_int64": (pa.list_(pa.int64()), [[2**53 + 1, None], [], None, [7]]),
    "list_float32": (pa.list_(pa.float32()), [[0.5, None], [], None, [7.0]]),
    "list_string": (pa.list_(pa.string()), [["7"], ["", None], None, ["true"]]),
    "vector": (
        pa.list_(pa.float32(), 2),
        [[0.5, 1.5], [7.0, float("inf")], [0.0, 1.0], [7.0, 7.0]],
    ),
    "vector64": (pa.list_(pa.float64(), 2), [[0.1, 1.5], [7.0, 0.0], [0.0, 1.0], [7.0, 7.0]]),
    "longer": (pa.list_(pa.float32(), 3), [[0.5] * 3, [7.0] * 3, [0.25] * 3, [1.0] * 3]),
    "struct": (pa.struct([("a", pa.int64())]), [{"a": 2**53 + 1}, {"a": None}, {"a": 0}, {"a": 7}]),
    "struct_float": (pa.struct([("a", pa.float64())]), [{"a": 0.1}, {"a": 2.0**53}] * 2),
    "struct_more": (
        pa.struct([("b", pa.string()), ("a", pa.int64())]),
        [{"b": "x", "a": 2**53 + 1}, {"b": None, "a": 7}] * 2,
    ),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["7", "a", None, "7"]),
}

Canonical = Any
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def canonical(scalar: pa.Scalar) -> Canonical:
    """Return a value so that equal ones are equal, and no others: a number is its exact fraction.

    A field of a struct that is null counts as one that is not there.
    """
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if pa.types.is_dictionary(kind):
        return canonical(scalar.as_py() is not None and pa.scalar(scalar.as_py()))
    if pa.types.is_struct(kind):
        parts = {name: canonical(scalar[name]) for name in kind.names}
        return "struct", frozenset((name, one) for name, one in parts.items() if one is not None)
    if pa.types.is_nested(kind):
        return "list", tuple(canonical(one) for one in scalar.values)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        name = "duration" if pa.types.is_duration(kind) else f"timestamp {kind.tz}"
        return name, scalar.value * _NANOSECONDS[kind.unit]
    value = scalar.as_py()
    if isinstance(value, bool):
        return "bool", value
    if isinstance(value, int | Decimal):
        return "number", Fraction(value)
    if isinstance(value, float):
        return "number", Fraction(value) if abs(value) < float("inf") else str(value)
    if isinstance(value, datetime):
        value = value.date()
    return type(value).__name__, value


def canonical_series(values: pl.Series) -> list[Canonical]:
    """Return the values of a series so."""
    return [canonical(one) for one in values.to_arrow(compat_level=pl.CompatLevel.oldest())]


@dataclass
class Told:
    """What pylance read of each version, and which column was which.

    Attributes
    ----------
    rows : dict
        By branch and version, and by row address, the values by their names there.
    columns : dict
        By branch and version, the names of the columns by a number that tells them apart.
    """

    rows: dict[tuple[str | None, int], dict[int, dict[str, Canonical]]] = field(
        default_factory=dict
    )
    columns: dict[tuple[str | None, int], dict[str, int]] = field(default_factory=dict)
    count: int = 0

    def see(self, dataset: lance.LanceDataset, columns: dict[str, int], branch: str | None) -> None:
        """Read a version."""
        found = dataset.to_table(columns=dataset.schema.names, with_row_address=True)
        places = found["_rowaddr"].to_pylist()
        values = {n: [canonical(one) for one in found[n]] for n in dataset.schema.names}
        key = branch, dataset.version
        self.columns[key] = dict(columns)
        self.rows[key] = {
            place: {name: values[name][number] for name in values}
            for number, place in enumerate(places)
        }

    def new(self) -> int:
        """Return the number of one more column."""
        self.count += 1
        return self.count

    def shown_as(self, version: tuple[str | None, int], own: str, order: list[Any]) -> str:
        """Return what a column is called in a frame of some versions, the last of them first."""
        number = self.columns[version][own]
        for one in order:
            for name, other in self.columns[one].items():
                if other == number:
                    return name
        return own


def differences(path: str, told: Told, branch: str | None = None) -> Iterator[str]:
    """Yield what is wrong."""
    table = lx.open_table(path, branch=branch)
    versions = sorted(version for name, version in told.rows if name == branch)
    order = [(branch, version) for version in reversed(versions)]
    last = versions[-1]
    for begin in versions[:-1]:
        feed = table.changes(begin, last, images="both", include=("moved", "column_added"))
        rows = table.diff(begin, last).rows(images="both", include=("moved", "column_added"))
        shown = [(branch, last), (branch, begin)]
        for name, frame in (("changes", feed.to_polars()), ("diff", rows)):
            lines = _sides(frame, lambda _, ends=(begin, last): ends, branch)  # type: ignore[misc]
            yield from _compared(f"{name} {begin} {last}", told, frame, lines, shown)
    first = versions[0]
    frame = table.changes(
        first, last, mode="per_commit", images="both", include=("moved", "column_added")
    ).to_polars()
    lines = _sides(
        frame, lambda line: (line["_commit_version"] - 1, line["_commit_version"]), branch
    )
    yield from _compared("per commit", told, frame, lines, order)
    yield from _found(table, told, order)
    yield from _histories(table, told, order)
    yield from _blamed(table, told, order)


_Where = tuple[tuple[str | None, int], int]


def _sides(
    frame: pl.DataFrame, ends: Callable[[dict[str, Any]], tuple[int, int]], branch: str | None
) -> list[_Where]:
    """Return of which version, and which row there, each line of a feed is."""
    found = list[_Where]()
    for line in frame.iter_rows(named=True):
        is_before = line["_change_type"] in ("delete", "update_preimage")
        before, after = ends(line)
        found.append(((branch, before if is_before else after), line["_rowaddr"]))
    return found


def _compared(
    what: str, told: Told, frame: pl.DataFrame, lines: Sequence[_Where | None], order: list[Any]
) -> Iterator[str]:
    """Yield the lines whose values are not those of their row, or not in columns of their names."""
    own = {"changed_columns", "is_uncertain", "known_from", "evidence"}
    start = max((n for n, name in enumerate(frame.columns) if name in own), default=-1) + 1
    names = frame.columns[start:]
    values = {name: canonical_series(frame[name]) for name in names}
    for number, where in enumerate(lines):
        if where is None:
            continue
        version, address = where
        if version not in told.rows:
            continue
        expected = Counter[tuple[str, Canonical]]()
        for name, value in told.rows[version][address].items():
            if value is not None:
                expected[told.shown_as(version, name, order), value] += 1
        shown = Counter[tuple[str, Canonical]](
            (re.sub(r"@\d+$", "", name), column[number])
            for name, column in values.items()
            if column[number] is not None
        )
        if expected != shown:
            yield f"{what}: version {version} row {address}: {dict(expected)} but {dict(shown)}"


def _found(table: Table, told: Told, order: list[Any]) -> Iterator[str]:
    """Yield what is wrong in what a search shows: values of all versions of a stretch."""
    branch = order[0][0]
    frame = table.find("uid >= 0", limit=10_000).to_polars()
    names = frame.columns[frame.columns.index("known_from") + 1 :]
    values = {name: canonical_series(frame[name]) for name in names}
    seen = set[_Where]()
    for number, line in enumerate(frame.iter_rows(named=True)):
        expected, last = set[tuple[str, Canonical]](), (branch, line["last_version"])
        shown = {
            (re.sub(r"@\d+$", "", name), column[number])
            for name, column in values.items()
            if column[number] is not None
        }
        uid = told.rows[last][line["_rowaddr"]]["uid"]
        for version in range(line["first_version"], line["last_version"] + 1):
            for address, row in told.rows.get((branch, version), {}).items():
                if row["uid"] != uid:
                    continue
                seen.add(((branch, version), address))
                for name, value in row.items():
                    told_as = {
                        told.shown_as((branch, version), name, one) for one in (order, order[:1])
                    }
                    if value is not None:
                        pairs = {(one, value) for one in told_as} | {
                            (own, value)
                            for at in order
                            for own, other in told.columns[at].items()
                            if other == told.columns[branch, version][name]
                            and not {*told.columns[order[0]].values()} & {other}
                        }
                        expected |= pairs
                        if not pairs & shown:
                            yield f"find: version {version} uid {uid}: {pairs} is not in {shown}"
        if shown - expected:
            yield f"find: {line['first_version']} to {line['last_version']}: {shown - expected}"
    every = {
        ((branch, v), place) for (b, v), rows in told.rows.items() if b == branch for place in rows
    }
    if every != seen:
        yield f"find: rows are not seen: {sorted(every - seen)[:3]}"


def _histories(table: Table, told: Told, order: list[Any]) -> Iterator[str]:
    """Yield what is wrong in the values of the histories of all rows of the latest version."""
    branch = order[0][0]
    dataset = lance.dataset(table.uri)
    dataset = dataset.checkout_version((branch, None)) if branch else dataset
    for row_id in dataset.to_table(columns=["_rowid"])["_rowid"].to_pylist():
        history = table.row(row_id).history(values=True)
        frame = history["values"].struct.unnest() if len(history) else pl.DataFrame()
        lines = list[_Where | None]()
        for event in history.iter_rows(named=True):
            address, version = event["_rowaddr_after"], event["version"]
            if address is None:
                address, version = event["_rowaddr_before"], version - 1
            where = (event["branch"], version), address
            lines.append(None if event["values"] is None else where)
        places = [order[0], *reversed([line[0] for line in lines if line is not None])]
        yield from _compared(f"history {row_id}", told, frame, lines, places)


def _blamed(table: Table, told: Told, order: list[Any]) -> Iterator[str]:
    """Yield the cells of the latest version that another commit changed last."""
    found = table.blame().to_polars().filter(~pl.col("is_uncertain"))
    for line in found.iter_rows(named=True):
        uid = told.rows[order[0]][line["_rowaddr"]]["uid"]
        number, version = told.columns[order[0]][line["column"]], order[0]
        for before in [*order[1:], None]:
            now = _cell(told, version, uid, number)
            if before is None or _cell(told, before, uid, number) != now:
                break
            version = before
        if version[1] != line["version"]:  # of a fork the version of the parent
            yield f"blame: uid {uid} {line['column']}: {line['version']} and not {version}"


def _cell(told: Told, version: Any, uid: Canonical, number: int) -> Any:
    names = {other: name for name, other in told.columns[version].items()}
    rows = [row for row in told.rows[version].values() if row["uid"] == uid]
    if not rows or number not in names:
        return "missing"
    value = rows[0][names[number]]
    if value is not None and value[0] == "bool":
        return "number", Fraction(value[1])
    if value is not None and value[0].startswith("timestamp"):  # another zone is no other time
        return value[0] == "timestamp None", value[1]
    return value


def merge_differences(path: str, told: Told) -> Iterator[str]:
    """Yield what is wrong in the preview of a merge of branch ``dev`` into the main branch."""
    rows = lx.open_table(path).merge_preview("dev").rows()
    ours, theirs = [max(key for key in told.rows if key[0] == name) for name in (None, "dev")]
    fork = None, 1
    for image, end in (("base", fork), ("ours", ours), ("theirs", theirs)):
        lines = list[_Where | None]()
        for line in rows.iter_rows(named=True):
            address, version = line[f"_rowaddr_{image}"], end
            if address is None and image != "base" and line[f"change_{image}"] is None:
                address, version = line["_rowaddr_base"], fork
            lines.append(None if line[image] is None else (version, address))
        frame = rows[image].struct.unnest()
        yield from _compared(f"merge {image}", told, frame, lines, [ours, fork, theirs])


def live_apart(path: str, seed: int) -> Told:
    """Make a table and a branch of it that both go on."""
    random, told = Random(seed), Told()
    start = {name: told.new() for name in ("uid", "a", "b", "c")}
    kinds = random.sample([*TYPES], 3)
    parts = {name: _table(kind, range(6))["x"] for name, kind in zip("abc", kinds, strict=True)}
    rows = pa.table({"uid": pa.array(range(6), pa.int64()), **parts})
    main = lance.write_dataset(rows, path, enable_stable_row_ids=random.random() < 0.5)
    told.see(main, start, None)
    for branch, dataset in (("dev", main.create_branch("dev", 1)), (None, main)):
        columns = dict(start)
        if branch:
            told.see(dataset, columns, branch)
        for _ in range(4):
            names, before = [name for name in columns if name != "uid"], dataset.version
            action = random.choice((_rename, _drop, _add, _cast, _cast, _delete, _update, _update))
            with suppress(*_REFUSED):
                columns = action(dataset, told, random, columns, names or ["a"])
            if dataset.version != before:
                told.see(dataset, columns, branch)
    return told


def _table(kind: str, uids: range, shift: int = 0) -> pa.Table:
    dtype, values = TYPES[kind]
    some = [values[(n + shift) % len(values)] for n in uids]
    return pa.table({"uid": pa.array(uids, pa.int64()), "x": _array(some, dtype)})


def _array(values: list[Any], dtype: pa.DataType) -> pa.Array:
    if pa.types.is_float16(dtype):
        import numpy as np

        return pa.array([None if v is None else np.float16(v) for v in values], dtype)
    if pa.types.is_dictionary(dtype):
        return pa.array(values, pa.string()).dictionary_encode()
    return pa.array(values, dtype)


def check_pair(path: str, one: str, other: str, *, stable: bool) -> Iterator[str]:
    """Overwrite a column of one type by one of another, and yield what is wrong."""
    told, columns = Told(), dict[str, int]()
    for kind in (one, other):
        columns = {"uid": told.new(), "x": told.new()}
        dataset = lance.write_dataset(
            _table(kind, range(4)), path, mode="overwrite", enable_stable_row_ids=stable
        )
        told.see(dataset, columns, None)
    yield from differences(path, told)
    yield from _keys(path, told)


def _keys(path: str, told: Told) -> Iterator[str]:
    """Yield what is wrong where rows are matched by a column of two types: equal is exact."""
    sides = [[row["x"] for row in told.rows[None, version].values()] for version in (1, 2)]
    counts = [Counter(one for one in side if one is not None) for side in sides]
    try:
        found = lx.open_table(path).changes(1, 2, key="x").summary()
    except (InvalidArgumentError, pl.exceptions.PolarsError):
        return
    matched = sum((counts[0] & counts[1]).values())
    if found["updated"].item() != matched:
        yield f"key: {found['updated'].item()} rows are matched, and {matched} are equal"


def live(path: str, seed: int, steps: int = 12) -> Told:
    """Make a random table, and note what each version has."""
    random, told = Random(seed), Told()
    stable = random.random() < 0.5
    kinds = ["uid", "a", "b"]
    columns = {name: told.new() for name in kinds}
    uids = iter(range(10_000))

    def fresh(names: list[str], count: int) -> pa.Table:
        some, arrays = [next(uids) for _ in range(count)], []
        for name in names:
            dtype, values = TYPES[random.choice([*TYPES])]
            arrays.append(
                pa.array(some, pa.int64())
                if name == "uid"
                else _array([random.choice(values) for _ in some], dtype)
            )
        return pa.table(arrays, names=names)

    dataset = lance.write_dataset(fresh(kinds, 5), path, enable_stable_row_ids=stable)
    told.see(dataset, columns, None)
    for _ in range(steps):
        before, names = dataset.version, [name for name in columns if name != "uid"]
        action = random.choice(_ACTIONS)
        if len(names) < 2 and action is not _overwrite:
            continue
        with suppress(*_REFUSED):
            columns = action(dataset, told, random, dict(columns), names, fresh, path, stable)
        dataset = lance.dataset(path)
        if dataset.version != before:
            told.see(dataset, columns, None)
    return told


def _rename(dataset: Any, told: Told, random: Random, columns: Any, names: Any, *_: Any) -> Any:
    old, new = random.choice(names), random.choice("abcd")
    dataset.alter_columns({"path": old, "name": new})
    return {new if name == old else name: number for name, number in columns.items()}


def _swap(dataset: Any, told: Told, random: Random, columns: Any, names: Any, *_: Any) -> Any:
    one, other = random.sample(names, 2)
    for old, new in ((one, "t"), (other, one), ("t", other)):
        dataset.alter_columns({"path": old, "name": new})
        columns = {new if name == old else name: n for name, n in columns.items()}
        if new != other:
            told.see(lance.dataset(dataset.uri), columns, None)
    return columns


def _drop(dataset: Any, told: Told, random: Random, columns: Any, names: Any, *_: Any) -> Any:
    name = random.choice(names)
    dataset.drop_columns([name])
    return {one: number for one, number in columns.items() if one != name}


def _add(dataset: Any, told: Told, random: Random, columns: Any, names: Any, *_: Any) -> Any:
    name = random.choice("abcd")
    expression = random.choice(["uid", "cast(uid as double) / 3", "cast(uid as string)"])
    dataset.add_columns({name: expression})
    return {**columns, name: told.new()}


def _cast(dataset: Any, told: Told, random: Random, columns: Any, names: Any, *_: Any) -> Any:
    name, kind = random.choice(names), random.choice([*TYPES])
    dataset.alter_columns({"path": name, "data_type": TYPES[kind][0]})
    return columns


def _delete(dataset: Any, told: Told, random: Random, columns: Any, names: Any, *_: Any) -> Any:
    dataset.delete(f"uid % {random.randint(3, 6)} = 0")
    return columns


def _append(
    dataset: Any, told: Told, random: Random, columns: Any, names: Any, fresh: Any, *_: Any
) -> Any:
    uids = fresh(["uid"], 2)["uid"]
    known = {str(kind): values for kind, values in TYPES.values()}
    arrays = [
        uids
        if one.name == "uid"
        else _array([random.choice(known.get(str(one.type), [None])) for _ in uids], one.type)
        for one in dataset.schema
    ]
    lance.write_dataset(pa.table(arrays, schema=dataset.schema), dataset.uri, mode="append")
    return columns


def _update(dataset: Any, told: Told, random: Random, columns: Any, names: Any, *_: Any) -> Any:
    values = dataset.to_table()
    name = random.choice(names)
    mixed = values.take(random.sample(range(len(values)), len(values)))[name]
    place = values.schema.get_field_index(name)
    changed = values.set_column(place, values.schema.field(name), mixed).slice(0, 2)
    dataset.merge_insert("uid").when_matched_update_all().execute(changed)
    return columns


def _overwrite(
    dataset: Any, told: Told, random: Random, columns: Any, names: Any, fresh: Any, *more: Any
) -> Any:
    some = ["uid", *random.sample("abcd", random.randint(1, 3))]
    lance.write_dataset(
        fresh(some, 4), dataset.uri, mode="overwrite", enable_stable_row_ids=more[1]
    )
    return {name: told.new() for name in some}


def _restore(dataset: Any, told: Told, random: Random, *_: Any) -> Any:
    version = random.randint(1, dataset.version)
    lance.dataset(dataset.uri, version=version).restore()
    return told.columns[None, version]


_ACTIONS: tuple[Callable[..., Any], ...] = (
    *(_rename, _swap, _drop, _add, _cast, _cast, _delete, _append, _update, _update),
    *(_overwrite, _restore),
)


def _wrong(make: Callable[[str], Iterator[str]]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        try:
            return [*make(str(Path(folder) / "t.lance"))]
        except Exception as error:  # noqa: BLE001
            return [f"{type(error).__name__}: {str(error)[:300]}"]


def _lived(seed: int) -> Callable[[str], Iterator[str]]:
    return lambda path: differences(path, live(path, seed))


def _lived_apart(seed: int) -> Callable[[str], Iterator[str]]:
    def found(path: str) -> Iterator[str]:
        told = live_apart(path, seed)
        for branch in (None, "dev"):
            yield from differences(path, told, branch)
        yield from merge_differences(path, told)

    return found


def _paired(one: str, other: str, *, stable: bool) -> Callable[[str], Iterator[str]]:
    return lambda path: check_pair(path, one, other, stable=stable)


def main(arguments: list[str] | None = None) -> int:
    """Try pairs of types, or random tables, and print what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--lives", type=int, default=0)
    parser.add_argument("--apart", type=int, default=0, help="tables with a branch")
    parser.add_argument("--seed", type=int, default=0)
    told = parser.parse_args(arguments)
    tasks: dict[str, Callable[[str], Iterator[str]]] = {
        f"{one}, {other}{', stable' * stable}": _paired(one, other, stable=stable)
        for one, other in (permutations(TYPES, 2) if told.pairs else ())
        for stable in (True, False)
    }
    tasks |= {f"seed {n}": _lived(n) for n in range(told.seed, told.seed + told.lives)}
    tasks |= {f"apart {n}": _lived_apart(n) for n in range(told.seed, told.seed + told.apart)}
    wrong = 0
    for name, make in tasks.items():
        found = _wrong(make)
        wrong += bool(found)
        for words in found[:3]:
            print(f"{name}: {words}", flush=True)
    print(f"{len(tasks)} tried, {wrong} wrong")
    return wrong


if __name__ == "__main__":
    sys.exit(main() > 0)
