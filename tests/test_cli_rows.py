"""The commands on commits and rows: what they print, and that it fits."""

import json

import polars as pl
import pytest
from click.testing import CliRunner, Result

import lance_explorer as lx
from lance_explorer.answers.terminal import _fitted
from lance_explorer.cli import main
from lance_explorer.inspect.log_answer import log_answer
from tests.damage import make_killer
from tests.format.samples import DATA

LIFE_CYCLE = str(DATA / "14.0.2" / "life_cycle.lance")
BRANCHES = str(DATA / "14.0.2" / "branches.lance")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def objects(*arguments: str) -> list[dict[str, object]]:
    """Return the rows of the first section of an answer that has any."""
    told = json.loads(run(*arguments, "--json").output)
    assert told["schema"] == "lance_explorer.answer/1"
    sections = told["sections"].values()
    return next(section["rows"] for section in sections if "rows" in section)


def test_every_command_is_listed_and_has_help():
    listed = run("--help").output
    for name in main.list_commands(None):  # type: ignore[arg-type]
        assert f"\n  {name} " in listed
        assert run(name, "--help").exit_code == 0, name


def test_the_log_is_newest_first_and_says_what_commits_did():
    told, head, *lines = run("log", LIFE_CYCLE).output.splitlines()
    log = lx.open_table(LIFE_CYCLE).log()
    assert told.startswith(f"{len(lines)} commits, the newest version {len(log)} of ")
    assert head.split()[:3] == ["version", "time", "kind"]
    assert [line.split()[0] for line in lines] == [str(v) for v in log["version"]]
    for line, words in zip(lines, log["words"], strict=True):
        assert words in line


def test_the_log_as_json_is_the_frame():
    log = lx.open_table(BRANCHES).log()
    told = objects("log", BRANCHES)
    assert [row["words"] for row in told] == log["words"].to_list()
    assert told[0].keys() == set(log.columns)


def test_filters_of_the_log():
    assert len(objects("log", LIFE_CYCLE, "--limit", "2")) == 2
    kinds = {row["kind"] for row in objects("log", LIFE_CYCLE, "--operation", "delete")}
    assert kinds == {"delete"}
    assert objects("log", LIFE_CYCLE, "--since", "today", "--until", "2020-01-01") == []
    assert run("log", LIFE_CYCLE, "--since", "nowhen").exit_code == 1


def test_more_commits_than_are_printed_are_said_to_be_there(tmp_path):
    from tests.synthetic import SyntheticTable

    table = SyntheticTable(tmp_path / "t.lance")
    for _ in range(40):
        table.append()
    result = run("log", str(tmp_path / "t.lance"))
    assert "the newest 30" in result.stderr
    assert len(run("log", str(tmp_path / "t.lance"), "--all").output.splitlines()) == 42


