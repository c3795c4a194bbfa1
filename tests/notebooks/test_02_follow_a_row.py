"""What the third notebook shows, against what pylance reads in each version."""

from collections.abc import Callable

import lance
import networkx as nx
import polars as pl
import pytest

import lance_explorer as lx
from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("02_follow_a_row.ipynb")


@pytest.fixture(scope="module")
def path(samples) -> str:
    return str(samples[0])


def rows_of(path, version, columns=(), filter=None) -> pl.DataFrame:
    names = [*columns, "_rowid", "_rowaddr"]
    scanner = lance.dataset(path, version=version).scanner(columns=names, filter=filter)
    return pl.DataFrame(scanner.to_table())


@pytest.fixture(scope="module")
def addresses(path) -> dict[int, int | None]:
    """The address of row 42 in every version, as pylance scans it."""
    found = {}
    for version in range(1, 46):
        rows = rows_of(path, version, filter="_rowid = 42")
        found[version] = rows["_rowaddr"][0] if len(rows) else None
    return found


def test_the_history_has_the_address_of_every_version(notebook, addresses):
    history = notebook.frame('"_rowaddr_before", "_rowaddr_after", "evidence")')
    after = dict(history.select("version", "_rowaddr_after").iter_rows())
    address = None
    for version, expected in addresses.items():
        address = after.get(version, address)
        assert address == expected, version
    assert history["version"].to_list() == [1, 6, 8, 11, 14, 21, 22, 26, 28, 44]


def test_values_are_those_that_pylance_reads(notebook, path):
    values = notebook.frame('"changed_columns",\n)')
    for event in values.iter_rows(named=True):
        version = event["version"] - (event["event"] == "deleted")
        known = lance.dataset(path, version=version).schema.names
        was = {"title": "title" if "title" in known else "caption"}  # renamed in version 20
        shown = [name for name in ("title", "rating", "megapixels") if was.get(name, name) in known]
        names = [was.get(name, name) for name in shown]
        [expected] = rows_of(path, version, names, "_rowid = 42").select(names).rows()
        assert tuple(event[name] for name in shown) == expected
    changed = dict(values.select("version", "changed_columns").iter_rows())
    assert (changed[6], changed[11], changed[44]) == (["title"], ["rating"], ["title"])


def test_the_picture_has_the_line_of_the_row(notebook):
    figure = notebook.picture("lx.figures.lineage(")
    assert "the row" in {trace.get("name") for trace in figure["data"]}
    assert figure["layout"]["title"]["text"] == "27 fragments · versions 1 to 45"


def test_both_widgets_show_the_row(notebook):
    assert "LineageGraph" in notebook.text("graph.state.row_id = 42")
    assert notebook.text("lx.widgets.RowHistory(") == "RowHistory(row 42)"
    assert notebook.text("graph.selection") == (
        "{'version': 45, 'fragment_id': None, 'node': None, 'row_id': 42}"
    )
    shown = notebook.frame("row.frame()")
    assert shown["title"][-1] == "The yellow tram"


def test_many_rows_end_where_pylance_has_them(notebook, path):
    created = set(rows_of(path, 1)["_rowid"])
    live = created & set(rows_of(path, 45)["_rowid"])
    [line] = notebook.printed("rows are live")
    assert line == f"{len(live)} of {len(created)} rows are live"
    events = notebook.frame('sort("version", "event")')
    by_version = {(v, e): n for v, e, n in events.select("version", "event", "rows").iter_rows()}
    assert by_version[1, "created"] == len(created)
    removed = len(created & set(rows_of(path, 6)["_rowid"]) - set(rows_of(path, 7)["_rowid"]))
    assert by_version[7, "deleted"] == removed


def test_addresses_are_followed_forwards_and_backwards(notebook, path):
    forwards = notebook.frame("follow_addresses(range(5)")
    ids = dict(rows_of(path, 1).select("_rowaddr", "_rowid").iter_rows())
    now = dict(rows_of(path, 45).select("_rowid", "_rowaddr").iter_rows())
    for address, end in forwards.select("_rowaddr", "end_rowaddr").iter_rows():
        assert end == now.get(ids[address])
    backwards = notebook.frame('sort("end_fragment_id")')
    of_today = rows_of(path, 45).filter(pl.col("_rowaddr") // 2**32 == 24)["_rowid"]
    then = rows_of(path, 42).filter(pl.col("_rowid").is_in(of_today.implode()))
    expected = then.group_by((pl.col("_rowaddr") // 2**32).alias("f")).len().sort("f").rows()
    assert backwards.select("end_fragment_id", "rows").rows() == expected


def test_the_way_is_the_part_of_the_graph_that_the_row_went_along(notebook, path):
    way = notebook.frame("way.edges()")
    fragments = [int(node.split("@")[0]) for node in [way["from_node"][0], *way["to_node"]]]
    assert fragments == [0, 4, 4, 6, 10, 10, 12, 12, 25]
    graph = lx.open_table(path).row(42).graph().graph
    assert nx.is_weakly_connected(graph)
    assert notebook.printed("to_mermaid")[0] == "flowchart LR"
    assert notebook.printed("lineage.ancestors(24)") == [
        "fragment 21, from version 35",
        "fragment 23, from version 41",
    ]


def test_the_branch_goes_on_with_the_history(notebook, path):
    branch = notebook.frame("faces.row(42)")
    last = lx.open_table(path, branch="faces").latest
    [address] = last.row_ids().filter(_rowid=42)["_rowaddr"].to_list()
    assert branch["branch"].to_list() == [None, "faces", "faces"]
    assert branch["_rowaddr_after"][-1] == address


def test_without_stable_row_ids_the_address_is_followed(notebook):
    history = notebook.frame("moving.row(42, at=1)")
    assert history["version"].to_list() == [1, 6, 8, 11]
    assert history["evidence"][1] == "inferred"
    assert history["_rowaddr_after"][-1] is None
