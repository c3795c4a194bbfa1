"""The version that created each row, also where a writer stored a wrong one.

Releases 1.0.4 and 4.0.2 write 1 for all rows of a fragment that an update or a merge makes, and
compactions of any release carry it on; 8.0.1 writes what is right (docs/FORMAT.md 11). Row IDs are
given out in ascending order, so the next row ID of each version tells when a row was created.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import FormatError, NotFoundError
from lance_explorer.format.flags import STABLE_ROW_IDS
from lance_explorer.format.manifest import WriterVersion
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.ancestors import parent_of
from lance_explorer.history.history import History, VersionRecord
from lance_explorer.history.listing import FIRST_DETACHED
from lance_explorer.history.view import HistoryView

__all__ = ["CREATED_AT_SOURCE", "created_at", "is_faulty"]

CREATED_AT_SOURCE = pl.Enum(["file", "history"])
"""What tells the version: the fragment itself, or the next row IDs of the kept versions."""

_WRONG = 1
"""What a faulty writer stores, whatever is true."""

_FAULTY_FROM, _SOUND_FROM = (1,), (8,)
"""Releases that may store it. Only 1.0.4, 4.0.2 and 8.0.1 were tried; where it began is unknown."""

_Mask = NDArray[np.bool_]
_Numbers = NDArray[np.uint64]


def created_at(view: HistoryView, version: int, rows: pl.DataFrame) -> tuple[pl.Series, pl.Series]:
    """Return the version that created each row, and what tells it.

    The history is looked at only if a fragment may be wrong, or stores no such version.

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
    line = _Line.to(view, version)
    unproven[unproven] = line.is_faulty_at(updated[unproven])
    asked = wrong | missing | unproven
    created = stored.fill_null(0).to_numpy(writable=True)
    told = ~missing
    created[asked], told[asked] = line.creation(ids[asked])
    return pl.Series(stored.name, created).set(pl.Series(~told), None)


def _can_be_wrong(first: VersionRecord, rows: pl.DataFrame) -> bool:
    """Tell, at little cost, whether a stored version may be wrong; ``first`` is the first kept."""
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
class _Line:
    """The kept versions that one version comes from, oldest first.

    ``exact`` says whether a row ID that is new in one was given out by it: the version that it was
    made from is kept too, and it is no restore, which gives none. ``faulty`` says which were
    written by a release that stores wrong versions.
    """

    versions: _Numbers
    next_row_ids: _Numbers
    exact: _Mask
    faulty: _Mask

    @classmethod
    def to(cls, view: HistoryView, version: int) -> "_Line":
        records, exact = list[VersionRecord](), list[bool]()
        place: _Place | None = _Place(view, view.history, view.history.position(version))
        while place is not None:
            records.append(place.record)
            place, is_exact = place.before()
            exact.append(is_exact)
        manifests = [record.manifest for record in reversed(records)]
        next_row_ids = np.array([manifest.next_row_id for manifest in manifests], dtype=np.uint64)
        return cls(
            np.array([manifest.version for manifest in manifests], dtype=np.uint64),
            np.maximum.accumulate(next_row_ids),
            np.array(exact[::-1], dtype=np.bool_),
            np.array([is_faulty(manifest.writer) for manifest in manifests], dtype=np.bool_),
        )

    def creation(self, ids: _Numbers) -> tuple[_Numbers, _Mask]:
        """Return the versions that gave out some row IDs, and for which of them that is known."""
        place = np.searchsorted(self.next_row_ids, ids, side="right")
        told = np.append(self.exact, False)[place]
        return np.append(self.versions, np.uint64(0))[place], told

    def is_faulty_at(self, versions: _Numbers) -> _Mask:
        """Return whether some versions, or the kept ones next to them, were written wrongly."""
        place = np.minimum(np.searchsorted(self.versions, versions), len(self.versions) - 1)
        return self.faulty[place]


@dataclass(frozen=True, slots=True)
class _Place:
    """One version in a history."""

    view: HistoryView
    history: History
    position: int

    @property
    def record(self) -> VersionRecord:
        return self.history.records[self.position]

    def before(self) -> tuple["_Place | None", bool]:
        """Return the last kept version that this one comes from, and whether it added to it alone.

        None stands for no version: the second says whether it added to the empty table.
        """
        record = self.record
        if record.operation == OperationName.RESTORE:
            return self._restored()
        if record.operation == OperationName.CLONE and self.position == 0:
            return self._on_parent(record.version)
        return self._last_kept(record.version - 1)

    def _restored(self) -> tuple["_Place | None", bool]:
        version = self.record.restored_version
        if version is None or not version < self.record.version:
            return None, False
        return self._last_kept(version)[0], False

    def _on_parent(self, version: int) -> tuple["_Place | None", bool]:
        place = parent_of(self.view)
        if place is None:
            return None, False
        history = place.view.history
        return _Place(place.view, history, len(history))._last_kept(version)

    def _last_kept(self, version: int) -> tuple["_Place | None", bool]:
        """Return the last kept version up to a given one, and whether it is that one."""
        end = int(np.searchsorted(self.history.versions, np.uint64(version), side="right"))
        if end == 0:
            return None, version == 0
        found = _Place(self.view, self.history, end - 1)
        return found, found.record.version == version


def is_faulty(writer: WriterVersion | None) -> bool:
    """Return whether a release may store wrong row versions in what it writes."""
    release = _release(writer)
    return release is not None and _FAULTY_FROM <= release < _SOUND_FROM


def _may_be_faulty(oldest: WriterVersion | None) -> bool:
    """Whether a table may have been written wrongly; releases only go up."""
    release = _release(oldest)
    return release is None or release < _SOUND_FROM


def _release(writer: WriterVersion | None) -> tuple[int, ...] | None:
    try:
        return tuple([int(part) for part in writer.version.split(".")]) if writer else None
    except ValueError:
        return None
