"""How many rows of a commit got row IDs that no earlier version had assigned."""

from collections.abc import Iterable

import numpy as np

from lance_explorer.errors import FormatError
from lance_explorer.format.fragments import Fragment, decode_inline_sequences
from lance_explorer.format.manifest import Manifest
from lance_explorer.format.sequences import decode_row_id_sequence

__all__ = ["count_new_row_ids"]


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
    highest = -1 if before.max_fragment_id is None else before.max_fragment_id
    count = 0
    for message, fragment in new:
        if fragment.id > highest:
            added = _count_from(message, fragment, before.next_row_id)
            if added is None:
                return None
            count += added
    return count


def _count_from(message: bytes, fragment: Fragment, lowest: int) -> int | None:
    """Count the row IDs of a fragment from ``lowest`` on; None where they are not inline."""
    stored = fragment.row_ids
    if stored is None or stored.storage != "inline":
        return None
    row_ids = stored.data or decode_inline_sequences(message).row_ids or b""
    try:
        starts, stops = decode_row_id_sequence(row_ids, fragment.physical_rows).ranges()
    except FormatError:
        return None
    new = np.maximum(stops, np.uint64(lowest)) - np.maximum(starts, np.uint64(lowest))
    return int(new.sum())
