"""The log: a line for each commit."""

from lance_explorer.widgets.messages.answer import LogFilters
from lance_explorer.widgets.messages.base import (
    BigUint64Array,
    Digits,
    Float64Array,
    Int32Array,
    Message,
    Uint8Array,
)

__all__ = ["LogAbout", "LogAnswer", "NewestLog"]


class LogAbout(Message):
    """What the log can be filtered by, and the current filters."""

    branch: str | None
    columns: list[str]
    filters: LogFilters


class LogAnswer(Message):
    """The commits that are shown, each in a line; an unknown number is NaN."""

    is_part: bool
    """Whether these are only the newest, while the others are being read."""
    kinds: list[str]
    counts: dict[str, int]
    """How many commits there are of each kind."""
    num_found: int
    num_commits: int
    num_lanes: int
    heads: list[bool]
    branch: list[str | None]
    operation: list[str | None]
    words: list[str | None]
    message: list[str | None]
    author: list[str | None]
    job: list[str | None]
    run: list[str | None]
    properties: list[str | None]
    tags: list[list[str]]
    branches_here: list[list[str]]
    columns: list[str | None]
    keeps_values: Uint8Array
    """Whether the values of existing rows are known to be unchanged."""
    parent_versions: list[Digits | None]
    parent_branches: list[str | None]
    versions: BigUint64Array
    lane: Int32Array
    kind: Uint8Array
    parent: Int32Array
    """The line of the nearest earlier commit that is shown; -1 for none."""
    times: Float64Array
    lost: Float64Array
    bytes_change: Float64Array
    is_recorded: Uint8Array
    rows_added: Float64Array
    rows_updated: Float64Array
    rows_deleted: Float64Array
    rows_overwritten: Float64Array
    rows_restored: Float64Array


class NewestLog(Message, omit_defaults=False):
    """The newest commits, if reading all may take long."""

    log: LogAnswer | None = None
    own_branch: str | None = None
