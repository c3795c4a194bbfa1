"""The known bugs behind findings: each has a module here, and a table that shows it."""

from dataclasses import replace

from lance_explorer.checks.known_bugs import (
    blobs_emptied,
    created_at_one,
    fields_renumbered,
    fragment_ids_given_again,
    index_folders_left,
    index_left_behind,
    labels_kept,
    live_rows_stored,
    moved_rows_dropped,
    next_row_id_set_back,
    rebuilt_for_nothing,
    replaced_column_indexed,
    rewrites_without_versions,
    updated_rows_kept,
    zone_maps_after_updates,
    zone_maps_left_behind,
)
from lance_explorer.checks.known_bugs.record import KnownBug, words_of
from lance_explorer.findings import Finding
from lance_explorer.history.view import HistoryView

__all__ = ["KNOWN_BUGS", "with_known_bug"]

KNOWN_BUGS: tuple[KnownBug, ...] = (
    next_row_id_set_back.BUG,
    created_at_one.BUG,
    zone_maps_left_behind.BUG,
    index_left_behind.BUG,
    blobs_emptied.BUG,
    fields_renumbered.BUG,
    rewrites_without_versions.BUG,
    live_rows_stored.BUG,
    index_folders_left.BUG,
    rebuilt_for_nothing.BUG,
    fragment_ids_given_again.BUG,
    replaced_column_indexed.BUG,
    updated_rows_kept.BUG,
    labels_kept.BUG,
    moved_rows_dropped.BUG,
    zone_maps_after_updates.BUG,
)


def with_known_bug(view: HistoryView, finding: Finding) -> Finding:
    """Return a finding with its known bug, and the releases that read wrongly because of it."""
    for bug in KNOWN_BUGS:
        record = bug.did(view, finding) if finding.code in bug.codes else None
        if record is not None:
            return replace(finding, known_bug=words_of(bug, record), readers=bug.readers)
    return finding
