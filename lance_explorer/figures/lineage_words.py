"""What a lineage picture says: above lanes, under the pointer, and over everything."""

from collections.abc import Mapping
from typing import Any

from lance_explorer.figures.labels import number, plural, size, text
from lance_explorer.figures.lineage_layout import REST, LineageLayout
from lance_explorer.format.operation_names import OperationName

__all__ = [
    "WAY_KINDS",
    "lane_facts",
    "lane_labels",
    "note",
    "rewrite_facts",
    "ribbon_facts",
    "span_words",
]

WAY_KINDS = {"rewrite": "compact", "update": "update", "clone": "branch", "restore": "restore"}
"""The kind of commit whose colour the ribbons of moved rows have."""

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


def note(layout: LineageLayout) -> str:
    """Return the line above the picture: how much there is, and how much of it is shown."""
    shown, num_ribbons = layout.num_fragments, len(layout.ribbons)
    lanes = len(layout.lanes) - int((layout.lanes["node"] == REST).any())
    words = [plural(shown, "fragment")]
    if lanes < shown:
        words = [f"{lanes:,} of {plural(shown, 'fragment')}, the rest in grey"]
    if num_ribbons < layout.num_ribbons:
        words.append(f"the widest {num_ribbons:,} of {layout.num_ribbons:,} ribbons")
    if len(words) == 1:
        words.append(span_words(layout.begin, layout.end))
    return " · ".join(words)


def span_words(begin: int, end: int) -> str:
    """Return versions as words.

    Examples
    --------
    >>> span_words(3, 3), span_words(3, 1200)
    ('version 3', 'versions 3 to 1,200')
    """
    return f"version {begin:,}" if begin == end else f"versions {begin:,} to {end:,}"


def lane_labels(lane: Mapping[str, Any], num_rows: int | None) -> list[str]:
    """Return what may stand above a lane, the longest first."""
    if lane["node"] == REST:
        return ["the other fragments", "others"]
    name = str(lane["fragment_id"])
    branch = f"{text(lane['branch'], 16)}: " if lane["branch"] else ""
    rows = "" if num_rows is None else f" · {plural(num_rows, 'row')}"
    return [f"{branch}fragment {name}{rows}", f"{branch}{name}{rows}", f"{branch}{name}", name]


def lane_facts(lane: Mapping[str, Any], step: Mapping[str, Any]) -> str:
    """Return what to say of a lane at a step of it."""
    when = span_words(step["begin"], step["end"])
    if lane["node"] == REST:
        return (
            f"<b>{plural(step['num_fragments'], 'other fragment')}</b><br>"
            f"{number(step['num_rows'])} rows together in {when}"
        )
    branch = f" of branch {text(lane['branch'], 40)}" if lane["branch"] else ""
    table = [f"in {text(lane['table'], 80)}"] if lane["table"] else []
    lines = [
        f"<b>fragment {lane['fragment_id']}</b>{branch}",
        *table,
        f"{number(step['num_rows'])} rows in {when}",
        f"{size(lane['data_bytes'])} of data",
        _beginning(lane),
    ]
    if lane["is_current"]:
        lines.append("current")
    elif lane["last_version"] is not None:
        lines.append(f"last in version {lane['last_version']:,}{_end(lane['end_operation'])}")
    return "<br>".join(lines)


def ribbon_facts(ribbon: Mapping[str, Any], start: str, end: str) -> str:
    """Return what to say of a ribbon between two lanes."""
    many = f", {ribbon['num_edges']:,} edges together" if ribbon["num_edges"] > 1 else ""
    return (
        f"<b>{number(ribbon['rows'])} rows {_WAYS[ribbon['kind']]}</b> "
        f"in version {ribbon['version']:,}<br>"
        f"from {start} to {end}{many}<br>{ribbon['evidence']}"
    )


def rewrite_facts(version: int, rows: int | None) -> str:
    """Return what to say of columns that were rewritten."""
    return f"<b>columns rewritten</b> in version {version:,}<br>{number(rows)} rows"


def _beginning(lane: Mapping[str, Any]) -> str:
    if not lane["first_version_exact"]:
        return f"first known in version {lane['first_version']:,}"
    return f"made in version {lane['first_version']:,} by {text(lane['operation'] or 'unknown')}"


def _end(operation: str | None) -> str:
    return "" if operation is None else f", then {_ENDS.get(operation, text(operation))}"
