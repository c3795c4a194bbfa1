"""Read values back from JSON, given the type of their column; what the library does not do."""

import base64
import re
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

__all__ = ["known", "read"]

_FLOATS: dict[Any, Any] = {
    pl.Float16(): np.float16,
    pl.Float32(): np.float32,
    pl.Float64(): np.float64,
}
_TICKS = {"ms": 10**3, "us": 10**6, "ns": 10**9}
_CYCLE_DAYS, _CYCLE_YEARS = 146_097, 400
_DATE = re.compile(r"([+-]?\d+)-(\d\d)-(\d\d)")
_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?")
_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)(?::(\d\d))?")
_DURATION = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?)?")


def known(column: pl.Series) -> list[Any]:
    """Return values of a column as plain ones that are compared: times and decimals as integers."""
    values = column.cast(_without_categories(column.dtype)).to_physical().to_list()
    return [_plain(value, column.dtype) for value in values]


def read(value: Any, dtype: Any) -> Any:
    """Return the value that JSON stands for, as :func:`known` has it."""
    if value is None:
        return None
    match dtype:
        case pl.List(inner=inner) | pl.Array(inner=inner):
            return [read(item, inner) for item in value]
        case pl.Map():
            parts = (dtype.key, dtype.value)
            assert all([*entry] == ["key", "value"] for entry in value)
            return [tuple(map(read, entry.values(), parts)) for entry in value]
        case pl.Struct():
            types = dict(dtype.to_schema())
            assert [*value] == [*types]
            return {name: read(value[name], of) for name, of in types.items()}
        case pl.Binary():
            data = base64.b64decode(value["base64"], validate=True)
            assert value == {"base64": value["base64"], "length": len(data)}
            return data
        case pl.Decimal(scale=scale):
            assert isinstance(value, str)
            sign, digits, exponent = Decimal(value).as_tuple()
            assert exponent == -scale
            return int("".join(map(str, digits))) * (-1 if sign else 1)
        case pl.Date():
            return _days(value)
        case pl.Time():
            return _ticks(value, 10**9)
        case pl.Datetime(time_unit=unit, time_zone=zone):
            day, _, rest = value.partition("T")
            moment = _days(day) * 86_400 * _TICKS[unit] + _ticks(rest, _TICKS[unit])
            offset = _OFFSET.search(rest)
            assert (offset is None) == (zone is None)
            if offset is None:
                return moment
            hours, minutes, seconds = (int(part or 0) for part in offset.groups()[1:])
            away = (hours * 3600 + minutes * 60 + seconds) * _TICKS[unit]
            return moment - (away if offset[1] == "+" else -away)
        case pl.Duration(time_unit=unit):
            found = _DURATION.fullmatch(value)
            assert found is not None
            days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:5])
            whole = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
            length = whole * _TICKS[unit] + _fraction(found[6], _TICKS[unit])
            return -length if found[1] else length
    if dtype in _FLOATS:
        names = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}
        if isinstance(value, str):
            return _plain(float(names[value]), dtype)
        assert isinstance(value, int | float)
        return _plain(value, dtype)
    assert type(value) is (bool if dtype == pl.Boolean else int if dtype.is_integer() else str)
    return value


def _days(text: str) -> int:
    found = _DATE.fullmatch(text)
    assert found is not None
    cycles, year = divmod(int(found[1]) - 1600, _CYCLE_YEARS)
    near = date(1600 + year, int(found[2]), int(found[3])) - date(1970, 1, 1)
    return near.days + cycles * _CYCLE_DAYS


def _ticks(text: str, second: int) -> int:
    found = _TIME.match(text)
    assert found is not None
    hours, minutes, seconds = (int(part) for part in found.groups()[:3])
    return ((hours * 60 + minutes) * 60 + seconds) * second + _fraction(found[4], second)


def _fraction(digits: str | None, second: int) -> int:
    part = Decimal(f"0.{digits or 0}") * second
    assert part == int(part)
    return int(part)


def _plain(value: Any, dtype: Any) -> Any:
    if value is None:
        return None
    match dtype:
        case pl.List(inner=inner) | pl.Array(inner=inner):
            return [_plain(item, inner) for item in value]
        case pl.Map():
            parts = (dtype.key, dtype.value)
            return [tuple(map(_plain, entry.values(), parts)) for entry in value]
        case pl.Struct():
            return {name: _plain(value[name], of) for name, of in dtype.to_schema().items()}
    if dtype in _FLOATS:
        return str(_FLOATS[dtype](value))  # NaN is itself, and -0.0 not 0.0
    return value


def _without_categories(dtype: Any) -> Any:
    match dtype:
        case pl.Categorical():
            return pl.String()
        case pl.List(inner=inner):
            return pl.List(_without_categories(inner))
        case pl.Array(inner=inner, size=size):
            return pl.Array(_without_categories(inner), size)
        case pl.Map():
            return pl.Map(_without_categories(dtype.key), _without_categories(dtype.value))
        case pl.Struct():
            return pl.Struct({n: _without_categories(of) for n, of in dtype.to_schema().items()})
    return dtype
