"""All versions of a table: arrays with one entry a version, or one a state of a fragment."""

from lance_explorer.widgets.messages.base import (
    BigUint64Array,
    Digits,
    Float64Array,
    Int32Array,
    Message,
    Uint8Array,
)
from lance_explorer.widgets.messages.shared import Tag

__all__ = ["Gap", "VersionData", "Words"]


class Gap(Message):
    """Versions that are not kept."""

    first: Digits
    last: Digits
    reason: str


class VersionData(Message):
    """All kept versions, and all states of fragments with the versions that contain them.

    Those that begin with ``state_`` have one value for each state, ordered by fragment. Positions
    count kept versions from 0. An unknown count is NaN, an unknown position -1.
    """

    name: str
    branch: str | None
    kinds: list[str]
    operations: list[str | None]
    tags: list[Tag]
    gaps: list[Gap]
    messages: list[str | None]
    recorded_words: str
    versions: BigUint64Array
    times: Float64Array
    """In ms."""
    kind: Uint8Array
    is_recorded: Uint8Array
    num_rows: Float64Array
    num_deleted_rows: Float64Array
    num_fragments: Float64Array
    data_bytes: Float64Array
    state_fragment: BigUint64Array
    state_slot: Int32Array
    state_first: Int32Array
    state_last: Int32Array
    state_made_at: Int32Array
    state_rows: Float64Array
    state_deleted: Float64Array
    state_files: Float64Array
    state_bytes: Float64Array
    state_kind: Uint8Array


class Words(Message):
    """What commits did, in words, by version."""

    words: dict[str, str]
