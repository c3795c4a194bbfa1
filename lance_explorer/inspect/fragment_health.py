"""What the fragments of a version would gain from compaction, and where deleted rows are kept."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lance_explorer.findings import Finding, Severity
from lance_explorer.format.indices import SYSTEM_INDICES
from lance_explorer.frames.sizes import byte_size
from lance_explorer.history.history import History
from lance_explorer.history.source import TableSource
from lance_explorer.inspect.indices import covered_fragments

__all__ = [
    "LARGE_DELETED_BYTES",
    "MANY_DELETED_ROWS",
    "MANY_SPARE_FRAGMENTS",
    "SOME_SPARE_FRAGMENTS",
    "SPREAD_DELETED_SHARE",
    "CompactionSettings",
    "compaction_counts",
    "compaction_settings",
    "deleted_rows",
    "id_limits",
    "small_fragments",
]

SOME_SPARE_FRAGMENTS = 20
"""So many fragments fewer after a compaction are worth knowing."""

MANY_SPARE_FRAGMENTS = 100
"""So many are worth a warning: every scan opens each, every manifest lists each."""

MANY_DELETED_ROWS = 10_000
"""So many deleted rows in files are worth knowing: a scan reads them, and drops them."""

LARGE_DELETED_BYTES = 100_000_000
"""Fewer of them are worth knowing if they take about so many bytes."""

SPREAD_DELETED_SHARE = 0.02
"""Deleted rows that a compaction passes over are worth knowing from this part of all rows on."""

_HALF_OF_IDS = 1 << 31

_CONFIG = "lance.compaction."


@dataclass(frozen=True, slots=True)
class CompactionSettings:
    """What ``compact_files()`` aims at without arguments: its defaults, or the table's config.

    Attributes
    ----------
    target_rows : int
        Fragments with fewer rows are joined with their neighbours.
    threshold : float
        Fragments more of which is deleted are written anew.
    """

    target_rows: int = 1024 * 1024
    threshold: float = 0.1


def compaction_settings(history: History) -> CompactionSettings:
    """Return the settings of the first version of a history."""
    config = dict(history.records[0].manifest.config)
    default = CompactionSettings()
    try:
        return CompactionSettings(
            int(config.get(f"{_CONFIG}target_rows_per_fragment", default.target_rows)),
            float(config.get(f"{_CONFIG}materialize_deletions_threshold", default.threshold)),
        )
    except ValueError:
        return default


def compaction_counts(history: History) -> tuple[int, int]:
    """Return how many fragments a compaction would write anew, and about how many it would make."""
    settings = compaction_settings(history)
    bins = [found for found in _bins(history, settings) if not found.is_noop]
    before = sum([found.num_fragments for found in bins])
    return before, sum([-(-found.num_rows // settings.target_rows) for found in bins])


def small_fragments(_: TableSource, history: History) -> Iterator[Finding]:
    """Find out how many fragments a compaction would do away with."""
    settings = compaction_settings(history)
    before, after = compaction_counts(history)
    if before - after < SOME_SPARE_FRAGMENTS:
        return
    severity: Severity = "warning" if before - after >= MANY_SPARE_FRAGMENTS else "info"
    yield Finding(
        code="small_fragments",
        severity=severity,
        message=f"{before:,} of {len(history.states):,} fragments are small or hold many deleted "
        f"rows; compacted they are about {after:,} (the aim is {settings.target_rows:,} rows each)",
        advice="Call dataset.optimize.compact_files(); write larger batches from the start.",
        version=history.records[0].version,
    )


@dataclass(slots=True)
class _Bin:
    """Neighbouring fragments that a compaction writes together."""

    num_fragments: int
    num_rows: int
    is_forced: bool

    @property
    def is_noop(self) -> bool:
        return self.num_fragments == 1 and not self.is_forced


def _bins(history: History, settings: CompactionSettings) -> list[_Bin]:
    """Return what a compaction would write together: fragments under the same indices alone."""
    indices = history.records[0].indices
    segments = [covered_fragments(s) for s in indices if s.name not in SYSTEM_INDICES]
    physical, live = history.states.physical_rows, history.live_rows
    is_small = physical < settings.target_rows
    is_forced = _deleted_share(history) > settings.threshold
    places = np.flatnonzero((is_small | is_forced) & (live >= 0))
    if not len(places):
        return []
    begins = np.diff(places, prepend=-2) != 1
    ids = history.states.ids[places]
    for covered in segments:
        if covered is not None:
            is_covered = np.isin(ids, np.array([*covered], dtype=np.uint64))
            begins[1:] |= is_covered[1:] != is_covered[:-1]
    starts = np.flatnonzero(begins)
    sums = [
        np.add.reduceat(values, starts).tolist()
        for values in (np.ones_like(places), live[places], is_forced[places].astype(np.int64))
    ]
    return [_Bin(count, rows, forced > 0) for count, rows, forced in zip(*sums, strict=True)]


def deleted_rows(_: TableSource, history: History) -> Iterator[Finding]:
    """Find deleted rows that files still hold: those a compaction drops, and those it does not."""
    settings = compaction_settings(history)
    is_over = _deleted_share(history) > settings.threshold
    yield from _held(
        history,
        is_over,
        "deleted_rows",
        "warning",
        f"more than {settings.threshold:.0%} of their rows",
        "Call dataset.optimize.compact_files(): it writes these fragments without the deleted "
        "rows. dataset.cleanup_old_versions() then removes the old files.",
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
        "info",
        f"at most {settings.threshold:.0%} of their rows each, so that a compaction skips them",
        "Call dataset.optimize.compact_files(materialize_deletions_threshold=0) to remove these "
        "rows, too.",
    )


def _held(
    history: History,
    which: np.ndarray,
    code: str,
    severity: Severity,
    how: str,
    advice: str,
) -> Iterator[Finding]:
    """Tell of the deleted rows in some fragments if they are many, or large."""
    deleted = np.where(which, history.num_deleted_rows, 0)
    sizes = np.maximum(history.states.data_bytes, 0)
    held = int((sizes * np.where(which, _deleted_share(history), 0)).sum())
    total = int(deleted.sum())
    if total < MANY_DELETED_ROWS and held < LARGE_DELETED_BYTES:
        return
    worst = history.states[int(deleted.argmax())]
    size = f", about {byte_size(held)} of data," if held else ""
    yield Finding(
        code=code,
        severity=severity,
        message=f"{total:,} deleted rows{size} are kept in {int(which.sum()):,} of "
        f"{len(history.states):,} fragments: {how}; most in fragment {worst.id}, "
        f"{int(deleted.max()):,} of {worst.physical_rows:,} rows",
        advice=advice,
        version=history.records[0].version,
        fragment_id=worst.id,
    )


def id_limits(_: TableSource, history: History) -> Iterator[Finding]:
    """Find numbers that come near to the 32 bits that a row address has for them."""
    record = history.records[0]
    highest = record.manifest.max_fragment_id
    if highest is not None and highest >= _HALF_OF_IDS:
        yield Finding(
            code="fragment_ids_run_out",
            severity="warning",
            message=f"the highest fragment ID is {highest:,} of {2**32 - 1:,}",
            advice="Rewrite the table with lance.write_dataset(): IDs are not reused.",
            version=record.version,
        )
    rows = history.states.physical_rows
    if len(rows) and rows.max() >= _HALF_OF_IDS:
        largest = history.states[int(rows.argmax())]
        yield Finding(
            code="fragment_too_large",
            severity="warning",
            message=f"fragment {largest.id} has {largest.physical_rows:,} rows; offsets and "
            f"deletion files end at {2**32:,}",
            advice="Write it in parts: lance.write_dataset(..., max_rows_per_file=...).",
            version=record.version,
            fragment_id=largest.id,
        )


def _deleted_share(history: History) -> np.ndarray:
    """Return the deleted part of each fragment; 0 where it is not known."""
    physical, deleted = history.states.physical_rows, history.num_deleted_rows
    is_known = (physical > 0) & (deleted >= 0)
    return np.where(is_known, deleted / np.maximum(physical, 1), 0.0)
