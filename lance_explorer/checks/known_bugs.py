"""Which findings are the work of a known bug: told by the release and operation that wrote them."""

from collections.abc import Mapping
from dataclasses import dataclass

from lance_explorer.errors import LanceExplorerError
from lance_explorer.findings import Finding
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.index_details import index_type
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.rewrites.reuse_history import carried_over, fragment_reuse
from lance_explorer.history.view import HistoryView

__all__ = ["KNOWN_BUGS", "KnownBug", "indices_left_behind", "known_bug", "release_of"]

_Release = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class KnownBug:
    """A bug of former releases of Lance that leaves damage in tables.

    Attributes
    ----------
    what : str
        What it does, and which rows it hits.
    codes : frozenset of str
        The findings that show its damage.
    operations : frozenset of OperationName
        The commits that do it; empty if any may, since compactions copy what is wrong.
    fixed_in : tuple of int
        The first release that is known not to have it.
    """

    what: str
    codes: frozenset[str]
    operations: frozenset[OperationName]
    fixed_in: _Release


KNOWN_BUGS = (
    KnownBug(
        "up to 8.0.1, a restore sets the next row ID back: rows inserted after it get IDs of rows "
        "that versions between had; fixed in 12.0.0",
        frozenset({"next_row_id_fell"}),
        frozenset({OperationName.RESTORE}),
        (12, 0, 0),
    ),
    KnownBug(
        "up to 8.0.1, a restore sets the next row ID back: rows inserted after it get IDs of rows "
        "that versions between had; fixed in 12.0.0",
        frozenset({"row_ids_reused"}),
        frozenset(),
        (12, 0, 0),
    ),
    KnownBug(
        "1.0.4 and 4.0.2 do not set the version that created the rows of an update or upsert: it "
        "is 1 for all of them, inserted ones too; fixed in 8.0.1",
        frozenset({"created_at_wrong"}),
        frozenset(),
        (8, 0, 1),
    ),
)
"""The bugs that can be told from their release. That of indices is told from the commit."""

_ZONES_LEFT_BEHIND = (
    "lance#8076: with stable row IDs, a compaction by 4.0.1 to 10.0.0 leaves zone maps and bloom "
    "filters with nothing of what it wrote, and searches through them find none of these rows "
    "(version {}, by Lance {})"
)
_ZONED = ("ZONE_MAP", "BLOOM_FILTER")
_ZONES_LEFT_BY = ((4, 0, 1), (10, 0, 0))

_LEFT_BEHIND = (
    "a compaction that left this index behind: it still lists fragments that the compaction "
    "removed, and none that it wrote"
)


def release_of(record: VersionRecord) -> _Release | None:
    """Return the release of Lance that wrote a version; None if it is not told."""
    writer = record.manifest.writer
    if writer is None or writer.library != "lance":
        return None
    parts = writer.version.split(".")
    if len(parts) < 3 or not all(part.isdecimal() for part in parts[:3]):
        return None
    return int(parts[0]), int(parts[1]), int(parts[2])


def known_bug(
    view: HistoryView, finding: Finding, left_behind: Mapping[str, tuple[int, str]]
) -> str | None:
    """Return which known bug a finding shows; None if none is known to do that.

    Parameters
    ----------
    view : HistoryView
        The branch.
    finding : Finding
        The finding.
    left_behind : mapping
        What :func:`indices_left_behind` returns.
    """
    if finding.code == "index_covers_nothing":
        return left_behind.get(finding.subject.name, (0, None))[1]
    if finding.code == "index_misses_rows":
        return _zones_left_behind(view, finding.subject.name)
    history, version = view.history, finding.first_version
    if version is None or version not in history:
        return None
    record = history.records[history.position(version)]
    release = release_of(record)
    for bug in KNOWN_BUGS:
        fits = finding.code in bug.codes and release is not None and release < bug.fixed_in
        if fits and (not bug.operations or record.operation in bug.operations):
            return bug.what
    return None


def _zones_left_behind(view: HistoryView, name: str) -> str | None:
    """Return which compaction left a zone map or a bloom filter behind; None if none did."""
    records = view.history.records
    uuids = {
        one.uuid for one in records[-1].indices if one.name == name and index_type(one) in _ZONED
    }
    first, last = _ZONES_LEFT_BY
    for record in reversed(records):
        if uuids.isdisjoint([one.uuid for one in record.indices]):
            return None
        release = release_of(record)
        is_stable = bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)
        is_rewrite = record.operation == OperationName.REWRITE
        if is_rewrite and is_stable and release is not None and first <= release <= last:
            return _ZONES_LEFT_BEHIND.format(record.version, ".".join(map(str, release)))
    return None


def indices_left_behind(view: HistoryView) -> Mapping[str, tuple[int, str]]:
    """Return indices that a compaction left behind: the version that did, and what to say.

    It is the first version without any fragment that the index covers; its commit must be a
    compaction, which keeps all rows, and so should have kept them in the index.
    """
    history = view.history
    found: dict[str, tuple[int, str]] = {}
    if not len(history):
        return found
    last = len(history) - 1
    for name in {segment.name for segment in history.records[last].indices}:
        lost_at = None
        for position in range(last, -1, -1):
            if name not in {segment.name for segment in history.records[position].indices}:
                break
            if _covers_any(view, position, name):
                break
            lost_at = position
        if not lost_at or history.records[lost_at].operation != OperationName.REWRITE:
            continue
        if not _covers_any(view, lost_at - 1, name):
            continue
        release = release_of(history.records[lost_at])
        writer = "" if release is None else f", by Lance {'.'.join(map(str, release))}"
        version = history.records[lost_at].version
        found[name] = version, f"{_LEFT_BEHIND} (version {version}{writer})"
    return found


def _covers_any(view: HistoryView, position: int, name: str) -> bool:
    """Return whether an index covers any fragment of a version; unknown counts as yes."""
    history = view.history
    record = history.records[position]
    live = set(history.states.ids[history.intervals.at(position)].tolist())
    for segment in record.indices:
        if segment.name != name:
            continue
        try:
            covered = segment.fragment_ids()
            if covered is None:
                return True
            ids = carried_over(covered, fragment_reuse(view, record))
        except LanceExplorerError:
            return True
        if not live.isdisjoint(ids):
            return True
    return False
