"""Reviews of diffs and merges: as pages, and as Markdown for a comment."""

import re
from datetime import UTC, datetime
from typing import Any
from xml.etree import ElementTree as ET

import lance
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal

import lance_explorer as lx
from lance_explorer.cli.group import main
from lance_explorer.errors import InvalidArgumentError
from lance_explorer.figures.distributions import Bars, bars_of, bars_picture
from lance_explorer.report import diff_review, merge_review


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.lance"
    written: Any = lance.write_dataset(
        pa.table({"id": [1, 2, 3], "name": ["a<b>", "b", "c"], "score": [1.0, 2.0, 3.0]}),
        path,
        enable_stable_row_ids=True,
    )
    written.update({"name": "'<script>'"}, where="id = 1")
    written.update({"name": "'b'"}, where="id = 2")
    written.delete("id = 3")
    written.insert(pa.table({"id": [4], "name": ["d"], "score": [4.0]}))
    written.alter_columns({"path": "score", "name": "points"})
    written.update_config({"owner": "us"})
    return lx.open_table(path)


def page_of(diff, tmp_path):
    page: str = diff.report(tmp_path / "page.html").read_text()
    return page


def test_values_are_shown_as_old_and_new(table, tmp_path):
    page = page_of(table.diff(1, -1), tmp_path)
    assert "a&lt;b&gt; → &lt;script&gt;" in page
    assert "<script>'" not in page
    assert "1 row written again with the same values." in page
    for words in ("Updated rows: 1 of 1", "Inserted rows: 1 of 1", "Deleted rows: 1 of 1"):
        assert words in page, words
    assert "<code>name</code> in the 1 row in which it changed" in page
    for words in ("renamed", "owner", "UpdateConfig", "1 inserted", "1 deleted", "2 updated"):
        assert words in page, words


def test_the_page_is_well_formed_and_needs_no_network(table, tmp_path):
    page = page_of(table.diff(1, -1), tmp_path)
    body = page[page.index("<main>") : page.index("</main>") + len("</main>")]
    ET.fromstring(re.sub(r"&nbsp;", " ", body))
    assert "default-src 'none'" in page
    assert "http" not in page.replace("http-equiv", "")


def test_equal_versions_differ_in_nothing(table, tmp_path):
    page = page_of(table.diff(2, 2), tmp_path)
    assert "Rows: 3 unchanged." in page
    assert page.count("Nothing differs.") == 3
    assert "No commit lies between both." in page


def test_the_columns_that_rows_are_known_by_come_first(table):
    table_written = lance.dataset(table.uri)
    table_written.create_scalar_index("name", "BTREE")
    rows = table_of(lx.open_table(table.uri).diff(1, -1).markdown(), "Updated rows: 1 of 1")
    assert rows[0] == "| name |"
    assert rows[2].startswith(r"| a\<b\> → \<script\> |")
    rows = table_of(table.diff(1, -1).markdown(), "Updated rows: 1 of 1")
    assert rows[0] == r"| \_rowid | name |"


def test_a_key_makes_rows_that_went_and_came_one_update(tmp_path):
    path = tmp_path / "t.lance"
    lance.write_dataset(pa.table({"id": [1, 2], "n": [1, 2]}), path)
    lance.write_dataset(pa.table({"id": [1, 2], "n": [1, 9]}), path, mode="overwrite")
    told = lx.open_table(path).diff(1, 2).markdown("id")
    assert "Matched by `id`: 2 updated." in told
    assert table_of(told, "Updated rows: 1 of 1") == [
        "| id | n |",
        "| --- | --- |",
        "| 2 | 2 → 9 |",
    ]
    assert "Rows: 2 inserted, 2 deleted." in lx.open_table(path).diff(1, 2).markdown()


