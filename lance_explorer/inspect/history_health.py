"""The cost of keeping versions: their number, their names, and rows that moved in them."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import polars as pl
from humanize import precisedelta

from lance_explorer.findings import Cause, Finding, Remedy, Subject
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.indices import SYSTEM_INDICES, IndexMetadata
from lance_explorer.format.operation_names import OperationName
from lance_explorer.frames.sizes import byte_size, counted
from lance_explorer.history.file_changes import InPlace, in_place
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.listing import VersionFile
from lance_explorer.history.steps import Step
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_health import compaction_counts
from lance_explorer.inspect.manifests import naming
from lance_explorer.inspect.versions import versions

__all__ = [
    "MANY_MOVED_ROWS",
    "MANY_VERSIONS",
    "MANY_WITHOUT_UPKEEP",
    "SOME_REBUILDS",
    "clocks",
    "compactions_not_committed",
    "index_rebuilds",
    "many_versions",
    "no_upkeep",
    "rewrites_untold",
    "unstable_row_ids",
    "v1_names",
]

MANY_VERSIONS = 1_000
"""The number of versions that is worth knowing: finding the latest may mean listing all."""

MANY_MOVED_ROWS = 1_000_000
"""The number of rows moved under indices that is worth knowing without stable row IDs."""


MANY_WITHOUT_UPKEEP = 100
"""The number of versions without a compaction and a cleanup that is worth knowing."""

SOME_REBUILDS = 3
"""The number of needless rebuilds of an index that is worth knowing."""

_SKEW = timedelta(seconds=2)
"""Clocks of several machines usually differ by this much."""

_LARGE_SKEW = timedelta(minutes=1)

_LONGEST_COMPACTION = timedelta(days=1)
"""A compaction that reserved IDs later may still be running."""

_WRITES_IN_PLACE = (
    OperationName.UPDATE,
    OperationName.MERGE,
    OperationName.DATA_REPLACEMENT,
)


def many_versions(view: HistoryView, _: History) -> Iterator[Finding]:
    """Find out whether there are many versions."""
    files = _live_files(view)
    if len(files) < MANY_VERSIONS:
        return
    size = sum([file.size_bytes for file in files])
    yield Finding(
        "many_versions",
        f"{len(files):,} versions are kept; their manifests take {byte_size(size)}",
    )


def v1_names(view: HistoryView, _: History) -> Iterator[Finding]:
    """Find out whether manifests have names of the older scheme."""
    files = _live_files(view)
    if "V1" not in [naming(file) for file in files]:
        return
    yield Finding(
        "v1_manifest_names",
        "the manifests have names of the older scheme, which do not sort latest first: finding the "
        f"latest of {len(files):,} versions in an object store means listing all of them",
        remedy=Remedy("While nobody else uses the table", "dataset.migrate_manifest_paths_v2()"),
    )


def clocks(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find versions whose times are before those of versions that were committed earlier."""
    wrong, most = list[tuple[int, int]](), timedelta(0)
    highest: tuple[datetime, int] | None = None
    for record in view.history.records:
        time = record.manifest.timestamp
        if time is None:
            continue
        if highest is not None and highest[0] - time > _SKEW:
            wrong.append((record.version, highest[1]))
            most = max(most, highest[0] - time)
        if highest is None or time > highest[0]:
            highest = time, record.version
    if wrong:
        version, before = wrong[-1]
        others = f", as {counted(len(wrong) - 1, 'other version')} did" if wrong[1:] else ""
        yield Finding(
            "clock_ran_back",
            f"version {version} was committed after version {before} and has an earlier time"
            f"{others}: by up to {_duration(most)}",
            subject=Subject("version", str(version)),
            versions=(wrong[0][0], version),
            is_mild=most < _LARGE_SKEW,
        )
    now = datetime.now(UTC)
    if highest is not None and highest[0] - now > _LARGE_SKEW:
        yield Finding(
            "clock_ahead",
            f"the time of version {highest[1]} is {_duration(highest[0] - now)} ahead",
            subject=Subject("version", str(highest[1])),
            versions=(highest[1], history.records[0].version),
        )


def _duration(time: timedelta) -> str:
    return precisedelta(time, minimum_unit="seconds", format="%0.0f")


