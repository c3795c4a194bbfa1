"""What to do about the indices of a version, in words; names and code stand in backticks."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from lance_explorer.figures.labels import plural
from lance_explorer.widgets.code_lines import literal

__all__ = ["index_advice", "no_index_words"]

_MOST_NAMES = 5
_MANY_STALE = 0.1  # of all entries
_MANY_SEGMENTS = 4
_LONGEST_NAME = 60
_LONGEST_CALL = 200
_SCALAR_TYPES = {
    "BTREE": "BTREE",
    "BITMAP": "BITMAP",
    "LABEL_LIST": "LABEL_LIST",
    "INVERTED": "INVERTED",
    "NGRAM": "NGRAM",
    "ZONE_MAP": "ZONEMAP",
    "BLOOM_FILTER": "BLOOMFILTER",
}
"""How pylance calls the types that a call for scalar indices makes."""


def index_advice(summary: pl.DataFrame, reuse: pl.DataFrame, columns: Sequence[str]) -> list[str]:
    """Say in words what could be done about the indices of a version.

    Parameters
    ----------
    summary : polars.DataFrame
        One row for each index.
    reuse : polars.DataFrame
        What ``table.inspect.fragment_reuse()`` gives for the version.
    columns : sequence of str
        The columns of the version.

    Returns
    -------
    list of str
        Sentences: at least one.
    """
    if summary.is_empty():
        return [no_index_words(columns)]
    rows = list(summary.iter_rows(named=True))
    stale = [row for row in rows if _stale_share(row) >= _MANY_STALE]
    behind = _names_behind(reuse)
    old = [row for row in rows if row in stale or row["name"] in behind]
    said = [*_uncovered(rows), *_stale(stale), *_reuse(reuse, behind), *_built_anew(old)]
    said += [*_segments(rows), *_unknown(rows), *_dropped(rows)]
    return said or [_all_well(rows)]


def no_index_words(columns: Sequence[str]) -> str:
    """Say that a version has no index, and how one is made."""
    example = literal(columns[0] if columns else "column")
    return (
        "This version has no index: a search reads all rows. With pylance, "
        f'`dataset.create_scalar_index({_cut(example)}, "BTREE")` makes one on a column, and '
        '`dataset.create_index("vector", "IVF_PQ")` one on a column of vectors.'
    )


def _all_well(rows: Sequence[Mapping[str, Any]]) -> str:
    if len(rows) == 1:
        return f"{_name(rows[0])} answers for every row: there is nothing to do."
    return f"All {len(rows):,} indices answer for every row: there is nothing to do."


def _uncovered(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lacking = [row for row in rows if row["num_fragments_to_scan"]]
    if not lacking:
        return []
    told = [_lack(row) for row in lacking[:_MOST_NAMES]]
    if len(lacking) > _MOST_NAMES:
        told.append(f"{len(lacking) - _MOST_NAMES:,} more indices do not cover all fragments")
    them = "them" if len(lacking) > 1 else "it"
    said = f"{'; '.join(told)}. A search scans what is not covered; "
    return [f"{said}`dataset.optimize.optimize_indices()` brings {them} up to date."]


def _lack(row: Mapping[str, Any]) -> str:
    missing, covered = row["num_fragments_to_scan"], row["num_fragments_covered"]
    scanned, found = row["num_rows_to_scan"], row["num_rows_answered"]
    said = f"{_name(row)} does not cover {missing:,} of {plural(missing + covered, 'fragment')}"
    if scanned is None or found is None:
        return said
    return f"{said}, {_percent(scanned / max(scanned + found, 1))} of the rows ({scanned:,})"


def _stale(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    told = [
        f"up to {_percent(_stale_share(row))} of the entries of {_name(row)} "
        f"({row['num_stale_entries']:,})"
        for row in rows
    ]
    said = _listed(told)
    return [f"{said[0].upper()}{said[1:]} lead to rows that are gone."]


def _built_anew(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say how indices are built anew; an update keeps what is old in them."""
    known = [row for row in rows if None not in row["fields"]]
    if not known:
        return []
    calls = _listed([f"`{_cut(_building(row), _LONGEST_CALL)}`" for row in known])
    does = "build them" if len(known) > 1 else "builds it"
    return [f"{calls} {does} anew, from the rows that are there now."]


