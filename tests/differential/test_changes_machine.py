"""Whatever order things are done in, changes are those between pylance's full scans.

Every pair of versions is compared at the end, lost ones between them or not, values included.
"""

from hypothesis import settings

from lance_explorer.table import Table
from tests.differential.changes_agreement import assert_all_agree
from tests.differential.machine import PHASES, TwinMachine


class ChangesMachine(TwinMachine):
    """A table of which nothing is asked before the end."""

    def check(self, table: Table) -> None:
        assert_all_agree(table)


TestChanges = ChangesMachine.TestCase
TestChanges.settings = settings(max_examples=8, stateful_step_count=12, phases=PHASES)
