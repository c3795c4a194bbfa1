"""What is public is told: each name has a docstring, and an example that is run as a test."""

import doctest
import inspect

import pytest

from tools.write_api import Name, groups

EVERY = [(group, name) for group, names in groups().items() for name in names]
WITHOUT_EXAMPLE = {"Errors"}
"""What all errors have in common shows one."""


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
    assert min(len(list(names)) for names in groups().values()) > 0
    paths = [name.path for _, name in EVERY]
    assert len(set(paths)) == len(paths)
    assert {"lx.open_table", "table.report", "table.inspect.fragments"} <= set(paths)
