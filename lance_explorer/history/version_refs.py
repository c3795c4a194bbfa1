"""Versions as people name them: numbers, tags, times, versions of branches. The one place for it.

Times without a zone, days, and words such as "yesterday" are UTC. A day is a range: as an end it
includes everything that was committed on it, as a beginning nothing.
"""

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from difflib import get_close_matches
from operator import index
from typing import Any, NamedTuple, Protocol, SupportsIndex, runtime_checkable

import numpy as np

from lance_explorer.arguments import many, shown
from lance_explorer.errors import (
    InvalidArgumentError,
    RefNotFoundError,
    VersionNotFoundError,
)
from lance_explorer.history.ancestors import BranchVersion
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.arrays import MAX_U64

__all__ = [
    "MAIN",
    "VersionLike",
    "VersionRef",
    "kept_version",
    "kept_versions",
    "parsed_time",
    "resolve",
    "time_of",
    "version_number",
]

MAIN = "main"
"""The name of the main branch where a branch must be named."""


@runtime_checkable
class VersionLike(Protocol):
    """One version of a table, such as a Snapshot."""

    @property
    def _view(self) -> HistoryView:
        """The branch that it is on."""

    @property
    def version(self) -> int:
        """Its number."""


VersionRef = SupportsIndex | str | date | tuple[str, "SupportsIndex | str | date"] | VersionLike
"""A version in a form that :func:`resolve` accepts. A ``datetime`` is a ``date``, too."""


class _Span(NamedTuple):
    """A time: a moment, or a day. ``start`` is the last moment before it began."""

    start: datetime
    stop: datetime


_NUMBER = re.compile(r"-?[0-9]{1,100}")
_TAG = "tag:"
_AGO = re.compile(r"([0-9]{1,9}|an?) +(second|minute|hour|day|week|month|year)s? +ago")
_DAYS = {"today": 0, "yesterday": 1}
_CLOCK = re.compile(r"(?:(today|yesterday) +)?([0-9]{2}:[0-9]{2}(?::[0-9]{2})?)")
_MONTHS = {"month": 1, "year": 12}
_MOMENT = timedelta(microseconds=1)
_EXPECTED = (
    "a number (7; -1 is the latest), a tag, a day or time in UTC (2026-11-22, 2026-11-22T12:00, "
    "yesterday, yesterday 12:00, 3 hours ago), a version of a branch (dev@4) or a Snapshot"
)
_KINDS = (int, np.integer, str, date, tuple, VersionLike)
"""The types of a reference."""


def resolve(
    view: HistoryView,
    ref: VersionRef,
    *,
    is_begin: bool = False,
    now: datetime | None = None,
    any_table: bool = False,
) -> BranchVersion:
    """Return the version that a reference means, on any branch.

    Parameters
    ----------
    view : HistoryView
        The branch whose versions plain numbers and times are.
    ref : int, str, date, datetime, tuple or Snapshot
        A number, of which -1 is the latest version, -2 the kept one before it, and so on; a tag; a
        time, for the highest version that was committed by then; a day, as a ``date``,
        ``"2026-11-22"``, ``"today"`` or ``"yesterday"``; ``"12:00"`` or ``"yesterday 12:00"``;
        ``"3 hours ago"``; branch and version, as
        ``("dev", 4)`` or ``"dev@4"``, where "main" is the main branch; or a Snapshot. Text of
        digits is a number, and ``"tag:26"`` the tag that is called so. A tag goes before a time.
    is_begin : bool
        Whether changes after that version are asked for: then a day means its start, and a time
        before the first version the empty table, 0.
    now : datetime, optional
        What words such as "yesterday" count from; by default now.
    any_table : bool
        Whether a Snapshot may be one of another table.

    Returns
    -------
    BranchVersion
        The branch and the number; a given number is not checked.
    """
    match ref:
        case bool():
            pass
        case SupportsIndex() if (number := _whole(ref)) is not None:
            return BranchVersion(view, _numbered(view, number))
        case str():
            return _named(view, ref.strip(), is_begin, now or datetime.now(UTC))
        case date():
            return BranchVersion(view, _as_of(view, _span(ref), is_begin))
        case (str() as branch, inner) if not isinstance(inner, tuple | VersionLike):
            return resolve(_branch(view, branch), inner, is_begin=is_begin, now=now)
        case VersionLike():
            return _of_snapshot(view, ref, any_table)
    raise InvalidArgumentError(f"expected a version, that is {_EXPECTED}; got {shown(ref)}")


