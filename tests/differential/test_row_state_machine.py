"""Whatever order things are done in, rows of all kept versions are those that pylance scans.

So are the answers of their row-ID indices, and what versions() says each commit did to rows.
"""

import polars as pl
from hypothesis import settings
from hypothesis.stateful import invariant

from lance_explorer.table import Table
from tests.differential.agreement import assert_right_counts, assert_rows_are_conserved
from tests.differential.machine import PHASES, TwinMachine
from tests.differential.row_agreement import (
    assert_counts_are_those_of_events,
    assert_counts_by_identity,
    assert_same_rows,
    scan,
)


class RowMachine(TwinMachine):
    """A table whose versions pylance scans once each, and we read again after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.scans: dict[tuple[str | None, int], pl.DataFrame] = {}

    def scanned(self, table: Table, version: int) -> pl.DataFrame:
        place = table.branch, version
        if place not in self.scans:
            self.scans[place] = scan(table, version)
        return self.scans[place]

    @invariant()
    def all_rows_are_those_of_pylance(self):
        table = self.table.refresh()
        assert_same_rows(table, self.scanned)
        assert_right_counts(table, self.twin)
        assert_counts_by_identity(table, self.scanned)
        assert_counts_are_those_of_events(table)
        assert_rows_are_conserved(table)

    def check(self, table: Table) -> None:
        assert_same_rows(table)
        findings = table.check_row_ids()
        assert findings.filter(severity="error").is_empty(), findings


TestRows = RowMachine.TestCase
TestRows.settings = settings(max_examples=15, stateful_step_count=25, phases=PHASES)
