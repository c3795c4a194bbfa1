"""Manifests of a store that are put together from the version before are their files."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lance_explorer.format.appended_manifest import ManifestFile
from lance_explorer.history.listing import DirectoryLister
from lance_explorer.storage import LocalStorage
from tests.history.derived_manifests import differing
from tests.stored_tables import Asked, stored_check
from tests.synthetic import SyntheticTable


@stored_check()
def derived_manifests_are_the_files_of_all_writers(asked: Asked) -> None:
    """Every manifest of every release, read as from a store."""
    wrong, _ = differing(asked.root)
    assert not wrong


def commits(path: Path, *steps: Callable[[SyntheticTable], object]) -> Path:
    table = SyntheticTable(path).append(fragments=3).append()
    for step in steps:
        step(table)
    return path


def test_appends_and_indices_are_derived(tmp_path):
    root = commits(
        tmp_path,
        lambda table: table.append(fragments=2),
        lambda table: table.create_index("first"),
        SyntheticTable.append,
    )
    wrong, how = differing(root)
    assert not wrong
    assert how == {True: 3, False: 2}


STEPS: dict[str, Callable[[SyntheticTable], object]] = {
    "delete": lambda table: table.delete({0: [0]}),
    "update": lambda table: table.update({0: [0]}),
    "compact": lambda table: table.compact([0, 1]),
    "add column": lambda table: table.add_column("more"),
    "overwrite": SyntheticTable.overwrite,
    "restore": lambda table: table.restore(1),
    "config": lambda table: table.update_config(some="value"),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_what_follows_another_commit_is_derived_again(tmp_path, step):
    appends = [SyntheticTable.append] * 3
    root = commits(tmp_path, *appends, step, *appends)
    wrong, how = differing(root)
    assert not wrong
    assert how[True] == 5


def test_no_version_is_derived_across_a_gap(tmp_path):
    table = SyntheticTable(tmp_path)
    for _ in range(6):
        table.append()
    table.remove(2)
    wrong, how = differing(tmp_path)
    assert not wrong
    assert how == {False: 5}


@given(st.data())
def test_no_damage_is_hidden_that_is_in_the_bytes_of_a_version_itself(tmp_path_factory, data):
    root = commits(tmp_path_factory.mktemp("table"), *[SyntheticTable.append] * 3)
    files = DirectoryLister(LocalStorage(root)).list_versions().versions
    number = data.draw(st.integers(1, len(files) - 1))
    before, file = [root / files[n].path for n in (number - 1, number)]
    shared = ManifestFile.of(before.read_bytes())
    content = bytearray(file.read_bytes())
    begin = ManifestFile.of(bytes(content)).message_offset
    own = [
        *range(begin),
        *range(begin + shared.fragments_end - shared.message_offset, len(content)),
    ]
    content[data.draw(st.sampled_from(own))] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    wrong, _ = differing(root)
    assert not wrong
