"""Dates, times and durations as ISO 8601, with all their digits and of any year."""

import polars as pl

__all__ = ["iso_texts"]

_TIME = "%H:%M:%S%.f"

_CYCLE_DAYS, _CYCLE_YEARS = 146_097, 400
"""The calendar repeats after this many days, including weekdays and daylight saving time."""

_MOST_DAYS = 73_000_000
"""How far from 1970 Polars is asked for a text; it panics 22 million days further."""

_TICKS_A_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def iso_texts(column: pl.Series, between: str = "T") -> pl.Series:
    """Return times as text; null stays null.

    Parameters
    ----------
    column : polars.Series
        Of dates, times, both, or durations.
    between : str
        The text between a date and a time.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.times import iso_texts
    >>> iso_texts(pl.Series([1, -1]).cast(pl.Duration("ns"))).to_list()
    ['PT0.000000001S', '-PT0.000000001S']
    """
    match column.dtype:
        case pl.Time():
            return column.dt.strftime(_TIME)
        case pl.Duration():
            return _durations(column)
        case pl.Date():
            return _dated(column, "%Y-%m-%d", 1)
        case pl.Datetime(time_unit=unit, time_zone=zone):
            pattern = f"%Y-%m-%d{between}{_TIME}"
            texts = _dated(
                column, pattern if zone is None else f"{pattern}%::z", _TICKS_A_DAY[unit]
            )
            # Offsets before standard time have seconds; others have none.
            return texts if zone is None else texts.str.replace(r"([+-]\d\d:\d\d):00$", "$1")
    raise TypeError(f"{column.dtype} is no time")


def _durations(column: pl.Series) -> pl.Series:
    texts = column.dt.to_string("iso")
    # Polars writes a minus before each part of the least number, which has no positive counterpart.
    least = texts.str.starts_with("-P-")
    return texts.zip_with(~least.fill_null(False), "-" + texts.str.replace_all("-", ""))


def _dated(column: pl.Series, pattern: str, ticks: int) -> pl.Series:
    days = column.to_physical() // ticks
    is_far = ((days < -_MOST_DAYS) | (days > _MOST_DAYS)).fill_null(False)
    if not is_far.any():
        return column.dt.strftime(pattern)
    texts = column.set(is_far, None).dt.strftime(pattern)
    cycle = _CYCLE_DAYS * ticks
    number, rest = zip(
        *[divmod(v, cycle) for v in column.filter(is_far).to_physical()], strict=True
    )
    physical = column.to_physical().dtype
    near = pl.Series(rest, dtype=physical).cast(column.dtype).dt.strftime(pattern).to_list()
    far = [
        f"{int(text[:4]) + _CYCLE_YEARS * cycles:+05d}{text[4:]}"
        for cycles, text in zip(number, near, strict=True)
    ]
    return texts.scatter(is_far.arg_true(), far)
