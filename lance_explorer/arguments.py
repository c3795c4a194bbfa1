"""Checks of what callers pass, a small one for each kind of argument.

Each returns the argument in the form that the package uses, or raises an
:class:`~lance_explorer.errors.InvalidArgumentError` that says what is expected and shows what was
given, shortened. Whether a named object exists is checked by the code that looks for it.
"""

import os
from collections.abc import Iterable, Mapping
from operator import index
from pathlib import Path
from reprlib import Repr
from typing import Any, SupportsIndex, TypeVar

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from lance_explorer.errors import InvalidArgumentError

__all__ = [
    "check_choice",
    "file_to_write",
    "flag",
    "many",
    "names",
    "not_negative",
    "of_kind",
    "path",
    "paths",
    "row_number",
    "row_numbers",
    "shown",
    "text",
    "text_mapping",
    "whole_number",
]

_T = TypeVar("_T")

_MAX_U64 = 2**64 - 1
_MANY = 2**63 - 1
_ROW_NUMBERS = "whole numbers from 0 to 2^64 - 1"

_SHORT = Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def shown(value: object) -> str:
    """Return a value for a message: in one line, and not too long.

    Examples
    --------
    >>> shown("photos"), len(shown("photos " * 1000)), shown([*range(1000)])
    ("'photos'", 80, '[0, 1, 2, 3, 4, 5, ...]')
    """
    try:
        return " ".join(_SHORT.repr(value).split())
    except Exception:  # noqa: BLE001 - such as for a number of too many digits
        return f"a value of type {type(value).__name__}"


def of_kind(name: str, value: object, kind: type[_T], expected: str) -> _T:
    """Return a value that has to be of a class.

    Examples
    --------
    >>> of_kind("frame", 7, dict, "a dict")
    Traceback (most recent call last):
    ...
    lance_explorer.errors.InvalidArgumentError: frame is a dict, not 7
    """
    if isinstance(value, kind):
        return value
    raise _wrong(name, expected, value)


def text(name: str, value: object) -> str:
    """Return a text."""
    return of_kind(name, value, str, "text")


def flag(name: str, value: object) -> bool:
    """Return True or False; nothing else counts as a boolean."""
    return bool(of_kind(name, value, (bool, np.bool_), "True or False"))  # type: ignore[arg-type]


def whole_number(name: str, value: object, least: int = 0, most: int = _MANY) -> int:
    """Return a whole number that is not less than ``least``, nor more than ``most``.

    Examples
    --------
    >>> whole_number("limit", np.int8(7))
    7
    >>> whole_number("limit", True)
    Traceback (most recent call last):
    ...
    lance_explorer.errors.InvalidArgumentError: limit is a whole number from 0 on, not True
    """
    number = _index(value)
    if number is None or not least <= number <= most:
        end = "on" if most == _MANY else f"to {most}"
        raise _wrong(name, f"a whole number from {least} {end}", value)
    return number


def not_negative(name: str, value: object) -> float:
    """Return a number that is 0 or more."""
    if isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:  # a whole number that no float can be
            number = -1.0
        if number >= 0:
            return number
    raise _wrong(name, "0 or more", value)


def check_choice(name: str, value: object, known: tuple[str | None, ...]) -> None:
    """Raise InvalidArgumentError unless an argument is one of the known choices."""
    if not (value is None or isinstance(value, str)) or value not in known:
        raise _wrong(name, f"one of {known}", value)


def many(
    name: str, values: object, kind: type[_T] | tuple[type[_T], ...], expected: str
) -> list[_T]:
    """Return the items of an iterable, all of one class; a text or a mapping is refused."""
    if isinstance(values, Iterable) and not isinstance(values, str | bytes | Mapping | type):
        try:
            items = [*values]
        except TypeError:  # such as an array without dimensions
            raise _wrong(name, expected, values) from None
        if all(isinstance(item, kind) for item in items):
            return items
    raise _wrong(name, expected, values)


def names(name: str, values: object) -> tuple[str, ...]:
    """Return some names; a single name is accepted.

    Examples
    --------
    >>> names("columns", "id"), names("columns", ["id", "city"])
    (('id',), ('id', 'city'))
    """
    if isinstance(values, str):
        return (values,)
    return tuple(many(name, values, str, "a list of names"))


def text_mapping(name: str, values: object) -> dict[str, str]:
    """Return a mapping of text to text. Values are never shown: they may be credentials."""
    if not isinstance(values, Mapping):
        raise InvalidArgumentError(
            f"{name} is a mapping of text to text, not of type {type(values).__name__}"
        )
    for key, value in values.items():
        wrong = value if isinstance(key, str) else key
        if not isinstance(wrong, str):
            raise InvalidArgumentError(
                f"{name} is a mapping of text to text, and at {shown(key)} there is something of "
                f"type {type(wrong).__name__}"
            )
    return dict(values)


def paths(name: str, values: object) -> list[str]:
    """Return some paths, or URIs, as text; a single one is refused."""
    if isinstance(values, str | os.PathLike):
        raise InvalidArgumentError(
            f"{name} is a list of paths and URIs: write {name}=[{shown(values)}]"
        )
    given: list[Any] = many(name, values, (str, os.PathLike), "a list of paths and URIs")
    return [text(f"each of {name}", os.fspath(each)) for each in given]


def path(name: str, value: object) -> str:
    """Return a path as text."""
    try:
        text: object = os.fspath(value)  # type: ignore[call-overload]
        if isinstance(text, str) and text and b"\0" not in os.fsencode(text):
            return text
    except (TypeError, UnicodeEncodeError):
        pass
    raise _wrong(name, "a path, as text or os.PathLike", value)


def file_to_write(name: str, value: object) -> Path:
    """Return the path of a file whose folder exists."""
    target = Path(path(name, value))
    try:
        has_folder, is_folder = target.parent.is_dir(), target.is_dir()
    except OSError:  # such as a name that is too long
        raise _wrong(name, "the path of a file", value) from None
    if not has_folder:
        raise InvalidArgumentError(f"there is no folder {target.parent} for {target.name}")
    if is_folder:
        raise InvalidArgumentError(f"{name}: {target} is a folder: name a file in it")
    return target


def row_number(value: SupportsIndex) -> int:
    """Return a row ID or an address as a number."""
    number = _index(value)
    if number is None or not 0 <= number <= _MAX_U64:
        raise _wrong("a row ID, or an address,", "a whole number from 0 to 2^64 - 1", value)
    return number


def row_numbers(values: ArrayLike, what: str) -> NDArray[np.uint64]:
    """Return row IDs or addresses as an array.

    Examples
    --------
    >>> row_numbers([3, 1], "row IDs")
    array([3, 1], dtype=uint64)
    """
    if isinstance(values, pl.Series) and values.null_count():
        raise InvalidArgumentError(f"{what} are {_ROW_NUMBERS}: null is no row")
    try:
        array = np.asarray(values)
        whole = array.ndim == 1 and (array.dtype.kind in "ui" or not array.size)
        if whole and not (array.dtype.kind == "i" and (array < 0).any()):
            return array.astype(np.uint64, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    raise InvalidArgumentError(f"{what} are {_ROW_NUMBERS}, not {shown(values)}")


def _index(value: Any) -> int | None:
    """Return a whole number; None for anything else, and for True and False."""
    try:
        return None if isinstance(value, bool) else index(value)
    except TypeError:
        return None


def _wrong(name: str, expected: str, value: object) -> InvalidArgumentError:
    return InvalidArgumentError(f"{name} is {expected}, not {shown(value)}")