def version_number(view: HistoryView, ref: VersionRef, *, is_begin: bool = False) -> int:
    """Return the number of a version of one branch, named as for :func:`resolve`.

    Raises
    ------
    InvalidArgumentError
        If it is on another branch.
    """
    resolved = resolve(view, ref, is_begin=is_begin)
    if resolved.view.branch != view.branch:
        there, here = (
            f"branch {name}" if name else "the main branch"
            for name in (resolved.view.branch, view.branch)
        )
        raise InvalidArgumentError(
            f"{shown(ref)} is version {resolved.version} of {there}, but one of {here} is needed; "
            f"open {there} for it, or compare two branches with table.diff"
        )
    return resolved.version


def kept_version(view: HistoryView, ref: VersionRef) -> int:
    """Return the number of a kept version of one branch, named as for :func:`resolve`."""
    return view.file(version_number(view, ref)).version


def kept_versions(view: HistoryView, name: str, versions: object) -> list[int]:
    """Return the numbers of kept versions of one branch, each once and in order.

    Raises
    ------
    InvalidArgumentError
        If there is none, or one is not kept.
    """
    given: list[Any] = many(name, versions, _KINDS, "a list of versions")
    if not given:
        raise InvalidArgumentError(f"{name} is empty: expected one version at least")
    return sorted({kept_version(view, one) for one in given})


def time_of(
    view: HistoryView, ref: VersionRef, *, is_begin: bool = False, now: datetime | None = None
) -> datetime:
    """Return the time that a reference means, or that of its version.

    Parameters
    ----------
    view : HistoryView
        The branch whose versions plain numbers are.
    ref : int, str, date, datetime, tuple or Snapshot
        As :func:`resolve` takes it.
    is_begin : bool
        Whether a day means its start, and not its end.
    now : datetime, optional
        What words such as "yesterday" count from; by default now.

    Raises
    ------
    VersionNotFoundError
        If its version is not kept, or has no time.
    """
    is_tag = isinstance(ref, str) and ref.strip() in view.refs.tags
    if not is_tag and (span := _parsed_span(ref, now)) is not None:
        return span.start + _MOMENT if is_begin and span.start < span.stop else span.stop
    resolved = resolve(view, ref, is_begin=is_begin, now=now)
    history, position = resolved.view.found(resolved.version)
    timestamp = history.records[position].manifest.timestamp
    if timestamp is None:
        raise VersionNotFoundError(f"version {resolved.version} does not say when it was committed")
    return timestamp


def parsed_time(ref: object, now: datetime | None = None) -> datetime | None:
    """Return the time of a time, a day (its end) or words for one; None for others.

    Examples
    --------
    >>> noon = datetime(2026, 11, 27, 12, tzinfo=UTC)
    >>> str(parsed_time("yesterday 09:30", noon)), str(parsed_time("2 hours ago", noon))
    ('2026-11-26 09:30:00+00:00', '2026-11-27 10:00:00+00:00')
    >>> parsed_time("gold")
    """
    span = _parsed_span(ref, now)
    return None if span is None else span.stop


def _parsed_span(ref: object, now: datetime | None) -> _Span | None:
    if isinstance(ref, date):
        return _span(ref)
    return _words_span(ref.strip(), now or datetime.now(UTC)) if isinstance(ref, str) else None


def _whole(number: SupportsIndex) -> int | None:
    """Return a whole number; None for objects with the method that are not, as some arrays."""
    try:
        return index(number)
    except TypeError:
        return None


def _numbered(view: HistoryView, number: int) -> int:
    if 0 <= number <= MAX_U64:
        return number
    if abs(number) > MAX_U64:
        raise VersionNotFoundError(
            f"version {shown(number)} never existed: version numbers have at most 64 bits"
        )
    kept = view.listing.versions
    if -number > len(kept):
        remain = "1 version is" if len(kept) == 1 else f"{len(kept)} versions are"
        raise VersionNotFoundError(f"there is no version {number}: {remain} kept")
    return kept[number].version


