"""Whatever order things are done in: the same as pylance, and the same when read bit by bit.

A machine does to a table what hypothesis comes up with, by pylance. One of our tables was opened at
the beginning and is refreshed after each step, another one now and then; both must equal one that
is opened anew. Every step is also compared with pylance and with a dict of the rows.
"""

from hypothesis import settings
from hypothesis.stateful import invariant, rule
from polars.testing import assert_frame_equal

from lance_explorer.table import Table
from tests.differential.agreement import (
    assert_right_counts,
    assert_right_gaps,
    assert_rows_are_conserved,
    assert_same_refs,
    assert_same_steps,
    assert_same_transactions,
    assert_same_versions,
)
from tests.differential.machine import PHASES, TwinMachine

FRAMES = [
    "all_fragments",
    "all_data_files",
    "all_fields",
    "all_indices",
    "all_config",
    "transactions",
    "manifests",
    "refs",
]
"""Frames beside versions() and gaps that tell of more than one version."""


def assert_equal_tables(ours: Table, fresh: Table) -> None:
    assert_frame_equal(ours.versions(), fresh.versions())
    assert_frame_equal(ours.gaps, fresh.gaps)
    assert_frame_equal(ours.findings, fresh.findings)
    for name in FRAMES:
        assert_frame_equal(getattr(ours.inspect, name)(), getattr(fresh.inspect, name)())


class TableMachine(TwinMachine):
    """A table, what pylance and a dict say of it, and what we do."""

    def check(self, table: Table) -> None:
        assert_same_versions(table)
        assert_same_transactions(table)
        assert_same_refs(table)
        assert_same_steps(table)
        assert_right_counts(table, self.twin)
        assert_right_gaps(table, first=min(self.twin.commits))
        assert_rows_are_conserved(table)

    @rule()
    def refresh_late_table(self):
        assert_equal_tables(self.late_table.refresh(), self.open())

    @invariant()
    def is_what_it_must_be(self):
        assert_equal_tables(self.table.refresh(), self.open())
        latest = self.table.latest
        assert latest.version == self.twin.version
        assert latest.num_rows == len(self.twin.rows)
        assert dict(latest.read(["key", "value"]).iter_rows()) == self.twin.rows


TestTable = TableMachine.TestCase
TestTable.settings = settings(max_examples=40, stateful_step_count=30, phases=PHASES)
