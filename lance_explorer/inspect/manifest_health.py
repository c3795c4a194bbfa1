"""What makes opening a version slow: its manifest, and the encoding of sequences in it."""

from collections.abc import Iterable, Iterator
from operator import itemgetter

import numpy as np

from lance_explorer.errors import FormatError
from lance_explorer.findings import Finding, Remedy, Subject
from lance_explorer.format.fragment_columns import SequenceStorage
from lance_explorer.frames.sizes import byte_size
from lance_explorer.history.history import History
from lance_explorer.history.intervals import Intervals
from lance_explorer.history.readable import check_readable
from lance_explorer.history.reading.stored_sequences import FragmentSequence, read_row_ids
from lance_explorer.history.states import inline_bytes
from lance_explorer.history.view import HistoryView
from lance_explorer.inspect.fragment_parts import understood
from lance_explorer.inspect.row_id_segments import stored_row_ids
from lance_explorer.rowids.optimum import each_optimal_sizes
from lance_explorer.rowids.sequence import RowIdSequence

__all__ = [
    "LARGE_MANIFEST",
    "LARGE_SAVING",
    "MOST_CHECKED_ROWS",
    "SAVING_SHARE",
    "large_manifest",
    "row_id_encoding",
]

LARGE_MANIFEST = 10_000_000
"""The size of a manifest that is worth a warning: opening the version reads all of it."""

LARGE_SAVING = 1_000_000
"""The saved bytes of row IDs that are worth knowing ..."""

SAVING_SHARE = 0.2
"""... if they are this part of what row IDs take, too."""

MOST_CHECKED_ROWS = 20_000_000
"""The most rows whose IDs are read to find the best encoding, which takes some seconds."""

_TRANSACTION = "its transaction"

_MENDS = {
    "fragments": "Call dataset.optimize.compact_files(): fewer fragments make a smaller manifest.",
    "row IDs": "Call dataset.optimize.compact_files(): rows in few fragments and in the order of "
    "their IDs take the fewest bytes; table.inspect.row_id_encodings() shows what each takes.",
    "row versions": "Call dataset.optimize.compact_files(): it joins the sequences of fragments.",
    "indices": "Call dataset.optimize.optimize_indices() to merge segments, or drop indices that "
    "nobody uses with dataset.drop_index(name).",
    _TRANSACTION: "Nothing needs to be done: it is the record of this commit, and the next "
    "manifest does not contain it. Smaller commits have smaller ones.",
    "other parts": "See table.inspect.manifests() for its parts.",
}


def large_manifest(_: HistoryView, history: History) -> Iterator[Finding]:
    """Find out whether the manifest is large, and why."""
    record = history.records[0]
    size = record.file.size_bytes
    if size < LARGE_MANIFEST:
        return
    row_ids = int(history.states.row_id_bytes.sum())
    versions = int(history.states.row_version_bytes.sum())
    parts = {
        "fragments": record.fragment_bytes - row_ids - versions,
        "row IDs": row_ids,
        "row versions": versions,
        "indices": record.index_section_bytes,
    }
    stored = record.transaction
    if stored is not None and stored.source == "manifest":
        parts[_TRANSACTION] = stored.num_bytes
    parts["other parts"] = size - sum(parts.values())
    largest = max(parts, key=lambda part: parts[part])
    yield Finding(
        "large_manifest",
        f"the manifest of version {record.version} has {byte_size(size)}, "
        f"{byte_size(parts[largest])} of them for {largest}",
        subject=Subject("version", str(record.version), record.file.path),
        versions=(record.version, record.version),
        remedy=Remedy(_MENDS[largest]),
        is_mild=largest == _TRANSACTION,
    )


def row_id_encoding(view: HistoryView, history: History) -> Iterator[Finding]:
    """Find out whether row IDs take many more bytes than they need.

    The largest sequences are checked, up to ``MOST_CHECKED_ROWS`` together.
    """
    record = history.records[0]
    taken = int(history.states.row_id_bytes.sum())
    if taken < LARGE_SAVING:
        return
    check_readable(record)
    savings = list(_savings(view, history))
    total = sum([saving for _, saving in savings])
    if total < LARGE_SAVING or total < SAVING_SHARE * taken:
        return
    worst, most = max(savings, key=itemgetter(1))
    yield Finding(
        "row_id_encoding",
        f"row IDs take {byte_size(taken)}, of which at least {byte_size(total)} could be saved "
        f"with the best encoding; most of that in fragment {worst}, {byte_size(most)}",
        subject=Subject("fragment", str(worst)),
        versions=(record.version, record.version),
    )


def _savings(view: HistoryView, history: History) -> Iterator[tuple[int, int]]:
    """Yield fragments, and how many bytes their row IDs could save."""
    checked = _largest(history)
    places = np.zeros(len(checked), dtype=np.int64)
    there = Intervals(np.arange(len(checked)), places, places)
    numbers = list[int]()
    sizes = each_optimal_sizes(_noted(numbers, read_row_ids(view, history, checked, there)))
    for place, best in enumerate(sizes):
        sequence = checked[numbers[place]]
        yield sequence.fragment_id, inline_bytes(sequence.stored) - best.best


def _largest(history: History) -> list[FragmentSequence]:
    """Return the largest inline sequences that have few enough rows together."""
    is_inline = history.states.row_id_storage == SequenceStorage.INLINE
    others = np.flatnonzero(
        is_inline & ~history.states.row_id_ranges.found
    )  # no range is too large
    states = [history.states[number] for number in others.tolist()]
    sizes = np.array([inline_bytes(state.row_ids) for state in states], dtype=np.int64)
    room = MOST_CHECKED_ROWS
    largest = list[FragmentSequence]()
    for place in np.argsort(-sizes, kind="stable").tolist():
        rows = states[place].physical_rows or 0
        if rows <= room:
            largest += stored_row_ids(states[place])
            room -= rows
    return largest


def _noted(
    numbers: list[int], results: Iterable[tuple[int, RowIdSequence | FormatError]]
) -> Iterator[RowIdSequence]:
    """Yield sequences, recording the number of each."""
    for number, row_ids in understood(results):
        numbers.append(number)
        yield row_ids