def test_counts_by_column_are_those_of_the_cells_that_changed(tmp_path):
    path = tmp_path / "t.lance"
    values = {"id": [1, 2, 3, 4], "a": [1, 2, None, 4], "b": ["x", "y", "z", None]}
    written: Any = lance.write_dataset(pa.table(values), path, enable_stable_row_ids=True)
    written.update({"a": "coalesce(a, 0) + 10", "b": "'z'"})
    told = table_of(lx.open_table(path).diff(1, 2).markdown(), "Changed values by column")
    assert told[0] == "| column | changed | null before | null after | mean before | mean after |"
    assert told[2:] == ["| a | 4 | 1 | 0 | 2.33 | 11.8 |", "| b | 3 | 1 | 0 |  |  |"]


def test_so_many_rows_are_only_counted(table, tmp_path, monkeypatch):
    for module in (diff_review, merge_review):
        monkeypatch.setattr(module, "MOST_ROWS_READ", 0)
    page = page_of(table.diff(1, -1), tmp_path)
    assert "their values are not read here" in page
    assert "→" not in page
    lance.dataset(table.uri).create_branch("dev", 1)
    told = lx.open_table(table.uri, branch="dev").merge_preview("main").markdown()
    assert "their values are not read here" in told


def test_other_branches_and_tables(table, tmp_path):
    lance.dataset(table.uri).create_branch("dev", 2)
    page = page_of(table.refresh().diff(1, "dev@-1"), tmp_path)
    assert "<h1>t.lance: version 1 to dev@2</h1>" in page
    other = tmp_path / "other.lance"
    lance.write_dataset(pa.table({"id": [1]}), other)
    page = page_of(table.diff(1, lx.open_table(other).latest), tmp_path)
    assert "This cannot be shown" in page


def test_blobs_and_columns_that_are_too_many_are_left_out_and_named(tmp_path):
    path = tmp_path / "t.lance"
    blob = pa.field("blob", pa.large_binary(), metadata={"lance-encoding:blob": "true"})
    fields = [pa.field("id", pa.int64()), blob, *[pa.field(f"c{n}", pa.int64()) for n in range(50)]]
    data = pa.table([[1], [b"x"], *[[n] for n in range(50)]], schema=pa.schema(fields))
    lance.write_dataset(data, path, data_storage_version="2.1", enable_stable_row_ids=True)
    lance.write_dataset(data, path, mode="append")
    told = lx.open_table(path).diff(1, 2).markdown()
    assert "- `blob`: blobs are not read." in told
    assert "and 3 more: only the first 40 columns are read." in told


def test_markdown_is_short_enough_for_a_comment_and_says_what_is_missing(tmp_path):
    path = tmp_path / "t.lance"
    names = ["*" * 500 + str(n) for n in range(60)]
    rows = 300
    data = pa.table({name: ["`|<b>" * 30 + str(n) for n in range(rows)] for name in names})
    lance.write_dataset(data, path, enable_stable_row_ids=True)
    lance.write_dataset(data, path, mode="append")
    told = lx.open_table(path).diff(1, 2).markdown()
    assert len(told) < 65_536
    assert "> Too long for a comment: Rows." in told
    assert '`table.diff(1, 2).report("review.html")` has all.' in told


@pytest.fixture
def branched(tmp_path):
    """A table with a branch `dev`, both of which changed since."""
    path = tmp_path / "t.lance"
    values = {"id": [1, 2, 3, 4], "name": ["a", "b", "c", "d"], "n": [1.0, 2.0, 3.0, 4.0]}
    main: Any = lance.write_dataset(pa.table(values), path, enable_stable_row_ids=True)
    main.create_scalar_index("id", "BTREE")
    dev = main.create_branch("dev")
    dev.update({"name": "'dev'"}, where="id <= 2")
    dev.delete("id = 3")
    dev.insert(pa.table({"id": [5], "name": ["e"], "n": [5.0]}))
    main = lance.dataset(path)
    main.update({"name": "'main'"}, where="id = 1")
    main.update({"n": "n + 100"}, where="id = 2")
    return lx.open_table(path)


