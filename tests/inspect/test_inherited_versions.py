"""A branch shows what it inherits, up to where it left its parent."""

import json
import shutil

import lance_explorer as lx
from tests.format.samples import DATA
from tests.stored_tables import is_branch, stored_check

STORED = DATA / "14.0.2/branches.lance"


def line(table: lx.Table) -> list[tuple[str | None, int]]:
    return table.versions(inherited=True).select("branch", "version").rows()


def expected(table: lx.Table) -> list[tuple[str | None, int]]:
    """Return the versions by following the parents that the files of branches name."""
    own = [(table.branch, version) for version in table.versions()["version"]]
    if table.branch is None:
        return own
    ref = table.branches[table.branch]
    parent = expected(lx.open_table(table.uri, ref.parent_branch))
    here = [one for one in parent if one[0] != ref.parent_branch or one[1] <= ref.parent_version]
    return here + own


@stored_check(is_branch)
def check_ancestors_come_before_a_branch_up_to_the_fork(asked):
    assert line(asked.table) == expected(asked.table)
    assert line(asked.table)[0] == (None, 1)


def test_a_branch_of_a_branch_has_two_forks():
    versions = lx.open_table(STORED, "dev/deep").versions(inherited=True)
    assert versions["branch"].unique(maintain_order=True).to_list() == [None, "dev", "dev/deep"]
    assert versions.filter(operation="Clone")["branch"].to_list() == ["dev", "dev/deep"]


def test_the_main_branch_inherits_nothing():
    table = lx.open_table(STORED)
    assert table.versions(inherited=True).equals(table.versions())


def test_a_parent_that_was_made_again_under_its_name_is_another_branch(tmp_path):
    copy = shutil.copytree(STORED, tmp_path / "t.lance")
    (path,) = copy.glob("_refs/branches/dev.json")
    ref = json.loads(path.read_text())
    ref["identifier"]["version_mapping"][-1][1] = "0" * 32
    path.write_text(json.dumps(ref))
    assert {branch for branch, _ in line(lx.open_table(copy, "dev/deep"))} == {"dev/deep"}


def test_branches_that_name_each_other_as_parents_end_somewhere(tmp_path):
    copy = shutil.copytree(STORED, tmp_path / "t.lance")
    for path, parent in (("dev.json", "dev/deep"), ("dev%2Fdeep.json", "dev")):
        place = copy / "_refs" / "branches" / path
        ref = {**json.loads(place.read_text()), "parentBranch": parent}
        del ref["identifier"]
        place.write_text(json.dumps(ref))
    assert {branch for branch, _ in line(lx.open_table(copy, "dev"))} == {"dev"}
