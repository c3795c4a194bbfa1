"""Whatever order things are done in, each row is found where its key is.

After every step the events of all kept versions are told right, and all rows of the first and the
latest version are followed to each other; in the end those of all versions.
"""

from hypothesis import settings
from hypothesis.stateful import invariant

from lance_explorer.table import Table
from tests.differential.following_agreement import (
    Places,
    assert_followed,
    assert_histories,
    assert_right_events,
    places,
)
from tests.differential.machine import PHASES, TwinMachine


class FollowingMachine(TwinMachine):
    """A table whose versions pylance scans once each; keys tell its rows apart."""

    def __init__(self) -> None:
        super().__init__()
        self.scans: dict[tuple[str | None, int], Places] = {}

    def scanned(self, table: Table, version: int) -> Places:
        place = table.branch, version
        if place not in self.scans:
            self.scans[place] = places(table, version)
        return self.scans[place]

    @invariant()
    def each_row_is_where_its_key_is(self):
        table = self.table.refresh()
        assert_right_events(table, self.twin, self.scanned)
        versions = table.versions()["version"].to_list()
        assert_followed(table, versions[0], versions[-1], self.scanned)
        assert_followed(table, versions[-1], versions[0], self.scanned)

    def check(self, table: Table) -> None:
        versions = table.versions()["version"].to_list()
        for begin in versions[::3]:
            for end in versions[::3]:
                assert_followed(table, begin, end, self.scanned)
        assert_histories(table, versions[-1], self.scanned)


TestFollowing = FollowingMachine.TestCase
TestFollowing.settings = settings(max_examples=15, stateful_step_count=25, phases=PHASES)
