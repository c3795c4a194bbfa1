"""An assistant asks about tables over stdio, with the client of the protocol's own library."""

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import lance
import mcp
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.cli.assistant_tools import MOST_ROWS, MOST_TEXT

ROOT = Path(lx.__file__).parents[1]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = str(tmp_path_factory.mktemp("assistant") / "people.lance")
    rows = pa.table({"id": range(200), "word": ["x" * 1000] * 200, "data": [b"\x00\xff"] * 200})
    who = {"author": "ana"}
    table: Any = lance.write_dataset(
        rows, made, enable_stable_row_ids=True, commit_message="first", transaction_properties=who
    )
    table.update({"word": "'new'"}, where="id = 7")
    table.delete("id = 9")
    table.create_branch("dev", 2).update({"word": "'theirs'"}, where="id in (7, 8)")
    lance.dataset(made).update({"word": "'ours'"}, where="id = 7")
    return made


def ask(path: str, question: Callable[[mcp.Client], Awaitable[Any]]) -> Any:
    """Start the command, ask it, and end it."""
    program = "from lance_explorer.cli import main; main()"
    command = mcp.StdioServerParameters(
        command=sys.executable, args=["-c", program, "mcp", path], cwd=str(ROOT)
    )

    async def talk() -> Any:
        async with mcp.Client(command) as client:
            return await question(client)

    return anyio.run(talk)


async def told(client: mcp.Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    [content] = result.content
    assert content.type == "text"
    assert len(content.text) < MOST_TEXT + 2000
    answer: dict[str, Any] = json.loads(content.text)
    assert len(answer["rows"]) <= MOST_ROWS
    return answer


def test_what_an_assistant_asks_is_answered_as_the_library_does(path):
    async def questions(client: mcp.Client) -> None:
        tools = (await client.list_tools()).tools
        names = "tables versions changes row find blame disk check lineage merge_preview"
        assert [tool.name for tool in tools] == names.split()
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        [table] = (await told(client, "tables"))["rows"]
        assert (table["table"], table["num_rows"], table["branches"]) == (
            "people.lance",
            199,
            ["dev"],
        )
        versions = await told(client, "versions", branch="main", limit=2)
        assert [row["version"] for row in versions["rows"]] == [4, 3]
        assert versions["more"].startswith("2 more rows")
        first = (await told(client, "versions", text="first"))["rows"][0]
        assert first["author"] == "ana"
        assert (await told(client, "changes", begin="2"))["answer"] == (
            "1 rows updated, 1 rows deleted"
        )
        found = await told(client, "find", where="id = 9")
        assert found["rows"][0]["ended_as"] == "deleted"
        assert "… (" in found["rows"][0]["word"]
        assert found["rows"][0]["data"].endswith("(2 bytes)")
        blamed = (await told(client, "blame", where="id = 7", column="word"))["rows"]
        assert [(row["version"], row["value"], row["before"]) for row in blamed] == [
            (4, "ours", "new")
        ]
        events = [row["event"] for row in (await told(client, "row", row_id=7))["rows"]]
        assert events == ["created", "updated", "updated"]
        assert "on disk" in (await told(client, "disk"))["answer"]
        assert "findings" in (await told(client, "check"))["answer"]
        assert (await told(client, "lineage", fragment_id=0))["rows"]
        merge = await told(client, "merge_preview", branch="dev")
        assert [row["column"] for row in merge["rows"]] == ["word"]

    ask(path, questions)


def test_an_answer_is_of_the_table_as_it_is_now_and_what_is_wrong_is_said(path):
    async def questions(client: mcp.Client) -> None:
        [before] = (await told(client, "tables"))["rows"]
        lance.dataset(path).delete("id = 11")
        [after] = (await told(client, "tables"))["rows"]
        assert after["latest_version"] == before["latest_version"] + 1
        for tool, wrong, words in (
            ("versions", {"since": "nowhen"}, "nowhen"),
            ("find", {"where": "nowhere = 1"}, "nowhere"),
            ("disk", {"table": "/etc/passwd"}, "name one of these tables: people.lance"),
            ("row", {"row_id": 10**6}, "row"),
            ("versions", {"branch": "no"}, "no branch"),
        ):
            result = await client.call_tool(tool, wrong)
            assert result.is_error
            assert words in result.content[0].text, result.content  # type: ignore[union-attr]

    ask(path, questions)


def test_answers_are_short(path):
    async def questions(client: mcp.Client) -> None:
        found = await told(client, "find", where="id >= 0", limit=10_000)
        assert "more" in found
        assert 0 < len(found["rows"]) <= MOST_ROWS

    ask(path, questions)
