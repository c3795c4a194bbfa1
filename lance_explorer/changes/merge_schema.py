"""The fields that two sides changed since their fork, and the words on a merge."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from lance_explorer.changes.diff_schema import FieldPair
from lance_explorer.changes.merge_frames import MERGE_SCHEMA
from lance_explorer.frames.sizes import counted, listed

__all__ = ["merge_schema", "merge_words"]

_MOST_NAMED = 8
_ALL_NAMED = ("dropped", "renamed", "cast")
"""Changes that name and type describe completely."""


def merge_schema(ours: Sequence[FieldPair], theirs: Sequence[FieldPair]) -> pl.DataFrame:
    """Return the fields that either side changed, those of the fork first.

    Parameters
    ----------
    ours, theirs : sequence of FieldPair
        Which field of the fork is which on each side.
    """
    ours_by, theirs_by = _by_place(ours), _by_place(theirs)
    changes = [
        (path, ours_by.get(place), theirs_by.get(place))
        for place, path in {**_paths(ours_by), **_paths(theirs_by)}.items()
    ]
    changes = [(path, one, other) for path, one, other in changes if _change(one) or _change(other)]
    return MERGE_SCHEMA.build(
        {
            "outcome": [_outcome(one, other) for _, one, other in changes],
            "path": [path for path, *_ in changes],
            "change_ours": [_change(one) for _, one, _ in changes],
            "change_theirs": [_change(other) for *_, other in changes],
            "path_ours": [one and one.path_after for _, one, _ in changes],
            "path_theirs": [other and other.path_after for *_, other in changes],
            "type_ours": [_type(one) for _, one, _ in changes],
            "type_theirs": [_type(other) for *_, other in changes],
        }
    )


def merge_words(
    counts: Mapping[str, Any], schema: pl.DataFrame, cells: pl.DataFrame, doubtful: Sequence[str]
) -> list[str]:
    """Return what a merge would change, in sentences; names are in backticks.

    Parameters
    ----------
    found : mapping
        The line of the summary.
    schema, cells : polars.DataFrame
        The fields that changed, and the cells in conflict.
    doubtful : sequence of str
        The columns that may be one column or two.
    """
    branch, into = counts["branch"] or "main", counts["into_branch"] or "main"
    fork = f"`{counts['fork_branch'] or 'main'}` at version {counts['fork_version']:,}"
    ends = f"`{branch}` (version {counts['version']:,}) and `{into}` ({counts['into_version']:,})"
    sentences = [f"Both {ends} come from {fork}."]
    brings = [
        f"{verb} {counted(counts[name], 'row')}"
        for verb, name in (("insert", "inserted"), ("update", "updated"), ("delete", "deleted"))
        if counts[name]
    ]
    sentences.append(
        f"A merge of `{branch}` into `{into}` would {listed(brings)}."
        if brings
        else f"A merge of `{branch}` into `{into}` would bring no row."
    )
    sentences += _conflicts(counts, cells)
    for name, words in (
        ("kept", f"changed on `{into}` alone, which a merge leaves as it is"),
        ("same", "changed on both in the same way"),
        ("combined", "changed on both, but no column differently"),
    ):
        if counts[name]:
            sentences.append(f"{counted(counts[name], 'row')} {words}.")
    sentences += _fields(schema, branch)
    if counts["uncertain"]:
        sentences.append(f"Of {counted(counts['uncertain'], 'row')} it is uncertain.")
    if doubtful:
        names = listed([f"`{name}`" for name in doubtful], _MOST_NAMED)
        sentences.append(
            f"Lost versions leave open whether it is the same column on both: {names}."
        )
    return sentences


def _conflicts(counts: Mapping[str, Any], cells: pl.DataFrame) -> Iterator[str]:
    if not counts["conflicts"]:
        return
    named = cells["column"].value_counts(sort=True).iter_rows()
    parts = [f"`{name}` ({count:,})" for name, count in named]
    verb = "is" if counts["conflicts"] == 1 else "are"
    columns = listed(parts, _MOST_NAMED)
    yield f"{counted(counts['conflicts'], 'row')} {verb} in conflict, in {columns}."


def _fields(schema: pl.DataFrame, branch: str) -> Iterator[str]:
    for row in schema.head(_MOST_NAMED).iter_rows(named=True):
        path, ours, theirs = f"`{row['path']}`", row["change_ours"], row["change_theirs"]
        match row["outcome"]:
            case "incoming":
                yield f"Field {path} was {theirs} on `{branch}`: a merge would bring that."
            case "conflict":
                yield f"Field {path} is in conflict: {ours} on one side, {theirs} on the other."
    if len(schema) > _MOST_NAMED:
        yield f"And {len(schema) - _MOST_NAMED:,} more fields changed."


def _by_place(pairs: Sequence[FieldPair]) -> dict[int | str, FieldPair]:
    """Return fields by their IDs at the fork; new ones by their paths."""
    return {
        pair.before.id if pair.before is not None else str(pair.path_after): pair for pair in pairs
    }


def _paths(pairs: Mapping[int | str, FieldPair]) -> dict[int | str, str]:
    return {place: str(pair.path_before or pair.path_after) for place, pair in pairs.items()}


def _outcome(ours: FieldPair | None, theirs: FieldPair | None) -> str:
    if not _change(ours):
        return "incoming"
    if not _change(theirs):
        return "kept"
    one, other = [
        (pair.change, pair.path_after, _type(pair)) if pair and pair.before else None
        for pair in (ours, theirs)
    ]
    is_same = one is not None and one == other and one[0] in _ALL_NAMED
    return "same" if is_same else "conflict"


def _change(pair: FieldPair | None) -> str | None:
    return None if pair is None else pair.change


def _type(pair: FieldPair | None) -> str | None:
    return None if pair is None or pair.after is None else pair.after.logical_type
