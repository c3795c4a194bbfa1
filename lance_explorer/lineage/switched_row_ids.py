"""The life of a row before stable row IDs were turned on: its address tells it."""

from collections.abc import Callable

import polars as pl

from lance_explorer.errors import NotFoundError
from lance_explorer.format.fragments import Fragment
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.source import TableSource
from lance_explorer.rowids.addresses import RowAddress

__all__ = ["with_life_before"]

_CREATED = "created"


def with_life_before(
    rows: StateRows,
    history: pl.DataFrame,
    of_address: Callable[[TableSource, int, int], pl.DataFrame],
) -> pl.DataFrame:
    """Return the history of a row with what happened before it had a stable row ID.

    The commit that turns row IDs on gives one to each place of each fragment, and leaves the
    fragments as they are: the row that is at an address then was there in the version before.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch since row IDs were turned on.
    history : polars.DataFrame
        The events since.
    of_address : callable
        Takes versions, an address and the version that it is meant in; returns the events.
    """
    switched = rows.switched_at
    if switched is None or not rows.has_row_ids or history.is_empty():
        return history
    first = history.row(0, named=True)
    is_there = first["version"] == switched and first["branch"] == rows.source.branch
    if not is_there or first["event"] != _CREATED or first["_rowaddr_after"] is None:
        return history
    earlier = [one for one in rows.source.history.versions.tolist() if one < switched]
    before, address = earlier[-1], RowAddress.of(first["_rowaddr_after"])
    then = _fragment(rows.source, before, address.fragment_id)
    now = _fragment(rows.source, switched, address.fragment_id)
    if then is None or now is None or then.files != now.files:
        return history
    try:
        own = rows.source.only(earlier[0], before)
        life = of_address(own, first["_rowaddr_after"], before)
    except NotFoundError:
        return history
    return pl.concat([life, history[1:]], how="diagonal_relaxed").select(history.columns)


def _fragment(source: TableSource, version: int, fragment_id: int) -> Fragment | None:
    for state in source.version(version).states:
        if state.id == fragment_id:
            return state
    return None
