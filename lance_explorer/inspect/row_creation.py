"""The version that created each row, corrected if a writer stored a wrong one.

Releases 1.0.4 and 4.0.2 write 1 for all rows of a fragment that an update or a merge creates, and
compactions of any release copy it; 8.0.1 writes the right version (docs/FORMAT.md 11). Row IDs are
assigned in ascending order, so the next row ID of each version shows when a row was created.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.manifest import WriterVersion
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.ancestors import commits_behind
from lance_explorer.history.graph.commits import Commit, CommitKind, EdgeKind
from lance_explorer.history.graph.walks import CommitGraph
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.view import HistoryView

__all__ = ["CREATED_AT_SOURCE", "created_at", "is_faulty"]

CREATED_AT_SOURCE = pl.Enum(["file", "history"])
"""The source of the version: the fragment itself, or the next row IDs of the kept versions."""

_WRONG = 1
"""The version that a faulty writer stores, whatever is true."""

_FAULTY_FROM, _SOUND_FROM = (1,), (8,)
"""Releases that may store it. Only 1.0.4, 4.0.2 and 8.0.1 were tried; where it began is unknown."""

_Mask = NDArray[np.bool_]
_Numbers = NDArray[np.uint64]


def created_at(view: HistoryView, version: int, rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return the version that created each row, and its source.

    The history is read only if a fragment may be wrong, or stores no such version.

    Parameters
    ----------
    view : HistoryView
        The branch.
    version : int
        The version that the rows are of.
    rows : polars.DataFrame
        Rows with ``_rowid``, ``_row_created_at_version`` and ``_row_last_updated_at_version``.

    Returns
    -------
    created_at_version : polars.Series of UInt64
        Null where the versions that would tell are gone, and without stable row IDs.
    created_at_source : polars.Series of Enum
        ``file`` or ``history``; null where the version is.
    """
    stored = rows["_row_created_at_version"].rename("created_at_version")
    manifest = view.version(version).records[0].manifest
    created = stored
    if manifest.reader_feature_flags & STABLE_ROW_IDS and version < FIRST_DETACHED:
        created = _corrected(view, version, rows, stored)
    if created is stored and not stored.null_count():
        file = pl.Series("created_at_source", ["file"], dtype=CREATED_AT_SOURCE)
        return stored, file.new_from_index(0, len(stored))
    told_by = pl.select(
        pl.when(created.is_null())
        .then(None)
        .when(created.eq_missing(stored))
        .then(pl.lit("file", CREATED_AT_SOURCE))
        .otherwise(pl.lit("history", CREATED_AT_SOURCE))
        .alias("created_at_source")
    ).to_series()
    return created, told_by


def _corrected(view: HistoryView, version: int, rows: pl.DataFrame, stored: pl.Series) -> pl.Series:
    first = _first_kept(view)
    if not stored.null_count() and not _can_be_wrong(first, rows):
        return stored
    ids = rows["_rowid"].to_numpy()
    updated = rows["_row_last_updated_at_version"].fill_null(0).to_numpy()
    missing = stored.is_null().to_numpy()
    suspect = (stored == _WRONG).fill_null(False).to_numpy() & (updated != _WRONG)
    if not suspect.any() and not missing.any():
        return stored
    wrong = suspect & (ids >= np.uint64(first.manifest.next_row_id))
    unproven = suspect & ~wrong & (first.version > _WRONG)
    if not _may_be_faulty(first.manifest.writer):
        unproven[:] = False
    if not (wrong | missing | unproven).any():
        return stored
    line = _IdsGiven.to(view, version)
    unproven[unproven] = line.is_faulty_at(updated[unproven])
    asked = wrong | missing | unproven
    created = stored.fill_null(0).to_numpy(writable=True)
    is_known = ~missing
    created[asked], is_known[asked] = line.creation(ids[asked])
    return pl.Series(stored.name, created).set(pl.Series(~is_known), None)


