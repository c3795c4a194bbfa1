"""The table of conflicts, tried again with pylance, pair by pair."""

from pathlib import Path

import lance
import pytest

import lance_explorer as lx
from lance_explorer.disk.conflicts import OPERATIONS, OVERLAPS
from tests.disk.pairs import LOOKS_AGAIN, outcomes, table_with_indices


@pytest.mark.slow
@pytest.mark.parametrize("committed", OPERATIONS)
def test_each_pair_ends_as_the_table_says(committed: str, tmp_path: Path) -> None:
    told = lx.conflicts().filter(committed=committed)
    path = tmp_path / "t.lance"
    for line, (_, attempted, overlap, found) in zip(
        told.to_dicts(), outcomes(path, committed), strict=True
    ):
        assert (line["attempted"], line["overlap"], line["outcome"]) == (attempted, overlap, found)
        check_why(path, committed, attempted, found)


def check_why(path: Path, committed: str, attempted: str, found: str) -> None:
    """Check what a table says of its last commit: over which others it was put, and why."""
    rebases = lx.open_table(path).inspect.rebases()
    assert not rebases["reason"].str.starts_with("not known").any(), rebases.to_dicts()
    if found == "rebased" and attempted not in LOOKS_AGAIN:
        latest = lance.dataset(str(path)).version
        last = rebases.filter(version=latest)
        assert {*last["operation"]} == {attempted}
        assert committed in {*last["passed_operation"]}
        assert last["passed_version"][-1] == latest - 1


def test_a_commit_over_versions_that_are_gone_says_so(tmp_path: Path) -> None:
    uri = table_with_indices(tmp_path / "t.lance")
    stale = lance.dataset(uri)
    for _ in range(2):
        lance.dataset(uri).update_config({"key": "value"})
    stale.update_config({"other": "value"})
    for passed in (3, 4):
        (tmp_path / "t.lance" / "_versions" / f"{2**64 - 1 - passed:020}.manifest").unlink()
        told = lx.open_table(uri).inspect.rebases().select("passed_version", "reason").to_dicts()
        assert {"passed_version": passed, "reason": f"version {passed} is not kept"} in told
        assert len(told) == 2


def test_all_pairs_are_there() -> None:
    assert len(lx.conflicts()) == len(OPERATIONS) ** 2 * len(OVERLAPS)


def test_the_page_has_the_table() -> None:
    page = Path(__file__).parents[2] / "docs" / "CONFLICTS.md"
    assert page.read_text(encoding="utf-8") == page_text()


def page_text() -> str:
    """Return the page on conflicts."""
    words = {
        "rebased": "rebased",
        "redone": "redone",
        "refused_try_again": "try again",
        "refused": "refused",
    }
    head = "| first \\ second | " + " | ".join(OPERATIONS) + " |"
    lines = [_INTRODUCTION, head, "|---" * (len(OPERATIONS) + 1) + "|"]
    for committed in OPERATIONS:
        cells = []
        for attempted in OPERATIONS:
            found = lx.conflicts().filter(committed=committed, attempted=attempted)
            same, fragment, other = [words[outcome] for outcome in found["outcome"]]
            distinct = list(dict.fromkeys([same, fragment, other]))
            cells.append(distinct[0] if len(distinct) == 1 else f"{same} / {fragment} / {other}")
        lines.append(f"| **{committed}** | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


_INTRODUCTION = """# What Lance makes of two commits at once

Both began on the same version; the first was committed, then the second. Each pair was tried with
pylance 14.0.2 on a table without stable row IDs; `lx.conflicts()` is the same as a frame, and
`table.inspect.rebases()` says which commits of a table were put over which others, and why.

* **rebased**: committed unchanged, on top of the first.
* **redone**: Lance ran it again by itself on the new version, so that it sees the changes of the
  first.
* **try again**: an error that says so; the files that it wrote stay until a cleanup.
* **refused**: an error that trying again does not solve.

Where three words stand, the first is for the same rows (or the same column, index or key), the
second for other rows of one fragment, the third for other fragments (columns, indices, keys).
"""
