"""What a person means who types into the search box: a version, a row, or a fragment."""

import re
from dataclasses import dataclass
from typing import Literal

from lance_explorer.errors import FragmentNotFoundError, InvalidArgumentError, RefNotFoundError
from lance_explorer.history.version_refs import kept_version
from lance_explorer.lineage.following import row_history
from lance_explorer.table import Table
from lance_explorer.widgets.row_lookup import row_named

__all__ = ["UNDERSTOOD", "Found", "search"]

UNDERSTOOD = (
    "12, v12 or version 12; a tag (tag 12, if it looks like a number); a day or time in UTC such "
    "as 2026-11-21, yesterday or 3 hours ago; row 42; fragment 7; an address such as 3:17 "
    "(fragment and offset), 3:17@5 for version 5, or address 12884901905"
)
"""What can be searched for, in words."""

_VERSION = re.compile(r"(?:v|version)\s*(-?\d+)", re.IGNORECASE)
_TAG = re.compile(r"tag\s+(.+)", re.IGNORECASE | re.DOTALL)
_FRAGMENT = re.compile(r"frag(?:ment)?\s*(\d+)", re.IGNORECASE)
_ROW = re.compile(r"row\s*(?:id)?\s*(\d.*)", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:_?row)?\s*addr(?:ess)?\s*(\d.*)|(\d+\s*:\s*\d+\s*(?:@.*)?)", re.IGNORECASE
)
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
        One of :data:`UNDERSTOOD`. Versions are named as for :meth:`Table.at`.

    Raises
    ------
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
        raise InvalidArgumentError(f"that is too long to be one of these: {UNDERSTOOD}")
    if text in table.tags:
        return Found("version", _version(table, text))
    if found := _VERSION.fullmatch(text):
        return Found("version", _version(table, found[1]))
    if found := _TAG.fullmatch(text):
        return Found("version", kept_version(table.source, f"tag:{found[1]}"))
    if found := _FRAGMENT.fullmatch(text):
        return Found("fragment", _fragment(table, int(found[1])))
    if found := _ROW.fullmatch(text):
        return Found("row", _row(table, found[1]))
    if found := _ADDRESS.fullmatch(text):
        return Found("row", _row(table, f"address {found[1] or found[2]}"))
    return Found("version", _version(table, text))


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


def _version(table: Table, text: str) -> int:
    try:
        return kept_version(table.source, text)
    except RefNotFoundError as error:
        told = str(error).partition(";")[0]
        raise RefNotFoundError(f"{told}; you can search for {UNDERSTOOD}") from None
