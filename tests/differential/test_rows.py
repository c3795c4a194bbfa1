"""The rows of every version, from metadata alone, are those that pylance scans.

Row ID, row address and both versions of every live row in scan order. Where a table stores no
versions pylance says 1, and ours are null. And what the row-ID index answers is what the rows say.
"""

import pytest

import lance_explorer as lx
from lance_explorer import RowNotFoundError
from tests.differential.row_agreement import assert_same_rows
from tests.stored_tables import stored_check


def test_rows_of_lives_are_those_of_pylance(twin):
    assert_same_rows(lx.open_table(twin.uri))


def test_rows_of_branches_are_those_of_pylance(twins_by_branch):
    for branch in twins_by_branch:
        assert_same_rows(lx.open_table(twins_by_branch[None].uri, branch=branch))


@stored_check()
def check_rows_are_those_of_pylance(asked):
    assert_same_rows(asked.table)


def test_a_row_that_ended_says_when_and_how(twin):
    table = lx.open_table(twin.uri)
    versions = table.versions()
    before: set[int] = set()
    for version, operation in versions.select("version", "operation").iter_rows():
        now = set(table.at(version).row_ids()["_rowid"].to_list())
        ended, before = before - now, now
        if not ended or version - 1 not in versions["version"]:
            continue
        with pytest.raises(RowNotFoundError, match=f"removed in version {version} by {operation}"):
            table.at(version).row_id_index().locate(min(ended))
