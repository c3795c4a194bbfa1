"""What versions() says that each commit did, against a dict of the rows and pylance's fragments.

A count may be null only where the docstring of ``VERSIONS`` in ``inspect/versions.py`` says so:
where the version before is gone; and without stable row IDs what fragments cannot tell, of a merge
that took rows out and put rows in (or an update of all columns, which looks like one) and of a
restore. A count that is not null is right.
"""

from lance_explorer import open_table
from tests.differential.agreement import (
    assert_right_counts,
    assert_rows_are_conserved,
    assert_same_steps,
    with_previous,
)
from tests.differential.row_agreement import (
    assert_counts_are_those_of_events,
    assert_counts_by_identity,
)
from tests.differential.twin import Twin
from tests.stored_tables import stored_check

WRITTEN = {"Append": "added", "Overwrite": "added", "Rewrite": "moved"}
"""Operations that tell by themselves what they wrote."""


class TestLives:
    def test_counts_are_right_or_null_where_they_may_be(self, twin: Twin):
        assert_right_counts(open_table(twin.uri), twin)

    def test_what_was_written_is_known_though_the_version_before_is_gone(self, twin: Twin):
        for _, row in with_previous(open_table(twin.uri)):
            if row["operation"] in WRITTEN:
                name = WRITTEN[row["operation"]]
                assert row[f"rows_{name}"] == twin.commits[row["version"]].counts[name]

    def test_counts_are_those_of_row_identity(self, twin: Twin):
        assert_counts_by_identity(open_table(twin.uri))

    def test_counts_are_those_of_row_events(self, twin: Twin):
        assert_counts_are_those_of_events(open_table(twin.uri))

    def test_differences_to_the_version_before_are_those_in_pylance(self, twin: Twin):
        assert_same_steps(open_table(twin.uri))

    def test_rows_are_conserved(self, twin: Twin):
        assert_rows_are_conserved(open_table(twin.uri))


class TestBranches:
    def test_counts_are_right_or_null_where_they_may_be(
        self, twins_by_branch: dict[str | None, Twin]
    ):
        for twin in twins_by_branch.values():
            assert_right_counts(open_table(twin.uri), twin)

    def test_differences_to_the_version_before_are_those_in_pylance(
        self, twins_by_branch: dict[str | None, Twin]
    ):
        for twin in twins_by_branch.values():
            assert_same_steps(open_table(twin.uri))

    def test_rows_are_conserved(self, twins_by_branch: dict[str | None, Twin]):
        for twin in twins_by_branch.values():
            assert_rows_are_conserved(open_table(twin.uri))

    def test_counts_are_those_of_row_events(self, twins_by_branch: dict[str | None, Twin]):
        for twin in twins_by_branch.values():
            assert_counts_are_those_of_events(open_table(twin.uri))


@stored_check()
def check_differences_to_the_version_before_are_those_in_pylance(asked):
    assert_same_steps(asked.table)


@stored_check()
def check_counts_are_those_of_row_identity(asked):
    assert_counts_by_identity(asked.table)


@stored_check()
def check_rows_are_conserved(asked):
    assert_rows_are_conserved(asked.table)


@stored_check()
def check_counts_are_those_of_row_events(asked):
    assert_counts_are_those_of_events(asked.table)