def _can_be_wrong(first: VersionRecord, rows: pl.DataFrame) -> bool:
    """Tell cheaply whether a stored version may be wrong; ``first`` is the first kept one."""
    if first.version > _WRONG and _may_be_faulty(first.manifest.writer):
        return True
    suspect = (
        (pl.col("_row_created_at_version") == _WRONG)
        & (pl.col("_rowid") >= first.manifest.next_row_id)
    ).any()
    return bool(rows.select(suspect).item())


def _first_kept(view: HistoryView) -> VersionRecord:
    try:
        return view.version(view.listing.versions[0].version).records[0]
    except (FormatError, NotFoundError):
        return view.history.records[0]


@dataclass(frozen=True, slots=True)
class _IdsGiven:
    """The kept ancestors of one version, oldest first.

    ``exact`` says whether a row ID that is new in one was given out by it: the version that it was
    made from is kept too, and it is no restore, which gives none. ``faulty`` says which were
    written by a release that stores wrong versions.
    """

    versions: _Numbers
    next_row_ids: _Numbers
    exact: _Mask
    faulty: _Mask

    @classmethod
    def to(cls, view: HistoryView, version: int) -> "_IdsGiven":
        records, exact = list[VersionRecord](), list[bool]()
        behind = commits_behind(view)
        for commit in behind.graph.ancestors(behind.commit(view.branch, version)):
            if behind.graph.kind(commit) is CommitKind.DETACHED:
                break  # it assigned row IDs that ordinary commits assigned, too
            if behind.graph.can_be_read(commit):
                history = behind.histories[commit.branch]
                records.append(history.records[history.position(commit.version)])
                exact.append(_gives_all_new_ids(behind.graph, commit, records[-1]))
                edges = behind.graph.parents(commit)
                is_restore = records[-1].operation == OperationName.RESTORE
                if is_restore and edges and edges[0].kind is not EdgeKind.RESTORES:
                    break  # its transaction does not record the version that it went back to
        manifests = [record.manifest for record in reversed(records)]
        next_row_ids = np.array([manifest.next_row_id for manifest in manifests], dtype=np.uint64)
        return cls(
            np.array([manifest.version for manifest in manifests], dtype=np.uint64),
            np.maximum.accumulate(next_row_ids),
            np.array(exact[::-1], dtype=np.bool_),
            np.array([is_faulty(manifest.writer) for manifest in manifests], dtype=np.bool_),
        )

    def creation(self, ids: _Numbers) -> tuple[_Numbers, _Mask]:
        """Return the versions that assigned some row IDs, and for which of them that is known."""
        place = np.searchsorted(self.next_row_ids, ids, side="right")
        is_exact = np.append(self.exact, False)[place]
        return np.append(self.versions, np.uint64(0))[place], is_exact

    def is_faulty_at(self, versions: _Numbers) -> _Mask:
        """Return whether some versions, or the kept ones next to them, were written wrongly."""
        place = np.minimum(np.searchsorted(self.versions, versions), len(self.versions) - 1)
        return self.faulty[place]


def _gives_all_new_ids(graph: CommitGraph, commit: Commit, record: VersionRecord) -> bool:
    """Whether the parent of a version is kept, too, and the version is not a restore."""
    if record.operation == OperationName.RESTORE:
        return False
    edges = graph.parents(commit)
    if not edges:
        return record.operation != OperationName.CLONE
    return graph.can_be_read(edges[0].parent)


def is_faulty(writer: WriterVersion | None) -> bool:
    """Return whether a release may store wrong row versions in what it writes."""
    release = _release(writer)
    return release is not None and _FAULTY_FROM <= release < _SOUND_FROM


def _may_be_faulty(oldest: WriterVersion | None) -> bool:
    """Whether a table may have been written wrongly; releases only go up."""
    release = _release(oldest)
    return release is None or release < _SOUND_FROM


@lru_cache
def _release(writer: WriterVersion | None) -> tuple[int, ...] | None:
    try:
        return tuple([int(part) for part in writer.version.split(".")]) if writer else None
    except ValueError:
        return None
