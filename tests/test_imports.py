"""What a fresh process loads to open a table and tell its versions: nothing that only others need.

That takes longer than reading a small table, and every notebook, command and worker pays for it.
"""

import subprocess
import sys
from importlib.metadata import packages_distributions

import grimp
import networkx as nx
import pytest

from tests.format.samples import DATA

TABLE = DATA / "14.0.2" / "bitmap_deletions.lance"

ROOMS = {
    "above",
    "answers",
    "arguments",
    "checks",
    "disk",
    "errors",
    "findings",
    "format",
    "frames",
    "history",
    "inspect",
    "panics",
    "row_index",
    "rowids",
    "shown",
    "snapshot",
    "storage",
    "table",
}
"""What may be loaded of this package."""

LIBRARIES = {
    "_polars_runtime_32",
    "google",
    "humanize",
    "lance_explorer",
    "msgspec",
    "numpy",
    "polars",
    "propcache",
    "pyroaring",
    "typing_extensions",
}
"""What may be loaded of all that is installed."""

PROGRAM = """
import sys
before = set(sys.modules)
import lance_explorer as lx
table = lx.open_table(sys.argv[1])
{ask}
print(*sorted(set(sys.modules) - before))
"""


def loaded(ask: str) -> set[str]:
    """Return the modules that a fresh process loads to open a table and to ask it something."""
    program = PROGRAM.format(ask=ask)
    run = subprocess.run(
        [sys.executable, "-c", program, str(TABLE)], capture_output=True, check=True
    )
    return set(run.stdout.decode().split())


def rooms(modules: set[str]) -> set[str]:
    names = [name.split(".") for name in modules]
    return {parts[1] for parts in names if parts[0] == "lance_explorer" and len(parts) > 1}


def libraries(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules} & set(packages_distributions())


@pytest.mark.slow
def test_versions_are_told_with_few_modules():
    modules = loaded("table.versions(); table.at(-1).num_rows; table.tags; table.inspect")
    assert rooms(modules) - ROOMS == set()
    assert libraries(modules) - LIBRARIES == set()


@pytest.mark.slow
def test_a_version_is_locked_and_verified_with_few_modules():
    modules = loaded("assert lx.verify(lx.lock(table.latest)).ok")
    assert rooms(modules) - ROOMS == {"locks"}
    assert libraries(modules) - LIBRARIES == set()


@pytest.mark.slow
def test_an_explorer_is_shown_without_what_only_rows_and_graphs_need():
    modules = loaded("table.explore()._repr_mimebundle_()")
    assert libraries(modules) & {"lance", "networkx", "pandas"} == set()


@pytest.mark.slow
def test_what_is_loaded_later_is_there_when_it_is_asked_for():
    modules = loaded("table.changes(1, 2).summary(); table.lineage(); repr(table)")
    assert {"changes", "lineage", "display"} <= rooms(modules)


def circles(*, with_types: bool) -> list[set[str]]:
    """Return the modules that import each other, at any time; with types also for mypy alone."""
    graph = grimp.build_graph(
        "lance_explorer", exclude_type_checking_imports=not with_types, cache_dir=None
    )
    imports = nx.DiGraph(
        [
            (module, other)
            for module in graph.modules
            for other in graph.find_modules_directly_imported_by(module)
        ]
    )
    return [some for some in nx.strongly_connected_components(imports) if len(some) > 1]


def test_modules_of_two_rooms_never_import_each_other() -> None:
    assert [some for some in circles(with_types=False) if len(rooms(some)) > 1] == []


@pytest.mark.parametrize("room", ["history", "format", "rowids", "values"])
def test_not_even_types_make_a_circle_in_a_room(room: str) -> None:
    found = {module for some in circles(with_types=True) for module in some}
    assert [module for module in found if module.split(".")[1:2] == [room]] == []
