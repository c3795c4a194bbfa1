"""The rows of every version, from metadata alone, are those that pylance scans.

Row ID, row address and both versions of every live row in scan order. Where a table stores no
versions pylance says 1, and ours are null. And what the row-ID index answers is what the rows say.
"""

import polars as pl
import pytest

import lance_explorer as lx
from lance_explorer import RowNotFoundError, Snapshot, Table
from tests.differential.agreement import checked_out
from tests.differential.reference import branches_of

VERSIONS = ["_row_created_at_version", "_row_last_updated_at_version"]
SYSTEM = ["_rowid", "_rowaddr", *VERSIONS]


def assert_same_rows(table: Table) -> None:
    for version in table.versions()["version"].to_list():
        ours = table.at(version).rows()
        scan = checked_out(table, version).scanner(columns=SYSTEM, scan_in_order=True)
        theirs = pl.DataFrame(scan.to_table()).select(SYSTEM)
        assert ours.select(SYSTEM).with_columns(pl.col(VERSIONS).fill_null(1)).equals(theirs)
        assert_index_agrees(table.at(version), ours)


def assert_index_agrees(snapshot: Snapshot, rows: pl.DataFrame) -> None:
    index = snapshot.row_id_index()
    assert len(index) == len(rows) == snapshot.num_rows
    assert index.locate_many(rows["_rowid"]).equals(rows["_rowaddr"])
    assert index.ids_at(rows["_rowaddr"]).equals(rows["_rowid"])
    assert index.is_identity is not snapshot.has_stable_row_ids


def test_rows_of_lives_are_those_of_pylance(twin):
    assert_same_rows(lx.open_table(twin.uri))


def test_rows_of_branches_are_those_of_pylance(twins_by_branch):
    for branch in twins_by_branch:
        assert_same_rows(lx.open_table(twins_by_branch[None].uri, branch=branch))


def test_rows_of_committed_tables_are_those_of_pylance(committed):
    for branch in branches_of(committed):
        assert_same_rows(lx.open_table(committed, branch=branch))


def test_a_row_that_ended_says_when_and_how(twin):
    table = lx.open_table(twin.uri)
    versions = table.versions()
    before: set[int] = set()
    for version, operation in versions.select("version", "operation").iter_rows():
        now = set(table.at(version).rows()["_rowid"].to_list())
        ended, before = before - now, now
        if not ended or version - 1 not in versions["version"]:
            continue
        with pytest.raises(RowNotFoundError, match=f"ended in version {version} by {operation}"):
            table.at(version).row_id_index().locate(min(ended))
