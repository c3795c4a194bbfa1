"""Which rows of a version match a filter, also where some files of the version are gone."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from lance_explorer.errors import InvalidArgumentError, LanceExplorerError
from lance_explorer.format.schema import column_fields
from lance_explorer.history.columns.value_columns import blob_columns
from lance_explorer.history.events.address_identities import identities_at, rows_of_state
from lance_explorer.history.identity.state_rows import StateRows
from lance_explorer.history.value_files import check_values, value_root
from lance_explorer.history.values.later_values import known_at
from lance_explorer.lineage.where import fields_named
from lance_explorer.rowids.addresses import FRAGMENT_BITS
from lance_explorer.rowids.arrays import Uint64Array, concatenated

if TYPE_CHECKING:
    from lance_explorer.values import IndexAnswer

__all__ = ["Matches", "NotMatched", "indexed_at", "matching_at", "matching_in"]

_FRAGMENT_BITS = np.uint64(FRAGMENT_BITS)


class NotMatched(NamedTuple):
    """Live rows of a fragment whose values the filter needs but which are lost, and why."""

    fragment_id: int
    num_rows: int
    error: LanceExplorerError


class Matches(NamedTuple):
    """The addresses of the matching rows, the bytes that were read, and what is unknown."""

    addresses: Uint64Array
    bytes_read: int = 0
    lost: tuple[NotMatched, ...] = ()


def matching_at(
    rows: StateRows, position: int, fragment_ids: Sequence[int], filter: str
) -> Matches:
    """Return the live rows of some fragments of a version that match a filter.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    position : int
        The position of the version in ``rows.history``.
    fragment_ids : sequence of int
        The fragments.
    filter : str
        Which rows, as an SQL expression.

    Raises
    ------
    InvalidArgumentError
        If the filter is not valid for the version.
    """
    from lance_explorer.values import matching_rows

    view, version = rows.view, rows.history.records[position].version
    try:
        check_values(view, version, some_rows=True)
        root, options = value_root(view, version), view.storage.options
        return Matches(*matching_rows(root, version, fragment_ids, filter, options))
    except InvalidArgumentError:
        raise
    except LanceExplorerError as error:
        view.values_missing(version)
        if len(fragment_ids) == 1:
            return _later(rows, position, fragment_ids[0], filter, error)
    parts = [matching_at(rows, position, [one], filter) for one in fragment_ids]
    return Matches(
        concatenated([part.addresses for part in parts]).astype(np.uint64, copy=False),
        sum([part.bytes_read for part in parts]),
        tuple([one for part in parts for one in part.lost]),
    )


def indexed_at(
    rows: StateRows, position: int, by_index: Mapping[str, Sequence[int]], filter: str
) -> "IndexAnswer | None":
    """Return the live rows of a version that indices find; None if they do not answer the filter.

    Parameters
    ----------
    rows : StateRows
        The rows of the branch.
    position : int
        The position of the version in ``rows.history``.
    by_index : mapping of str to sequence of int
        The indices that may be asked, each with some of the fragments that it covers.
    filter : str
        Which rows, as an SQL expression.
    """
    from lance_explorer.values import matching_by_index

    view, version = rows.view, rows.history.records[position].version
    try:
        check_values(view, version, some_rows=True)
        root, options = value_root(view, version), view.storage.options
        return matching_by_index(root, version, by_index, filter, options)
    except LanceExplorerError:  # a scan tells what is wrong, if it meets that, too
        return None


def matching_in(rows: StateRows, position: int, filter: str | None) -> pl.DataFrame:
    """Return ``_rowid`` and ``_rowaddr`` of all rows of a version that match, in scan order.

    Raises
    ------
    LanceExplorerError
        If values that the filter needs are lost.
    """
    states = rows.history.states_at(position)
    if filter is None:
        addresses_found = [rows_of_state(rows, state)[0] for state in states]
    else:
        matches = matching_at(rows, position, [rows.history.states[s].id for s in states], filter)
        if matches.lost:
            raise matches.lost[0].error
        order = {rows.history.states[state].id: number for number, state in enumerate(states)}
        places = np.array([order[one] for one in (matches.addresses >> _FRAGMENT_BITS).tolist()])
        addresses_found = [matches.addresses[np.lexsort((matches.addresses, places))]]
    addresses = concatenated(addresses_found).astype(np.uint64, copy=False)
    identities, _ = identities_at(rows, position, addresses)
    ids = rows.lance_ids_at(position, rows.row_ids(identities), addresses)
    return pl.DataFrame({"_rowid": ids, "_rowaddr": addresses})


def _later(
    rows: StateRows, position: int, fragment_id: int, filter: str, error: LanceExplorerError
) -> Matches:
    """Return the matching rows, with lost values taken from later versions or from a ledger."""
    from lance_explorer.values import arrow_schema, matching_values

    record = rows.history.records[position]
    state = rows.history.by_id(rows.history.intervals.at(position))[fragment_id]
    addresses, identities = rows_of_state(rows, state)
    wanted = fields_named(filter, record.schema)
    columns = column_fields(record.schema)
    names = [name for name, fields in columns.items() if fields[0].id in wanted]
    lost = Matches(addresses[:0], 0, (NotMatched(fragment_id, len(addresses), error),))
    if "_row" in filter.casefold() or blob_columns(record.schema).intersection(names):
        return lost
    values, known = known_at(rows, position, addresses, identities, names)
    there = np.asarray(known.all(axis=1))
    try:
        root = value_root(rows.view, record.version)
        types = arrow_schema(root, record.version)
        are_matches = matching_values(root, values.filter(there), types, filter)
    except InvalidArgumentError:
        raise
    except LanceExplorerError:
        return lost
    num_lost = int((~there).sum())
    left = (NotMatched(fragment_id, num_lost, error),) if num_lost else ()
    return Matches(addresses[there][are_matches], 0, left)
