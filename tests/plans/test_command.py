"""``lance-explorer plan``: what it prints, and what it saves."""

import json
from pathlib import Path

import lance
import pyarrow as pa
import pytest
from click.testing import CliRunner

from lance_explorer.cli.group import main
from tests.plans.carrying_out import rows_of, run_as_reader


@pytest.fixture
def uri(tmp_path: Path) -> str:
    path = str(tmp_path / "animals.lance")
    lance.write_dataset(pa.table({"id": range(4), "label": ["dog"] * 4}), path)
    lance.dataset(path).create_branch("dev")
    lance.dataset(path).checkout_version(("dev", None)).update({"label": "'cat'"}, where="id = 0")
    lance.dataset(path).update({"label": "'wrong'"}, where="id = 1")  # 2
    lance.dataset(path).update_config({"later": "it"})
    return path


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(main, ["plan", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("revert", "{uri}", "2"),
        ("restore-rows", "{uri}", "id = 1", "--at", "1"),
        ("merge", "{uri}", "dev"),
        ("recovery", "{uri}"),
    ],
    ids=lambda arguments: arguments[0],
)
def test_each_plan_is_printed_for_people_and_for_programs(
    uri: str, arguments: tuple[str, ...]
) -> None:
    asked = [part.format(uri=uri) for part in arguments]
    told = json.loads(_run(*asked, "--json"))
    assert told["answer"]
    assert told["answer"].split("`")[0].split(":")[0] in " ".join(_run(*asked).split())


def test_a_saved_plan_is_carried_out_as_it_says(uri: str, tmp_path: Path) -> None:
    folder = tmp_path / "undo"
    printed = _run("revert", uri, "2", "--save", str(folder), "--author", "ann")
    script = folder / "undo_version_2.py"
    assert f"python {script} {uri}" in printed
    assert run_as_reader(script, uri).returncode == 0
    assert rows_of(uri, "id", "label") == [(n, "dog") for n in range(4)]


def test_a_plan_is_not_saved_inside_the_table(uri: str) -> None:
    result = CliRunner().invoke(main, ["plan", "revert", uri, "2", "--save", f"{uri}/plan"])
    assert result.exit_code == 1
    assert "cannot be saved inside a table" in result.output
