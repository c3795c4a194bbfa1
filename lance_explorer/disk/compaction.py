"""Which fragments ``compact_files`` of Lance would rewrite together, by its rules.

The rules are those of Lance 14 (``rust/lance/src/dataset/optimize.rs``):

* A fragment is a candidate if more of it is deleted than the threshold, whatever its size, or if it
  has fewer rows than the aim.
* Candidates that follow one another and are covered by the same index segments go together. A
single fragment is rewritten only for its deleted rows. * Fragments that go together are divided
into tasks of as many live rows as the target; the last one takes the rest. * Tasks are taken in
order until one would exceed a budget.

13.0.0 plans alike. Releases up to 8.0.1 (and maybe later ones) count the fragment reuse index and
the write-ahead log as indices, too, and do not map what indices cover through the reuse history.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lance_explorer.arguments import flag, many, not_negative, whole_number
from lance_explorer.errors import InvalidArgumentError, LanceExplorerError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.history.history import History
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse
from lance_explorer.history.view import HistoryView

__all__ = [
    "REASONS",
    "CompactionOptions",
    "CompactionPlan",
    "compaction_options",
    "plan_compaction",
]

_CONFIG = "lance.compaction."

_WITHOUT_EFFECT = frozenset(
    "max_rows_per_group num_threads batch_size compaction_mode binary_copy_read_batch_bytes "
    "data_storage_version".split()
)
"""Options on how fragments are written, which change nothing here."""

REASONS = (
    "small",
    "many_deleted_rows",
    "large_enough",
    "few_deleted_rows",
    "alone",
    "walled_in_by_index",
    "excluded",
    "over_budget",
    "unknown_rows",
)
"""Why a fragment is rewritten (the first two), or stays."""

_Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class CompactionOptions:
    """The options that decide which fragments are rewritten, as in ``compact_files``."""

    target_rows_per_fragment: int = 1024 * 1024
    materialize_deletions: bool = True
    materialize_deletions_threshold: float = 0.1
    defer_index_remap: bool = False
    max_source_fragments: int | None = None
    max_source_rows: int | None = None
    max_source_bytes: int | None = None
    excluded_fragment_ids: tuple[int, ...] = ()
    max_bytes_per_file: int | None = None
    io_buffer_size: int | None = None


_MODES = ("reencode", "try_binary_copy", "force_binary_copy")
_CHECKED = ("max_rows_per_group", "batch_size", "binary_copy_read_batch_bytes", "compaction_mode")
"""Options that Lance also reads from the config, and refuses if they are invalid."""
_LIST = "excluded_fragment_ids"
"""Options that it does not read from the config."""

_NAMES = tuple([field.name for field in fields(CompactionOptions)])


@dataclass(frozen=True)
class CompactionPlan:
    """What would be rewritten.

    Attributes
    ----------
    options : CompactionOptions
        With what.
    tasks : list of numpy.ndarray
        The positions of the fragments that are rewritten together, of each task.
    reasons : numpy.ndarray
        Why each fragment is rewritten or stays, a position in ``REASONS``.
    segments : list of IndexMetadata
        The index segments that decide which fragments may go together.
    problem : str or None
        Why Lance would refuse; then there are no tasks.
    """

    options: CompactionOptions
    tasks: list[NDArray[np.int64]]
    reasons: NDArray[np.int64]
    segments: list[IndexMetadata]
    problem: str | None = None


def compaction_options(history: History, given: Mapping[str, Any]) -> CompactionOptions:
    """Return options: the given ones, else those of the table's config, else Lance's defaults.

    Raises
    ------
    InvalidArgumentError
        If an option does not exist, or its value is invalid.
    """
    unknown = given.keys() - {*_NAMES, *_WITHOUT_EFFECT}
    if unknown:
        known = ", ".join([*_NAMES, *sorted(_WITHOUT_EFFECT)])
        raise InvalidArgumentError(f"no option {min(unknown)!r} of a compaction; of: {known}")
    config = dict(history.records[-1].manifest.config)
    configured = [name for name in (*_NAMES, *_CHECKED) if _CONFIG + name in config]
    parsed = {name: _parsed(name, config[_CONFIG + name]) for name in configured if name != _LIST}
    of_table = {name: value for name, value in parsed.items() if name in _NAMES}
    chosen = {name: value for name, value in given.items() if value is not None and name in _NAMES}
    return _checked({**of_table, **chosen})


def _parsed(name: str, text: str) -> Any:
    try:
        if name in ("materialize_deletions", "defer_index_remap"):
            return {"true": True, "false": False}[text.strip().lower()]
        if name == "compaction_mode":
            return {mode: mode for mode in _MODES}[text]
        return float(text) if name == "materialize_deletions_threshold" else int(text)
    except (KeyError, ValueError):
        raise InvalidArgumentError(
            f"the config of the table has {_CONFIG}{name} = {text!r}, which Lance refuses"
        ) from None


def _checked(options: Mapping[str, Any]) -> CompactionOptions:
    checked = dict(options)
    for name, value in options.items():
        match name:
            case "materialize_deletions" | "defer_index_remap":
                checked[name] = flag(name, value)
            case "materialize_deletions_threshold":
                checked[name] = not_negative(name, value)
            case "excluded_fragment_ids":
                ids = many(name, value, (int, np.integer), "a list of fragment IDs")
                checked[name] = tuple([whole_number(f"each of {name}", each) for each in ids])
            case _:
                checked[name] = whole_number(name, value, 1)
    return CompactionOptions(**checked)


def plan_compaction(
    view: HistoryView | None, history: History, options: CompactionOptions
) -> CompactionPlan:
    """Return what a compaction of the only version of a history would do.

    Without ``view`` no other file is read: the coverage of indices that lag behind a deferred
    compaction is taken from their bitmaps.
    """
    states, record = history.states, history.records[0]
    physical, live = states.physical_rows, history.live_rows
    segments = [segment for segment in record.indices if segment.name not in SYSTEM_INDICES]
    reasons = np.full(len(states), REASONS.index("large_enough"))
    is_stable = bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)
    if options.defer_index_remap and is_stable:
        problem = "defer_index_remap is for tables without stable row IDs"
        return CompactionPlan(options, [], reasons, segments, problem)
    deleted = np.where(live >= 0, physical - live, 0)
    share = deleted.astype(np.float32) / np.maximum(physical, 1).astype(np.float32)
    is_known = (physical >= 0) & (live >= 0)
    is_excluded = np.isin(states.ids, np.array(options.excluded_fragment_ids, dtype=np.uint64))
    threshold = np.float32(options.materialize_deletions_threshold)
    is_dropping = options.materialize_deletions and threshold < 1
    is_forced = is_known & ~is_excluded & is_dropping & (share > threshold)
    is_forced |= (states.num_overlays > _MOST_OVERLAYS) & ~is_excluded
    is_small = is_known & ~is_excluded & (physical < options.target_rows_per_fragment)
    is_candidate = is_forced | is_small
    reasons[deleted > 0] = REASONS.index("few_deleted_rows")
    reasons[is_excluded] = REASONS.index("excluded")
    reasons[~is_known] = REASONS.index("unknown_rows")
    reasons[is_small] = REASONS.index("small")
    reasons[is_forced] = REASONS.index("many_deleted_rows")
    differs = _differs(view, history, segments)
    bins = _bins(is_candidate, differs)
    tasks = list[NDArray[np.int64]]()
    for places in bins:
        if len(places) == 1 and not is_forced[places[0]]:
            reasons[places] = _why_alone(int(places[0]), is_candidate)
        else:
            tasks += _split(places, live[places], options.target_rows_per_fragment)
    taken, refusal = _within_budget(history, tasks, live, options)
    for task in tasks[len(taken) :]:
        reasons[task] = REASONS.index("over_budget")
    if refusal is None and not is_known.all():
        refusal = "the rows of some fragments are not known without reading their files"
    return CompactionPlan(options, taken, reasons, segments, refusal)


_MOST_OVERLAYS = 10
"""A fragment with more overlays is rewritten."""


def _differs(
    view: HistoryView | None, history: History, segments: Sequence[IndexMetadata]
) -> _Flags:
    """Return for each fragment whether other segments cover it than its predecessor."""
    ids = history.states.ids
    differs = np.zeros(len(ids), dtype=np.bool_)
    if not segments:
        return differs
    reuse = () if view is None else fragment_reuse(view, history.records[0])
    for segment in segments:
        covered = _covered(view, segment)
        if reuse:
            covered = np.array(sorted(carried_over(covered.tolist(), reuse)), dtype=np.uint64)
        is_covered = np.isin(ids, covered)
        differs[1:] |= is_covered[1:] != is_covered[:-1]
    return differs


def _covered(view: HistoryView | None, segment: IndexMetadata) -> NDArray[np.uint64]:
    """Return the fragments that a segment covers; all of its time if it does not record them."""
    fragments = segment.fragment_ids()
    if fragments is not None:
        return np.array(fragments.to_array(), dtype=np.uint64)
    try:
        then = None if view is None else view.version(segment.dataset_version)
    except LanceExplorerError:
        then = None
    if then is None:
        return np.empty(0, dtype=np.uint64)
    highest = then.records[0].manifest.max_fragment_id
    return np.arange(0 if highest is None else highest + 1, dtype=np.uint64)


def _bins(is_candidate: _Flags, differs: _Flags) -> list[NDArray[np.int64]]:
    """Return the positions of candidates that may be rewritten together."""
    places = np.flatnonzero(is_candidate)
    if not len(places):
        return []
    begins = (np.diff(places, prepend=-2) != 1) | differs[places]
    return np.split(places, np.flatnonzero(begins)[1:])


def _why_alone(place: int, is_candidate: _Flags) -> int:
    beside = [other for other in (place - 1, place + 1) if 0 <= other < len(is_candidate)]
    is_walled = any(is_candidate[other] for other in beside)
    return REASONS.index("walled_in_by_index" if is_walled else "alone")


def _split(
    places: NDArray[np.int64], rows: NDArray[np.int64], target: int
) -> list[NDArray[np.int64]]:
    """Return the tasks into which neighbours are divided."""
    sums = np.cumsum(rows)
    total, before, begin = int(sums[-1]), 0, 0
    parts = list[NDArray[np.int64]]()
    while True:
        end = int(np.searchsorted(sums, before + target)) + 1
        if end >= len(rows) or total - int(sums[end - 1]) < target:
            return [*parts, places[begin:]]
        parts.append(places[begin:end])
        before, begin = int(sums[end - 1]), end


def _within_budget(
    history: History,
    tasks: list[NDArray[np.int64]],
    live: NDArray[np.int64],
    options: CompactionOptions,
) -> tuple[list[NDArray[np.int64]], str | None]:
    """Return the tasks before the first that exceeds a budget, and why Lance would refuse."""
    limits = (options.max_source_fragments, options.max_source_rows, options.max_source_bytes)
    if limits == (None, None, None):
        return tasks, None
    sums = [0, 0, 0]
    for number, task in enumerate(tasks):
        size = 0
        if options.max_source_bytes is not None:
            num_bytes = _source_bytes(history, task)
            if num_bytes is None:
                return [], "max_source_bytes is given, and the size of a data file is not recorded"
            size = num_bytes
        sums = [
            have + more
            for have, more in zip(sums, (len(task), int(live[task].sum()), size), strict=True)
        ]
        if any(most is not None and have > most for have, most in zip(sums, limits, strict=True)):
            return tasks[:number], None
    return tasks, None


def _source_bytes(history: History, places: NDArray[np.int64]) -> int | None:
    """Return the bytes of the data files that a task reads; None if one is unknown."""
    known = {field.id for field in history.records[0].schema}
    total = 0
    for place in places.tolist():
        for file in history.states[place].all_files:
            if known.isdisjoint(file.fields):
                continue
            if file.size_bytes is None:
                return None
            total += file.size_bytes
    return total
