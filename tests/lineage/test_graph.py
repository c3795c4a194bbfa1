"""The graph of fragments: every edge of a small life, and what can be asked."""

from typing import Any

import lance
import networkx as nx
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import FragmentNotFoundError
from lance_explorer.format._pb import transaction_pb2 as pb
from lance_explorer.history.identity.state_rows import state_rows
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.following import follow
from lance_explorer.lineage.graph import FragmentNode, Lineage, lineage
from lance_explorer.lineage.nodes import EDGES, FRAGMENTS, STATES
from lance_explorer.lineage.updates import UpdateStep
from tests.inspect.tables import rows_of
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable

WAYS = ("from_node", "to_node", "kind", "version", "rows", "group_rows")


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """Versions 1 and 2: fragments 0 and 1 of four rows each, then 2."""
    return SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=2).append(rows=4)


def lineage_of(table: SyntheticTable) -> Lineage:
    return lineage(HistoryView.open(str(table.path)))


def ways(table: SyntheticTable, *columns: str) -> list[tuple[Any, ...]]:
    return rows_of(lineage_of(table).edges(), *(columns or WAYS))


def names(nodes: Any) -> list[str]:
    return sorted(str(node) for node in nodes)


# --------------------------------------------------------------------------------- edges


def test_a_compaction_leads_from_each_fragment_to_those_that_have_its_rows(table):
    table.delete({0: [0]}).compact([0, 1, 2], into=2)
    assert ways(table) == [
        ("0@1", "3@5", "rewrite", 5, 3, 11),
        ("1@1", "3@5", "rewrite", 5, 3, 11),
        ("1@1", "4@5", "rewrite", 5, 1, 11),
        ("2@2", "4@5", "rewrite", 5, 4, 11),
    ]
    assert {*ways(table, "evidence")} == {("recorded",)}


def test_an_update_leads_from_the_fragments_that_lost_rows(table):
    table.update({0: [1, 2], 2: [3]})
    assert ways(table) == [
        ("0@1", "3@3", "update", 3, 2, 3),
        ("2@2", "3@3", "update", 3, 1, 3),
    ]


def test_an_upsert_counts_the_inserted_rows_for_the_group_alone(table):
    table.update({0: [1, 2]}, inserted=5)
    assert ways(table) == [("0@1", "3@3", "update", 3, 2, 7)]


def test_an_upsert_that_deletes_too_is_counted_row_by_row(table):
    table.state.mask({1: [0]})
    table.update({0: [1, 2]}, inserted=1)
    assert ways(table) == [("0@1", "3@3", "update", 3, 2, 3)]


def test_without_row_ids_the_order_of_rows_tells_of_an_update(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4, fragments=2)
    table.update({0: [1, 2], 1: [3]})
    assert ways(table) == [
        ("0@1", "2@2", "update", 2, 2, 3),
        ("1@1", "2@2", "update", 2, 1, 3),
    ]
    assert {*ways(table, "evidence")} == {("inferred",)}


def test_without_row_ids_an_upsert_tells_from_where_but_not_how_many(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4, fragments=2)
    table.update({0: [1, 2], 1: [3]}, inserted=2)
    assert ways(table) == [
        ("0@1", "2@2", "update", 2, None, 5),
        ("1@1", "2@2", "update", 2, None, 5),
    ]


def test_a_column_written_anew_leads_from_a_fragment_to_itself(table):
    table.delete({0: [1]}).add_column("more")
    assert ways(table) == [
        ("0@1", "0@1", "column_rewrite", 4, 3, 3),
        ("1@1", "1@1", "column_rewrite", 4, 4, 4),
        ("2@2", "2@2", "column_rewrite", 4, 4, 4),
    ]


def test_deletions_lead_nowhere(table):
    assert ways(table.delete({0: [1]}).delete({1: [0, 1, 2, 3]})) == []


def test_a_restored_fragment_comes_from_its_earlier_life(table):
    table.compact([0, 1]).restore(2)
    assert ways(table)[2:] == [
        ("0@1", "0@5", "restore", 5, 4, 4),
        ("1@1", "1@5", "restore", 5, 4, 4),
    ]


