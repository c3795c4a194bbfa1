"""Versions whose rows can be told: those of which every reader flag is known."""

from dataclasses import replace

import numpy as np

from lance_explorer.errors import UnsupportedFeatureError
from lance_explorer.format.flags import unreadable_flags
from lance_explorer.history.history import History, VersionRecord

__all__ = ["check_readable", "readable_history"]


def check_readable(record: VersionRecord) -> None:
    """Raise UnsupportedFeatureError if the rows of a version cannot be told."""
    flags = unreadable_flags(record.manifest.reader_feature_flags)
    if flags:
        raise UnsupportedFeatureError(
            f"rows of version {record.version} cannot be told: unknown feature {', '.join(flags)}"
        )


def readable_history(history: History) -> History:
    """Return the history without versions whose rows cannot be told, as if they were not kept."""
    flags = {record.manifest.reader_feature_flags for record in history.records}
    unknown = {flag for flag in flags if unreadable_flags(flag)}
    if not unknown:
        return history
    kept = [
        position
        for position, record in enumerate(history.records)
        if record.manifest.reader_feature_flags not in unknown
    ]
    return replace(
        history,
        records=tuple([history.records[position] for position in kept]),
        intervals=history.intervals.only(np.array(kept, dtype=np.int64)),
    )
