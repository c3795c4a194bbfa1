"""Values as text: whole, and shortened for people who look at many of them.

A whole text is the value itself: a text is unchanged, null has none. In short form, null has no
text either, so a text is quoted if it could be mistaken for another value: if it is empty,
``null``, begins with a quote, or has invisible characters or spaces at its ends. A cut value says
how large it is, and ends in a digest: eight digits of the SHA-256 of the whole.
"""

import hashlib
import re

import polars as pl

from lance_explorer.cells.writing import plain_texts, written

__all__ = [
    "brief",
    "briefs_of",
    "cells_of",
    "digest_of",
    "quoted",
    "sizes_of",
    "texts_of",
    "unit_of",
]

LONGEST = 160
_MOST_BYTES, _MOST_ITEMS = 40, 12
_ITEMS_AT_ONCE = 1 << 16
_UNCLEAR = re.compile(r'null|".*|\s.*|.*\s|.*… \(.*#[0-9a-f]{8}\)|', re.DOTALL)
"""Texts that could be mistaken for null, for a quoted text or for a cut one."""


def texts_of(column: pl.Series, most: int | None = None) -> pl.Series:
    """Return values as text; null stays null.

    Parameters
    ----------
    column : polars.Series
        Of any type.
    most : int, optional
        How many characters of text, bytes of binary, or items of a list are shown; all by default.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.text import texts_of
    >>> texts_of(pl.Series([[1.5, float("nan")], None])).to_list()
    ['[1.5,NaN]', None]
    """
    column = column.alias("value")  # Polars treats names such as ^a$ as patterns
    if most is not None:
        column = _head(column, most)
    dtype = column.dtype
    return written(column, as_json=False) if dtype.is_nested() else plain_texts(column)


def cells_of(column: pl.Series) -> pl.Series:
    """Return values as texts for the cells of a frame: whole, except long binary.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.text import cells_of
    >>> cells_of(pl.Series([b"abc", bytes(50)])).to_list()
    ['616263 (3 bytes)', '0000...0000… (50 bytes, #cc2786e1)']
    """
    return briefs_of(column)[0] if column.dtype == pl.Binary else texts_of(column)


def briefs_of(
    column: pl.Series, longest: int = LONGEST, within: str | None = None
) -> tuple[pl.Series, pl.Series]:
    """Return the values in short form, and which of them were cut; null stays null.

    Parameters
    ----------
    column : polars.Series
        Of any type.
    longest : int
        How many characters are shown; a cut text gets some more that say so.
    within : str, optional
        What stands between this text and others: a text that has it is put in quotes.

    Examples
    --------
    >>> import polars as pl
    >>> from lance_explorer.cells.text import briefs_of
    >>> texts, is_more = briefs_of(pl.Series(["null", None, "x" * 200]), longest=5)
    >>> texts.to_list(), is_more.to_list()
    (['"null"', None, 'xxxxx… (200 characters, #aa20c23e)'], [False, False, True])
    """
    column = column.alias("value")
    unit = unit_of(column.dtype)
    if column.dtype == pl.String:  # as most are: each call of Polars takes longer than a cell
        heads = column.str.head(longest + 1).to_list()
        long = [text is not None and len(text) > longest for text in heads]
        cells = [
            text if text is None else brief(column[place] if is_long else text, longest, within)
            for place, (text, is_long) in enumerate(zip(heads, long, strict=True))
        ]
        return pl.Series("value", cells, dtype=pl.String), pl.Series(
            "value", long, dtype=pl.Boolean
        )
    most = {"characters": longest, "bytes": _MOST_BYTES, "items": _MOST_ITEMS}[unit]
    texts, sizes = texts_of(column, most), sizes_of(column)
    if sizes is None and not column.dtype.is_nested():
        is_long = pl.Series("value", [False] * len(texts), dtype=pl.Boolean)
        return texts, is_long  # numbers and times never are
    lengths = texts.str.len_chars() if sizes is None else sizes
    is_more = (lengths > most).fill_null(False)
    if unit != "bytes":
        is_more |= (texts.str.len_chars() > longest).fill_null(False)
    is_text = unit == "characters" and not column.dtype.is_nested()
    digests = _digests_of_lists(column) if unit == "items" and is_more.any() else None
    shown = list[str | None]()
    for place, (text, size, more) in enumerate(zip(texts, lengths, is_more, strict=True)):
        if text is None:
            shown.append(None)
        elif more and is_text:
            shown.append(brief(texts_of(column.slice(place, 1)).item(), longest, within))
        elif more:
            digest = digests[place] if digests else _digest(column.slice(place, 1))
            shown.append(_cut(text[:longest], int(size), unit, digest))
        elif is_text:
            shown.append(quoted(text, within))
        else:
            shown.append(f"{text} ({_counted(size, unit)})".strip() if unit == "bytes" else text)
    return pl.Series("value", shown, dtype=pl.String), is_more


