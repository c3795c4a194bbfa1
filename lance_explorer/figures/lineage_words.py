"""The texts of a lineage picture: above lanes, in tooltips, and over everything.

Texts are lines without markup, the first of them a title, for figures and for the browser.
"""

from collections.abc import Mapping
from typing import Any

import polars as pl

from lance_explorer.figures.labels import data_words, plural, rows_words
from lance_explorer.figures.lineage_layout import REST, LineageLayout
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.figures.row_events import EVIDENCE_WORDS
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.sizes import span_words
from lance_explorer.shown import one_line

__all__ = [
    "WAY_KINDS",
    "lane_facts",
    "lane_names",
    "lane_title",
    "lineage_keys",
    "note",
    "rewrite_words",
    "ribbon_words",
    "step_words",
]

WAY_KINDS = {"rewrite": "compact", "update": "update", "clone": "branch", "restore": "restore"}
"""The kind of commit whose colour ribbons of moved rows have."""

_WAYS = {
    "rewrite": "compacted",
    "update": "updated",
    "clone": "taken over by the branch",
    "restore": "brought back",
}
_ENDS: dict[str, str] = {
    OperationName.REWRITE: "removed by a compaction",
    OperationName.RESTORE: "removed by a restore",
}
_UNKNOWN_OPERATION = "an unknown operation"


def note(lanes: int, fragments: int, ribbons: int, all_ribbons: int, begin: int, end: int) -> str:
    """Return the line above the picture: how much there is, and how much is shown.

    Examples
    --------
    >>> note(3, 3, 2, 2, 1, 7), note(200, 4000, 250, 900, 1, 7)[:17]
    ('3 fragments · versions 1 to 7', '200 of 4,000 frag')
    """
    if lanes < fragments:
        of = f"{lanes:,} of {plural(fragments, 'fragment')}"
        words = [f"{of} in {span_words(begin, end)}, the rest in grey"]
    else:
        words = [plural(fragments, "fragment"), span_words(begin, end)]
    if ribbons < all_ribbons:
        words.append(f"the widest {ribbons:,} of {all_ribbons:,} ribbons")
    return " · ".join(words)


def lane_names(lane: Mapping[str, Any], num_rows: int | None) -> list[str]:
    """Return the labels of a lane, the longest first."""
    if lane["node"] == REST:
        return ["the other fragments", "others"]
    branch = f"{one_line(lane['branch'], 16)}: " if lane["branch"] else ""
    name = f"{branch}{lane['fragment_id']:,}"
    rows = "" if num_rows is None else f" · {plural(num_rows, 'row')}"
    return [f"{branch}fragment {lane['fragment_id']:,}{rows}", f"{name}{rows}", name]


def lane_title(lane: Mapping[str, Any]) -> str:
    """Return the fragment of a lane."""
    if lane["node"] == REST:
        return "Other fragments"
    branch = f" of branch {one_line(lane['branch'], 40)}" if lane["branch"] else ""
    return f"Fragment {lane['fragment_id']:,}{branch}"


def step_words(lane: Mapping[str, Any], step: Mapping[str, Any]) -> str:
    """Return the number of rows of a lane in one step."""
    rows = f"{rows_words(step['num_rows'])} in {span_words(step['begin'], step['end'])}"
    if lane["node"] == REST:
        return f"{plural(step['num_fragments'], 'fragment')}, {rows}"
    return rows


def lane_facts(lane: Mapping[str, Any]) -> list[str]:
    """Return the facts of a whole lane."""
    if lane["node"] == REST:
        return []
    table = [f"in {one_line(lane['table'], 80)}"] if lane["table"] else []
    return [*table, data_words(lane["data_bytes"]), _beginning(lane), _end(lane)]


def ribbon_words(ribbon: Mapping[str, Any], start: str, end: str) -> list[str]:
    """Return the text of a ribbon between two lanes."""
    many = f", {ribbon['num_edges']:,} edges together" if ribbon["num_edges"] > 1 else ""
    done = f"{_WAYS[ribbon['kind']]} in version {ribbon['version']:,}"
    return [
        f"{rows_words(ribbon['rows'])} {done}",
        f"from {start} to {end}{many}",
        EVIDENCE_WORDS[ribbon["evidence"]],
    ]


def rewrite_words(version: int, rows: int | None) -> list[str]:
    """Return the text about rewritten columns."""
    return [f"Columns rewritten in version {version:,}", rows_words(rows)]


def lineage_keys(layout: LineageLayout, versions: pl.DataFrame) -> list[tuple[str, str, str]]:
    """Return the legend: a mark, the kind whose colour it has, and words.

    Parameters
    ----------
    layout : LineageLayout
        The picture.
    versions : polars.DataFrame
        The versions that it shows, with ``is_own``: whether they are of the branch itself.
    """
    there = {*versions["kind"].unique(), *layout.lanes["kind"].drop_nulls()}
    keys = [
        ("kind", kind, _UNKNOWN_OPERATION if kind == "other" else kind)
        for kind in KIND_COLORS
        if kind in there
    ]
    if (layout.lanes["node"] == REST).any():
        keys.append(("rest", "", "fragments without a lane of their own"))
    ways = {*layout.ribbons["kind"]}
    keys += [
        ("thread" if way == "restore" else "ribbon", kind, f"rows {_WAYS[way]}")
        for way, kind in WAY_KINDS.items()
        if way in ways
    ]
    if len(layout.rewrites):
        keys.append(("rewrite", "schema", "columns rewritten"))
    inherited = versions.filter(~pl.col("is_own"))["branch"].unique(maintain_order=True)
    if len(inherited):
        names = ", ".join([one_line(branch or "main", 24) for branch in inherited])
        keys.append(("inherited", "", f"versions inherited from {names}"))
    if (versions["known_from"] == "ledger").any():
        keys.append(("recorded", "", "known from the ledger"))
    return keys


def _beginning(lane: Mapping[str, Any]) -> str:
    if not lane["first_version_exact"]:
        return f"first known in version {lane['first_version']:,}"
    operation = one_line(lane["operation"] or _UNKNOWN_OPERATION)
    return f"made in version {lane['first_version']:,} by {operation}"


def _end(lane: Mapping[str, Any]) -> str:
    if lane["is_current"]:
        return "in the latest version"
    if lane["last_version"] is None:
        return "in no kept version"
    operation = lane["end_operation"]
    then = "" if operation is None else f", then {_ENDS.get(operation, one_line(operation))}"
    return f"last in version {lane['last_version']:,}{then}"
