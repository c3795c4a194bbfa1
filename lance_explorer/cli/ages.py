"""Lengths of time as people type them."""

import re
from datetime import timedelta
from typing import Any

import click

__all__ = ["AGE"]

_AGE = re.compile(r"([0-9]+) *(s|m|h|d|w|seconds?|minutes?|hours?|days?|weeks?)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MOST_DIGITS = 5


class _Age(click.ParamType[timedelta]):
    """An age such as 14d or "2 weeks"."""

    name = "age"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> timedelta:
        if isinstance(value, timedelta):
            return value
        match = _AGE.fullmatch(str(value).strip().lower())
        if match is None or len(match[1]) > _MOST_DIGITS:
            self.fail(f"expected an age such as 14d, 12h or 2w, not {value!r}", param, ctx)
        return timedelta(**{_UNITS[match[2][0]]: int(match[1])})


AGE = _Age()
"""The type of an option that is a length of time."""
