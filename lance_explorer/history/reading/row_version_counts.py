"""How many rows one version created and changed, by the stored row versions.

Unlike a comparison with the previous version, that needs only the version itself.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from pyroaring import BitMap

from lance_explorer.format.fragments import Fragment, decode_fragment
from lance_explorer.format.manifest import fragment_messages
from lance_explorer.history.history import VersionRecord
from lance_explorer.history.reading.row_reader import FragmentReader
from lance_explorer.history.view import HistoryView
from lance_explorer.rowids.version_runs import RowVersionRuns

__all__ = ["OwnRows", "own_rows"]


@dataclass(frozen=True, slots=True)
class OwnRows:
    """Live rows that a version created, and older ones that it updated."""

    created: int
    changed: int


def own_rows(
    view: HistoryView, record: VersionRecord, fragments: Collection[Fragment]
) -> OwnRows | None:
    """Count the rows of some fragments of a version; None if one stores no row versions.

    Deletion files are read only for fragments that have such rows.
    """
    try:
        messages = fragment_messages(view.storage.get(record.file.path))
    except FileNotFoundError as error:
        raise view.missing_version(record.version) from error
    reader = FragmentReader(view, record)
    created = touched = 0
    for message in messages:
        fragment = decode_fragment(message)
        if fragment not in fragments:
            continue
        created_at, last_updated_at = reader.row_versions(fragment, message)
        if created_at is None or last_updated_at is None:
            return None
        if record.version in last_updated_at.versions:
            deleted = reader.deleted(fragment)
            created += _count(created_at, record.version, deleted)
            touched += _count(last_updated_at, record.version, deleted)
    return OwnRows(created, touched - created)


def _count(runs: RowVersionRuns, version: int, deleted: BitMap) -> int:
    live = runs.without(deleted)
    return int(live.counts[live.versions == np.uint64(version)].sum())