def test_branches_are_drawn():
    lines = run("log", BRANCHES, "--graph").output.splitlines()[2:]
    stars = [line.index("*") // 2 for line in lines if "*" in line.split("  ")[0] + "  "]
    lanes = lx.open_table(BRANCHES).log()["lane"].to_list()
    assert stars == lanes
    assert sum("/" in line[:8] for line in lines) == 3  # each branch goes to its parent
    assert any("[dev/deep]" in line for line in lines)


def test_one_commit():
    output = run("show", LIFE_CYCLE, "2").output
    log = lx.open_table(LIFE_CYCLE).log().filter(pl.col("version") == 2)
    assert output.splitlines()[0] == f"Version 2: {log['words'].item()}"
    told = json.loads(run("show", LIFE_CYCLE, "2", "--json").output)
    assert told["sections"]["commit"]["facts"]["kind"] == log["kind"].item()
    assert run("show", LIFE_CYCLE, "99").exit_code == 1


@pytest.mark.slow
def test_one_row():
    table = lx.open_table(LIFE_CYCLE)
    row_id = table.latest.row_ids()["_rowid"][0]
    told = objects("row", LIFE_CYCLE, str(row_id))
    history = table.row(row_id).history()
    assert [row["version"] for row in told] == history["version"].to_list()[::-1]
    assert history["event"][0] in run("row", LIFE_CYCLE, str(row_id), "--values").output


def test_rows_are_found_by_value():
    table = lx.open_table(LIFE_CYCLE)
    found = table.find("id < 3")
    told = objects("find", LIFE_CYCLE, "id < 3")
    assert [row["_rowid"] for row in told] == found.to_polars()["_rowid"].to_list()
    assert run("find", LIFE_CYCLE, "id < 3").output.splitlines()[0] == found.answer.sentence
    part = run("find", LIFE_CYCLE, "id < 3", "--limit", "1", "--column", "id").output
    assert "the newest 1 are told" in part
    assert run("find", LIFE_CYCLE, "id = ").exit_code == 1


def test_cells_and_their_commits():
    cells = lx.open_table(LIFE_CYCLE).blame(limit=3).to_polars()
    told = objects("blame", LIFE_CYCLE, "--limit", "3")
    assert [row["version"] for row in told] == cells["version"].to_list()
    assert "last changed by" in run("blame", LIFE_CYCLE, "id = 3", "--column", "id").output


def test_sql():
    query = "SELECT version, operation FROM versions LIMIT 2"
    assert objects("sql", LIFE_CYCLE, query)[0] == {"version": 1, "operation": "Overwrite"}
    assert run("sql", LIFE_CYCLE, query).output.splitlines()[1].split() == ["version", "operation"]
    assert run("sql", LIFE_CYCLE, "DROP TABLE versions").exit_code == 1


@pytest.mark.parametrize(
    ("natural", "least", "width", "widths"),
    [
        ([5, 10], [5, 10], 20, [5, 10]),
        ([5, 100], [5, 10], 40, [5, 33]),
        ([30, 100], [10, 10], 40, [19, 19]),
        ([30, 100], [30, 10], 44, [30, 12]),
        ([30, 30, 30], [10, 10, 10], 40, [12, 12, 12]),
        ([30] * 9, [10] * 9, 40, None),
        ([], [], 40, []),
    ],
)
def test_columns_are_cut_as_little_as_can_be(natural, least, width, widths):
    assert _fitted(natural, least, [False] * len(natural), width) == widths


def test_words_of_commits_are_wrapped_and_never_cut():
    answer = log_answer(lx.open_table(LIFE_CYCLE).log(), graph=True)
    shown = answer.text(width=80)
    assert "…" not in shown
    assert all(len(line) <= 80 for line in shown.splitlines())
    head = shown.splitlines()[1]
    begin, end = head.index("what"), head.index("rows")
    words = " ".join([line[begin:end] for line in shown.splitlines()[2:]]).split()
    for commit in lx.open_table(LIFE_CYCLE).log()["words"]:
        assert {*commit.split()} <= {*words}


def test_a_difference_is_an_exit_code_only_if_that_is_asked_for(tmp_path):
    assert run("diff", LIFE_CYCLE, "1", "3").exit_code == 0
    assert run("diff", LIFE_CYCLE, "1", "3", "--exit-code").exit_code == 1
    assert run("diff", LIFE_CYCLE, "3", "3", "--exit-code").exit_code == 0
    assert run("diff", LIFE_CYCLE, "1", "99").exit_code == 2


def test_a_difference_as_a_page(tmp_path):
    page = tmp_path / "review.html"
    result = run("diff", LIFE_CYCLE, "1", "3", "--html", str(page))
    assert result.stdout.splitlines()[0] == str(page)  # a slow diff shows progress beside it
    assert "<h1>life_cycle.lance: version 1 to version 3</h1>" in page.read_text()
    assert run("diff", LIFE_CYCLE, "1", "3", "--html", "/nowhere/page.html").exit_code == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    "question", [("find", "id = 5"), ("blame", "id = 5"), ("sql", "select max(id) from dataset")]
)
def test_a_data_file_that_ends_its_reader_is_an_error_of_the_command(question, tmp_path):
    path = make_killer(tmp_path / "killer.lance")
    command, asked = question
    result = run(command, str(path), asked)
    assert result.exit_code in (0, 1), result.output
    assert "the process that reads values died" in result.output
