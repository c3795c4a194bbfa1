"""What must agree between a table of ours, pylance, and the dict of a twin."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import lance
import polars as pl

from lance_explorer.table import Table
from tests.differential.reference import (
    NAMELESS,
    UNREADABLE,
    contents_of,
    describe,
    transaction_of,
)
from tests.differential.twin import COUNTS, Twin

__all__ = [
    "assert_right_counts",
    "assert_right_gaps",
    "assert_rows_are_conserved",
    "assert_same_refs",
    "assert_same_steps",
    "assert_same_transactions",
    "assert_same_versions",
    "checked_out",
    "with_previous",
]

Row = dict[str, Any]
Contents = dict[str, Any]
Fragment = dict[str, Any]

COLUMNS = [
    "version",
    "branch",
    "timestamp",
    "num_rows",
    "num_deleted_rows",
    "num_fragments",
    "num_data_files",
    "data_bytes",
    "num_indices",
    "tags",
    "data_format",
]
"""Columns of ``versions()`` for which pylance has a value of its own."""

REF_COLUMNS = [
    "kind",
    "name",
    "branch",
    "parent_branch",
    "version",
    "created_at",
    "updated_at",
    "manifest_bytes",
    "metadata",
]

FILE_COLUMNS = [
    "fragment_id",
    "path",
    "field_ids",
    "column_indices",
    "format_version",
    "size_bytes",
    "base_id",
    "is_overlay",
]


def checked_out(table: Table, version: int | None = None) -> Any:
    """Return a version of our table's branch as pylance opens it."""
    if table.branch is None:
        return lance.dataset(table.uri, version=version)
    return lance.dataset(table.uri).checkout_version((table.branch, version))


def with_previous(table: Table) -> Iterator[tuple[Row | None, Row]]:
    """Yield each row of versions() with that of the version before, None where that is gone."""
    by_version = {row["version"]: row for row in table.versions().to_dicts()}
    for version, row in by_version.items():
        yield by_version.get(version - 1), row


def follows(before: Row | None, row: Row) -> bool:
    """Tell whether the version before is known; that of the first is the empty table."""
    return before is not None or (row["version"] == 1 and row["operation"] != "Clone")


# --------------------------------------------------------------------------------- one version


def assert_same_versions(table: Table) -> None:
    """Check that the kept versions are the same, and all that is in each."""
    versions = table.versions()
    kept = [version["version"] for version in checked_out(table).versions()]
    assert versions["version"].to_list() == kept
    for row in versions.iter_rows(named=True):
        theirs = describe(checked_out(table, row["version"]), table.branch)
        assert {**_described_by_us(table, row["version"]), **_chosen(row, COLUMNS)} == theirs


def _chosen(row: Row, names: list[str]) -> Row:
    return {name: row[name] for name in names}


def _described_by_us(table: Table, version: int) -> Row:
    """Return what ``describe`` says of a version beyond COLUMNS."""
    inspect = table.inspect
    config = inspect.config(version)
    fragments = inspect.fragments(version)
    files = inspect.data_files(version)
    indices = inspect.indices(version)
    fields = inspect.fields(version).select(
        "field_id", "path", "name", "parent_id", "logical_type", "nullable", "metadata"
    )
    return {
        "has_stable_row_ids": table.at(version).has_stable_row_ids,
        "fragments": fragments.select("fragment_id", "physical_rows", "num_deleted_rows").rows(),
        "data_files": files.select(FILE_COLUMNS).rows(),
        "fields": [(*field, json.loads(metadata)) for *field, metadata in fields.iter_rows()],
        "indices": sorted(indices.select("uuid", "name", "dataset_version").rows()),
        **{
            name: dict(config.filter(pl.col("map") == name).select("key", "value").iter_rows())
            for name in ("config", "table_metadata", "schema_metadata")
        },
    }


# -------------------------------------------------------------------------------- transactions


def assert_same_transactions(table: Table) -> None:
    """Check what each commit says of itself."""
    transactions = table.inspect.transactions()
    shared = ["version", "operation", "read_version", "message"]
    assert table.versions().select(shared).equals(transactions.select(shared))
    for row in transactions.iter_rows(named=True):
        ours = _chosen(row, ["operation", "read_version", "uuid", "message"])
        ours["properties"] = json.loads(row["properties"])
        theirs = transaction_of(checked_out(table, row["version"]))
        if theirs == UNREADABLE:
            name = f"{ours['read_version']}-{ours['uuid']}.txn"
            assert ours["operation"] == "Rewrite"
            assert Path(table._view.storage.uri, "_transactions", name).exists()
        elif ours["operation"] in NAMELESS:
            assert {**ours, "operation": "BaseOperation"} == theirs
        else:
            assert ours == theirs
    for row in table.versions().iter_rows(named=True):
        rebased_over = row["version"] - row["read_version"] - 1
        assert row["rebased_over"] == (None if row["operation"] == "Clone" else rebased_over)


# ------------------------------------------------------------------------------- refs and gaps


