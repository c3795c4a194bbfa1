"""What a person means who types into the search box: a version, a row, or a fragment."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from typing import Literal

from lance_explorer.errors import FragmentNotFoundError, InvalidArgumentError
from lance_explorer.lineage.following import row_history
from lance_explorer.table import Table
from lance_explorer.widgets.row_lookup import row_named
from lance_explorer.widgets.version_names import version_named

__all__ = ["UNDERSTOOD", "Found", "search"]

UNDERSTOOD = (
    "12, v12 or version 12; a tag; a date or time such as 2026-11-21 08:30 (UTC); row 42; "
    "fragment 7; an address such as 3:17 (fragment and offset), 3:17@5 for version 5, or "
    "address 12884901905"
)
"""What can be searched for, in words."""

_VERSION = re.compile(r"(?:v|version)?\s*(\d+)", re.IGNORECASE)
_TAG = re.compile(r"tag\s+(.+)", re.IGNORECASE | re.DOTALL)
_FRAGMENT = re.compile(r"frag(?:ment)?\s*(\d+)", re.IGNORECASE)
_ROW = re.compile(r"row\s*(?:id)?\s*(\d.*)", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:_?row)?\s*addr(?:ess)?\s*(\d.*)|(\d+\s*:\s*\d+\s*(?:@.*)?)", re.IGNORECASE
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes
    ----------
    what : {"version", "row", "fragment"}
        What it is.
    number : int
        The version, the row ID (without stable row IDs the address), or the fragment ID.
    """

    what: Literal["version", "row", "fragment"]
    number: int


def search(table: Table, typed: str) -> Found:
    """Return what a text means.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    typed : str
        One of :data:`UNDERSTOOD`. A date alone is the end of that day in UTC.

    Raises
    ------
    InvalidArgumentError
        If the text may mean two of them.
    RowNotFoundError
        If no kept version has, or had, the row.
    FragmentNotFoundError
        If there never was such a fragment.

    Examples
    --------
    >>> from lance_explorer.widgets.search import search
    >>> search(table, "v3")
    Found(what='version', number=3)
    >>> search(table, "clean")
    Found(what='version', number=4)
    >>> search(table, "2:0")
    Found(what='row', number=2)
    """
    text = typed.strip()
    if len(text) > _LONGEST:
        raise InvalidArgumentError(f"that is too long to be anything of these: {UNDERSTOOD}")
    if found := _VERSION.fullmatch(text):
        return Found("version", _version(table, text, found[1]))
    if text in table.tags:
        return Found("version", version_named(table, text))
    if found := _TAG.fullmatch(text):
        return Found("version", _tagged(table, found[1]))
    if found := _FRAGMENT.fullmatch(text):
        return Found("fragment", _fragment(table, int(found[1])))
    if found := _ROW.fullmatch(text):
        return Found("row", _row(table, found[1]))
    if found := _ADDRESS.fullmatch(text):
        return Found("row", _row(table, f"address {found[1] or found[2]}"))
    return Found("version", _version_at(table, text))


def _version(table: Table, text: str, number: str) -> int:
    """Return the version of a number, which a tag may have for its name."""
    version = int(number)
    tag = table.tags.get(text)
    if tag is None or (tag.branch == table.branch and tag.version == version):
        return version_named(table, number)
    if version not in table.source.history.versions_read:
        return version_named(table, text)
    raise InvalidArgumentError(
        f"{text} is a tag of version {tag.version}, and {version} is a version: "
        f"type tag {text}, or version {version}"
    )


def _tagged(table: Table, name: str) -> int:
    if name not in table.tags:
        names = get_close_matches(name, table.tags, n=3, cutoff=0.5) or [*table.tags][:5]
        there = f"there are {', '.join(names)}" if names else "the table has none"
        raise InvalidArgumentError(f"there is no tag {name!r}; {there}")
    return version_named(table, name)


def _fragment(table: Table, fragment_id: int) -> int:
    known = {state.id for state in table.source.history.states}
    if fragment_id not in known:
        known = {*table.lineage().fragments()["fragment_id"]}  # also those of parents
    if fragment_id not in known:
        there = f"there are {min(known)} to {max(known)}" if known else "the table has none"
        raise FragmentNotFoundError(f"there never was a fragment {fragment_id}; {there}")
    return fragment_id


def _row(table: Table, typed: str) -> int:
    row_id = row_named(table, typed)
    row_history(table.source, row_id)
    return row_id


def _version_at(table: Table, text: str) -> int:
    """Return the version of a time; a date is the end of that day."""
    try:
        if _DATE.fullmatch(text):
            when = datetime.combine(date.fromisoformat(text), time.max, UTC)
        else:
            when = datetime.fromisoformat(text)
    except ValueError:
        like = get_close_matches(text, table.tags, n=3, cutoff=0.6)
        hint = f" (the tag {' or '.join(like)}?)" if like else ""
        raise InvalidArgumentError(
            f"nothing here is called {text!r}{hint}; you can search for {UNDERSTOOD}"
        ) from None
    return table.source.version_as_of(when)
