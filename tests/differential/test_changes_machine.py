"""Whatever order things are done in, changes are those between pylance's full scans.

Every pair of versions is compared at the end, lost ones between them or not, values included.
"""

from hypothesis import settings

from lance_explorer.table import Table
from tests.differential.changes_agreement import (
    Scans,
    assert_folds_to_net,
    assert_same_by_key,
    assert_same_commits,
    assert_same_net,
    kept_pairs,
)
from tests.differential.machine import PHASES, TwinMachine


class ChangesMachine(TwinMachine):
    """A table of which nothing is asked before the end."""

    def check(self, table: Table) -> None:
        scans, kept = Scans(), table.versions()["version"].to_list()
        for begin, end in kept_pairs(table):
            assert_same_net(table, scans, begin, end)
        assert_same_commits(table)
        for begin in [0, *kept]:
            assert_same_by_key(table, scans, begin, kept[-1])
            if {*range(begin + 1, kept[-1] + 1)} <= {*kept}:
                assert_folds_to_net(table, scans, begin, kept[-1])


TestChanges = ChangesMachine.TestCase
TestChanges.settings = settings(max_examples=8, stateful_step_count=12, phases=PHASES)
