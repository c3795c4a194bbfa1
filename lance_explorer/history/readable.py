"""Versions with readable rows.

All their reader flags are known, every fragment stores how many rows it has, and no two fragments
have one ID.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import CorruptFileError, UnsupportedFeatureError
from lance_explorer.format.flags import STABLE_ROW_IDS, unreadable_flags
from lance_explorer.format.fragments import Fragment
from lance_explorer.history.history import History, VersionRecord

__all__ = [
    "check_counted",
    "check_readable",
    "check_rows",
    "have_row_ids",
    "is_counted",
    "readable_history",
    "rows_history",
    "since_row_ids_went",
    "up_to",
]


def check_readable(record: VersionRecord) -> None:
    """Raise UnsupportedFeatureError if a reader flag of a version is not known."""
    flags = unreadable_flags(record.manifest.reader_feature_flags)
    if flags:
        raise UnsupportedFeatureError(
            f"rows of version {record.version} cannot be read: unknown feature {', '.join(flags)}"
        )


def check_counted(record: VersionRecord, fragment: Fragment) -> None:
    """Raise UnsupportedFeatureError if a fragment does not store how many rows it has."""
    if not is_counted(fragment):
        raise UnsupportedFeatureError(
            f"rows of version {record.version} cannot be read: fragment {fragment.id} does not "
            "store how many it has, as from writers up to 0.7; any commit by a newer release "
            "stores that, and read() works without it",
            record.file.path,
        )


def check_rows(history: History) -> None:
    """Check that the rows of a history of one version are readable.

    Raises
    ------
    UnsupportedFeatureError
        If a reader flag is unknown, or a fragment does not store how many rows it has.
    CorruptFileError
        If two fragments have the same ID.
    """
    record = history.records[0]
    check_readable(record)
    if record.version in history.duplicated:
        raise CorruptFileError("two fragments of the manifest have the same ID", record.file.path)
    for number in _uncounted(history).tolist():
        check_counted(record, history.states[number])


def is_counted(fragment: Fragment) -> bool:
    """Whether the number of rows of a fragment is known, directly or from its row IDs."""
    return fragment.physical_rows is not None or fragment.row_ids is not None


def readable_history(history: History) -> History:
    """Return the history without versions with unknown reader flags, as if they were not kept."""
    flags = {record.manifest.reader_feature_flags for record in history.records}
    unknown = {flag for flag in flags if unreadable_flags(flag)}
    if not unknown:
        return history
    flagged = [record.manifest.reader_feature_flags in unknown for record in history.records]
    return _without(history, np.array(flagged, dtype=np.bool_))


def rows_history(history: History) -> History:
    """Return the history without versions with unreadable rows, as if they were not kept."""
    readable = readable_history(history)
    uncounted = _uncounted(readable)
    if not len(uncounted) and not readable.duplicated:
        return readable
    left_out = np.isin(readable.versions, np.array([*readable.duplicated], dtype=np.uint64))
    intervals = readable.intervals
    for first, last in zip(
        *[ends[np.isin(intervals.keys, uncounted)] for ends in (intervals.first, intervals.last)],
        strict=True,
    ):
        left_out[first : last + 1] = True
    return _without(readable, left_out)


def since_row_ids_went(history: History) -> History:
    """Return the last versions of a history in which stable row IDs were never turned off.

    A restore of a version without them turns them off: row IDs before it mean nothing after.
    """
    stable = have_row_ids(history)
    went = np.flatnonzero(stable[:-1] & ~stable[1:])
    if not len(went):
        return history
    return _without(history, np.arange(len(stable)) <= went[-1])


def up_to(history: History, position: int) -> History:
    """Return the versions of a history up to one, given by its position."""
    return _without(history, np.arange(len(history.records)) > position)


def have_row_ids(history: History) -> NDArray[np.bool_]:
    """Return for each version whether it has stable row IDs."""
    flags = [record.manifest.reader_feature_flags & STABLE_ROW_IDS for record in history.records]
    return np.array(flags, dtype=np.bool_)


def _uncounted(history: History) -> NDArray[np.int64]:
    """Return the states with an unknown number of rows."""
    states = history.states
    return np.flatnonzero((states.physical_rows < 0) & (states.row_id_storage == 0))


def _without(history: History, left_out: np.ndarray) -> History:
    kept = np.flatnonzero(~left_out)
    return replace(
        history,
        records=tuple([history.records[position] for position in kept.tolist()]),
        intervals=history.intervals.only(kept),
    )
