"""What the fragments of a version would gain from compaction, and where deleted rows remain."""

from collections.abc import Iterator

import numpy as np

from lance_explorer.disk.compaction import (
    CompactionOptions,
    compaction_options,
    plan_compaction,
)
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.frames.sizes import byte_size, counted, percent
from lance_explorer.history.history import History
from lance_explorer.history.view import HistoryView

__all__ = [
    "LARGE_DELETED_BYTES",
    "MANY_DELETED_ROWS",
    "MANY_SPARE_FRAGMENTS",
    "SOME_SPARE_FRAGMENTS",
    "SPREAD_DELETED_SHARE",
    "compaction_counts",
    "compaction_settings",
    "deleted_rows",
    "fragments_without_columns",
    "id_limits",
    "small_fragments",
]

SOME_SPARE_FRAGMENTS = 20
"""The fewest fragments saved by a compaction that are worth knowing."""

MANY_SPARE_FRAGMENTS = 100
"""The fewest that are worth a warning: every scan opens each, every manifest lists each."""

MANY_DELETED_ROWS = 10_000
"""The fewest deleted rows in files that are worth knowing: a scan reads them, and drops them."""

LARGE_DELETED_BYTES = 100_000_000
"""Fewer of them are worth knowing if they take about this many bytes."""

SPREAD_DELETED_SHARE = 0.02
"""The share of deleted rows that a compaction skips and that is worth knowing."""

_HALF_OF_IDS = 1 << 31
_COMPACT = "dataset.optimize.compact_files()"


def compaction_settings(history: History) -> CompactionOptions:
    """Return what ``compact_files()`` without arguments does to the version of a history.

    If Lance refuses the config of the table, these are its defaults.
    """
    try:
        return compaction_options(history, {})
    except InvalidArgumentError:
        return CompactionOptions()