def assert_same_refs(table: Table) -> None:
    """Check tags and branches, which are those of the whole table."""
    dataset = lance.dataset(table.uri)
    tags, branches = dataset.tags.list(), dataset.branches.list()
    frame = table.inspect.refs().select(REF_COLUMNS)
    assert [(*row, json.loads(metadata)) for *row, metadata in frame.iter_rows()] == [
        *(("tag", name, *_described_tag(tag)) for name, tag in sorted(tags.items())),
        *(("branch", name, *_described_branch(each)) for name, each in sorted(branches.items())),
    ]
    assert {name: (tag.branch, tag.version) for name, tag in table.tags.items()} == {
        name: (tag["branch"], tag["version"]) for name, tag in tags.items()
    }
    assert {name: (b.parent_branch, b.parent_version) for name, b in table.branches.items()} == {
        name: (branch["parent_branch"], branch["parent_version"])
        for name, branch in branches.items()
    }
    for name, branch in table.branches.items():
        if branch.identifier:  # where none is stored, pylance makes one up anew each time
            assert list(branch.identifier) == branches[name]["branch_identifier"]


def _described_tag(tag: Any) -> tuple[Any, ...]:
    times = tag["created_at"], tag["updated_at"]
    return tag["branch"], None, tag["version"], *times, tag["manifest_size"], tag["metadata"]


def _described_branch(branch: Any) -> tuple[Any, ...]:
    parent, version = branch["parent_branch"], branch["parent_version"]
    created_at = datetime.fromtimestamp(branch["create_at"], UTC)
    return parent, parent, version, created_at, None, branch["manifest_size"], branch["metadata"]


def assert_right_gaps(table: Table, first: int) -> None:
    """Check that gaps are what pylance does not list from the first version on."""
    kept = [ref["version"] for ref in checked_out(table).version_refs()]
    spans = table.inspect.gaps().select("first_version", "last_version").rows()
    in_gaps = [version for start, end in spans for version in range(start, end + 1)]
    assert in_gaps == [version for version in range(first, kept[-1]) if version not in kept]


# -------------------------------------------------------------------------- from one to the next


def assert_same_steps(table: Table) -> None:
    """Check what differs between each version and the one before."""
    contents = None
    for before, row in with_previous(table):
        previous = contents if before else None
        contents = contents_of(checked_out(table, row["version"]))
        step = _step_between(previous, contents, row["operation"])
        expected = step if follows(before, row) else dict.fromkeys(step)
        found = _chosen(row, list(step))
        if expected["is_noop"] and _has_reuse_index(table, row["version"]):
            del expected["is_noop"], found["is_noop"]  # pylance shows coverage as it remaps it
        assert found == expected, f"{row['version']}: {found}, not {expected}"


def assert_rows_are_conserved(table: Table) -> None:
    """Check that rows add up, wherever all terms are known."""
    for before, row in with_previous(table):
        terms = [row[f"rows_{name}"] for name in ("added", "restored", "deleted", "overwritten")]
        if follows(before, row) and None not in terms:
            added, restored, deleted, overwritten = terms
            num_rows = before["num_rows"] if before else 0
            assert row["num_rows"] == num_rows + added + restored - deleted - overwritten, row


def assert_right_counts(table: Table, twin: Twin) -> None:
    """Check that every count of rows is right, or null where it may be."""
    for before, row in with_previous(table):
        commit = twin.commits[row["version"]]
        ours = {name: row[f"rows_{name}"] for name in COUNTS}
        known = {name: count for name, count in ours.items() if count is not None}
        assert known == {name: commit.counts[name] for name in known}, row["version"]
        if follows(before, row):
            assert ours.keys() - known.keys() <= commit.may_be_null, row["version"]


def _has_reuse_index(table: Table, version: int) -> bool:
    indices = table._view.version(version).records[0].indices
    return any(index.name == "__lance_frag_reuse" for index in indices)


def _step_between(old: Contents | None, new: Contents, operation: str) -> Row:
    """Return what differs between two versions, from what pylance says of both."""
    before, after = _by_id(old), _by_id(new)
    shared = before.keys() & after.keys()
    lasting = [i for i in shared if _same_life(before[i], after[i], operation)]
    added = [fragment for i, fragment in after.items() if i not in lasting]
    removed = [fragment for i, fragment in before.items() if i not in lasting]
    masked = [_num_deletions(after[i]) - _num_deletions(before[i]) for i in lasting]
    return {
        "fragments_added": len(added),
        "fragments_removed": len(removed),
        "fragments_changed": sum(before[i] != after[i] for i in lasting),
        "rows_in": _num_rows(added),
        "rows_out": _num_rows(removed) + sum(rows for rows in masked if rows > 0),
        "schema_changed": old is None or old["fields"] != new["fields"],
        "is_noop": old == new,
    }


def _by_id(contents: Contents | None) -> dict[int, Fragment]:
    return {fragment["id"]: fragment for fragment in contents["fragments"]} if contents else {}


def _same_life(before: Fragment, after: Fragment, operation: str) -> bool:
    """Tell whether two states with one ID are of one fragment.

    Overwrites of old writers give IDs again, and restores bring back what those had replaced: then
    it takes a data file in common, whose names are never used twice.
    """
    paths = {file["path"] for file in before["files"]}
    shares_a_file = not paths.isdisjoint(file["path"] for file in after["files"])
    return shares_a_file or operation not in ("Overwrite", "Restore")


def _num_deletions(fragment: Fragment) -> int:
    return fragment["deletion_file"]["num_deleted_rows"] if fragment["deletion_file"] else 0


def _num_rows(fragments: Iterable[Fragment]) -> int:
    return sum(fragment["physical_rows"] - _num_deletions(fragment) for fragment in fragments)