def _building(row: Mapping[str, Any]) -> str:
    """Return the call that builds an index anew."""
    column, kind = row["fields"][0], _SCALAR_TYPES.get(row["index_type"])
    function = "create_scalar_index" if kind else "create_index"
    arguments = [literal(column), literal(kind) if kind else "..."]
    if row["name"] != f"{column}_idx":
        arguments.append(f"name={literal(row['name'])}")
    return f"dataset.{function}({', '.join(arguments)}, replace=True)"


def _stale_share(row: Mapping[str, Any]) -> float:
    """Return which part of the entries is stale, 0 where that is unknown."""
    stale, found = row["num_stale_entries"], row["num_rows_answered"]
    return stale / (stale + found) if stale and found is not None else 0


def _segments(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    many = [row for row in rows if row["num_segments"] >= _MANY_SEGMENTS]
    if not many:
        return []
    named = _listed([f"{_name(row)} ({row['num_segments']:,})" for row in many])
    most = max([row["num_segments"] for row in many])
    are = "are each in many segments" if len(many) > 1 else "is in many segments"
    merge = f"`dataset.optimize.optimize_indices(num_indices_to_merge={most})`"
    return [f"{named} {are}, all of which a search looks into; {merge} merges them."]


def _unknown(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    names = [_name(row) for row in rows if row["num_fragments_covered"] is None]
    if not names:
        return []
    return [f"Which fragments {_listed(names)} covers is not stored, or cannot be read."]


def _dropped(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    said = [
        f"{_name(row)} is on a field that the schema has no more; "
        f"`dataset.drop_index({_cut(literal(row['name']))})` removes it."
        for row in rows
        if None in row["fields"]
    ]
    return _first(said, "more indices are on dropped fields")


def _names_behind(reuse: pl.DataFrame) -> list[str]:
    """Return the indices that have not followed all compactions, as far as that can be told."""
    names = reuse["indices_behind"].explode().drop_nulls().unique(maintain_order=True)
    return names.to_list()


def _reuse(reuse: pl.DataFrame, behind: Sequence[str]) -> list[str]:
    if reuse.is_empty():
        return []
    kept = f"The fragment reuse index keeps {plural(len(reuse), 'compaction')}"
    if reuse["indices_behind"].null_count():
        return [f"{kept}; which indices have still to follow cannot be told."]
    if not behind:
        return [f"{kept} that all indices have followed: nothing holds it back any more."]
    who = _listed([f"`{_cut(name)}`" for name in behind])
    follow = "have not followed" if len(behind) > 1 else "has not followed"
    return [f"{kept}, which {who} {follow}: searches translate addresses."]


def _first(said: list[str], rest: str) -> list[str]:
    if len(said) <= _MOST_NAMES:
        return said
    return [*said[:_MOST_NAMES], f"{len(said) - _MOST_NAMES:,} {rest}."]


def _listed(names: list[str]) -> str:
    if len(names) > _MOST_NAMES:
        names = [*names[:_MOST_NAMES], f"{len(names) - _MOST_NAMES:,} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _name(row: Mapping[str, Any]) -> str:
    return f"`{_cut(row['name'])}`"


def _cut(text: str, longest: int = _LONGEST_NAME) -> str:
    """Return text that stays within its backticks."""
    shown = text.replace("`", "'")
    return shown if len(shown) <= longest else f"{shown[:longest]}…"


def _percent(share: float) -> str:
    """Return a part of 1 as a percentage that is 0 only for nothing, and 100 only for all."""
    if share in (0, 1):
        return f"{share:.0%}"
    shown = f"{share:.0%}" if 0.1 <= share <= 0.99 else f"{share:.1%}"
    return {"0.0%": "under 0.1%", "100.0%": "over 99.9%"}.get(shown, shown)
