"""Base paths against pylance's list, and how many files lie below each."""

from lance_explorer.inspect.base_paths import all_base_paths, base_paths
from lance_explorer.inspect.data_files import data_files
from tests.inspect.tables import rows_of, stored
from tests.stored_tables import stored_check


@stored_check()
def check_bases_are_those_that_pylance_lists(asked):
    view = asked.view
    for version in asked.versions:
        bases = asked.dataset(version).base_paths()
        expected = [
            (base.id, base.name, base.path, base.is_dataset_root)
            for base in sorted(bases.values(), key=lambda base: base.id)
        ]
        columns = ("base_id", "name", "path", "is_dataset_root")
        assert rows_of(base_paths(view, version), *columns) == expected


@stored_check()
def check_files_below_a_base_are_counted(asked):
    view = asked.view
    for version in asked.versions:
        used = data_files(view, version)["base_id"].drop_nulls()
        for base_id, count in rows_of(base_paths(view, version), "base_id", "num_data_files"):
            assert (used == base_id).sum() == count


def test_deletion_files_of_a_clone_stay_with_their_source():
    frame = base_paths(stored("14.0.2/shallow_clone.lance"), 2)
    assert rows_of(frame, "num_data_files", "num_deletion_files") == [(2, 2)]


def test_a_branch_of_a_branch_has_two_bases():
    frame = all_base_paths(stored("14.0.2/branches.lance/tree/dev/deep"))
    assert rows_of(frame, "base_id", "name", "first_version", "is_current") == [
        (0, None, 5, True),
        (1, "dev", 5, True),
    ]
