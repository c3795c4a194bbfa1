"""Which row IDs or row addresses an SQL expression can be true for, in simple cases.

Only terms joined by a top-level AND are examined: comparisons of ``_rowid`` or ``_rowaddr`` with
numbers. All other terms may be true for all rows, so that no row is ever missed.
"""

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["ranges_of"]

_MOST = (1 << 64) - 1
_TOKEN = re.compile(
    r"""\s*(?: (?P<text>'(?:[^']|'')*' | "(?:[^"]|"")*" | `[^`]*`)
        | (?P<word>[A-Za-z_][A-Za-z_0-9.]*) | (?P<number>[0-9]+(?![0-9.eE]))
        | (?P<sign><=|>=|<>|!=|==|=|<|>|\(|\)|,) | (?P<other>.) )""",
    re.VERBOSE | re.DOTALL,
)
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "==": "="}

_Ranges = list[tuple[int, int]]


def ranges_of(where: str, name: str) -> NDArray[np.uint64] | None:
    """Return the ranges of a column outside which an expression is false; None if unknown.

    Parameters
    ----------
    where : str
        The expression.
    name : str
        ``_rowid`` or ``_rowaddr``.

    Returns
    -------
    ndarray of uint64, shape (n, 2), or None
        The first and the last number of each range.

    Examples
    --------
    >>> ranges_of("_rowid = 7 AND city = 'a OR b'", "_rowid").tolist()
    [[7, 7]]
    >>> ranges_of("_rowid = 7 OR city = 'a'", "_rowid") is None
    True
    """
    ranges: _Ranges | None = None
    for term in _terms([*_tokens(where)]):
        some = _ranges(term, name)
        if some is not None:
            ranges = some if ranges is None else _common(ranges, some)
    return None if ranges is None else np.array(ranges, dtype=np.uint64).reshape(-1, 2)


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        token = match[kind] if kind else ""
        yield token.lower() if kind == "word" else token


def _terms(tokens: list[str]) -> Iterator[list[str]]:
    """Yield the terms that a top-level AND joins; nothing if there is an OR, too."""
    terms, depth, is_between = [list[str]()], 0, False
    for token in tokens:
        depth += (token == "(") - (token == ")")
        if not depth and token in ("or", "not"):
            return
        if not depth and token == "between":
            is_between = True
        if not depth and token == "and" and not is_between:
            terms.append([])
            continue
        if token == "and":
            is_between = is_between and depth > 0
        terms[-1].append(token)
    yield from terms


def _ranges(term: list[str], name: str) -> _Ranges | None:
    match term:
        case [column, sign, number] if column == name and number.isdecimal():
            return _compared(sign, int(number))
        case [number, sign, column] if column == name and number.isdecimal():
            return _compared(_MIRRORED.get(sign, sign), int(number))
        case [column, "between", low, "and", high] if column == name:
            if low.isdecimal() and high.isdecimal():
                return _cut(int(low), int(high))
        case [column, "in", "(", *some, ")"] if column == name:
            numbers = some[::2]
            if all(n.isdecimal() for n in numbers) and set(some[1::2]) <= {","}:
                return [pair for n in sorted({*map(int, numbers)}) for pair in _cut(n, n)]
    return None


def _compared(sign: str, number: int) -> _Ranges | None:
    match sign:
        case "=" | "==":
            return _cut(number, number)
        case "<":
            return _cut(0, number - 1)
        case "<=":
            return _cut(0, number)
        case ">":
            return _cut(number + 1, _MOST)
        case ">=":
            return _cut(number, _MOST)
    return None


def _cut(low: int, high: int) -> _Ranges:
    return [(low, min(high, _MOST))] if 0 <= low <= min(high, _MOST) else []


def _common(some: _Ranges, others: _Ranges) -> _Ranges:
    pairs = [(max(a, c), min(b, d)) for a, b in some for c, d in others]
    return [(low, high) for low, high in pairs if low <= high]
