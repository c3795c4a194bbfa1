"""The last section of docs/FORMAT.md: every place that it sends users to exists."""

import re
from pathlib import Path

import pytest

import lance_explorer as lx
from lance_explorer.inspect.catalogue import Inspect

TEXT = (Path(__file__).parents[2] / "docs/FORMAT.md").read_text()
SECTION = TEXT[TEXT.index("## 17. ") :]


def named(pattern: str) -> set[str]:
    return set(re.findall(pattern, SECTION))


FRAMES = named(r"`(?:table\.)?inspect\.(\w+)\(") | named(r"[`,] `\.(\w+)\(\)`")


@pytest.mark.parametrize("name", sorted(FRAMES))
def test_frames_exist(name):
    assert hasattr(Inspect, name)


@pytest.mark.parametrize("name", sorted(named(r"`table\.(\w+)\(")))
def test_calls_of_a_table_exist(name):
    assert hasattr(lx.Table, name)


@pytest.mark.parametrize("name", sorted(named(r"`snapshot\.(\w+)")))
def test_calls_of_a_snapshot_exist(name):
    assert hasattr(lx.Snapshot, name)


@pytest.mark.parametrize("name", sorted(named(r"`lx\.([\w.]+)")))
def test_other_names_exist(name):
    found = lx
    for part in name.split("."):
        found = getattr(found, part)


def test_many_are_named():
    assert len(FRAMES) > 20