def brief(text: str, longest: int = LONGEST, within: str | None = None) -> str:
    """Return one text in short form; ``within`` as for :func:`quoted`.

    Examples
    --------
    >>> from lance_explorer.cells.text import brief
    >>> brief(" x"), brief("plain")
    ('" x"', 'plain')
    """
    if len(text) <= longest:
        return quoted(text, within)
    size = _counted(len(text), "characters")
    return f"{quoted(text[:longest], within)}… ({size}, {digest_of(text.encode())})"


def quoted(text: str, within: str | None = None) -> str:
    r"""Return a text, quoted if it could be mistaken for another value.

    Invisible characters stay: the code that shows the text escapes them.

    Parameters
    ----------
    text : str
        The text.
    within : str, optional
        What stands between this text and others, and so not in it.

    Examples
    --------
    >>> from lance_explorer.cells.text import quoted
    >>> [quoted(text) for text in ("", "a b", "a ", r"a\n", "a\n")]
    ['""', 'a b', '"a "', 'a\\n', '"a\n"']
    """
    is_unclear = _UNCLEAR.fullmatch(text) or (within is not None and within in text)
    if text.isprintable() and not is_unclear:
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def digest_of(data: bytes) -> str:
    """Return eight digits that distinguish these bytes from others."""
    return f"#{hashlib.sha256(data, usedforsecurity=False).hexdigest()[:8]}"


def sizes_of(column: pl.Series) -> pl.Series | None:
    """Return how many characters, bytes or items each value has; None for scalars."""
    column = column.alias("value")
    match column.dtype:
        case pl.String() | pl.Categorical() | pl.Enum():
            return column.cast(pl.String).str.len_chars()
        case pl.Binary():
            return column.bin.size()
        case pl.List():
            return column.list.len()
        case pl.Array():
            return column.arr.len()
        case pl.Object():
            return plain_texts(column).str.len_chars()
    return None


def unit_of(dtype: pl.DataType) -> str:
    """Return the unit of a value's size."""
    match dtype:
        case pl.Binary():
            return "bytes"
        case pl.List() | pl.Array():
            return "items"
    return "characters"


def _head(column: pl.Series, most: int) -> pl.Series:
    match column.dtype:
        case pl.String():
            return column.str.head(most)
        case pl.Binary():
            return column.bin.head(most)
        case pl.List():
            return column.list.head(most)
        case pl.Array():
            return column.arr.to_list().list.head(most)
    return column


def _cut(head: str, size: int, unit: str, digest: str) -> str:
    """Return the text of a cut value: its head, and its size and digest."""
    if unit == "items":
        head = f"{head.removesuffix(']')},"
    end = "]" if unit == "items" else ""
    return f"{head}…{end} ({_counted(size, unit)}, {digest})"


def _digests_of_lists(column: pl.Series) -> list[str] | None:
    """Return what :func:`_digest` gives for each list, unless all together have many items."""
    if (pl.Series(sizes_of(column)).sum() or 0) > _ITEMS_AT_ONCE:
        return None
    items = [(text or "")[1:-1] for text in texts_of(column)]
    return [digest_of(f"{text},".encode() if text else b"") for text in items]


def _digest(value: pl.Series) -> str:
    """Return the digest of one value; the items of a list are converted in parts."""
    match value.dtype:
        case pl.Binary():
            return digest_of(value.item())
        case pl.List() | pl.Array():
            items = value.item()
            whole = hashlib.sha256(usedforsecurity=False)
            for start in range(0, len(items), _ITEMS_AT_ONCE):
                texts = written(items.slice(start, _ITEMS_AT_ONCE), as_json=False)
                whole.update((",".join(texts.fill_null("null")) + ",").encode())
            return f"#{whole.hexdigest()[:8]}"
    return digest_of(texts_of(value).item().encode())


def _counted(size: int, unit: str) -> str:
    return f"{size:,} {unit[:-1] if size == 1 else unit}"
