"""The graph in the formats of other programs, and as OpenLineage events."""

import builtins
import json
import re

import networkx as nx
import pytest
from openlineage.client.serde import Serde

from lance_explorer.errors import MissingDependencyError
from lance_explorer.history.view import HistoryView
from lance_explorer.lineage.export import plain_graph
from lance_explorer.lineage.graph import Lineage, lineage
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable

HOSTILE = 'dev"];\\<script>&#quot;'


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4, fragments=2).append(rows=4)
    return table.compact([0, 1]).update({3: [0]}).restore(2)


@pytest.fixture
def story(table) -> Lineage:
    return lineage(HistoryView.open(str(table.path)))


def branch(table: SyntheticTable) -> Lineage:
    """Return the lineage of a branch whose name is full of what means something elsewhere."""
    return lineage(HistoryView.open(str(table.branch(HOSTILE).path)))


def same(one: nx.MultiDiGraph, other: nx.MultiDiGraph) -> bool:
    return (
        type(one) is type(other)
        and list(one.nodes(data=True)) == list(other.nodes(data=True))
        and sorted(one.edges(keys=True, data=True), key=repr)
        == sorted(other.edges(keys=True, data=True), key=repr)
    )


@stored_check()
def check_graphml_opens_again_unchanged(asked):
    story = asked.lineage
    story.to_graphml(asked.scratch / "graph.graphml")
    again = nx.read_graphml(asked.scratch / "graph.graphml", force_multigraph=True)
    assert same(again, plain_graph(story.graph))


def test_graphml_is_returned_as_text_too(story, tmp_path):
    text = story.to_graphml(tmp_path / "graph.graphml")
    assert text == story.to_graphml() == (tmp_path / "graph.graphml").read_text("utf-8")


def test_a_plain_graph_has_names_and_leaves_out_what_is_not_known(story):
    plain = plain_graph(story.graph)
    assert [*plain] == [str(node) for node in story.graph]
    assert "end_operation" not in plain.nodes["2@2"]
    assert plain.nodes["0@1"]["end_operation"] == "Rewrite"


def test_json_opens_again_unchanged(story):
    again = nx.node_link_graph(
        json.loads(story.to_json()), source="from", target="to", edges="edges"
    )
    assert same(again, plain_graph(story.graph))


def test_dot_has_a_line_for_each_node_and_edge(story):
    text = story.to_dot()
    assert r'"0@1" [label="fragment 0\nfrom version 1\n4 rows"];' in text
    assert '"0@1" -> "3@4" [label="rewrite in version 4, 4 rows"];' in text
    assert text.count("->") == len(story.edges())


@stored_check()
def check_dot_is_a_graph_of_quoted_nodes_and_edges(asked):
    assert_is_dot(asked.lineage)


def assert_is_dot(story):
    first, second, *lines, last = story.to_dot().splitlines()
    assert (first, second, last) == ("digraph lineage {", "  rankdir=LR;", "}")
    assert len(lines) == len(story.fragments()) + len(story.edges())
    quoted = r'"(?:[^"\\]|\\.)*"'
    for line in lines:
        assert re.fullmatch(rf"  {quoted}(?: -> {quoted})? \[label={quoted}\];", line), line


def test_mermaid_has_a_line_for_each_node_and_edge(story):
    lines = story.to_mermaid().splitlines()
    assert lines[0] == "flowchart LR"
    assert '  n0["fragment 0<br>from version 1<br>4 rows"]' in lines
    assert '  n0 -- "rewrite in version 4, 4 rows" --> n3' in lines
    assert len(lines) == 1 + len(story.fragments()) + len(story.edges())


def test_hostile_names_are_no_markup(table):
    story = branch(table)
    assert "<script" not in story.to_mermaid()
    assert r'"dev\"];\\<script>' in story.to_dot()
    assert_is_dot(story)
    again = nx.parse_graphml(story.to_graphml(), force_multigraph=True)
    assert HOSTILE in {facts.get("branch") for _, facts in again.nodes(data=True)}


# --------------------------------------------------------------------------- OpenLineage


def test_every_version_is_a_completed_run(story, table):
    events = [json.loads(Serde.to_json(event)) for event in story.to_openlineage("team")]
    assert len(events) == table.version
    assert {event["eventType"] for event in events} == {"COMPLETE"}
    assert {event["job"]["namespace"] for event in events} == {"team"}
    versions = [event["outputs"][0]["facets"]["version"]["datasetVersion"] for event in events]
    assert versions == [str(version) for version in range(1, table.version + 1)]
    path = story._view.uri
    assert {event["outputs"][0]["name"] for event in events} == {path}
    assert events[1]["job"]["name"] == f"{path}.Append"


def test_a_run_read_the_version_before_and_a_restore_the_restored_one(story):
    inputs = [
        [one.facets["version"].datasetVersion for one in event.inputs]
        for event in story.to_openlineage()
    ]
    assert inputs[0] == []
    assert inputs[1] == ["1"]
    assert inputs[-1] == ["5", "2"]


def test_a_branch_read_its_parent(table):
    first = branch(table).to_openlineage()[0]
    [parent] = first.inputs
    assert (parent.name, parent.facets["version"].datasetVersion) == (str(table.path), "6")


def test_a_run_says_which_fragments_rows_came_from(story):
    compaction = json.loads(Serde.to_json(story.to_openlineage()[3]))
    facets = compaction["outputs"][0]["outputFacets"]
    ways = [(e["from_node"], e["to_node"], e["rows"]) for e in facets["lance_fragments"]["edges"]]
    assert ways == [("0@1", "3@4", 4), ("1@1", "3@4", 4)]
    assert facets["outputStatistics"]["rowCount"] == 8


def test_the_run_is_the_transaction(story):
    header = story._view.history.records[1].transaction.header
    assert story.to_openlineage()[1].run.runId == header.uuid


def test_a_missing_library_is_named_with_its_extra(story, monkeypatch):
    original = builtins.__import__

    def without_openlineage(name, *arguments, **options):
        if name.startswith("openlineage"):
            raise ImportError(name)
        return original(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_openlineage)
    with pytest.raises(MissingDependencyError, match=r"lance-explorer\[openlineage\]"):
        story.to_openlineage()
