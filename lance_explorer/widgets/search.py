"""What is typed into the search box: a version, a row, a question, and so on."""

import re
from dataclasses import dataclass
from typing import Literal

from lance_explorer.answers import Answer
from lance_explorer.arguments import shown
from lance_explorer.errors import (
    FragmentNotFoundError,
    InvalidArgumentError,
    LanceExplorerError,
)
from lance_explorer.frames.sizes import listed
from lance_explorer.history.version_refs import kept_version
from lance_explorer.lineage.find import Found as FoundRows
from lance_explorer.lineage.following import row_history
from lance_explorer.lineage.where import is_word
from lance_explorer.table import Table
from lance_explorer.widgets.found_lines import found_answer
from lance_explorer.widgets.questions import answer_to, examples
from lance_explorer.widgets.row_lookup import row_named

__all__ = ["Found", "answered", "nothing_found", "rows_with", "search"]

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
_ROWS_WHERE = re.compile(
    r"(?:(?:show|find|list|count)\s+)?(?:(?:all\s+)?rows?\s+)?(?:where|with|that have)\s+(.+)"
    r"|(?:find|put\s+back)\s+(.+)",
    re.IGNORECASE | re.DOTALL,
)
_UNQUOTED = re.compile(r"(\w+)\s*(=|!=|<>)\s*([^\W\d][^'\"`()=<>]*)")
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
    """Return the answer to a question, or to a filter, with the found rows; else None.

    Examples
    --------
    >>> answered(table, "id = 2")[0].sentence
    '1 row found in versions 1 to 7. It was deleted in version 4 on ... by Delete where `id = 2`.'
    """
    text = typed.strip()
    if text in table.tags or text in table.branches or len(text) > _LONGEST:
        return None
    columns = _columns(table)
    if text in columns:
        answer = answer_to(table, f"what touched {text}")
        return None if answer is None else (answer, None)
    if (answer := answer_to(table, text)) is not None:
        return answer, None
    asked = _ROWS_WHERE.fullmatch(text)
    where = (asked[1] or asked[2]) if asked else text
    if _FILTER.fullmatch(where):
        return _filtered(table, where, columns)
    return rows_with(table, where) if asked else None


def _filtered(table: Table, where: str, columns: set[str]) -> tuple[Answer, FoundRows] | None:
    """Return the rows that a filter finds; None if it is not a filter: "why is it red"."""
    try:
        return _with_rows(table, where)
    except InvalidArgumentError as error:
        unquoted = _UNQUOTED.fullmatch(where)
        if unquoted and unquoted[1] in columns:
            name, sign, value = unquoted.groups()
            return _with_rows(table, f"{name} {sign} '{value.strip()}'")
        name = re.match(r"[\s(]*(?:not\s+)?[`\"]?(\w+)", where, re.IGNORECASE)
        if name is None or (name[1] not in columns and not re.search("[=<>]", where)):
            return None
        if name[1] not in columns:
            there = listed(sorted(columns))
            raise InvalidArgumentError(
                f"there is no column {name[1]!r}; there are: {there}"
            ) from error
        raise InvalidArgumentError(
            f"{shown(where)} cannot be read as a filter: compare `{name[1]}` with a value, such as "
            f"`{name[1]} = 42`, or `{name[1]} = 'dog'` for text"
        ) from error


def rows_with(table: Table, typed: str) -> tuple[Answer, FoundRows] | None:
    """Return the rows that contain a word; None if none does, and all were searched."""
    try:
        result = _with_rows(table, typed.strip())
    except InvalidArgumentError:
        return None  # it is no word
    return result if result[1].num_rows or not result[1].is_complete else None


def nothing_found(table: Table, typed: str) -> str:
    """Return the sentence for a text without a meaning here."""
    text = typed.strip()
    could = ", ".join([f"`{one}`" for one, _ in examples(table) if not one.endswith(" ")][:3])
    if is_word(text, [table.latest.fields]):
        where = f" of {'main' if table.branch is None else table.branch}" if table.branches else ""
        rows = f"and no row{where} has it"
    else:
        rows = "and rows are searched for words, numbers and filters"
    return f"Nothing is called {shown(text)}, {rows}. You can ask {could}; `help` shows more."


def _with_rows(table: Table, where: str) -> tuple[Answer, FoundRows]:
    matches = table.find(where, limit=_MOST_ROWS, max_bytes=_MOST_BYTES)
    return found_answer(table, matches), matches


def _columns(table: Table) -> set[str]:
    try:
        return {*table.latest.schema.names}
    except LanceExplorerError:
        return set()


def search(table: Table, typed: str) -> Found:
    """Return the meaning of a text that is neither a question nor a filter.

    Parameters
    ----------
    table : Table
        The table, or a branch of it.
    typed : str
        A version, as for :meth:`Table.at`, or ``v12``; ``tag 12``, ``fragment 7``, ``row 42``, an
        address such as ``3:17`` or ``3:17@5``, ``branch dev`` or ``dev@3``.

    Raises
    ------
    RowNotFoundError
        If no kept version has, or had, the row.
    FragmentNotFoundError
        If there was never such a fragment.

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
        raise InvalidArgumentError(f"a question has {_LONGEST} characters at most")
    if text in table.tags:
        return Found("version", kept_version(table._view, text))
    if (branch := _branch(table, text)) is not None:
        return branch
    if match := _VERSION.fullmatch(text):
        return Found("version", kept_version(table._view, match[1]))
    if match := _TAG.fullmatch(text):
        return Found("version", kept_version(table._view, f"tag:{match[1]}"))
    if match := _FRAGMENT.fullmatch(text):
        return Found("fragment", _fragment(table, int(match[1])))
    if match := _ROW.fullmatch(text):
        return Found("row", _row(table, match[1]))
    if match := _ADDRESS.fullmatch(text):
        return Found("row", _row(table, f"address {match[1] or match[2]}"))
    return Found("version", kept_version(table._view, text))


def _branch(table: Table, text: str) -> Found | None:
    """Return the branch, or version of a branch, that a text names."""
    named = _BRANCH.fullmatch(text)
    name, version = named[1] if named else text, None
    if name not in table.branches and (match := _OF_BRANCH.fullmatch(name)):
        name, version = match[1], int(match[2])
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
