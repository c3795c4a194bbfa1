"""Synthetic tables are tables to pylance, too, as far as no data are asked for."""

import lance
import pytest

from tests.synthetic import SyntheticTable


@pytest.fixture(params=[True, False], ids=["stable", "addresses"])
def table(request, tmp_path):
    """A table to which each operation was done once."""
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=request.param)
    table.append(rows=10).append(rows=5).delete({0: [3]}).update({0: [4], 1: [2]})
    table.delete({1: [0, 1, 3, 4]}).compact([0, 2]).append(rows=3, fragments=2)
    table.update_config(owner="tests").create_index("by_id").add_column("extra")
    table.rename_column("extra", "more").update({4: [0]}, inserted=2).restore(13)
    return table.compact([4, 5, 6], into=2).delete({3: range(1, 9)})


OPERATIONS = [
    "Overwrite",
    "Append",
    "Delete",
    "Update",
    "Delete",
    "BaseOperation",  # of a ReserveFragments pylance does not say more
    "Rewrite",
    "Append",
    "UpdateConfig",
    "CreateIndex",
    "Merge",
    "Project",
    "Update",
    "Restore",
    "BaseOperation",
    "Rewrite",
    "Delete",
]

FRAGMENTS = {
    1: {0: 10},
    2: {0: 10, 1: 5},
    3: {0: 9, 1: 5},
    4: {0: 8, 1: 4, 2: 2},
    5: {0: 8, 2: 2},
    6: {0: 8, 2: 2},
    7: {3: 10},
    8: {3: 10, 4: 3, 5: 3},
    13: {3: 10, 4: 2, 5: 3, 6: 3},
    14: {3: 10, 4: 2, 5: 3, 6: 3},
    16: {3: 10, 7: 4, 8: 4},
    17: {3: 2, 7: 4, 8: 4},
}


def test_pylance_lists_the_versions_with_their_rows(table):
    versions = lance.dataset(table.path).versions()
    rows = {entry["version"]: int(entry["metadata"]["total_rows"]) for entry in versions}
    assert list(rows) == list(range(1, 18))
    assert {v: rows[v] for v in FRAGMENTS} == {v: sum(f.values()) for v, f in FRAGMENTS.items()}


def test_pylance_reads_the_transactions(table):
    dataset = lance.dataset(table.path)
    transactions = [dataset.read_transaction(version) for version in range(1, 18)]
    assert [type(t.operation).__name__ for t in transactions if t] == OPERATIONS
    assert [t.read_version for t in transactions if t] == [*range(6), 5, *range(7, 15), 14, 16]


def test_pylance_reads_the_transactions_from_the_manifests_alone(tmp_path):
    table = SyntheticTable(tmp_path, transaction_files=False).append().append()
    assert not (tmp_path / "_transactions").exists()
    transaction = lance.dataset(tmp_path).read_transaction(table.version)
    assert transaction is not None
    assert type(transaction.operation).__name__ == "Append"


@pytest.mark.parametrize("version", FRAGMENTS)
def test_pylance_counts_the_rows_of_fragments(table, version):
    dataset = lance.dataset(table.path, version=version)
    fragments = {f.fragment_id: f.count_rows() for f in dataset.get_fragments()}
    assert fragments == FRAGMENTS[version]


def test_pylance_reads_row_ids_and_deletion_files(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=20_000).append(rows=10)
    table.delete({0: range(0, 10_000, 2), 1: [0, 9]})  # one deletion file of either type
    table.update({0: [1, 3, 5], 1: [8]}, inserted=2).compact([0, 1, 2])
    rows = lance.dataset(tmp_path).scanner(columns=[], with_row_id=True).to_table()
    kept = [*range(7, 10_000, 2), *range(10_000, 20_000), *range(20_001, 20_008)]
    assert rows.column("_rowid").to_pylist() == [*kept, 1, 3, 5, 20_008, 20_010, 20_011]


def test_pylance_reads_row_versions(tmp_path):
    table = SyntheticTable(tmp_path).append(rows=3).append(rows=2)
    table.update({0: [1], 1: [0]}, inserted=1).add_column("extra").update({2: [2]})
    names = ["_row_created_at_version", "_row_last_updated_at_version"]
    rows = lance.dataset(tmp_path).scanner(columns=names, with_row_id=True).to_table()
    assert list(
        zip(*[rows.column(name).to_pylist() for name in ("_rowid", *names)], strict=True)
    ) == [
        (0, 1, 4),
        (2, 1, 4),
        (4, 2, 4),
        (1, 1, 4),
        (3, 2, 4),
        (5, 3, 5),
    ]


def test_pylance_reads_names_of_the_first_kind(tmp_path):
    table = SyntheticTable(tmp_path, naming="V1").append().append().remove(1)
    assert [entry["version"] for entry in lance.dataset(tmp_path).versions()] == [table.version]


def test_pylance_reads_tags_and_branches(table):
    table.tag("gold", 4)
    branch = table.branch("dev/one").append(rows=4).delete({3: [0]})
    dataset = lance.dataset(table.path)
    assert dataset.tags.list()["gold"]["version"] == 4
    assert dataset.branches.list()["dev/one"]["parent_version"] == table.version
    on_branch = lance.dataset(branch.path)
    assert on_branch.count_rows() == table.num_rows + 3
    assert [entry["version"] for entry in on_branch.versions()] == [17, 18, 19]


def test_equal_calls_make_equal_files(tmp_path):
    files = []
    for name in ("one", "two"):
        table = SyntheticTable(tmp_path / name).append(rows=9).delete({0: [1]}).compact([0])
        paths = sorted(path for path in table.path.rglob("*") if path.is_file())
        files.append([(path.relative_to(table.path), path.read_bytes()) for path in paths])
    assert files[0] == files[1]
