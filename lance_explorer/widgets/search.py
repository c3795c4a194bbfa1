"""What a person means who types into the search box: a version, a row, a question, and so on."""

import re
from dataclasses import dataclass
from typing import Literal

from lance_explorer.answers import Answer
from lance_explorer.errors import (
    FragmentNotFoundError,
    InvalidArgumentError,
    LanceExplorerError,
    RefNotFoundError,
)
from lance_explorer.history.version_refs import kept_version
from lance_explorer.lineage.find import Found as FoundRows
from lance_explorer.lineage.following import row_history
from lance_explorer.table import Table
from lance_explorer.widgets.found_lines import found_answer
from lance_explorer.widgets.questions import QUESTIONS, answer_to
from lance_explorer.widgets.row_lookup import row_named

__all__ = ["UNDERSTOOD", "Found", "answered", "rows_with", "search"]

UNDERSTOOD = (
    "12, v12 or version 12; a tag (tag 12, if it looks like a number); a day or time in UTC such "
    "as 2026-11-21, yesterday or 3 hours ago; row 42; fragment 7; an address such as 3:17 "
    "(fragment and offset), 3:17@5 for version 5, or address 12884901905; a filter such as "
    "id = 42, or a word that rows have; a column; a branch; or a question such as " + QUESTIONS
)
"""What can be searched for, in words."""

_VERSION = re.compile(r"(?:v|version)\s*(-?\d+)", re.IGNORECASE)
_TAG = re.compile(r"tag\s+(.+)", re.IGNORECASE | re.DOTALL)
_FRAGMENT = re.compile(r"frag(?:ment)?\s*(\d+)", re.IGNORECASE)
_ROW = re.compile(r"row\s*(?:id)?\s*(\d.*)", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:_?row)?\s*addr(?:ess)?\s*(\d.*)|(\d+\s*:\s*\d+\s*(?:@.*)?)", re.IGNORECASE
)
_BRANCH = re.compile(r"branch\s+(.+)", re.IGNORECASE | re.DOTALL)
_OF_BRANCH = re.compile(r"(.+)@(\d+)", re.DOTALL)
_FILTER = re.compile(
    r"""[\s(]*(?:not\s+)?[A-Za-z_`"][\w.`"]*\s*(?:[=<>]|!=|\b(?:in|like|between|is|not)\b).*""",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST = 200
_MOST_ROWS = 50
_MOST_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Found:
    """What was found.

    Attributes
    ----------
    what : {"version", "row", "fragment", "branch"}
        What it is.
    number : int
        The version, the row ID (without stable row IDs the address), or the fragment ID; of a
        branch, the version.
    branch : str or None
        The branch, if another one is meant.
    """

    what: Literal["version", "row", "fragment", "branch"]
    number: int
    branch: str | None = None


def answered(table: Table, typed: str) -> tuple[Answer, FoundRows | None] | None:
    """Return the answer to a question, or to a filter, with the rows that were found; else None.

    Examples
    --------
    >>> answered(table, "id = 2")[0].sentence
    '1 row found in versions 1 to 7. It was deleted in version 4 by Delete where `id = 2`.'
    """
    text = typed.strip()
    if text in table.tags or text in table.branches or len(text) > _LONGEST:
        return None
    if (answer := answer_to(table, text)) is not None:
        return answer, None
    if text in _columns(table):
        answer = answer_to(table, f"what touched {text}")
        return None if answer is None else (answer, None)
    if _FILTER.fullmatch(text):
        return _with_rows(table, text)
    return None


def rows_with(table: Table, typed: str) -> tuple[Answer, FoundRows] | None:
    """Return the rows that have a word; None if none has it."""
    try:
        found = _with_rows(table, typed.strip())
    except InvalidArgumentError:
        return None  # it is no word
    return found if found[1].num_rows else None


def _with_rows(table: Table, where: str) -> tuple[Answer, FoundRows]:
    found = table.find(where, limit=_MOST_ROWS, max_bytes=_MOST_BYTES)
    return found_answer(table, found), found


def _columns(table: Table) -> set[str]:
    try:
        return {*table.latest.schema.names}
    except LanceExplorerError:
        return set()


def search(table: Table, typed: str) -> Found:
    """Return what a text means that is neither a question nor a filter.

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
    Found(what='version', number=3, branch=None)
    >>> search(table, "clean")
    Found(what='version', number=4, branch=None)
    >>> search(table, "2:0")
    Found(what='row', number=2, branch=None)
    """
    text = typed.strip()
    if len(text) > _LONGEST:
        raise InvalidArgumentError(f"that is too long to be one of these: {UNDERSTOOD}")
    if text in table.tags:
        return Found("version", _version(table, text))
    if (branch := _branch(table, text)) is not None:
        return branch
    if found := _VERSION.fullmatch(text):
        return Found("version", _version(table, found[1]))
    if found := _TAG.fullmatch(text):
        return Found("version", kept_version(table._view, f"tag:{found[1]}"))
    if found := _FRAGMENT.fullmatch(text):
        return Found("fragment", _fragment(table, int(found[1])))
    if found := _ROW.fullmatch(text):
        return Found("row", _row(table, found[1]))
    if found := _ADDRESS.fullmatch(text):
        return Found("row", _row(table, f"address {found[1] or found[2]}"))
    return Found("version", _version(table, text))


def _branch(table: Table, text: str) -> Found | None:
    """Return a branch, or a version of one, that a text names."""
    named = _BRANCH.fullmatch(text)
    name, version = named[1] if named else text, None
    if name not in table.branches and (found := _OF_BRANCH.fullmatch(name)):
        name, version = found[1], int(found[2])
    if name not in table.branches:
        return None
    view = table._view.on_branch(name)
    kept = kept_version(view, -1 if version is None else version)
    return Found("branch", kept, name)


def _fragment(table: Table, fragment_id: int) -> int:
    known = {state.id for state in table._view.history.states}
    if fragment_id not in known:
        known = {*table.lineage().fragments()["fragment_id"]}  # also those of parents
    if fragment_id not in known:
        there = f"there are {min(known)} to {max(known)}" if known else "the table has none"
        raise FragmentNotFoundError(f"there never was a fragment {fragment_id}; {there}")
    return fragment_id


def _row(table: Table, typed: str) -> int:
    row_id = row_named(table, typed)
    row_history(table._view, row_id)
    return row_id


def _version(table: Table, text: str) -> int:
    try:
        return kept_version(table._view, text)
    except RefNotFoundError as error:
        told = str(error).partition(";")[0]
        raise RefNotFoundError(f"{told}; you can search for {UNDERSTOOD}") from None
