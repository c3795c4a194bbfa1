"""A branch of a table that has an index: its life, step by step, beside pylance and a dict."""

from collections.abc import Callable

import polars as pl
import pytest

from lance_explorer import Table, open_table
from tests.differential.following_agreement import (
    assert_followed,
    assert_histories,
    assert_right_events,
)
from tests.differential.row_agreement import assert_same_rows
from tests.differential.twin import Keys, Twin

STEPS: dict[str, Callable[[Twin], None]] = {
    "append": lambda twin: twin.append(3),
    "delete": lambda twin: twin.delete(Keys(5, 0)),
    "update": lambda twin: twin.update(Keys(4, 1)),
    "optimize": lambda twin: twin.optimize_indices(),
    "compact": lambda twin: twin.compact(),
    "update_again": lambda twin: twin.update(Keys(3, 1)),
    "optimize_again": lambda twin: twin.optimize_indices(),
}
"""With stable IDs pylance loses an inherited index if it compacts before it optimizes indices."""


@pytest.fixture(
    scope="module", params=["stable", "addresses", "reused"], ids=["stable", "addresses", "reused"]
)
def lived(request, tmp_path_factory) -> tuple[Twin, dict[int, tuple[str, dict[str, int]]]]:
    """A branch, and for each of its versions the step and the rows that pylance says are indexed.

    Of ``reused`` a compaction of the parent is in the fragment reuse index, not in the index.
    """
    uri = str(tmp_path_factory.mktemp("branch") / "t.lance")
    main = Twin.create(uri, 9, stable_row_ids=request.param == "stable")
    main.append(2)
    main.create_index("key", "BTREE")
    main.append(4)
    main.update(Keys(3, 0))
    if request.param == "reused":
        main.compact(defer_index_remap=True)
    branch = main.fork("dev")
    indexed = {branch.version: ("fork", rows_indexed(branch))}
    for name, step in STEPS.items():
        step(branch)
        indexed[branch.version] = name, rows_indexed(branch)
    return branch, indexed


@pytest.fixture
def table(lived) -> Table:
    branch, _ = lived
    return open_table(branch.uri)


def rows_indexed(twin: Twin) -> dict[str, int]:
    indices = twin.dataset.describe_indices()
    return {index.name: index.num_rows_indexed for index in indices if index.name[:2] != "__"}


def test_coverage_is_that_of_pylance_after_every_step(lived, table):
    for version, (step, indexed) in lived[1].items():
        coverage = table.inspect.index_coverage(version=version).filter("is_covered")
        answered = coverage.group_by("name").agg(pl.col("num_rows_answered").sum())
        assert dict(answered.rows()) == indexed, step


def test_rows_are_told_and_followed_through_every_step(lived, table):
    branch, _ = lived
    assert_right_events(table, branch)
    assert_same_rows(table)
    versions = table.versions()["version"].to_list()
    for begin in versions:
        for end in versions:
            assert_followed(table, begin, end)
    assert_histories(table, versions[-1])


def test_its_lineage_goes_back_to_the_parent_and_conserves_rows(table):
    lineage = table.lineage()
    last = max(table.inspect.fragments()["fragment_id"])
    branches = {node.branch for node in lineage.ancestors(last)}
    assert branches == {None, "dev"}
    on_branch = pl.col("to_node").str.starts_with("dev:")
    moved = lineage.edges().filter(on_branch, kind="rewrite")["rows"].sum()
    compacted = table.versions().filter(operation="Rewrite")["rows_moved"].sum()
    assert moved == compacted
    assert table.inspect.rewrite_groups().filter(branch="dev")["rows_moved"].sum() == compacted


def test_what_a_branch_takes_over_of_the_reuse_index_is_the_parents(lived, table):
    branch, _ = lived
    main = open_table(branch.uri.partition("/tree/")[0])
    inherited = table.inspect.rewrite_groups().filter(pl.col("branch").is_null())
    pairs = ["version", "old_fragment_id", "new_fragment_id", "rows_moved"]
    if not inherited.is_empty():
        assert inherited.select(pairs).equals(main.inspect.rewrite_groups().select(pairs))
    ours = table.lineage().edges().filter(pl.col("version") < branch.kept[0] + 1, kind="rewrite")
    theirs = main.lineage().edges().filter(kind="rewrite")
    assert ours.equals(theirs)
