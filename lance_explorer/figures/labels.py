"""How figures write numbers, sizes and names: short, and without markup."""

from collections.abc import Iterable
from html import escape
from typing import Any

import polars as pl

from lance_explorer.frames.sizes import byte_size

__all__ = [
    "byte_ticks",
    "count_ticks",
    "data_words",
    "hover",
    "middle",
    "number",
    "per_row",
    "plural",
    "rows_words",
    "short",
    "size",
    "text",
]

_MOST_CHARACTERS = 60
_TICKS = 5
_FEW = 4


def text(content: str, most: int = _MOST_CHARACTERS) -> str:
    """Return text for plotly: cut, and without its markup.

    Examples
    --------
    >>> text("<b>" + "x" * 100, most=5)
    '&lt;b&gt;xx...'
    """
    shown = content if len(content) <= most else f"{content[:most]}..."
    return escape("".join([c if c.isprintable() else repr(c)[1:-1] for c in shown]), quote=False)


def hover(lines: Iterable[str]) -> str:
    """Return lines without markup for a tooltip of plotly: the first is a title.

    Examples
    --------
    >>> hover(["Fragment 3", "in a<b"])
    '<b>Fragment 3</b><br>in a&lt;b'
    """
    title, *facts = [escape(line, quote=False) for line in lines]
    return "<br>".join([f"<b>{title}</b>", *facts])


def number(count: int | None) -> str:
    """Return a count with separators.

    Examples
    --------
    >>> number(1234), number(None)
    ('1,234', 'unknown')
    """
    return "unknown" if count is None else f"{count:,}"


def size(num_bytes: float | None, digits: str = "%.1f") -> str:
    """Return a number of bytes as a size.

    Examples
    --------
    >>> size(1_400_000_000), size(794), size(None)
    ('1.4 GB', '794 bytes', 'unknown')
    """
    return "unknown" if num_bytes is None else byte_size(num_bytes, digits)


def rows_words(count: int | None) -> str:
    """Return a number of rows.

    Examples
    --------
    >>> rows_words(1), rows_words(None)
    ('1 row', 'an unknown number of rows')
    """
    return "an unknown number of rows" if count is None else plural(count, "row")


def data_words(num_bytes: int | None) -> str:
    """Return the size of data files in words.

    Examples
    --------
    >>> data_words(1_700), data_words(None)
    ('1.7 kB of data', 'data of unknown size')
    """
    return "data of unknown size" if num_bytes is None else f"{size(num_bytes)} of data"


def per_row(num_bytes: float | None) -> str:
    """Return the bytes of one row.

    Examples
    --------
    >>> per_row(0.42), per_row(12.34), per_row(0.0007), per_row(None)
    ('0.42 B', '12.3 B', '< 0.01 B', 'unknown')
    """
    if num_bytes is None:
        return "unknown"
    if 0 < num_bytes < 0.01:
        return "< 0.01 B"
    digits = 0 if num_bytes == 0 else 2 if num_bytes < 10 else 1
    return f"{num_bytes:.{digits}f} B"


def short(count: int) -> str:
    """Return a count in short, with three digits.

    Examples
    --------
    >>> short(999), short(1_048_576), short(500_000)
    ('999', '1.05 M', '500 k')
    """
    for least, unit in ((10**15, " P"), (10**12, " T"), (10**9, " G"), (10**6, " M"), (1000, " k")):
        if count >= least:
            return f"{count / least:.3g}{unit}"
    return str(count)


def plural(count: int, noun: str) -> str:
    """Return a count and its noun.

    Examples
    --------
    >>> plural(1, "fragment"), plural(1200, "row")
    ('1 fragment', '1,200 rows')
    """
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def middle(content: str, most: int) -> str:
    """Return text for plotly as :func:`text` does, but cut in the middle.

    So names with the same beginning stay distinct.

    Examples
    --------
    >>> middle("customer_attribute_017", most=12)
    'custom...e_017'
    """
    if len(content) <= most:
        return text(content, most)
    return f"{text(content[: most // 2], most)}...{text(content[most // 2 - most + 1 :], most)}"


def count_ticks(counts: pl.Series) -> dict[str, Any]:
    """Return the ticks of an axis of counts: at whole numbers, even if they are small.

    Examples
    --------
    >>> count_ticks(pl.Series([0, 2])), count_ticks(pl.Series([4_000]))
    ({'tickformat': ',d', 'dtick': 1}, {'tickformat': ',d'})
    """
    largest = counts.max()
    is_few = isinstance(largest, int) and largest <= _FEW
    return {"tickformat": ",d"} | ({"dtick": 1} if is_few else {})


def byte_ticks(sizes: pl.Series) -> dict[str, list[Any]]:
    """Return ticks from 0 to the largest of ``sizes``, at round numbers and written as sizes.

    Examples
    --------
    >>> byte_ticks(pl.Series([300, 1_000]))["ticktext"][:3]
    ['0', '200 bytes', '400 bytes']
    """
    largest = sizes.max()
    if not isinstance(largest, int) or largest <= 0:
        return {}
    unit = 10 ** (len(str(largest)) - 1)
    step = next(s for s in (unit // 5, unit // 2, unit, unit * 2) if s and largest / s <= _TICKS)
    values = list(range(0, largest + step, step))
    ticks = [size(value, "%.4g") for value in values[1:]]
    return {"tickvals": values, "ticktext": ["0", *ticks]}