def compaction_counts(history: History, view: HistoryView | None = None) -> tuple[int, int]:
    """Return how many fragments a compaction would rewrite, and about how many it would make.

    With ``view``, the coverage of indices considers deferred compactions.
    """
    settings = compaction_settings(history)
    tasks = plan_compaction(view, history, settings).tasks
    live, target = history.live_rows, settings.target_rows_per_fragment
    return sum(map(len, tasks)), sum([-(-int(live[task].sum()) // target) for task in tasks])


def fragments_without_columns(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find fragments none of whose files has a column of the schema, which pylance cannot read.

    That happens if columns of nulls were added, which no file has, and all others dropped.
    """
    fields = [field.id for field in history.records[0].schema]
    states = np.flatnonzero(~history.states.have_fields(fields)).tolist()
    if not states:
        return
    version, first = history.records[0].version, history.states[states[0]]
    rows = [history.live_rows[state] for state in states]
    total = None if min(rows) < 0 else int(sum(rows))
    lost = "" if total is None else f": {counted(total, 'row')} of nulls cannot be read"
    more = f" and {len(states) - 1:,} more" if len(states) > 1 else ""
    whole = _last_with_columns(view)
    yield Finding(
        "fragments_without_columns",
        f"no data file of fragment {first.id}{more} has a column of version {version}{lost}",
        subject=Subject("fragment", str(first.id)),
        versions=(version, version),
        remedy=Remedy(
            f"Go back to version {whole}, which drops what was committed since",
            f"dataset.checkout_version({whole}).restore()",
            f"dataset.checkout_version({version}).restore()",
        )
        if whole
        else None,
        rows=total,
    )


def _last_with_columns(view: HistoryView) -> int | None:
    """Return the newest version in which each fragment has a file with a column of the schema."""
    history = view.history
    for position in range(len(history) - 1, -1, -1):
        record = history.records[position]
        has = history.states.have_fields([field.id for field in record.schema])
        if has[history.states_at(position)].all() and not record.file.is_recorded:
            return record.version
    return None


def small_fragments(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find out how many fragments a compaction would save."""
    target = compaction_settings(history).target_rows_per_fragment
    before, after = compaction_counts(history, view)
    if before - after < SOME_SPARE_FRAGMENTS:
        return
    yield Finding(
        "small_fragments",
        f"{before:,} of {len(history.states):,} fragments are small or hold many deleted "
        f"rows; compacted they are about {after:,} (the aim is {target:,} rows each)",
        versions=_version(history),
        remedy=Remedy("Write larger batches from the start, and compact", _COMPACT),
        is_mild=before - after < MANY_SPARE_FRAGMENTS,
    )


def deleted_rows(_: HistoryView, history: History) -> Iterator[Finding]:
    """Find deleted rows in files: those that a compaction drops, and those that it does not."""
    threshold = compaction_settings(history).materialize_deletions_threshold
    is_over = _deleted_share(history) > threshold
    yield from _held(
        history,
        is_over,
        "deleted_rows",
        f"more than {percent(threshold)} of their rows",
        Remedy(
            "Write these fragments without the deleted rows (a cleanup, as "
            "table.cleanup_preview() shows it, then removes the old files)",
            _COMPACT,
        ),
    )
    physical, deleted = history.states.physical_rows, history.num_deleted_rows
    is_under = ~is_over & (deleted > 0)
    share = deleted[is_under].sum() / max(1, physical[physical > 0].sum())
    if share < SPREAD_DELETED_SHARE:
        return
    yield from _held(
        history,
        is_under,
        "spread_deleted_rows",
        f"at most {percent(threshold)} of their rows each, so that a compaction skips them",
        Remedy(
            "Remove these rows, too",
            "dataset.optimize.compact_files(materialize_deletions_threshold=0)",
        ),
    )


def _held(
    history: History,
    which: np.ndarray,
    code: str,
    how: str,
    remedy: Remedy,
) -> Iterator[Finding]:
    """Report the deleted rows in some fragments if they are many, or large."""
    deleted = np.where(which, history.num_deleted_rows, 0)
    sizes = np.maximum(history.states.data_bytes, 0)
    held = int((sizes * np.where(which, _deleted_share(history), 0)).sum())
    total = int(deleted.sum())
    if total < MANY_DELETED_ROWS and held < LARGE_DELETED_BYTES:
        return
    worst = history.states[int(deleted.argmax())]
    size = f", about {byte_size(held)} of data," if held else ""
    yield Finding(
        code,
        f"{total:,} deleted rows{size} are kept in {int(which.sum()):,} of "
        f"{len(history.states):,} fragments: {how}; most in fragment {worst.id}, "
        f"{int(deleted.max()):,} of {worst.physical_rows:,} rows",
        subject=Subject("fragment", str(worst.id)),
        versions=_version(history),
        remedy=remedy,
        rows=total,
    )


def _version(history: History) -> tuple[int, int]:
    return history.records[0].version, history.records[0].version


def id_limits(_: HistoryView, history: History) -> Iterator[Finding]:
    """Find numbers near the limit of 32 bits that a row address has for them."""
    record = history.records[0]
    highest = record.manifest.max_fragment_id
    if highest is not None and highest >= _HALF_OF_IDS:
        yield Finding(
            "fragment_ids_run_out",
            f"the highest fragment ID is {highest:,} of {2**32 - 1:,}",
            versions=_version(history),
        )
    rows = history.states.physical_rows
    if len(rows) and rows.max() >= _HALF_OF_IDS:
        largest = history.states[int(rows.argmax())]
        yield Finding(
            "fragment_too_large",
            f"fragment {largest.id} has {largest.physical_rows:,} rows; offsets and deletion files "
            f"end at {2**32:,}",
            subject=Subject("fragment", str(largest.id)),
            versions=_version(history),
        )


def _deleted_share(history: History) -> np.ndarray:
    """Return the deleted fraction of each fragment; 0 if unknown."""
    physical, deleted = history.states.physical_rows, history.num_deleted_rows
    is_known = (physical > 0) & (deleted >= 0)
    return np.where(is_known, deleted / np.maximum(physical, 1), 0.0)