def test_a_fragment_that_is_restored_twice_comes_from_its_last_life(tmp_path):
    dataset: Any = lance.write_dataset(
        pa.table({"a": range(8)}), tmp_path / "t.lance", max_rows_per_file=4
    )
    for version in (1, 4):
        dataset.optimize.compact_files()
        dataset.checkout_version(version).restore()
        dataset.checkout_latest()
    edges = lx.open_table(tmp_path / "t.lance").lineage().edges()
    restores = edges.filter(kind="restore").select("from_node", "to_node", "version")
    assert restores.rows() == [
        ("0@1", "0@4", 4),
        ("1@1", "1@4", 4),
        ("0@4", "0@7", 7),
        ("1@4", "1@7", 7),
    ]


@pytest.mark.parametrize("columns", ["a", "ab"])
def test_a_restore_of_other_values_writes_no_column(tmp_path, columns):
    """A cast of the only column replaces the file: what is restored then begins another life."""
    rows = pa.table({name: range(8) for name in columns})
    dataset: Any = lance.write_dataset(rows, tmp_path / "t.lance")
    dataset.alter_columns({"path": "a", "data_type": pa.int32()})
    for version in (1, 2):
        dataset.checkout_version(version).restore()
    edges = lx.open_table(tmp_path / "t.lance").lineage().edges()
    back = [("0@1", "0@3", "restore", 3), ("0@1", "0@4", "restore", 4)] if columns == "a" else []
    found = edges.select("from_node", "to_node", "kind", "version").rows()
    assert found == [("0@1", "0@1", "column_rewrite", 2), *back]


def test_a_branch_goes_on_with_the_fragments_of_its_parent(table):
    table.delete({0: [1]})
    branch = table.branch("dev").update({0: [2]})
    table.append()  # of no concern to the branch
    assert ways(branch) == [
        ("0@1", "dev:0@3", "clone", 3, 3, 3),
        ("1@1", "dev:1@3", "clone", 3, 4, 4),
        ("2@2", "dev:2@3", "clone", 3, 4, 4),
        ("dev:0@3", "dev:3@4", "update", 4, 1, 1),
    ]
    frame = lineage_of(branch).fragments()
    assert frame["last_version"].to_list() == [3, 3, 3, 4, 4, 4, 4]
    assert frame["is_current"].to_list() == [False] * 3 + [True] * 4


def test_a_branch_of_a_branch_leads_back_to_main(table):
    deep = table.branch("dev").append().branch("dev/deep").append()
    assert names(lineage_of(deep).ancestors(0)) == ["0@1", "dev:0@2"]


def test_a_fork_is_known_when_the_first_version_of_the_branch_is_gone(table):
    branch = table.branch("dev").append().append()
    branch.remove(2)
    assert ways(branch, "from_node", "to_node", "evidence") == [
        ("0@1", "dev:0@3", "derived"),
        ("1@1", "dev:1@3", "derived"),
        ("2@2", "dev:2@3", "derived"),
    ]
    assert "dev:3@3" in lineage_of(branch).fragments()["node"]


def test_a_clone_goes_on_with_the_fragments_of_another_table(table):
    clone = copied(table)
    uri = HistoryView.open(str(table.path)).uri
    assert ways(clone, "from_node", "to_node") == [
        (f"{uri}#{i}@{v}", f"{i}@2") for i, v in ((0, 1), (1, 1), (2, 2))
    ]
    assert lineage_of(clone).fragments()["table"].to_list() == [uri] * 3 + [None] * 3


def test_of_a_clone_whose_source_is_gone_the_fragments_are_known_by_hearsay(table):
    clone = copied(table)
    table.path.rename(table.path.with_name("elsewhere"))
    origin = lineage_of(clone).fragments().head(3)
    assert origin["fragment_id"].to_list() == [0, 1, 2]
    assert origin.select("first_version", "physical_rows", "last_version").unique().rows() == [
        (2, 4, None)
    ]
    assert not origin["first_version_exact"].any()


