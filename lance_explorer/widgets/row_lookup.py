"""Finding the row that a person means: a row ID or an address, with or without a version."""

import re

import numpy as np
import polars as pl
from numpy.typing import NDArray

from lance_explorer.errors import InvalidArgumentError, RowNotFoundError
from lance_explorer.history.events.address_identities import identities_at
from lance_explorer.history.identity.state_rows import StateRows, state_rows
from lance_explorer.history.identity.version_positions import position_of
from lance_explorer.inspect.naming_columns import naming_columns
from lance_explorer.lineage.following import row_history
from lance_explorer.rowids.addresses import RowAddress
from lance_explorer.rowids.arrays import MAX_U64
from lance_explorer.snapshot import Snapshot
from lance_explorer.table import Table

__all__ = ["example_key", "key_columns", "row_filter", "row_named", "row_numbers_of"]

_FEW = 20

_FILTER = re.compile(r"[`\"\w. ]+(?:[=<>]|\bin\b|\bis\b|\blike\b).+", re.IGNORECASE | re.DOTALL)
"""The form of a condition on a row's values."""

_TYPED = re.compile(
    r"""(?: (?:row(?:\ id)?|(?P<address>addr(?:ess)?)) \s+ )?
        (?: (?P<number>\d+) | (?P<fragment>\d+) \s*:\s* (?P<offset>\d+) )
        (?: \s*@\s*(?P<version>\d+) )?""",
    re.VERBOSE | re.IGNORECASE,
)


def row_named(table: Table, typed: str) -> int:
    """Return the row ID that a text means; without stable row IDs, the last address of the row.

    Parameters
    ----------
    table : Table
        The table.
    typed : str
        ``42`` or ``row 42``; ``3:17``, ``addr 3:17`` or ``addr 12884901905`` for an address, which
        is meant in the last version that has a row there; ``3:17@5`` for that of version 5. A
        filter such as ``id = 42`` means the only row that it finds in all versions.

    Raises
    ------
    RowNotFoundError
        If no row lived there, or has these values.
    """
    text = typed.strip()
    match = _TYPED.fullmatch(text)
    if match is None and _FILTER.fullmatch(text):
        return _row_with(table, text)
    if match is None:
        raise InvalidArgumentError(
            f"{text[:100]!r} is not a row: type a value such as {example_key(table)} = 42, a row "
            "ID such as 42, or an address such as 3:17 (fragment and offset), or 3:17@5 for "
            "version 5"
        )
    rows = state_rows(table._view)
    number = _number(match)
    is_address = bool(match["address"] or match["fragment"])
    at = int(match["version"]) if match["version"] else None
    named_at = rows.ids_from if at is None else position_of(rows, at)
    if rows.has_row_ids_at(named_at) and not is_address:
        return number
    if rows.has_row_ids:
        return _row_id_at(rows, number, at)
    return number if at is None else _last_address(table, number, at)


def row_filter(table: Table, number: int, version: int) -> str:
    """Return a filter for a row in a version: by its row ID, or by its address there.

    Raises
    ------
    RowNotFoundError
        If it was not live then.
    """
    rows = state_rows(table._view)
    if rows.has_row_ids_at(position_of(rows, version)):
        return f"_rowid = {number}"
    events = row_history(table._view, number).filter(pl.col("version") <= version)
    address = None if events.is_empty() else events.row(-1, named=True)["_rowaddr_after"]
    if address is None:
        raise RowNotFoundError(f"row {number} did not live in version {version}")
    return f"_rowaddr = {address}"


def row_numbers_of(snapshot: Snapshot) -> NDArray[np.uint64]:
    """Return the row IDs of the live rows in rising order; without stable ones, their addresses."""
    column = "_rowid" if snapshot.has_stable_row_ids else "_rowaddr"
    return np.sort(snapshot.row_ids()[column].to_numpy())


def key_columns(table: Table) -> list[str]:
    """Return the columns that identify a row for people."""
    return naming_columns(table._view.version(table.latest.version).records[0])


def example_key(table: Table) -> str:
    """Return a column for an example of a row."""
    return (key_columns(table) or [table.latest.fields[0].name])[0]


def _row_with(table: Table, where: str) -> int:
    """Return the only row, live or not, with these values."""
    matches = table.find(where, limit=_FEW).to_polars()
    name = "_rowid" if matches["_rowid"].null_count() == 0 else "_rowaddr"
    rows = matches.unique("_row", keep="first", maintain_order=True)
    if rows.is_empty():
        raise RowNotFoundError(f"no row has, or had, {where}")
    if len(rows) > 1:
        raise InvalidArgumentError(
            f"several rows have, or had, {where}: say which, or search for it in the box on top"
        )
    return int(rows[name][0])


def _number(match: re.Match[str]) -> int:
    if not match["fragment"]:
        number = int(match["number"])
    elif int(match["offset"]) >= 1 << 32:
        raise InvalidArgumentError(
            f"{match['offset']} is not an offset: offsets are at most 2^32 - 1"
        )
    else:
        number = int(RowAddress(int(match["fragment"]), int(match["offset"])))
    if number >= MAX_U64:
        raise InvalidArgumentError(
            f"{number} is too large: row IDs and addresses are at most 2^64 - 2"
        )
    return number


def _row_id_at(rows: StateRows, address: int, at: int | None) -> int:
    """Return the ID of the row at an address, in a version or the last one with a row there."""
    one = np.array([address], dtype=np.uint64)
    positions = _positions_with(rows, address) if at is None else [position_of(rows, at)]
    for position in positions:
        identities, live = identities_at(rows, position, one)
        if live[0] and not rows.never_had_ids(identities)[0]:
            return int(rows.row_ids(identities)[0])
        if live[0]:
            version = rows.history.records[position].version
            raise RowNotFoundError(
                "that row was gone before the table had stable row IDs, so it has none: "
                f"table.row({address}, at={version}) tells its life"
            )
    place = RowAddress.of(address)
    when = "any kept version" if at is None else f"version {at}"
    raise RowNotFoundError(
        f"there is no live row at offset {place.offset} of fragment {place.fragment_id} in {when}"
    )


def _positions_with(rows: StateRows, address: int) -> list[int]:
    """Return the last position of each interval of the fragment's states, the latest first."""
    fragment_id = RowAddress.of(address).fragment_id
    intervals = rows.history.intervals
    states = rows.history.states
    last = zip(intervals.keys.tolist(), intervals.last.tolist(), strict=True)
    return sorted({end for key, end in last if states[key].id == fragment_id}, reverse=True)


def _last_address(table: Table, address: int, at: int) -> int:
    """Return the last address of a row of a version."""
    last = row_history(table._view, address, at).row(-1, named=True)
    after = last["_rowaddr_after"]
    return int(last["_rowaddr_before"] if after is None else after)
