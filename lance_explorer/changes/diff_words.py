"""The differences between two versions other than rows, in words; names and values in backticks."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from lance_explorer.changes.diff_commits import fields_between
from lance_explorer.changes.diff_config import config_diff
from lance_explorer.changes.diff_layout import index_diff
from lance_explorer.changes.diff_schema import FieldPair, schema_diff
from lance_explorer.errors import LanceExplorerError
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.format.schema import NO_PARENT
from lance_explorer.frames.sizes import listed
from lance_explorer.history.ancestors import BranchVersion, ancestry
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.view import HistoryView

__all__ = ["difference_words", "words_beside_rows"]

_MOST_NAMED = 8
_LONGEST_NAME = 60
_LONGEST_VALUE = 120

_MAPS = {
    "config": "config",
    "table_metadata": "table metadata",
    "schema_metadata": "schema metadata",
}


def words_beside_rows(view: HistoryView, begin_version: int, end_version: int) -> list[str]:
    """Return the differences between two versions of a branch other than rows, one sentence each.

    The same as ``table.diff(begin, end)`` on schema, indices and configuration; and base paths. If
    a version is not kept, or is not readable, a sentence says so.

    Parameters
    ----------
    view : HistoryView
        The branch.
    begin_version, end_version : int
        The versions; 0 is the empty table.

    Examples
    --------
    >>> words_beside_rows(table._view, 4, 7)
    ['Field `mood` renamed to `score`.', 'Index `id_idx` added, BTREE on `id`.', \
'Config `owner` set to `docs`.']
    >>> words_beside_rows(table._view, 0, 1)
    ['The table was created with 3 columns: `id`, `city` and `mood`.']
    """
    if begin_version == end_version:
        return []
    try:
        history = view.history
        after = history.records[history.position(end_version)]
        if begin_version == 0:
            return _creation(after)
        before = history.records[history.position(begin_version)]
        ends = BranchVersion(view, begin_version), BranchVersion(view, end_version)
        return difference_words(before, after, fields_between(*ends, ancestry(*ends)))
    except LanceExplorerError as error:
        return [f"Differences other than rows are unknown: {error}."]


def difference_words(
    before: VersionRecord, after: VersionRecord, fields: Sequence[FieldPair]
) -> list[str]:
    """Return the differences between two versions other than rows, one sentence each.

    Parameters
    ----------
    before, after : VersionRecord
        The versions.
    fields : sequence of FieldPair
        Which field of one is which of the other.
    """
    config = config_diff(before, after).iter_rows(named=True)
    bases = {base.id for base in before.manifest.base_paths}
    added = [base.path for base in after.manifest.base_paths if base.id not in bases]
    return [
        *_first([_field(row) for row in schema_diff(fields).iter_rows(named=True)], "field"),
        *_first(list(_indices(before, after)), "index"),
        *_first([_entry(row) for row in config], "entry"),
        *_first([f"Base path {_code(path, _LONGEST_VALUE)} added." for path in added], "base path"),
    ]


def _creation(after: VersionRecord) -> list[str]:
    columns = [field.name for field in after.schema if field.parent_id == NO_PARENT]
    noun = "column" if len(columns) == 1 else "columns"
    named = f": {listed([_code(name) for name in columns], _MOST_NAMED)}" if columns else ""
    return [f"The table was created with {len(columns):,} {noun}{named}."]


def _field(row: dict[str, Any]) -> str:
    path = _code(row["path_after"] or row["path_before"])
    match row["change"]:
        case "added":
            return f"Field {path} ({_code(row['type_after'])}) added."
        case "renamed":
            return f"Field {_code(row['path_before'])} renamed to {path}."
        case "cast":
            types = f"{_code(row['type_before'])} to {_code(row['type_after'])}"
            return f"Field {path} cast from {types}."
        case "replaced":
            return f"Field {path} replaced by another one of the same name."
        case "altered":
            differs = listed([name.replace("_", " ") for name in row["differs"]], _MOST_NAMED)
            return f"Field {path} altered: {differs}."
    return f"Field {path} {row['change']}."


def _indices(before: VersionRecord, after: VersionRecord) -> Iterable[str]:
    """Yield the change of each index, with its segments together."""
    had = {segment.name for segment in before.indices}
    has = {segment.name for segment in after.indices}
    differ = index_diff(before, after)
    for (name,), segments in differ.group_by("name", maintain_order=True):
        called = f"Index {_code(str(name))}"
        if name in SYSTEM_INDICES:
            called = f"System index {_code(str(name))}"
        if name not in had:
            row = segments.row(0, named=True)
            fields = [_code(field) for field in row["fields"] if field is not None]
            on = f" on {listed(fields, _MOST_NAMED)}" if fields else ""
            yield f"{called} added, {row['index_type']}{on}."
        elif name not in has:
            yield f"{called} dropped."
        else:
            yield f"{called} {_became(segments)}."


def _became(segments: pl.DataFrame) -> str:
    """Return the change of an index that both versions have."""
    counts = dict(segments.group_by("change").len().iter_rows())
    added, removed = counts.get("added", 0), counts.get("removed", 0)
    if added and removed:
        return "rebuilt"
    if added:
        return f"extended by {added:,} segment{'' if added == 1 else 's'}"
    if removed:
        return f"lost {removed:,} segment{'' if removed == 1 else 's'}"
    return "covers other fragments, or was moved"


def _entry(row: dict[str, Any]) -> str:
    where = _MAPS.get(row["map"]) or f"metadata of field {_code(row['field'] or '')}"
    key = f"{where[0].upper()}{where[1:]} {_code(row['key'])}"
    if row["change"] == "removed":
        return f"{key} removed."
    value = _code(row["value_after"], _LONGEST_VALUE)
    if row["change"] == "added":
        return f"{key} set to {value}."
    return f"{key} changed from {_code(row['value_before'], _LONGEST_VALUE)} to {value}."


_PLURALS = {"index": "indices", "entry": "entries"}


def _first(said: list[str], noun: str) -> list[str]:
    """Return the first sentences, and the number of the others."""
    more = len(said) - _MOST_NAMED
    if more <= 0:
        return said
    nouns = noun if more == 1 else _PLURALS.get(noun, f"{noun}s")
    differ = "differs" if more == 1 else "differ"
    return [*said[:_MOST_NAMED], f"And {more:,} more {nouns} {differ}."]


def _code(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return text of a file in backticks: on one line, cut, and without backticks inside."""
    cut = text[: longest + 1]
    shown = "".join([c if c.isprintable() else repr(c)[1:-1] for c in cut.replace("`", "'")])
    return f"`{shown[:longest]}...`" if len(shown) > longest else f"`{shown}`"
