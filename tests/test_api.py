"""What is public is told: each name has a docstring, and an example that is run as a test."""

import doctest
import inspect
from importlib import import_module

import pytest
from IPython.core.completer import IPCompleter, provisionalcompleter

import lance_explorer as lx
from tools.docs.public_names import Name, groups

EVERY = [(group.title, name) for group in groups() for name in group.names]
WITHOUT_EXAMPLE = {"Errors"}
"""What all errors have in common shows one."""

PACKAGES = [
    "lance_explorer",
    "lance_explorer.demo",
    "lance_explorer.figures",
    "lance_explorer.lineage.recording",
    "lance_explorer.spark",
    "lance_explorer.widgets",
]
WIDGETS = [
    "Changes",
    "Columns",
    "DatabaseExplorer",
    "Disk",
    "Explorer",
    "Indices",
    "LineageGraph",
    "Log",
    "Overview",
    "RowHistory",
    "SegmentEncodings",
    "TimeTravel",
]


def has_example(name: Name) -> bool:
    return bool(doctest.DocTestParser().get_examples(name.doc))


def is_called(name: Name) -> bool:
    """Whether it is a class or something to call; attributes are in the example of their class."""
    return callable(name.member) or inspect.isclass(name.member)


@pytest.mark.parametrize("name", [name for _, name in EVERY], ids=lambda name: name.path)
def test_a_public_name_says_what_it_is(name):
    assert name.summary.endswith((".", ":"))


@pytest.mark.parametrize(
    "name",
    [name for group, name in EVERY if group not in WITHOUT_EXAMPLE and is_called(name)],
    ids=lambda name: name.path,
)
def test_a_public_name_has_an_example(name):
    assert has_example(name)


def test_errors_have_an_example_in_common():
    [base] = [name for _, name in EVERY if name.path == "lx.LanceExplorerError"]
    assert has_example(base)


def test_all_groups_have_names():
    assert min(len(group.names) for group in groups()) > 0
    paths = [name.path for _, name in EVERY]
    assert len(set(paths)) == len(paths)
    assert {"lx.open_table", "table.report", "table.inspect.fragments"} <= set(paths)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_public_package_lists_its_public_names_and_nothing_else(package):
    module = import_module(package)
    assert dir(module) == sorted(module.__all__)
    assert all(getattr(module, name) is not None for name in module.__all__)
    names: dict[str, object] = {}
    exec(f"from {package} import *", names)
    assert names.keys() - {"__builtins__"} == {*module.__all__}


def test_the_widgets_are_those_that_show_a_table():
    assert lx.widgets.__all__ == WIDGETS


def completions(typed: str, *, use_jedi: bool) -> list[str]:
    """Return what IPython offers after what is typed."""
    completer = IPCompleter(namespace={"lx": lx}, use_jedi=use_jedi)
    with provisionalcompleter():
        return [found.text.lstrip(".") for found in completer.completions(typed, len(typed))]


@pytest.mark.parametrize("use_jedi", [True, False])
@pytest.mark.parametrize("package", ["demo", "figures", "spark", "widgets"])
def test_ipython_completes_the_public_names_and_nothing_else(package, use_jedi):
    offered = completions(f"lx.{package}.", use_jedi=use_jedi)
    assert sorted(offered) == sorted(getattr(lx, package).__all__)
