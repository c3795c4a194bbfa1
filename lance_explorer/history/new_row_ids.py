"""How many rows of a commit got row IDs that no earlier version had assigned."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from lance_explorer.errors import FormatError
from lance_explorer.format.fragments import Fragment, decode_inline_sequences
from lance_explorer.format.manifest import Manifest
from lance_explorer.format.sequences import decode_row_id_sequence
from lance_explorer.history.states import States

__all__ = ["count_new_row_ids", "count_new_row_ids_of"]


def count_new_row_ids(before: Manifest, new: Iterable[tuple[bytes, Fragment]]) -> int | None:
    """Count the rows of new fragments with row IDs that the version before had not assigned.

    Parameters
    ----------
    before : Manifest
        The version before.
    new : iterable of tuple
        What the version has and the one before has not: undecoded messages, and their records.

    Returns
    -------
    int or None
        None if the row IDs of a new fragment are not in the manifest.
    """
    count = 0
    for message, fragment in new:
        if fragment.id > _highest(before):
            stored = fragment.row_ids
            if stored is None or stored.storage != "inline":
                return None
            row_ids = stored.data or decode_inline_sequences(message).row_ids or b""
            added = _count_from(row_ids, fragment.physical_rows, before.next_row_id)
            if added is None:
                return None
            count += added
    return count


def count_new_row_ids_of(
    states: States, updates: Sequence[tuple[Manifest, NDArray[np.int64]]]
) -> list[int | None]:
    """Count such rows of many commits at once; None where row IDs are not in the manifest.

    Parameters
    ----------
    states : States
        The states of fragments.
    updates : sequence of tuple
        Of each commit the version before, and the states that it lacks.
    """
    befores = [before for before, _ in updates]
    owner = np.repeat(np.arange(len(updates)), [len(numbers) for _, numbers in updates])
    numbers = np.concatenate([np.zeros(0, np.int64), *[numbers for _, numbers in updates]])
    highest = np.array([_highest(before) for before in befores], dtype=np.int64)[owner]
    lowest = np.array([before.next_row_id for before in befores], dtype=np.uint64)[owner]
    is_new = states.ids[numbers].astype(np.int64) > highest
    start, stop, is_range = [column[numbers] for column in states.row_id_ranges]
    counts = np.zeros(len(updates), dtype=np.uint64)
    some = is_new & is_range
    in_range = np.maximum(stop, lowest) - np.maximum(start, lowest)
    np.add.at(counts, owner[some], in_range[some])
    result = list[int | None](counts.tolist())
    for place in np.flatnonzero(is_new & ~is_range).tolist():
        row_ids, rows = states.inline_row_ids(int(numbers[place]))
        total = result[owner[place]]
        added = None if row_ids is None else _count_from(row_ids, rows, int(lowest[place]))
        result[owner[place]] = None if added is None or total is None else total + added
    return result


def _highest(manifest: Manifest) -> int:
    return -1 if manifest.max_fragment_id is None else manifest.max_fragment_id


def _count_from(row_ids: bytes, num_rows: int | None, lowest: int) -> int | None:
    """Count the row IDs of a sequence from ``lowest`` on; None if it is damaged."""
    try:
        starts, stops = decode_row_id_sequence(row_ids, num_rows).ranges()
    except FormatError:
        return None
    new = np.maximum(stops, np.uint64(lowest)) - np.maximum(starts, np.uint64(lowest))
    return int(new.sum())
