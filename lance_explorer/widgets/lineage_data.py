"""The lineage picture as arrays and facts: what a browser needs to draw a stretch of versions."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.figures.lineage_layout import REST, LineageLayout
from lance_explorer.figures.lineage_path import RowPath
from lance_explorer.figures.lineage_words import (
    lane_facts,
    lane_names,
    lane_title,
    lineage_keys,
    rewrite_words,
    ribbon_words,
    step_words,
)
from lance_explorer.figures.palette import KIND_COLORS
from lance_explorer.figures.row_events import (
    EVENT_KINDS,
    EVIDENCE_WORDS,
    event_name,
    event_words,
    way_words,
)
from lance_explorer.widgets.packing import floats, packed
from lance_explorer.widgets.view import Reply

__all__ = ["event_data", "layout_data", "path_data", "versions_data"]

_KINDS = [*KIND_COLORS]
_RIBBON_KINDS = ("rewrite", "update", "clone", "restore")
_MOST_EVENTS = 1_000

_Arrays = dict[str, NDArray[Any]]


def versions_data(versions: pl.DataFrame) -> Reply:
    """Return the commits: versions, times in milliseconds and kinds as arrays, and the tags.

    An unknown time is NaN. All versions of another branch than the last one are inherited:
    ``origins`` says from which branches, and how many versions each of these ends at.
    """
    arrays: _Arrays = {
        "versions": floats(versions["version"]),
        "times": floats(versions["timestamp"].dt.timestamp("us") / 1000),
        "kind": _codes(versions["kind"], _KINDS),
        "is_recorded": floats(versions["known_from"] == "ledger"),
    }
    numbered = versions.with_row_index("place")
    tagged = numbered.filter(pl.col("tags") != "").with_columns(pl.col("tags").str.split(", "))
    tagged = tagged.explode("tags").select("tags", "version", "place")
    ends = numbered.group_by("branch", maintain_order=True).agg(pl.col("place").max() + 1)
    content = {
        "kinds": _KINDS,
        "operations": versions["operation"].to_list(),
        "tags": [
            {"name": name, "version": str(version), "place": place}
            for name, version, place in tagged.iter_rows()
        ],
        "origins": [{"branch": branch, "end": end} for branch, end in ends.iter_rows()][:-1],
    }
    return packed(arrays, content)


def layout_data(layout: LineageLayout, versions: pl.DataFrame, extra: Mapping[str, Any]) -> Reply:
    """Return lanes, their steps and ribbons with what is said of them; ``extra`` goes with them.

    Places are as in :class:`~lance_explorer.figures.lineage_layout.LineageLayout`. ``versions`` are
    those that it shows, with ``is_own``.
    """
    ribbons, rewrites = layout.ribbons, layout.rewrites
    arrays = {
        **_columns("lane", layout.lanes, ("x0", "x1", "y", "thickness", "room")),
        **_columns("step", layout.steps, ("x0", "x1", "thickness")),
        **_columns("ribbon", ribbons, ("x0", "y0", "width0", "x1", "y1", "width1")),
        **_columns("rewrite", rewrites, ("x", "y", "thickness")),
        "step_lane": _integers(layout.steps["lane"]),
        "ribbon_from": _integers(ribbons["from_lane"]),
        "ribbon_to": _integers(ribbons["to_lane"]),
        "ribbon_kind": _codes(ribbons["kind"], _RIBBON_KINDS),
    }
    lanes = layout.lanes.to_dicts()
    first = layout.steps.group_by("lane", maintain_order=True).first()["num_rows"]
    names = [lane_names(lane, None)[0] for lane in lanes]
    content = {
        "begin": layout.begin,
        "end": layout.end,
        "height": layout.height,
        "has_labels": layout.has_labels,
        "num_fragments": layout.num_fragments,
        "num_ribbons": layout.num_ribbons,
        "has_rest": bool((layout.lanes["node"] == REST).any()),
        "ribbon_kinds": _RIBBON_KINDS,
        "lanes": [
            {
                "node": lane["node"],
                "kind": lane["kind"],
                "names": lane_names(lane, rows),
                "title": lane_title(lane),
                "facts": lane_facts(lane),
            }
            for lane, rows in zip(lanes, first, strict=True)
        ],
        "step_words": [
            step_words(lanes[step["lane"]], step) for step in layout.steps.iter_rows(named=True)
        ],
        "ribbon_words": [
            ribbon_words(ribbon, names[ribbon["from_lane"]], names[ribbon["to_lane"]])
            for ribbon in ribbons.iter_rows(named=True)
        ],
        "rewrite_words": [
            rewrite_words(*one) for one in rewrites.select("version", "rows").iter_rows()
        ],
        "keys": [
            {"mark": mark, "kind": kind, "words": words}
            for mark, kind, words in lineage_keys(layout, versions)
        ],
        **extra,
    }
    return packed(arrays, content)


def path_data(row_id: int, path: RowPath, events: pl.DataFrame) -> dict[str, Any]:
    """Return the way of a row through a picture, and what happened to it."""
    shown = events.head(_MOST_EVENTS)
    return {
        "row_id": str(row_id),
        "stays": [[stay.x0, stay.x1, stay.y, stay.version] for stay in path.stays],
        "num_events": len(events),
        "events": [event_data(event, row_id) for event in shown.iter_rows(named=True)],
    }


def event_data(event: Mapping[str, Any], row_id: int | None) -> dict[str, Any]:
    """Return what is said of an event, a row of ``table.row(id).history()``."""
    time = event["timestamp"]
    possibly = "possibly " if event["is_uncertain"] else ""
    return {
        "version": str(event["version"]),
        "event": possibly + event_name(event["event"]),
        "kind": EVENT_KINDS[event["event"]],
        "operation": event["operation"],
        "branch": event["branch"],
        "time": None if time is None else time.isoformat(),
        "way": way_words(event),
        "known": EVIDENCE_WORDS[event["evidence"]],
        "words": event_words(event, row_id),
        "is_end": event["_rowaddr_after"] is None,
        "source": event["source"],
        "is_recorded": event["known_from"] == "ledger",
    }


def _columns(prefix: str, frame: pl.DataFrame, names: Iterable[str]) -> _Arrays:
    return {f"{prefix}_{name}": floats(frame[name]) for name in names}


def _integers(values: pl.Series) -> NDArray[np.int32]:
    return values.cast(pl.Int32).to_numpy()


def _codes(values: pl.Series, names: Iterable[str]) -> NDArray[np.int32]:
    """Return the places of values among names; after them for any other."""
    known = [*names]
    codes = values.cast(pl.String).replace_strict(
        known, range(len(known)), default=len(known), return_dtype=pl.Int32
    )
    return codes.to_numpy()
