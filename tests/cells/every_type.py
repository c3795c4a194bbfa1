"""Values of every type that pylance writes, two and more of each that must not read alike.

``tests.cells.places`` writes them to tables, in each file format, and asks all places that
print values.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["FORMATS", "VALUES", "arrays", "columns_of"]

FORMATS = ("legacy", "2.0", "2.1", "2.2", "2.3")

_LEAST, _MOST = -(2**63), 2**63 - 1
_NAN, _INF = math.nan, math.inf


def _ints(kind: pa.DataType, *numbers: int) -> pa.Array:
    """Return values of a type that is a number inside, whatever Python has for it."""
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        return pa.array(numbers, pa.int32()).view(kind)
    return pa.array(numbers, pa.int64()).view(kind)


def _floats(kind: pa.DataType, step: float) -> pa.Array:
    numbers = [_NAN, _INF, -_INF, -0.0, 0.0, 1.0, 1.0 + step, 0.1, 65504.0, 65472.0, 6e-8]
    return pa.array(np.array(numbers, dtype=kind.to_pandas_dtype()), kind)


def _extension(kind: pa.DataType, storage: list[Any]) -> pa.Array:
    return pa.ExtensionArray.from_storage(kind, pa.array(storage, kind.storage_type))


_TIMES = [
    (pa.timestamp(unit, zone), scale)
    for unit, scale in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9))
    for zone in (None, "UTC", "Europe/Berlin", "+05:30")
]
_TEXTS = ["", " ", "a", "a ", "null", '"null"', "NaN", "a\nb", "a\\nb", "\x1b[31m", "\\x1b[31m"]
_TEXTS += ["\u202ea", "a\tb", "é", "a,b", 'a","b', "😀", "1", "None", "`", "=1+1", "'=1+1"]
_BYTES = [b"", b"\0", b"\xff", b"\xff\0", b"\xff\1", b"a" * 41 + b"1", b"a" * 41 + b"2"]

VALUES: Mapping[str, pa.Array] = {
    "bool": pa.array([True, False]),
    **{
        f"int{bits}": pa.array([-(2 ** (bits - 1)), 2 ** (bits - 1) - 1, 0], f"int{bits}")
        for bits in (8, 16, 32, 64)
    },
    **{f"uint{bits}": pa.array([0, 2**bits - 1], f"uint{bits}") for bits in (8, 16, 32, 64)},
    "int_exact": pa.array([2**53, 2**53 + 1]),
    "uint_exact": pa.array([2**64 - 2, 2**64 - 1], pa.uint64()),
    "half": _floats(pa.float16(), 2**-10),
    "float": _floats(pa.float32(), 2**-23),
    "double": _floats(pa.float64(), 2**-52),
    "string": pa.array(_TEXTS),
    "large_string": pa.array(_TEXTS, pa.large_string()),
    "long_string": pa.array(["x" * 5_000 + end for end in "ab"]),
    "string_view": pa.array(_TEXTS, pa.string_view()),
    "binary": pa.array(_BYTES),
    "large_binary": pa.array(_BYTES, pa.large_binary()),
    "binary_view": pa.array(_BYTES, pa.binary_view()),
    "fixed_binary": pa.array([b"\xff\0", b"\xff\1"], pa.binary(2)),
    "date32": _ints(pa.date32(), 0, 1, -1, 2**31 - 1, -(2**31), 2932897, -719529),
    "date64": pa.array([date(2020, 1, 1), date(2020, 1, 2)], pa.date64()),
    "time32_s": pa.array([time(1, 2, 3), time(1, 2, 4)], pa.time32("s")),
    "time32_ms": _ints(pa.time32("ms"), 0, 1, 86_399_999),
    "time64_us": _ints(pa.time64("us"), 0, 1, 86_399_999_999),
    "time64_ns": _ints(pa.time64("ns"), 0, 1, 86_399_999_999_999),
    **{
        f"time_{kind.unit}_{kind.tz}": _ints(
            kind,
            *(0, 1, -1, -3 * 10**9 * scale, 1603585800 * scale, 1603589400 * scale),
            *(() if kind.unit == "s" else (_MOST, _LEAST, _MOST - 1)),
        )
        for kind, scale in _TIMES
    },
    **{
        f"duration_{unit}": _ints(
            pa.duration(unit), 0, 1, -1, *(() if unit == "s" else (_MOST, _LEAST, _LEAST + 1))
        )
        for unit in ("s", "ms", "us", "ns")
    },
    "decimal128": pa.array([Decimal("1.50"), Decimal("-1.51"), Decimal(0)], pa.decimal128(10, 2)),
    "decimal128_whole": pa.array([Decimal(10**38 - 1), Decimal(10**38 - 2)], pa.decimal128(38, 0)),
    "decimal256": pa.array([Decimal(10**60 - 1), Decimal(10**60 - 2)], pa.decimal256(76, 10)),
    "dictionary": pa.array(["p", "q", ""]).dictionary_encode(),
    "uuid": _extension(pa.uuid(), [bytes(16), bytes(15) + b"\1"]),
    "json": _extension(pa.json_(), ['{"a":1}', '{"a":2}']),
    "bool8": _extension(pa.bool8(), [0, 1]),
    "tensor": _extension(pa.fixed_shape_tensor(pa.float32(), [2]), [[0.0, 1.0], [0.0, 2.0]]),
    "null": pa.nulls(2),
}
"""Values of each type, without null; no two of them are equal."""


def arrays(values: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """Yield values as they are and in each kind of nesting, with nulls and empties among them."""
    storage = values.storage if isinstance(values, pa.ExtensionArray) else values
    count = len(storage)
    whole = pa.concat_arrays([storage, pa.nulls(1, storage.type)])
    as_column = (
        pa.ExtensionArray.from_storage(values.type, whole) if storage is not values else whole
    )
    yield "", as_column
    ends = pa.array([*range(count + 2), count + 1], pa.int32())
    lists = pa.ListArray.from_arrays(ends, whole)
    yield "list", pa.concat_arrays([lists, pa.nulls(1, lists.type)])
    yield "large_list", lists.cast(pa.large_list(storage.type))
    yield "fixed_list", pa.FixedSizeListArray.from_arrays(whole, 1)
    structs = pa.StructArray.from_arrays([whole], ["x"])
    yield "struct", pa.concat_arrays([structs, pa.nulls(1, structs.type)])
    keys = pa.array(["k"] * (count + 1))
    yield "map", pa.MapArray.from_arrays(ends, keys, whole)
    yield "list_of_struct", pa.ListArray.from_arrays(ends, structs)
    yield "struct_of_list", pa.StructArray.from_arrays([lists], ["x"])
    yield (
        "list_of_list",
        pa.ListArray.from_arrays(pa.array([*range(len(lists) + 1)], pa.int32()), lists),
    )


def columns_of(names: Iterator[str] | None = None) -> dict[str, pa.Array]:
    """Return all columns, by name."""
    chosen = VALUES if names is None else {name: VALUES[name] for name in names}
    return {
        f"{name}_in_{nesting}" if nesting else name: array
        for name, values in chosen.items()
        for nesting, array in arrays(values)
    }
