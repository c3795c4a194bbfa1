"""The lineage picture, and the life of a row."""

from typing import Literal

from lance_explorer.widgets.messages.base import (
    Digits,
    Float64Array,
    Int32Array,
    Message,
    Uint8Array,
)
from lance_explorer.widgets.messages.rows import CellPiece

__all__ = [
    "Between",
    "CommitTag",
    "Commits",
    "EventValue",
    "EventValues",
    "FollowedRow",
    "Lane",
    "LineageAbout",
    "LineageKey",
    "LineageLayout",
    "LineageRow",
    "Origin",
    "PlacedEvent",
    "RibbonKind",
    "RowAbout",
    "RowEvent",
    "RowValues",
    "SelectedLane",
]

RibbonKind = Literal["rewrite", "update", "clone", "restore"]
"""What moved rows from lane to lane."""


class RowEvent(Message):
    """The text of an event of a row."""

    version: Digits
    time: str | None
    event: str
    kind: str
    operation: str | None
    way: str
    known: str
    words: list[str]
    source: str | None
    branch: str | None
    is_end: bool
    is_recorded: bool


class PlacedEvent(RowEvent):
    """An event on the timeline of a row, with the fragment and offset at which it is drawn."""

    name: str
    fragment_id: Digits
    offset: Digits
    doubt: str | None
    who: str | None
    """The author or the job, if it was recorded."""
    message: str | None


class CommitTag(Message):
    """A tag, its version and the position of that version."""

    name: str
    version: Digits
    place: int


class Origin(Message):
    """A branch from which versions were inherited, and the number of versions up to its end."""

    branch: str | None
    end: int


class Commits(Message):
    """Commits: versions, times in ms and kinds. All branches except the last are inherited from."""

    kinds: list[str]
    operations: list[str | None]
    tags: list[CommitTag]
    origins: list[Origin]
    versions: Float64Array
    times: Float64Array
    """Unknown is NaN."""
    kind: Uint8Array
    is_recorded: Uint8Array


class LineageAbout(Commits):
    """The subject of the lineage picture."""

    name: str
    branch: str | None
    has_row_ids: bool
    begin: int
    end: int
    between: tuple[int, int] | None


class Between(Message):
    """The first and the last version that are shown; null for all."""

    span: tuple[int, int] | None


class Lane(Message):
    """A lane: its labels, the longest first, and its text."""

    node: str
    kind: str
    names: list[str]
    title: str
    facts: list[str]


class LineageKey(Message):
    """An entry of the legend."""

    mark: str
    kind: str
    words: str


class LineageRow(Message):
    """The followed row; each stay is a place where it was: from, to, height, version."""

    row_id: Digits
    num_events: int
    events: list[RowEvent]
    stays: list[tuple[float, float, float, int]]


class SelectedLane(Message):
    """The chosen node, with the lanes of its ancestors and descendants."""

    node: str
    lane: int | None
    lanes: list[int]
    fragment_id: Digits
    num_ancestors: int
    num_descendants: int
    only: bool


class LineageLayout(Commits):
    """Lanes, their steps and ribbons, with their texts."""

    begin: int
    end: int
    height: float
    has_labels: bool
    has_rest: bool
    num_fragments: int
    num_ribbons: int
    lanes: list[Lane]
    ribbon_kinds: tuple[RibbonKind, ...]
    step_words: list[str]
    ribbon_words: list[list[str]]
    rewrite_words: list[list[str]]
    keys: list[LineageKey]
    row: LineageRow | None
    row_problem: str | None
    selected: SelectedLane | None
    lane_x0: Float64Array
    lane_x1: Float64Array
    lane_y: Float64Array
    lane_room: Float64Array
    step_lane: Int32Array
    step_x0: Float64Array
    step_x1: Float64Array
    step_thickness: Float64Array
    ribbon_from: Int32Array
    ribbon_to: Int32Array
    ribbon_kind: Uint8Array
    ribbon_x0: Float64Array
    ribbon_x1: Float64Array
    ribbon_y0: Float64Array
    ribbon_y1: Float64Array
    ribbon_width0: Float64Array
    ribbon_width1: Float64Array
    rewrite_x: Float64Array
    rewrite_y: Float64Array
    rewrite_thickness: Float64Array


class RowAbout(Commits):
    """The commits on the axis of the life of a row."""

    name: str
    branch: str | None
    has_row_ids: bool
    key: list[str]
    """The columns that identify a row for people."""


class FollowedRow(Message, omit_defaults=False):
    """The events of the chosen row, or why there are none."""

    row_id: Digits | None
    num_events: int = 0
    events: tuple[PlacedEvent, ...] = ()
    problem: str | None = None


class EventValue(Message):
    """The value of a column at an event."""

    name: str
    value: str | None
    piece: CellPiece | None
    before: str | None
    changed: bool
    is_absent: bool
    is_new: bool


class EventValues(Message):
    """The values of a row at an event; none if they were not read."""

    is_read: bool
    is_end: bool
    is_compared: bool
    num_columns: int
    values: list[EventValue]


class RowValues(Message, omit_defaults=False):
    """The values at each event, or why there are none."""

    values: tuple[EventValues, ...] = ()
    problem: str | None = None
