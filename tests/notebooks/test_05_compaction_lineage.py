"""What the fourth notebook shows, against the fragments that pylance has in each version."""

import json
import re
from collections.abc import Callable

import lance
import pytest

import lance_explorer as lx
from tests.notebooks.running import RunNotebook


@pytest.fixture(scope="module")
def notebook(run_once: Callable[[str], RunNotebook]) -> RunNotebook:
    return run_once("05_compaction_lineage.ipynb")


@pytest.fixture(scope="module")
def rewrites(samples) -> dict[int, tuple[set[int], set[int]]]:
    """The fragments removed and added in each compaction, by version, newest first."""
    path = str(samples[0])
    versions = lx.open_table(path).versions().filter(operation="Rewrite")["version"]
    return {version: removed_and_added(path, version) for version in reversed(versions.to_list())}


def removed_and_added(path: str, version: int) -> tuple[set[int], set[int]]:
    before, after = [
        {fragment.fragment_id for fragment in lance.dataset(path, version=number).get_fragments()}
        for number in (version - 1, version)
    ]
    return before - after, after - before


def summary(count: int, latest: int) -> str:
    plural = "" if count == 1 else "s"
    return f"CompactionLineage: {count} compaction{plural}, the latest in version {latest}"


def test_all_compactions_of_the_past_are_shown(notebook, rewrites):
    assert notebook.text("lineage = table.compaction_lineage()") == summary(
        len(rewrites), max(rewrites)
    )


def test_fragments_became_what_pylance_has(notebook, rewrites):
    shown: dict[int, tuple[set[int], set[int]]] = {}
    for line in notebook.printed("for entry in lineage.entries"):
        if header := re.match(r"version \d+ -> (\d+), ", line):
            removed, added = shown[int(header[1])] = set(), set()
        else:
            old, new = re.findall(r"\[.*?\]", line)
            removed.update(json.loads(old))
            added.update(json.loads(new))
    assert list(shown.items()) == list(rewrites.items())


def test_an_earlier_version_has_fewer(notebook, rewrites):
    early = [version for version in rewrites if version <= 20]
    assert notebook.text("compaction_lineage(version=20)") == summary(len(early), max(early))


def test_cleanup_forgets_what_was_not_recorded(notebook):
    assert notebook.printed("forgetful = copy_of_the_table") == ["None"]


def test_cleanup_leaves_what_was_recorded(notebook, rewrites):
    assert notebook.text("recorded = lx.open_table(dataset)") == summary(
        len(rewrites), max(rewrites)
    )
    assert notebook.text("entries == lineage.entries") == "(True, 1)"


def test_the_new_compaction_is_beside_the_old_ones(notebook, rewrites):
    versions = notebook.frame("recorded.refresh().compaction_lineage().to_frame()")
    assert set(versions["target_version"]) > set(rewrites)
    assert versions["target_version"].n_unique() == len(rewrites) + 1


def test_the_restore_leaves_out_what_it_undid(notebook, rewrites):
    left, with_undone = notebook.printed("dataset.checkout_version(before).restore()")
    assert left.endswith(summary(len(rewrites), max(rewrites)))
    assert summary(len(rewrites) + 1, 0)[:-1] in with_undone


def test_the_limit_holds(notebook, rewrites):
    shown = notebook.text("set_lineage_retention(dataset, 2)")
    assert shown == f"{summary(2, max(rewrites))}; at most 2 stored"