def test_a_merge_shows_conflicts_and_what_would_come(branched, tmp_path):
    told = branched.merge_preview("dev").markdown()
    assert told.startswith("## t.lance: merge dev into main\n")
    conflicts = table_of(told, "1 of 1 cell in conflict")
    assert conflicts[0].startswith("| id | column | base | ours | theirs |")
    assert conflicts[2].startswith("| 1 | name | a | main | dev |")
    assert table_of(told, "Updated rows: 1 of 1")[2:] == ["| 2 | b → dev |"]
    assert table_of(told, "Inserted rows: 1 of 1")[2:] == ["| 5 | e | 5.0 |"]
    assert table_of(told, "Deleted rows: 1 of 1")[2:] == ["| 3 | c | 3.0 |"]
    page = branched.merge_preview("dev").report(tmp_path / "merge.html").read_text()
    assert "<h1>t.lance: merge dev into main</h1>" in page
    assert "b → dev" in page
    by_key = branched.merge_preview("dev", key="id").markdown()
    assert "| id = 1 | name | a | main | dev |" in by_key


def test_a_merge_reads_the_columns_that_are_named(branched):
    rows = branched.merge_preview("dev").rows("incoming", ["name"])
    assert rows.schema["theirs"] == pl.Struct({"name": pl.String})
    every = branched.merge_preview("dev").rows()
    some = branched.merge_preview("dev").rows(columns=["n", "id"])
    for side in ("base", "ours", "theirs"):
        whole = every[side].struct.unnest().select("n", "id")
        assert_frame_equal(some[side].struct.unnest(), whole)
    with pytest.raises(InvalidArgumentError, match="'nothing'"):
        branched.merge_preview("dev").rows(columns=["nothing"])


@pytest.mark.parametrize("command", ["diff", "merge-preview"])
def test_commands_write_and_print_the_same(command, branched, tmp_path):
    ends = ("1", "-1") if command == "diff" else ("dev",)
    page = tmp_path / "page.html"
    asked = (command, branched.uri, *ends, "--markdown", "--html", str(page))
    result = CliRunner().invoke(main, asked)
    found = branched.diff(1, -1) if command == "diff" else branched.merge_preview("dev")
    assert result.stdout == found.markdown()
    assert result.stderr.splitlines()[-1] == str(page)  # where it is slow, progress comes before
    assert "<main>" in page.read_text()
    refused = CliRunner().invoke(main, (*asked, "--json"))
    assert "--markdown and --json cannot be used together" in refused.output
    code = CliRunner().invoke(main, (*asked, "--exit-code")).exit_code
    assert code == 1  # versions differ, and a cell is in conflict


def table_of(markdown, title):
    """Return the lines of the table below a heading that begins with a title."""
    lines = markdown.splitlines()
    [start] = [n for n, line in enumerate(lines) if line.startswith(f"#### {title}")]
    rest = lines[start + 2 :]
    return rest[: [*map(bool, rest), False].index(False)]


def test_bars_of_values_of_all_types():
    days = pl.Series([datetime(2026, 1, day, tzinfo=UTC) for day in range(1, 31)])
    found = bars_of(days, days[:3])
    assert found is not None
    assert (sum(found.before), sum(found.after)) == (30, 3)
    assert found.labels[0].startswith("2026-01-01")
    numbers = pl.Series([float(n) for n in range(100)] + [float("nan"), float("inf"), None])
    found = bars_of(numbers, numbers.clear())
    assert found is not None
    assert (sum(found.before), found.labels[-2:]) == (103, ("not finite", "null"))
    words = pl.Series([f"word {n}" for n in range(50)])
    found = bars_of(words, words)
    assert found is not None
    assert found.labels[-1] == "40 others"
    assert sum(found.before) == 50
    assert bars_of(pl.Series([2, 10, 2]), pl.Series([1])) == Bars(
        ("1", "2", "10"), (0, 2, 1), (1, 0, 0)
    )
    assert bars_of(pl.Series([[1]]), pl.Series([[1]])) is None
    assert bars_of(pl.Series([b"a"]), pl.Series([b"a"])) is None


def test_a_picture_of_bars_says_what_they_are():
    svg = ET.fromstring(bars_picture("a<b", Bars(("x", "y"), (1, 0), (0, 3))))
    titles = [title.text for title in svg.iter("title")]
    assert titles == ["x: 1 before", "x: 0 after", "y: 0 before", "y: 3 after"]
    assert svg.get("aria-label") == "a<b, before and after"
