"""Every version of every table is to us what it is to pylance."""

import re
from pathlib import Path

import lance
import polars as pl
import pyarrow as pa

from lance_explorer import open_table
from tests.differential.agreement import (
    assert_right_gaps,
    assert_same_refs,
    assert_same_transactions,
    assert_same_versions,
)
from tests.differential.twin import Twin
from tests.stored_tables import is_branch, is_main, stored_check

README = Path(__file__).parent.parent / "data" / "README.md"
LISTED = re.compile(r"^\| (`[^|]+) \| ([\d., ]+) \| (\d[^|]+) \|$", re.MULTILINE)
TEN_APPENDS = ", ".join(f"{version} Append {version + 1}" for version in range(2, 12))

Versions = list[tuple[int, str, int]]
"""Of each version its number, its operation, and the rows after it."""


def listed_versions(path: Path) -> dict[str | None, Versions]:
    """Return the versions of a committed table by branch, as the README of the tables has them."""
    listed: dict[str | None, Versions] = {}
    for tables, writers, steps in LISTED.findall(README.read_text()):
        names, _, branch = tables.partition(" branch ")
        if f"`{path.stem}`" in names.split(", ") and path.parent.name in writers.split(", "):
            steps = steps.replace("then ten Append to 12", TEN_APPENDS)
            steps = steps.replace("Reserve", "ReserveFragments")
            listed[branch.strip("`") or None] = [
                (int(version), operation, int(rows))
                for version, operation, rows in map(str.split, steps.split(", "))
            ]
    return listed


def test_a_config_asks_something_of_writers_alone(tmp_path):
    dataset = lance.write_dataset(pa.table({"key": [1, 2]}), tmp_path / "t.lance")
    dataset.update_config({"owner": "tests"})
    dataset.delete("key = 1")
    flags = open_table(dataset).versions().select("reader_flags", "writer_flags").rows()
    deletions = "deletion_files"
    assert flags == [("", ""), ("", "table_config"), (deletions, f"{deletions}, table_config")]


class TestLives:
    def test_versions_are_those_of_pylance(self, twin: Twin):
        assert_same_versions(open_table(twin.uri))

    def test_transactions_are_those_of_pylance(self, twin: Twin):
        assert_same_transactions(open_table(twin.uri))

    def test_refs_are_those_of_pylance(self, twin: Twin):
        assert_same_refs(open_table(twin.uri))

    def test_gaps_are_what_pylance_does_not_keep(self, twin: Twin):
        assert_right_gaps(open_table(twin.uri), first=1)

    def test_operations_and_messages_are_those_that_were_done(self, twin: Twin):
        versions = open_table(twin.uri).versions()
        done = [(n, twin.commits[n].operation, twin.commits[n].message) for n in twin.kept]
        assert versions.select("version", "operation", "message").rows() == done

    def test_nothing_is_found_wrong(self, twin: Twin):
        assert (
            open_table(twin.uri).inspect.findings().filter(pl.col("severity") == "error").is_empty()
        )


class TestBranches:
    def test_versions_are_those_of_pylance(self, twins_by_branch: dict[str | None, Twin]):
        for branch in twins_by_branch:
            assert_same_versions(open_table(twins_by_branch[None].uri, branch))

    def test_transactions_are_those_of_pylance(self, twins_by_branch: dict[str | None, Twin]):
        for branch in twins_by_branch:
            assert_same_transactions(open_table(twins_by_branch[None].uri, branch))

    def test_refs_are_those_of_pylance_on_every_branch(
        self, twins_by_branch: dict[str | None, Twin]
    ):
        for branch in twins_by_branch:
            assert_same_refs(open_table(twins_by_branch[None].uri, branch))

    def test_gaps_of_a_branch_begin_at_its_fork(self, twins_by_branch: dict[str | None, Twin]):
        for twin in twins_by_branch.values():
            assert_right_gaps(open_table(twin.uri), first=min(twin.commits))

    def test_root_of_a_branch_opens_as_that_branch(self, twins_by_branch: dict[str | None, Twin]):
        root = twins_by_branch[None].uri
        for branch, twin in twins_by_branch.items():
            by_root, by_name = open_table(twin.uri), open_table(root, branch)
            assert (by_root.uri, by_root.branch) == (root, branch)
            assert by_root.versions().equals(by_name.versions())
            assert by_root.inspect.refs().equals(by_name.inspect.refs())

    def test_operations_are_those_that_were_done(self, twins_by_branch: dict[str | None, Twin]):
        for twin in twins_by_branch.values():
            versions = open_table(twin.uri).versions()
            done = [(version, twin.commits[version].operation) for version in twin.kept]
            assert versions.select("version", "operation").rows() == done


@stored_check()
def check_versions_are_those_of_pylance(asked):
    assert_same_versions(asked.table)


@stored_check()
def check_transactions_are_those_of_pylance(asked):
    assert_same_transactions(asked.table)


@stored_check(is_main)
def check_refs_are_those_of_pylance(asked):
    assert_same_refs(asked.table)


@stored_check(is_branch)
def check_root_of_a_branch_opens_as_that_branch(asked):
    by_root = asked.table
    assert by_root.uri == str(asked.stored.root)
    assert by_root.versions().equals(open_table(asked.stored.root, by_root.branch).versions())


@stored_check()
def check_operations_and_rows_are_those_that_their_readme_lists(asked):
    listed = listed_versions(asked.stored.root)
    assert listed.keys() == {None, *asked.table.branches}
    versions = asked.table.versions().select("version", "operation", "num_rows")
    assert versions.rows() == listed[asked.table.branch]