def no_upkeep(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find out whether a table grew by many versions without a compaction or a cleanup."""
    records = view.history.records
    is_whole = records[0].version == 1 and records[-1].version == len(_live_files(view))
    is_compacted = any(record.operation == OperationName.REWRITE for record in records)
    if not is_whole or is_compacted or len(records) < MANY_WITHOUT_UPKEEP:
        return
    before, after = compaction_counts(history, view)
    if before <= after:
        return
    time = records[0].manifest.timestamp
    begin = f" since {time:%Y-%m-%d}" if time else ""
    yield Finding(
        "no_upkeep",
        f"{len(records):,} versions{begin}, and neither a compaction nor a cleanup: "
        f"{before:,} fragments would become about {after:,}",
        remedy=Remedy("Compact, and then clean up", "dataset.optimize.compact_files()"),
    )


def compactions_not_committed(view: HistoryView, _: History) -> Iterator[Finding]:
    """Find compactions that reserved fragment IDs but never committed."""
    waiting = list[VersionRecord]()
    for record, follows in zip(
        view.history.records, view.history.follows_previous.tolist(), strict=True
    ):
        if not follows:
            waiting.clear()  # missing versions may have committed them
        if record.operation == OperationName.RESERVE_FRAGMENTS:
            waiting.append(record)
        elif record.operation == OperationName.REWRITE:
            waiting = waiting[:-1]
    before = datetime.now(UTC) - _LONGEST_COMPACTION
    failed = [one for one in waiting if (one.manifest.timestamp or before) < before]
    if failed:
        last = failed[-1].version
        yield Finding(
            "compactions_not_committed",
            f"{counted(len(failed), 'compaction')} reserved fragment IDs and did not commit, the "
            f"last in version {last}",
            subject=Subject("version", str(last)),
            versions=(failed[0].version, last),
            causes=(
                Cause("a concurrent delete or update of the same fragments was committed"),
                Cause("the process ended"),
            ),
        )


def index_rebuilds(view: HistoryView, _: History) -> Iterator[Finding]:
    """Find indices that commits rebuilt without new rows to cover."""
    records, rebuilt = view.history.records, dict[str, list[int]]()
    for before, after in pairwise(records):
        if after.operation != OperationName.CREATE_INDEX or before.indices is after.indices:
            continue
        for name in {segment.name for segment in after.indices} - SYSTEM_INDICES:
            old, new = [
                [one for one in record.indices if one.name == name] for record in (before, after)
            ]
            is_same = {one.uuid for one in old} == {one.uuid for one in new}
            if old and not is_same and _what(old) == _what(new):
                rebuilt.setdefault(name, []).append(after.version)
    for name, versions_of in rebuilt.items():
        if len(versions_of) >= SOME_REBUILDS:
            yield Finding(
                "index_rebuilt_for_nothing",
                f"{len(versions_of):,} commits wrote the index {name!r} again, which covered the "
                "same fragments before",
                subject=Subject("index", name),
                versions=(versions_of[0], versions_of[-1]),
            )


def _what(segments: list[IndexMetadata]) -> tuple[object, ...]:
    """Return what segments cover, and how; a unique value if that is not stored."""
    covered = [segment.fragment_ids() for segment in segments]
    ids = {fragment for some in covered if some is not None for fragment in some}
    kinds = {(segment.fields, segment.details) for segment in segments}
    return (object(),) if None in covered else (ids, kinds)


def rewrites_untold(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find commits that wrote values in place, without new row versions."""
    if not history.records[0].manifest.reader_feature_flags & STABLE_ROW_IDS:
        return
    whole, versions = view.history, list[int]()
    sizes = whole.states.num_files, whole.states.data_bytes
    for position, record in enumerate(whole.records):
        if record.operation not in _WRITES_IN_PLACE or not whole.follows_previous[position]:
            continue
        step = Step(view, whole, position)
        for before, after in step.changed.values():
            if all(some[before] == some[after] for some in sizes):
                continue  # the same files: rows were deleted
            old, new = whole.states[before], whole.states[after]
            is_written = in_place(old, new, step.schemas) is InPlace.VALUES_DIFFER
            if is_written and old.last_updated_at == new.last_updated_at:
                versions.append(record.version)
                break
    if versions:
        yield Finding(
            "rewrites_untold",
            f"{counted(len(versions), 'commit')} wrote values in place and did not raise the "
            f"versions of rows, the last in version {versions[-1]}",
            subject=Subject("version", str(versions[-1])),
            versions=(versions[0], versions[-1]),
        )


def _live_files(view: HistoryView) -> list[VersionFile]:
    """Return the manifests that the table itself still has."""
    return [record.file for record in view.history.records if not record.file.is_recorded]


def unstable_row_ids(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find out whether indices had to follow many moved rows because row IDs are not stable."""
    record = history.records[0]
    indices = {segment.name for segment in record.indices} - SYSTEM_INDICES
    if record.manifest.reader_feature_flags & STABLE_ROW_IDS or not indices:
        return
    moves = versions(view).filter(pl.col("rows_moved") > 0)
    moved = int(moves["rows_moved"].sum())
    if moved < MANY_MOVED_ROWS:
        return
    commits = "1 commit" if len(moves) == 1 else f"{len(moves):,} commits"
    held = "an index" if len(indices) == 1 else f"{len(indices):,} indices"
    yield Finding(
        "unstable_row_ids",
        f"{commits} moved {moved:,} rows, and the table has {held}",
        rows=moved,
    )
