"""Checks of the row-ID counter: its values in manifests, compared with the row IDs."""

from collections.abc import Iterator
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from lance_explorer.findings import Cause, Finding, Subject
from lance_explorer.format.flags import STABLE_ROW_IDS, unreadable_flags
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.history import History, VersionRecord

__all__ = [
    "commit_text",
    "falls",
    "ids_beyond",
    "ids_unused",
    "is_stable",
    "many",
    "not_checked",
    "switches",
]


def not_checked(history: History) -> Iterator[Finding]:
    """Yield a finding if there are versions with unreadable rows."""
    unknown = [r for r in history.records if unreadable_flags(r.manifest.reader_feature_flags)]
    if unknown:
        flags = 0
        for record in unknown:
            flags |= record.manifest.reader_feature_flags
        yield Finding(
            "rows_not_checked",
            f"rows of {many(len(unknown), 'version')} cannot be checked: unknown feature "
            f"{', '.join(unreadable_flags(flags))}",
            versions=(unknown[0].version, unknown[-1].version),
        )


_SWITCHED = {
    "on": "Rows before have no row ID: they are known by address, and followed over this version.",
    "off": "Row IDs before and after do not mean the same rows.",
}
"""What that means for rows."""


def switches(history: History) -> Iterator[Finding]:
    """Yield where stable row IDs were turned on or off."""
    for before, record in zip(history.records, history.records[1:], strict=False):
        if is_stable(before) != is_stable(record):
            word = "on" if is_stable(record) else "off"
            yield Finding(
                "stable_row_ids_switched",
                f"stable row IDs are {word} from here on, unlike in version {before.version}",
                **_of(record),
                consequence=_SWITCHED[word],
            )


def falls(history: History) -> Iterator[Finding]:
    """Yield where the next row ID fell, so that IDs may be assigned again."""
    for before, record in zip(history.records, history.records[1:], strict=False):
        high, low = before.manifest.next_row_id, record.manifest.next_row_id
        if is_stable(before) and is_stable(record) and low < high:
            is_restore = record.operation == OperationName.RESTORE
            cause = Cause("restores by releases up to 8.0.1 do this; write with 12.0.0 or later")
            yield Finding(
                "next_row_id_fell",
                f"next_row_id fell from {high} to {low} in {commit_text(record)}",
                **_of(record),
                causes=(cause,) if is_restore else (),
            )


def ids_beyond(history: History, stops: NDArray[np.uint64]) -> Iterator[Finding]:
    """Yield the fragment states with row IDs that their version has not assigned.

    That is checked where a state was added and where the next row ID fell.

    Parameters
    ----------
    history : History
        The versions.
    stops : NDArray[np.uint64]
        For each state, the row ID after its highest one; 0 if it has none.
    """
    nexts = np.array([r.manifest.next_row_id for r in history.records], dtype=np.uint64)
    fallen = np.flatnonzero(nexts[1:] < nexts[:-1]) + 1
    keys, first, last = history.intervals.keys, history.intervals.first, history.intervals.last
    for places, positions in [
        (np.arange(len(keys)), first),
        *[(np.flatnonzero((first < p) & (p <= last)), np.full(len(keys), p)) for p in fallen],
    ]:
        wrong = places[stops[keys[places]] > nexts[positions[places]]]
        for place in wrong.tolist():
            record = history.records[positions[place]]
            yield Finding(
                "row_id_beyond_next",
                f"the fragment has row ID {stops[keys[place]] - np.uint64(1)}, though next_row_id "
                f"is {record.manifest.next_row_id}",
                subject=Subject("fragment", str(history.states[keys[place]].id)),
                versions=(record.version, record.version),
            )


def ids_unused(history: History, num_new: dict[int, int | None]) -> Iterator[Finding]:
    """Yield where the next row ID rose by more than the number of new rows.

    Parameters
    ----------
    history : History
        The versions.
    num_new : dict of int to int or None
        How many of the row IDs given out by a version, by its position, are in its fragments; None
        where that cannot be told. Positions at which no fragment changed are left out.
    """
    low = 0
    for position, record in enumerate(history.records):
        high, used = record.manifest.next_row_id, num_new.get(position, 0)
        if history.follows_previous[position] and used is not None and used < high - low:
            yield Finding(
                "row_ids_unused",
                f"next_row_id rose from {low} to {high} in {commit_text(record)}, but only "
                f"{many(used, 'row')} got new IDs: {high - low - used} are reserved or unused",
                **_of(record),
            )
        low = high


class _Of(TypedDict):
    subject: Subject
    versions: tuple[int, int]


def _of(record: VersionRecord) -> _Of:
    version = record.version
    return {"subject": Subject("version", str(version)), "versions": (version, version)}


def is_stable(record: VersionRecord) -> bool:
    """Whether a version has stable row IDs."""
    return bool(record.manifest.reader_feature_flags & STABLE_ROW_IDS)


def many(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural if necessary."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def commit_text(record: VersionRecord) -> str:
    """Return a version with its commit."""
    return (
        f"version {record.version} ({record.operation or 'operation unknown'}, {_writer(record)})"
    )


def _writer(record: VersionRecord) -> str:
    writer = record.manifest.writer
    return f"{writer.library} {writer}" if writer else "an unknown writer"
