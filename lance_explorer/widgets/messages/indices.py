"""What indices cover, over versions and in one of them."""

from typing import Literal

from lance_explorer.widgets.messages.advice import Advice
from lance_explorer.widgets.messages.base import (
    BigUint64Array,
    Digits,
    Float64Array,
    Int32Array,
    Message,
    Uint8Array,
)
from lance_explorer.widgets.messages.versions import VersionData

__all__ = [
    "Coverage",
    "IndexFacts",
    "IndexLives",
    "IndexName",
    "IndicesData",
    "ReuseEntry",
    "VersionIndices",
]

Coverage = Literal["absent", "covered", "masked", "not_covered", "removed", "unknown", "no_index"]
"""What an index covers of a fragment."""


class IndicesData(VersionData):
    """All versions, and ranges in which an index answered the same rows."""

    index: str | None
    index_names: list[str]
    problem: str | None
    line_index: Int32Array
    line_first: Int32Array
    line_last: Int32Array
    line_answered: Float64Array
    line_to_scan: Float64Array


class IndexLives(Message):
    """What an index covered of each fragment, from version to version."""

    index: str
    coverages: tuple[Coverage, ...]
    colors: dict[str, str]
    fragments: BigUint64Array
    slot: Int32Array
    first: Int32Array
    last: Int32Array
    coverage: Uint8Array


class IndexName(Message):
    """The index that is drawn."""

    name: str


class IndexFacts(Message):
    """Facts about an index in one version; null is unknown."""

    name: str
    type: str
    fields: list[str]
    num_segments: Digits
    size_bytes: Digits | None
    created: Digits
    rebuilt: Digits
    is_exact: bool
    """Whether it was created in this version, and not earlier."""
    num_rows_answered: Digits | None
    num_rows_to_scan: Digits | None
    num_fragments_covered: Digits | None
    num_fragments_to_scan: Digits | None
    num_fragments_removed: Digits | None
    num_stale_entries: Digits | None


class ReuseEntry(Message):
    """An entry of the reuse history, and which indices have caught up with it."""

    kind: str
    dataset_version: Digits | None
    num_old: int
    num_new: int
    rows_moved: Digits | None
    caught_up: list[str] | None
    behind: list[str] | None


class VersionIndices(Message):
    """The indices of one version."""

    indices: list[IndexFacts]
    num_indices: int
    advice: Advice
    reuse: list[ReuseEntry]
    num_reuse_entries: int
    reuse_bytes: Digits | None
