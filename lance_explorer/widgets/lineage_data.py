"""The lineage picture as arrays and facts: what a browser needs to draw a range of versions."""

from collections.abc import Mapping
from typing import Any, get_args

import polars as pl
from msgspec.structs import asdict

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
from lance_explorer.widgets.arrays import codes, flags, floats, integers
from lance_explorer.widgets.messages.lineage import (
    Commits,
    CommitTag,
    Lane,
    LineageKey,
    LineageRow,
    Origin,
    RibbonKind,
    RowEvent,
    SelectedLane,
)
from lance_explorer.widgets.messages.lineage import LineageLayout as LineagePicture

__all__ = ["commits", "event_facts", "layout_data", "path_data"]

_KINDS = [*KIND_COLORS]
_RIBBON_KINDS: tuple[RibbonKind, ...] = get_args(RibbonKind)
_MOST_EVENTS = 1_000


def commits(versions: pl.DataFrame) -> Commits:
    """Return the commits of a picture."""
    numbered = versions.with_row_index("place")
    tagged = numbered.filter(pl.col("tags") != "").with_columns(pl.col("tags").str.split(", "))
    tagged = tagged.explode("tags").select("tags", "version", "place")
    ends = numbered.group_by("branch", maintain_order=True).agg(pl.col("place").max() + 1)
    return Commits(
        kinds=_KINDS,
        operations=versions["operation"].to_list(),
        tags=[CommitTag(name, str(version), place) for name, version, place in tagged.iter_rows()],
        origins=[Origin(branch, end) for branch, end in ends.iter_rows()][:-1],
        versions=floats(versions["version"]),
        times=floats(versions["timestamp"].dt.timestamp("us") / 1000),
        kind=codes(versions["kind"], _KINDS),
        is_recorded=flags(versions["known_from"] == "ledger"),
    )


def layout_data(
    layout: LineageLayout,
    versions: pl.DataFrame,
    selected: SelectedLane | None = None,
    row: LineageRow | None = None,
    row_problem: str | None = None,
) -> LineagePicture:
    """Return lanes, their steps and ribbons, with their texts.

    Places are as in :class:`~lance_explorer.figures.lineage_layout.LineageLayout`. ``versions`` are
    those that it shows, with ``is_own``.
    """
    ribbons, rewrites, steps = layout.ribbons, layout.rewrites, layout.steps
    lanes = layout.lanes.to_dicts()
    first = steps.group_by("lane", maintain_order=True).first()["num_rows"]
    names = [lane_names(lane, None)[0] for lane in lanes]
    return LineagePicture(
        **asdict(commits(versions)),
        begin=layout.begin,
        end=layout.end,
        height=layout.height,
        has_labels=layout.has_labels,
        has_rest=bool((layout.lanes["node"] == REST).any()),
        num_fragments=layout.num_fragments,
        num_ribbons=layout.num_ribbons,
        lanes=[
            Lane(
                lane["node"],
                lane["kind"],
                lane_names(lane, rows),
                lane_title(lane),
                lane_facts(lane),
            )
            for lane, rows in zip(lanes, first, strict=True)
        ],
        ribbon_kinds=_RIBBON_KINDS,
        step_words=[step_words(lanes[step["lane"]], step) for step in steps.iter_rows(named=True)],
        ribbon_words=[
            ribbon_words(ribbon, names[ribbon["from_lane"]], names[ribbon["to_lane"]])
            for ribbon in ribbons.iter_rows(named=True)
        ],
        rewrite_words=[
            rewrite_words(*one) for one in rewrites.select("version", "rows").iter_rows()
        ],
        keys=[LineageKey(*key) for key in lineage_keys(layout, versions)],
        row=row,
        row_problem=row_problem,
        selected=selected,
        lane_x0=floats(layout.lanes["x0"]),
        lane_x1=floats(layout.lanes["x1"]),
        lane_y=floats(layout.lanes["y"]),
        lane_room=floats(layout.lanes["room"]),
        step_x0=floats(steps["x0"]),
        step_x1=floats(steps["x1"]),
        step_thickness=floats(steps["thickness"]),
        ribbon_x0=floats(ribbons["x0"]),
        ribbon_y0=floats(ribbons["y0"]),
        ribbon_width0=floats(ribbons["width0"]),
        ribbon_x1=floats(ribbons["x1"]),
        ribbon_y1=floats(ribbons["y1"]),
        ribbon_width1=floats(ribbons["width1"]),
        rewrite_x=floats(rewrites["x"]),
        rewrite_y=floats(rewrites["y"]),
        rewrite_thickness=floats(rewrites["thickness"]),
        step_lane=integers(steps["lane"]),
        ribbon_from=integers(ribbons["from_lane"]),
        ribbon_to=integers(ribbons["to_lane"]),
        ribbon_kind=codes(ribbons["kind"], _RIBBON_KINDS),
    )


def path_data(row_id: int, path: RowPath, events: pl.DataFrame) -> LineageRow:
    """Return the path of a row through a picture, and its events."""
    shown = events.head(_MOST_EVENTS)
    return LineageRow(
        row_id=str(row_id),
        num_events=len(events),
        events=[event_facts(event, row_id) for event in shown.iter_rows(named=True)],
        stays=[(stay.x0, stay.x1, stay.y, stay.version) for stay in path.stays],
    )


def event_facts(event: Mapping[str, Any], row_id: int | None) -> RowEvent:
    """Return the text of a line of ``table.row(id).history()``."""
    time = event["timestamp"]
    possibly = "possibly " if event["is_uncertain"] else ""
    return RowEvent(
        version=str(event["version"]),
        event=possibly + event_name(event["event"]),
        kind=EVENT_KINDS[event["event"]],
        operation=event["operation"],
        branch=event["branch"],
        time=None if time is None else time.isoformat(),
        way=way_words(event),
        known=EVIDENCE_WORDS[event["evidence"]],
        words=event_words(event, row_id),
        is_end=event["_rowaddr_after"] is None,
        source=event["source"],
        is_recorded=event["known_from"] == "ledger",
    )
