"""The graph of fragments agrees with pylance: who is there, how many rows, and where they went."""

from collections import Counter

import lance
import polars as pl

import lance_explorer as lx
from lance_explorer.lineage.graph import Lineage
from tests.differential.twin import Twin
from tests.stored_tables import stored_check


def fragments_at(story: Lineage, branch: str | None, version: int) -> list[tuple[int, int]]:
    """Return the fragments that a version has by the graph, with their live rows."""
    own = story.fragments().filter(pl.col("table").is_null())
    own = own.filter(pl.col("branch").eq_missing(pl.lit(branch, pl.String)))
    states = story.states().join(own.select("node", "fragment_id"), on="node")
    here = states.filter(pl.col("first_version") <= version, pl.col("last_version") >= version)
    return sorted(here.select("fragment_id", "num_rows").rows())


def fragments_of_rows(dataset: lance.LanceDataset) -> dict[int, int]:
    """Return the fragment of each row, by row ID or, without stable ones, by key."""
    identity = "_rowid" if dataset.has_stable_row_ids else "key"
    rows = dataset.to_table(columns=[identity, "_rowaddr"]).to_pydict()
    return {row: place >> 32 for row, place in zip(rows[identity], rows["_rowaddr"], strict=True)}


def assert_same_fragments(story: Lineage, branch: str | None) -> None:
    for version in [record.version for record in story._view.history.records]:
        dataset = lance.dataset(story._view.storage.uri, version=version)
        expected = [
            (fragment.fragment_id, fragment.count_rows()) for fragment in dataset.get_fragments()
        ]
        assert fragments_at(story, branch, version) == sorted(expected)


def test_fragments_of_lives_are_those_of_pylance(twin):
    assert_same_fragments(lx.open_table(twin.uri).lineage(), None)


def test_fragments_of_branches_are_those_of_pylance(twins_by_branch):
    for branch in twins_by_branch:
        table = lx.open_table(twins_by_branch[None].uri, branch=branch)
        assert_same_fragments(table.lineage(), branch)


def test_rows_went_where_pylance_finds_them(twin: Twin):
    """Without stable row IDs, of a merge is known where rows went, but not how many."""
    story = lx.open_table(twin.uri).lineage()
    places = dict(story.fragments().select("node", "fragment_id").iter_rows())
    history = story._view.history
    for position, record in enumerate(history.records):
        if record.operation not in ("Rewrite", "Update") or not history.follows_previous[position]:
            continue
        before = fragments_of_rows(lance.dataset(twin.uri, version=record.version - 1))
        after = fragments_of_rows(lance.dataset(twin.uri, version=record.version))
        moved = [row for row in before.keys() & after.keys() if before[row] != after[row]]
        expected = dict(Counter([(before[row], after[row]) for row in moved]))
        edges = story.edges().filter(
            pl.col("version") == record.version, pl.col("kind").is_in(["rewrite", "update"])
        )
        removed = {
            (places[start], places[end]): rows
            for start, end, rows in edges.select("from_node", "to_node", "rows").iter_rows()
        }
        if None in removed.values():
            assert not twin.stable_row_ids
            assert expected.keys() <= removed.keys()
        else:
            assert removed == expected


@stored_check()
def check_fragments_are_those_of_pylance(asked):
    assert_same_fragments(asked.lineage, asked.table.branch)