def copied(table: SyntheticTable) -> SyntheticTable:
    """Return a shallow clone of a table, as a table of its own."""
    clone = SyntheticTable(table.path.with_name("clone.lance"))
    clone.state.manifest.CopyFrom(table.state.manifest)
    clone.state.manifest.base_paths.add(id=0, is_dataset_root=True, path=str(table.path))
    clone.state.fragments = {
        key: fragment.on_base(0) for key, fragment in table.state.fragments.items()
    }
    clone.state.manifest.version -= 1
    operation = pb.Clone(is_shallow=True, ref_version=table.version, ref_path=str(table.path))
    return clone.commit("clone", operation, read_version=table.version)


# --------------------------------------------------------------------------------- nodes


def test_a_node_tells_what_made_it_and_what_ended_it(table):
    table.delete({0: [1]}).compact([0, 1])
    graph = lineage_of(table).graph
    assert graph.nodes[FragmentNode(None, None, 0, 1)] == {
        "table": None,
        "branch": None,
        "fragment_id": 0,
        "first_version": 1,
        "first_version_exact": True,
        "last_version": 4,
        "is_current": False,
        "operation": "Overwrite",
        "kind": "create",
        "end_operation": "Rewrite",
        "num_rows_at_first": 4,
        "num_rows": 3,
        "physical_rows": 4,
        "num_deleted_rows": 1,
        "data_bytes": 364,
    }


def test_after_a_gap_the_beginning_is_not_exact_and_its_cause_not_known(table):
    [node] = lineage_of(table.append().append().remove(3)).fragments().rows(named=True)[-2:-1]
    assert (node["node"], node["first_version_exact"], node["operation"]) == ("3@4", False, None)
    assert node["kind"] == "other"


def test_attributes_are_the_columns_of_frames_and_stand_in_the_docstring(table):
    graph = lineage_of(table.update({0: [1]}).compact([1, 2])).graph
    documented = Lineage.graph.__doc__ or ""
    for schema, facts in (
        (FRAGMENTS, [facts for _, facts in graph.nodes(data=True)]),
        (EDGES, [facts for *_, facts in graph.edges(data=True)]),
    ):
        expected = [name for name in schema.names if not name.endswith("node")]
        assert all(list(one) == expected for one in facts)
        assert all(f"\n{name} " in documented for name in expected)


def test_states_tell_how_lanes_get_thinner(table):
    table.delete({0: [1]}).append().delete({0: [2]})
    states = lineage_of(table).states().filter(node="0@1")
    columns = ("first_version", "last_version", "num_rows", "num_deleted_rows")
    assert rows_of(states, *columns) == [(1, 2, 4, 0), (3, 4, 3, 1), (5, 5, 2, 2)]


def test_a_table_whose_files_are_damaged_has_a_lineage(table):
    table.state.mask({1: [0]})
    table.update({0: [1, 2]}, inserted=1)
    for file in (table.path / "_deletions").iterdir():
        file.write_bytes(b"nothing")
    assert ways(table, "from_node", "to_node", "rows", "evidence") == [
        ("0@1", "3@3", None, "inferred"),
        ("1@1", "3@3", None, "inferred"),
    ]


def test_an_empty_part_has_the_schema_of_a_full_one(table):
    part = lineage_of(table).subgraph([])
    for frame, schema in zip(part.frames, (FRAGMENTS, EDGES, STATES), strict=True):
        assert frame.schema == schema.polars_schema
    assert len(part.graph) == 0


# ----------------------------------------------------------------------------- questions


@pytest.fixture
def story(table) -> Lineage:
    """0 and 1 became 3, of which an update took rows to 4; 2 stands apart."""
    return lineage_of(table.compact([0, 1]).update({3: [0]}))


def test_ancestors_and_descendants(story):
    assert names(story.ancestors(4)) == ["0@1", "1@1", "3@4"]
    assert names(story.descendants(0)) == ["3@4", "4@5"]
    assert story.ancestors(2) == story.descendants(FragmentNode(None, None, 2, 2)) == set()


