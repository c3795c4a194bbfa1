"""The rows of fragment states: their identities, and the versions that wrote them.

A row has an *identity*, and a table one of these ways to find it:

* the address where it was first written (:mod:`lance_explorer.history.identity.birth_addresses`);
* its stable row ID (:mod:`lance_explorer.history.identity.rows_by_id`), also where IDs were given
  out again;
* the row ID that it got when they were turned on
  (:mod:`lance_explorer.history.identity.rows_by_later_id`).
"""

from lance_explorer.history.identity.birth_addresses import RowsByAddress
from lance_explorer.history.identity.rows_by_id import RowsById
from lance_explorer.history.identity.rows_by_later_id import RowsByLaterId
from lance_explorer.history.identity.stored_rows import KnownRows, StoredRows
from lance_explorer.history.identity.ways import StateRows
from lance_explorer.history.memories import notes, remembered
from lance_explorer.history.readable import have_row_ids, rows_history, since_row_ids_went
from lance_explorer.history.view import HistoryView

__all__ = ["StateRows", "state_rows"]

_known = notes(KnownRows, are_carried=True)


@remembered
def state_rows(view: HistoryView) -> StateRows:
    """Return the rows of the states of a branch; they are cached, also over a refresh."""
    readable = rows_history(view.history)
    history = since_row_ids_went(readable)
    is_cut = len(history.records) < len(readable.records)
    ids_went_at = history.records[0].version if is_cut else None
    stored = StoredRows(view, history, _known(view))
    have_ids = have_row_ids(history if history.records else view.history)
    if not have_ids.any():
        return RowsByAddress(stored, ids_went_at)
    if have_ids[0]:
        return RowsById(stored, ids_went_at)
    return RowsByLaterId(stored, int(have_ids.argmax()), ids_went_at)
