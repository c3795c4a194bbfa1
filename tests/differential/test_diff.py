"""Diffs between any two versions of tables that pylance wrote, beside comparing its full scans."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from lance_explorer import Table, open_table
from tests.differential.changes_agreement import (
    ALL,
    Scan,
    Scans,
    assert_right_net,
)
from tests.differential.lives import Life, live_on_branches, lives
from tests.differential.twin import Twin

Place = tuple[str | None, int]


@pytest.fixture(
    scope="module", params=[life for life in lives() if life.data_format == "2.1"], ids=str
)
def table(request, tmp_path_factory) -> Table:
    """A table that had one of the lives."""
    life: Life = request.param
    twin = life.live(tmp_path_factory.mktemp("life"))
    return open_table(twin.uri, twin.branch)


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "addresses"])
def branched(request, tmp_path_factory) -> "Branched":
    """A table with branches that went on, and lost versions."""
    path = tmp_path_factory.mktemp("branches") / "branches.lance"
    twin = Twin.create(str(path), 10, stable_row_ids=request.param, data_format="2.1")
    live_on_branches(twin)
    return Branched(twin.uri)


class Branched:
    """The versions of a table with branches, and the rows of each as pylance scans them."""

    def __init__(self, uri: str) -> None:
        self.table = open_table(uri)
        self.sources = {None: self.table} | {
            name: open_table(uri, branch=name) for name in self.table.branches
        }
        self.scans = {name: Scans() for name in self.sources}
        self.scan = cache(self._scan)

    def places(self) -> list[Place]:
        return [
            (name, version)
            for name, source in self.sources.items()
            for version in source.versions()["version"]
        ]

    def pairs(self) -> Iterator[tuple[Place, Place]]:
        """Yield each version of each branch beside the latest of each, in both directions."""
        for place in self.places():
            for name, source in self.sources.items():
                yield place, (name, source.latest.version)
                yield (name, source.latest.version), place

    def _scan(self, place: Place) -> Scan:
        """Return a scan in which rows are known by their key and the branch that it came from."""
        branch, version = place
        scan = self.scans[branch].of(self.sources[branch], version)
        identities: Any = {
            address: (self._origin(branch, row["key"]), row["key"])
            for address, row in scan.rows.items()
        }
        return replace(scan, identities=identities)

    def _origin(self, branch: str | None, key: int) -> str | None:
        while branch is not None:
            fork = self.table.branches[branch]
            parent = self.sources[fork.parent_branch]
            rows = self.scans[fork.parent_branch].of(parent, fork.parent_version).rows
            if key not in {row["key"] for row in rows.values()}:
                return branch
            branch = fork.parent_branch
        return branch


def named(place: Place) -> int | tuple[str, int]:
    branch, version = place
    return version if branch is None else (branch, version)


def test_a_diff_to_a_later_version_is_the_net_change(table):
    latest = table.latest.version
    for begin in table.versions()["version"].to_list():
        diff, changes = table.diff(begin, latest), table.changes(begin, latest, include=ALL)
        assert diff.rows(include=ALL).equals(changes.to_polars())
        assert diff.summary()["updated"].item() == changes.summary()["updated"].item()


def test_a_diff_to_an_earlier_version_is_that_between_full_scans(table):
    scans, latest = Scans(), table.latest.version
    for end in table.versions()["version"].to_list():
        new = scans.of(table, end)
        old = scans.of(table, latest).named_as_in(new)
        diff = table.diff(latest, end)
        rows = diff.rows(images="both", include=ALL)
        assert_right_net(rows, diff.summary(), old, new, f"{latest} to {end}")


def test_same_content_is_what_full_scans_say(table):
    scans = Scans()
    versions = table.versions()["version"].to_list()
    for one, other in zip(versions, [*versions[1:], versions[0]], strict=True):
        old, new = scans.of(table, one), scans.of(table, other)
        told = table.diff(one, other).same_content()
        if told.method == "row ID":
            rows: list[Any] = [by_identity(scan) for scan in (old, new)]
        else:
            rows = [in_order(scan) for scan in (old, new)]
        has_same_types = types(table, one) == types(table, other)
        assert told.is_same == (has_same_types and rows[0] == rows[1]), (one, other, told)


def test_a_diff_between_branches_is_that_between_full_scans(branched):
    for first, second in branched.pairs():
        diff = branched.table.diff(named(first), named(second))
        rows = diff.rows(images="both", include=ALL)
        old, new = branched.scan(first), branched.scan(second)
        assert_right_net(rows, diff.summary(), old, new, f"{first} to {second}")


def types(table: Table, version: int) -> set[tuple[str, str]]:
    return {(field.name, field.logical_type) for field in table.at(version).fields}


def by_identity(scan: Scan) -> dict[int, object]:
    return {scan.identities[address]: row for address, row in scan.rows.items()}


def in_order(scan: Scan) -> list[str]:
    return sorted([repr(sorted(row.items())) for row in scan.rows.values()])
