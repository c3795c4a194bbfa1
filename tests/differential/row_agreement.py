"""What must agree between our rows, their events, the row-ID index, counts, and pylance's scans."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
from msgspec.structs import asdict

from lance_explorer import Snapshot, Table
from lance_explorer.format.operation_names import OperationName
from lance_explorer.history.events.row_events import NO_ADDRESS, RowEvent, RowEvents, all_row_events
from lance_explorer.history.evidence import Evidence
from lance_explorer.inspect.row_counts import counts_of
from tests.differential.agreement import checked_out, follows, with_previous
from tests.differential.twin import COUNTS

__all__ = [
    "SYSTEM",
    "assert_counts_are_those_of_events",
    "assert_counts_by_identity",
    "assert_same_rows",
    "scan",
]

CREATED, UPDATED = VERSIONS = ["_row_created_at_version", "_row_last_updated_at_version"]
SYSTEM = ["_rowid", "_rowaddr", *VERSIONS]

ROW_COUNTS = [f"rows_{name}" for name in COUNTS]


def scan(table: Table, version: int) -> pl.DataFrame:
    """Return what pylance scans of the system columns."""
    scanner = checked_out(table, version).scanner(columns=SYSTEM, scan_in_order=True)
    return pl.DataFrame(scanner.to_table()).select(SYSTEM)


def assert_same_rows(table: Table, scanned: Callable[[Table, int], pl.DataFrame] = scan) -> None:
    """Check the rows and the row-ID index of every kept version."""
    for version in table.versions()["version"].to_list():
        theirs = scanned(table, version)
        ours = table.at(version).row_ids().select(SYSTEM)
        assert ours.with_columns(pl.col(VERSIONS).fill_null(1)).equals(theirs), version
        assert_index_agrees(table.at(version), theirs)


def assert_index_agrees(snapshot: Snapshot, rows: pl.DataFrame) -> None:
    """Check every answer of the index: for live rows, for others, and past the last one."""
    index = snapshot.row_id_index()
    assert len(index) == len(rows) == snapshot.num_rows
    assert index.is_identity is not snapshot.has_stable_row_ids
    ids, addresses = rows["_rowid"], rows["_rowaddr"]
    asked = numbers_around(ids)
    places = dict(zip(ids, addresses, strict=True))
    assert index.locate_many(asked).to_list() == [places.get(number) for number in asked]
    asked = numbers_around(addresses)
    whose = dict(zip(addresses, ids, strict=True))
    assert index.ids_at(asked).to_list() == [whose.get(number) for number in asked]


def numbers_around(numbers: pl.Series) -> list[int]:
    """Return numbers and their neighbours, 0 too."""
    return sorted({0, *numbers, *(numbers + 1), *(number - 1 for number in numbers if number)})


def assert_counts_are_those_of_events(table: Table) -> None:
    """Check that row events add up to what versions() counts, and to the rows of each version.

    Over a gap events are those that are proven; versions() may know of more.
    """
    by_version = {row["version"]: row for row in table.versions().to_dicts()}
    untouched = set(by_version)
    for events in all_row_events(table._view):
        step = events.step
        row = by_version[step.version]
        untouched.remove(step.version)
        for name, count in asdict(counts_of(events if step.follows else _own(events))).items():
            ours, told = row[f"rows_{name}"], (step.version, name)
            if step.follows:
                is_open = None in (count, ours) and step.name != OperationName.RESTORE
                assert is_open or count == ours, told
            else:
                assert None in (count, ours) or count <= ours, told
        if step.name != OperationName.CLONE:
            before = by_version[step.begin_version]["num_rows"] if step.before else 0
            assert row["num_rows"] == before + _growth(events), step.version
    for version in untouched:
        assert not any(by_version[version][name] for name in ROW_COUNTS), version


def _own(events: RowEvents) -> RowEvents:
    """Return what a version is known to have done itself, not the lost ones before it."""
    is_told = events.evidence != Evidence.LOST
    return events.where(is_told & (events.version == events.step.version))


def _growth(events: RowEvents) -> int:
    """Return how many more rows there are than before."""
    comes = np.isin(events.event, [RowEvent.CREATED, RowEvent.RESTORED])
    added_rows = events.where(comes & (events.before == NO_ADDRESS))
    return added_rows.num_rows - events.where(events.after == NO_ADDRESS).num_rows


def assert_counts_by_identity(
    table: Table, scanned: Callable[[Table, int], pl.DataFrame] = scan
) -> None:
    """Check what versions() counts of rows with stable row IDs, by comparing pylance's scans.

    A detached version has IDs that mean other rows: those say nothing of its restore.
    """
    for before, row in with_previous(table):
        if row["next_row_id"] is None or row["operation"] == "Clone":
            continue
        if row["operation"] == "Restore" and _restored_version(table, row["version"]) >> 63:
            continue
        counts: dict[str, int | None]
        if follows(before, row):
            counts = _compared(table, before, row, scanned)
        elif int(row["writer_version"].split(".")[0]) >= 8:  # older ones store wrong versions
            counts = _told_by_rows(row, scanned(table, row["version"]))
        else:
            continue
        ours = {name: row[f"rows_{name}"] for name in counts}
        assert ours == counts, (row["version"], row["operation"])


def _restored_version(table: Table, version: int) -> int:
    return int(checked_out(table).read_transaction(version).operation.version)


def _compared(
    table: Table,
    before: dict[str, Any] | None,
    row: dict[str, Any],
    scanned: Callable[[Table, int], pl.DataFrame],
) -> dict[str, int | None]:
    """Count what a commit did, by comparing its rows with those of the version before."""
    after = scanned(table, row["version"])
    old = scanned(table, before["version"]) if before else after.clear()
    is_new = pl.col("_rowid") >= (before["next_row_id"] if before else 0)
    removed = old.join(after, on="_rowid", how="anti")
    added_rows = after.join(old, on="_rowid", how="anti")
    counts: dict[str, int | None] = {
        "added": len(after.filter(is_new)),
        "restored": len(added_rows.filter(~is_new)),
        "deleted": len(removed),
        "overwritten": 0,
    }
    if row["operation"] == "Overwrite":
        counts |= {"deleted": 0, "overwritten": len(old)}
    if row["operation"] in ("Update", "DataOverlay"):
        counts["updated"] = len(after.filter(~is_new, pl.col(UPDATED) == row["version"]))
    return counts


def _told_by_rows(row: dict[str, Any], rows: pl.DataFrame) -> dict[str, int | None]:
    """Count what a commit did, by its own rows alone."""
    is_new = pl.col(CREATED) == row["version"]
    touched = len(rows.filter(~is_new, pl.col(UPDATED) == row["version"]))
    counts: dict[str, int | None] = {"added": len(rows.filter(is_new))}
    if row["operation"] in ("Update", "DataOverlay"):
        counts["updated"] = touched
    if row["operation"] == "DataReplacement":
        counts["column_rewritten"] = touched
    if row["operation"] == "Merge" and touched:  # of which nobody tells what they got
        return counts | {"column_rewritten": None, "column_added": None}
    return counts
