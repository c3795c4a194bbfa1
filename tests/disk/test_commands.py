"""The commands du, cleanup, compact and check: what they print, and their exit codes."""

import json
from pathlib import Path

import lance
import pytest
from click.testing import CliRunner, Result

from lance_explorer.checks import all_checks
from lance_explorer.cli import main
from tests.disk.lives import rows


@pytest.fixture
def path(tmp_path: Path) -> Path:
    for first in (0, 10):
        lance.write_dataset(rows(5, first), str(tmp_path / "t.lance"), mode="append")
    lance.write_dataset(rows(5, 20), str(tmp_path / "t.lance"), mode="overwrite")
    return tmp_path / "t.lance"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def files_of(path: Path) -> list[Path]:
    return sorted(path.rglob("*"))


def test_du_says_what_takes_space(path: Path) -> None:
    found = run("du", str(path))
    assert found.exit_code == 0, found.output
    assert "on disk" in found.output.splitlines()[0]
    told = json.loads(run("du", str(path), "--json").output)
    size = sum(file.stat().st_size for file in files_of(path) if file.is_file())
    sections = told["sections"]
    assert sections["totals"]["facts"]["total_bytes"] == size
    assert size == sum(row["size_bytes"] for row in sections["summary"]["rows"])


def test_cleanup_says_what_would_go_and_removes_nothing(path: Path) -> None:
    before = files_of(path)
    found = run("cleanup", str(path), "--older-than", "0d", "--files")
    assert found.exit_code == 0, found.output
    assert "What is lost" in found.output
    assert found.output.strip().endswith(
        "dataset.cleanup_old_versions(older_than=timedelta(days=0))"
    )
    told = json.loads(run("cleanup", str(path), "--older-than", "0s", "--json").output)
    totals, files = told["sections"]["totals"]["facts"], told["sections"]["files"]["rows"]
    assert totals["num_versions"] == 2
    assert sum(file["size_bytes"] for file in files) == totals["freed_bytes"]
    assert files_of(path) == before


def test_compact_says_what_would_be_rewritten(path: Path) -> None:
    lance.write_dataset(rows(5, 30), str(path), mode="append")
    before = files_of(path)
    found = run("compact", str(path), "--target-rows-per-fragment", "100")
    assert found.exit_code == 0, found.output
    assert "2 fragments become 1" in found.output
    told = json.loads(run("compact", str(path), "--json").output)
    assert [len(task["fragment_ids"]) for task in told["sections"]["tasks"]["rows"]] == [2]
    assert files_of(path) == before


@pytest.mark.parametrize("command", ["cleanup", "compact", "du"])
def test_a_preview_changes_nothing(command: str, path: Path) -> None:
    before = files_of(path)
    found = run(command, str(path))
    assert found.exit_code == 0
    assert "dataset." in found.output  # the call that does it
    assert files_of(path) == before


@pytest.mark.parametrize("age", ["soon", "-1d", "9999999d", "1 fortnight"])
def test_an_age_that_is_none_is_refused(age: str, path: Path) -> None:
    found = run("cleanup", str(path), "--older-than", age)
    assert found.exit_code == 2
    assert "expected an age such as 14d" in found.output


def test_check_answers_by_its_exit_code(path: Path) -> None:
    found = run("check", str(path))
    assert found.exit_code == 0
    assert found.output.startswith(
        "Nothing of severity warning or worse was found.\n\nNot checked:"
    )
    data = next((path / "data").iterdir())
    data.write_bytes(b"cut off")
    found = run("check", str(path), "--severity", "error")
    assert found.exit_code == 1
    assert "error: files_of_wrong_size: " in found.output
    told = json.loads(run("check", str(path), "--json").output)
    assert [one["code"] for one in told["findings"]] == ["files_of_wrong_size"]
    assert run("check", str(path / "nowhere")).exit_code == 2


def test_check_says_what_it_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.lance"
    lance.write_dataset(rows(5), str(path), enable_stable_row_ids=True)
    monkeypatch.setattr(all_checks, "MOST_STATES", 0)
    found = run("check", str(path))
    assert found.exit_code == 0
    assert "- The row IDs of 1 states" in found.output
    told = json.loads(run("check", str(path), "--json").output)
    assert len(told["sections"]["not_checked"]["lines"]) == 3
    found = run("check", str(path), "--depth", "deep")
    assert [line[:22] for line in found.output.splitlines()[2:]] == [
        "Not checked:",
        "- The values in data f",
    ]
    lance.write_dataset(rows(5), str(tmp_path / "plain.lance"))
    assert "row IDs" not in run("check", str(tmp_path / "plain.lance")).output
