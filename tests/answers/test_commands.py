"""``--json`` of every command is one envelope, and what people see fits 80 columns."""

import json
import re
import shlex
from typing import Any

import pytest
from click import Context, Group
from click.testing import CliRunner

import lance_explorer as lx
from lance_explorer.answers.as_json import SCHEMA
from lance_explorer.cli.group import main
from tests.format.samples import DATA
from tests.synthetic import SyntheticTable

TABLE = str(DATA / "14.0.2" / "life_cycle.lance")

COMMANDS = {
    "blame": (TABLE, "id < 3"),
    "check": (TABLE,),
    "cleanup": (TABLE, "--retain-versions", "1"),
    "compact": (TABLE,),
    "damage": (TABLE,),
    "diff": (TABLE, "1", "3"),
    "drift": (TABLE, "point", "1", "5"),
    "du": (TABLE,),
    "duplicates": (TABLE, "id"),
    "find": (TABLE, "id < 3"),
    "forget-values": (TABLE, "id = 1", "--ledger", "{folder}/recorded"),
    "inspect": (TABLE, "refs"),
    "log": (TABLE,),
    "merge-preview": ("{folder}/t.lance", "dev"),
    "profile": (TABLE,),
    "record": (TABLE, "--ledger", "{folder}/ledger"),
    "row": (TABLE, "1", "--values"),
    "salvage": (TABLE,),
    "show": (TABLE, "2"),
    "sql": (TABLE, "SELECT version FROM versions"),
    "tables": ("{folder}",),
    "verify": ("{folder}/a.lock",),
    "versions": (TABLE,),
}
GROUPS = {"plan"}
"""Their commands are asked in tests/plans/test_command.py."""
NO_JSON = {"lab", "lock", "mcp", "metrics", "open", "report", "watch"}


def run(command: str, *arguments: str) -> str:
    result = CliRunner().invoke(main, [command, *arguments])
    assert result.exit_code in (0, 1), result.output
    return result.output


def test_every_command_with_an_answer_is_asked():
    known = {*COMMANDS, *NO_JSON, *GROUPS}
    assert known == set(main.list_commands(None))  # type: ignore[arg-type]


@pytest.mark.parametrize("command", sorted({*COMMANDS, *NO_JSON, *GROUPS}))
def test_the_help_of_each_command_has_an_example_that_is_understood(command):
    told = CliRunner().invoke(main, [command, "--help"]).output
    [example] = re.findall(r"^ *(?:Example: *)?lance-explorer (.*)$", told, re.MULTILINE)
    name, *arguments = shlex.split(example)
    assert name == command
    found = main.get_command(Context(main), name)
    if isinstance(found, Group):
        name, *arguments = arguments
        found = found.get_command(Context(found), name)
    assert found is not None
    assert found.make_context(name, arguments).params


@pytest.mark.parametrize("command", COMMANDS)
def test_json_is_the_one_envelope(command, tmp_path):
    SyntheticTable(tmp_path / "t.lance").append(rows=2).branch("dev")
    (tmp_path / "a.lock").write_text(lx.lock(lx.open_table(TABLE).at(3)))
    lx.Ledger(tmp_path / "recorded").record(TABLE)
    arguments = [part.format(folder=tmp_path) for part in COMMANDS[command]]
    [line] = run(command, *arguments, "--json").splitlines()
    told: dict[str, Any] = json.loads(line)
    assert [*told] == ["schema", "answer", "sections", "findings", "code"]
    assert told["schema"] == SCHEMA
    assert told["answer"]
    for section in told["sections"].values():
        forms = {"facts", "lines", "text"} & section.keys()
        assert section.keys() - {"title"} in ({"columns", "rows"}, forms)
    for rows in [part["rows"] for part in told["sections"].values() if "rows" in part]:
        assert all(isinstance(row, dict) for row in rows)


def test_the_commit_of_a_cell_is_in_sight_at_80_columns():
    head, *rows = lx.open_table(TABLE).blame("id < 3").answer.text(80).splitlines()[1:]
    assert head.split()[:2] == ["version", "event"]
    assert {row.split()[0] for row in rows} == {"16"}