def test_between_are_the_ways_from_one_to_another(story):
    assert names(story.between(0, 4).graph) == ["0@1", "3@4", "4@5"]
    assert len(story.between(0, 4).edges()) == 2
    assert names(story.between(4, 0).graph) == []


def test_a_fragment_id_stands_for_its_latest_life(table):
    restored = lineage_of(table.compact([0, 1]).restore(2))
    assert restored.node(0) == FragmentNode(None, None, 0, 5)
    assert names(restored.ancestors(0)) == ["0@1"]


def test_a_fragment_that_never_was_is_not_found(story):
    with pytest.raises(FragmentNotFoundError, match="there never was a fragment 99"):
        story.ancestors(99)
    with pytest.raises(FragmentNotFoundError, match="no fragment 0@7"):
        story.descendants(FragmentNode(None, None, 0, 7))


def test_the_part_that_rows_went_through(table):
    table.compact([0, 1]).update({3: [0]}).compact([2, 4])
    view = HistoryView.open(str(table.path))
    part = lineage(view).subgraph_of(follow(view, [0]))
    assert names(part.graph) == ["0@1", "3@4", "4@5", "5@7"]
    assert rows_of(part.edges(), "from_node", "to_node") == [
        ("0@1", "3@4"),
        ("3@4", "4@5"),
        ("4@5", "5@7"),
    ]


def test_the_part_of_a_row_that_did_nothing_on_a_branch_leads_there(table):
    branch = table.branch("dev").append()
    view = HistoryView.open(str(branch.path))
    part = lineage(view).subgraph_of(follow(view, [0]))
    assert rows_of(part.edges(), "from_node", "to_node") == [("0@1", "dev:0@2")]


def test_it_says_how_large_it_is(story):
    assert repr(story) == "Lineage(t.lance: 5 fragments, 3 edges)"
    assert "2 of 5 fragments are current" not in story._repr_html_()
    assert "3 of 5 fragments are current" in story._repr_html_()


# ---------------------------------------------------------------------------------- laws


@stored_check()
def check_rows_are_conserved(asked):
    """What compactions read is what they wrote, and what they dropped was deleted before."""
    graph = asked.lineage.graph
    for _, facts, out in [(n, f, graph.out_edges(n, data=True)) for n, f in graph.nodes(data=True)]:
        rewrites = [edge["rows"] for *_, edge in out if edge["kind"] == "rewrite"]
        if rewrites and None not in rewrites and facts["physical_rows"] is not None:
            assert sum(rewrites) + facts["num_deleted_rows"] == facts["physical_rows"]
    for node, facts in graph.nodes(data=True):
        into = [edge for *_, edge in graph.in_edges(node, data=True) if edge["kind"] == "rewrite"]
        if into and facts["num_rows_at_first"] is not None:
            assert sum(edge["rows"] for edge in into) == facts["num_rows_at_first"]


@stored_check()
def check_time_runs_forward(asked):
    graph = asked.lineage.graph
    for start, end, edge in graph.edges(data=True):
        assert (start == end) == (edge["kind"] == "column_rewrite")
        assert start.first_version <= edge["version"] <= graph.nodes[end]["last_version"]
    loops = list(nx.selfloop_edges(graph, keys=True))
    graph.remove_edges_from(loops)
    assert nx.is_directed_acyclic_graph(graph)


@stored_check()
def check_counting_by_fragment_is_counting_by_row(asked):
    rows = state_rows(asked.view)
    for position, record in enumerate(rows.history.records):
        if record.operation == "Update" and rows.history.follows_previous[position]:
            quick = UpdateStep(rows, position).by_fragment()
            assert quick is None or quick == UpdateStep(rows, position).by_row()


def test_most_updates_are_counted_without_a_look_at_rows(table):
    table.update({0: [1], 2: [2]}).update({0: [2]}, inserted=3)
    rows = state_rows(HistoryView.open(str(table.path)))
    assert all(UpdateStep(rows, position).by_fragment() for position in (2, 3))
