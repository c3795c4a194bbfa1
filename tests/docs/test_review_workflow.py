"""The workflow of the guide on reviews: its steps, run as GitHub runs them, with a fake of gh."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import lance
import pyarrow as pa
import pytest
import yaml

GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "reviewing.md"

GH = """#!/bin/sh
printf '%s\\n' "$@" > "$FAKE/arguments"
while [ "$1" != --body-file ]; do shift; done
cat "$2" > "$FAKE/comment"
"""


@pytest.fixture
def table(tmp_path):
    """A table with a branch that can be merged, and one that is in conflict."""
    path = tmp_path / "photos.lance"
    written: Any = lance.write_dataset(
        pa.table({"id": [1, 2], "label": ["cat", "dog"]}), path, enable_stable_row_ids=True
    )
    written.create_branch("clean").update({"label": "'fox'"}, where="id = 1")
    written.create_branch("conflict").update({"label": "'owl'"}, where="id = 2")
    lance.dataset(path).update({"label": "'wolf'"}, where="id = 2")
    return path


def run_workflow(table: Path, branch: str, folder: Path) -> list[int]:
    """Run the steps; return the exit code of each, up to the first that is not 0."""
    [text] = re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    facts = {"github.head_ref": branch, "github.token": "secret", "github.event.number": "7"}

    def filled(words: str) -> str:
        return re.sub(r"\$\{\{ (.*?) \}\}", lambda found: facts[found[1]], words)

    [job] = yaml.safe_load(text)["jobs"].values()
    (folder / "bin").mkdir()
    (folder / "bin" / "gh").write_text(GH)
    (folder / "bin" / "gh").chmod(0o755)
    path = f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    of_all = {"GITHUB_STEP_SUMMARY": str(folder / "summary"), "GITHUB_REPOSITORY": "us/photos"}
    given = {name: filled(value) for name, value in job["env"].items()} | {"TABLE": str(table)}
    codes = []
    for step in job["steps"]:
        if "run" not in step or step["run"].startswith("pip install"):
            continue
        extra = {name: filled(value) for name, value in step.get("env", {}).items()}
        env = {**os.environ, "PATH": path, "FAKE": str(folder), **of_all, **given, **extra}
        script = ["bash", "-eo", "pipefail", "-c", filled(step["run"])]
        codes.append(subprocess.run(script, env=env, cwd=folder, check=False).returncode)
        if codes[-1]:
            break
    return codes


@pytest.mark.parametrize(("branch", "codes"), [("clean", [0, 0, 0]), ("conflict", [0, 0, 1])])
def test_it_comments_keeps_the_page_and_fails_on_conflicts(branch, codes, table, tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    assert run_workflow(table, branch, folder) == codes
    review = (folder / "review.md").read_text()
    assert review.startswith(f"## photos.lance: merge {branch} into main\n")
    assert (folder / "summary").read_text() == (folder / "comment").read_text() == review
    arguments = (folder / "arguments").read_text().splitlines()
    assert arguments[:5] == ["pr", "comment", "7", "--repo", "us/photos"]
    assert "<main>" in (folder / "review.html").read_text()
    is_clean = branch == "clean"
    assert ("No cell is in conflict." in review) == is_clean