def _named(view: HistoryView, text: str, is_begin: bool, now: datetime) -> BranchVersion:
    if _NUMBER.fullmatch(text):
        return BranchVersion(view, _numbered(view, int(text)))
    if text.startswith(_TAG):
        return _tagged(view, text.removeprefix(_TAG))
    if text in view.refs.tags:
        return _tagged(view, text)
    span = _words_span(text, now)
    if span is not None:
        return BranchVersion(view, _as_of(view, span, is_begin))
    branch, at, inner = text.rpartition("@")
    if at and (span := _words_span(inner, now)):
        there = _branch(view, branch)
        return BranchVersion(there, _as_of(there, span, is_begin))
    if at and _NUMBER.fullmatch(inner):
        there = _branch(view, branch)
        return BranchVersion(there, _numbered(there, int(inner)))
    like = get_close_matches(text, view.refs.tags, n=3, cutoff=0.6)
    hint = f" (the tag {' or '.join(like)}?)" if like else ""
    raise RefNotFoundError(f"no version or tag is called {text!r}{hint}; a version is {_EXPECTED}")


def _tagged(view: HistoryView, name: str) -> BranchVersion:
    tag = view.refs.tag(name)
    return BranchVersion(view.on_branch(tag.branch), tag.version)


def _branch(view: HistoryView, name: str) -> HistoryView:
    if name != MAIN and name != view.branch and name not in view.refs.branch_names:
        names = ", ".join([MAIN, *view.refs.branch_names])
        raise RefNotFoundError(f"no branch {name!r} in {view.uri}; there are: {names}")
    return view.on_branch(None if name == MAIN else name)


def _of_snapshot(view: HistoryView, snapshot: VersionLike, any_table: bool) -> BranchVersion:
    there = snapshot._view
    if there.uri == view.uri:
        return BranchVersion(view.on_branch(there.branch), snapshot.version)
    if any_table:
        return BranchVersion(there, snapshot.version)
    raise InvalidArgumentError(
        f"{shown(snapshot)} is of another table, {there.uri}; table.diff compares tables"
    )


def _as_of(view: HistoryView, span: _Span, is_begin: bool) -> int:
    try:
        return view.version_as_of(span.start if is_begin else span.stop)
    except VersionNotFoundError:
        if is_begin and view.listing.versions[0].version == 1:
            return 0
        raise


def _span(when: date) -> _Span:
    """Return the begin of a moment or a day."""
    if isinstance(when, datetime):
        moment = when if when.tzinfo else when.replace(tzinfo=UTC)
        return _Span(moment, moment)
    midnight = datetime.combine(when, time(), UTC)
    before = midnight if when == date.min else midnight - _MOMENT
    return _Span(before, datetime.combine(when, time.max, UTC))


def _words_span(text: str, now: datetime) -> _Span | None:
    """Return the time that words mean; None if they are not a time."""
    words = text.lower()
    try:
        if words in _DAYS:
            return _span(now.astimezone(UTC).date() - timedelta(days=_DAYS[words]))
        if match := _CLOCK.fullmatch(words):
            day = now.astimezone(UTC).date() - timedelta(days=_DAYS[match[1] or "today"])
            return _span(datetime.combine(day, time.fromisoformat(match[2])))
        if match := _AGO.fullmatch(words):
            count = int(match[1]) if match[1].isdecimal() else 1
            return _span(_before(now.astimezone(UTC), count, match[2]))
    except ValueError:  # as 25:00
        return None
    except OverflowError:
        raise InvalidArgumentError(f"{text!r} is before the earliest possible time") from None
    parsers: tuple[Callable[[str], date], ...] = (date.fromisoformat, datetime.fromisoformat)
    for parse in parsers:
        try:
            return _span(parse(text))
        except ValueError:
            continue
    return None


def _before(now: datetime, count: int, unit: str) -> datetime:
    if unit not in _MONTHS:
        return now - timedelta(**{f"{unit}s": count})
    year, month = divmod(now.year * 12 + now.month - 1 - count * _MONTHS[unit], 12)
    if year < 1:
        raise OverflowError
    day = min(now.day, monthrange(year, month + 1)[1])
    return now.replace(year=year, month=month + 1, day=day)
