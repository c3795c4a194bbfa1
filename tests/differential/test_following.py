"""Row events and following agree with keys: in the lives of tables, and on their branches."""

from itertools import pairwise

from lance_explorer import open_table
from tests.differential.following_agreement import (
    Places,
    assert_followed,
    assert_histories,
    assert_right_events,
    places,
)


class Scans:
    """Scans each version once."""

    def __init__(self) -> None:
        self.known: dict[tuple[str | None, int], Places] = {}

    def __call__(self, table, version):
        key = table.branch, version
        if key not in self.known:
            self.known[key] = places(table, version)
        return self.known[key]


def test_events_tell_what_happened_to_each_row(twin):
    assert_right_events(open_table(twin.uri), twin)


def test_rows_are_followed_between_any_two_versions(twin_of_one_format):
    table, scanned = open_table(twin_of_one_format.uri), Scans()
    versions = table.versions()["version"].to_list()
    some = versions[:: max(1, len(versions) // 6)] + versions[-1:]
    for begin in some:
        for end in some:
            assert_followed(table, begin, end, scanned)
    for begin, end in pairwise(versions):
        assert_followed(table, begin, end, scanned)
        assert_followed(table, end, begin, scanned)


def test_a_history_is_the_same_alone_and_beside_others(twin_of_one_format):
    table, scanned = open_table(twin_of_one_format.uri), Scans()
    for version in table.versions()["version"].to_list()[::8]:
        assert_histories(table, version, scanned)


def test_branches_have_the_events_of_their_own_versions(twins_by_branch):
    main = twins_by_branch[None]
    for branch, twin in twins_by_branch.items():
        table, scanned = open_table(main.uri, branch), Scans()
        assert_right_events(table, twin, scanned)
        versions = table.versions()["version"].to_list()
        assert_followed(table, versions[0], versions[-1], scanned)
        assert_followed(table, versions[-1], versions[0], scanned)
        for version in versions:
            assert_histories(table, version, scanned)
