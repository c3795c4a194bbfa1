"""The gate to pylance: every function that reads values passes it.

Before pylance decodes a file, we decode it if we have a decoder: with a damaged file, pylance may
allocate too much memory and end the process. If values are to be read in a child, the gate passes
the question to it.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from lance_explorer.errors import InvalidArgumentError
from lance_explorer.panics import panics_as_errors
from lance_explorer.storage.value_uris import FileUri, Opened, ValueUri
from lance_explorer.values.child import called_apart, is_child, streamed_apart

__all__ = ["LONGEST_FILTER", "reads_values"]

LONGEST_FILTER = 32_768
"""Maximum characters of a filter: pylance takes more than linear time for it."""

_DEEPEST_FILTER = 32
"""Maximum depth of nested parentheses: each nested call doubles pylance's time."""

_SHORT_FILTER = 800
"""A chain such as ``1 + 1 + ...`` of 2,000 characters ends the process: a child reads those."""

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`")
"""Quoted texts and names, in which parentheses are only characters."""

_ROW_ID = "_rowid"

_P = ParamSpec("_P")
_T = TypeVar("_T")


def reads_values(
    *, files: bool = True, by_row_id: bool = False
) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """Mark a function that reads with pylance.

    Its first argument is a :class:`ValueUri`, a :class:`FileUri` or several of those. Its arguments
    ``fragment_ids``, ``addresses``, ``positions``, or ``limit`` and ``offset`` without a filter say
    which fragments it opens.

    Parameters
    ----------
    files : bool
        Whether it opens data files and deletion files, and not the manifest alone.
    by_row_id : bool
        Whether it looks up rows by row ID.
    """

    def mark(function: Callable[_P, _T]) -> Callable[_P, _T]:
        signature = inspect.signature(function)
        is_stream = inspect.isgeneratorfunction(function)

        def is_apart(arguments: dict[str, Any]) -> bool:
            """Decode what pylance will decode, and tell whether a child reads."""
            place = next(iter(arguments.values()))
            filter = arguments.get("filter")
            check_filter_text(filter)
            if isinstance(place, ValueUri) and files and place.decode is not None:
                place.decode(_opened(arguments, by_row_id))
            if isinstance(place, ValueUri) and len(filter or "") > _SHORT_FILTER:
                return not is_child()
            if isinstance(place, str):
                return isinstance(place, ValueUri | FileUri) and place.is_apart
            return any(isinstance(each, FileUri) and each.is_apart for each in place)

        @wraps(function)
        def call(*given: _P.args, **named: _P.kwargs) -> _T:
            bound = signature.bind(*given, **named)
            if is_apart(bound.arguments):
                return cast(_T, called_apart(call, bound.args, bound.kwargs))
            with panics_as_errors():
                return function(*given, **named)

        @wraps(function)
        def stream(*given: _P.args, **named: _P.kwargs) -> Iterator[Any]:
            bound = signature.bind(*given, **named)
            if is_apart(bound.arguments):
                yield from streamed_apart(stream, bound.args, bound.kwargs)
            else:
                with panics_as_errors():
                    yield from cast(Iterator[Any], function(*given, **named))

        return cast(Callable[_P, _T], stream) if is_stream else call

    return mark


def check_filter_text(filter: str | None) -> None:
    """Refuse a filter that would take too long, or that would end the process.

    Raises
    ------
    InvalidArgumentError
        If it is too long, or its parentheses are nested too deeply.
    """
    if filter is None:
        return
    if len(filter) > LONGEST_FILTER:
        raise InvalidArgumentError(
            f"a filter can have {LONGEST_FILTER:,} characters, this one has {len(filter):,}: for "
            "many values, read the column and filter the frame, or ask several times"
        )
    depth, deepest = 0, 0
    for character in _QUOTED.sub("", filter):
        if character in "([":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]":
            depth -= 1
    if deepest > _DEEPEST_FILTER:
        raise InvalidArgumentError(
            f"a filter can have {_DEEPEST_FILTER} nested parentheses, this one has {deepest}"
        )


def _opened(arguments: dict[str, Any], by_row_id: bool) -> Opened:
    opened = _fragments(arguments, by_row_id)
    return replace(opened, by_filter=_ROW_ID in (arguments.get("filter") or "").lower())


def _fragments(arguments: dict[str, Any], by_row_id: bool) -> Opened:
    if "fragment_ids" in arguments:
        return Opened(arguments["fragment_ids"])
    if "addresses" in arguments:
        fragments = np.unique(arguments["addresses"] >> np.uint64(32)).tolist()
        return Opened(fragments, by_row_id=by_row_id)
    if "positions" in arguments:
        return Opened(positions=np.asarray(arguments["positions"].to_numpy(), np.int64))
    limit, offset = arguments.get("limit"), arguments.get("offset") or 0
    if limit is not None and arguments.get("filter") is None:
        return Opened(positions=np.array([offset, offset + max(limit, 1) - 1], np.int64))
    return Opened()
