"""The story of a table in words, against what was done to it."""

import lance
import polars as pl
import pyarrow as pa
import pytest

from lance_explorer.changes.change_feed import changes
from lance_explorer.history.view import HistoryView
from lance_explorer.report.facts import Facts
from lance_explorer.report.story import landmarks, story
from tests.inspect.tables import stored
from tests.report.changed_rows import differing_counts
from tests.stored_tables import stored_check
from tests.synthetic import SyntheticTable


@pytest.fixture
def table(tmp_path) -> SyntheticTable:
    """A table of five versions."""
    table = SyntheticTable(tmp_path / "photos.lance").append(rows=4).append(rows=3)
    return table.delete({0: [1]}).update({1: [0, 1]}).update_config(owner="me")


@stored_check()
def check_counts_of_changed_rows_are_those_of_the_changes(asked):
    drawn = Facts(asked.view).changed_rows
    summary = changes(asked.view, 0, mode="per_commit").summary()
    assert drawn.equals(summary) or differing_counts(drawn, summary).is_empty()


def told(table: SyntheticTable) -> list[str]:
    return story(Facts(HistoryView.open(str(table.path))))


def test_the_story_has_the_numbers_of_the_table(table):
    [span, big, *rest] = told(table)
    assert span.startswith("The table began 2026-01-01 with 4 rows in 1 fragment, ")
    assert ". Version 5, of 2026-01-01, has 6 rows in 3 fragments, " in span
    assert big.startswith("Version 4 (Update) wrote 41 % of what is there now (")
    assert rest == [
        "Kept commits: 5 (1 create, 1 append, 1 delete, 1 update, 1 config).",
        "Rows that they changed: 7 added, 2 updated, 1 deleted.",
        "No version is missing.",
        "Findings and advice: 1 wrong.",  # there is no data in what tests write by hand
    ]


def test_what_is_missing_or_wrong_is_told(table):
    [span, _, commits, _, missing, findings] = told(table.remove(1).amend(magic=b"LANX"))
    assert span.startswith("The oldest kept version is from 2026-01-01 with 7 rows")
    assert commits.startswith("Kept commits: 3 (")
    assert missing == "2 versions cannot be read any more."
    assert findings == "Findings and advice: 2 wrong, 1 should be done, 1 worth knowing."


def test_what_its_owner_should_do_is_counted(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance")
    for _ in range(31):
        table.append(rows=2)
    facts = Facts(HistoryView.open(str(table.path)))
    assert [finding.code for finding in facts.advice] == ["missing_files", "small_fragments"]
    assert story(facts)[-1] == "Findings and advice: 1 wrong, 1 worth knowing."


def test_a_table_with_nothing_to_do_says_so(tmp_path):
    lance.write_dataset(pa.table({"n": range(10)}), tmp_path / "t.lance")
    facts = Facts(HistoryView.open(str(tmp_path / "t.lance")))
    assert story(facts)[-1] == "Nothing needs to be done."


def test_commits_whose_rows_cannot_be_told_are_counted(tmp_path):
    table = SyntheticTable(tmp_path / "t.lance", stable_row_ids=False).append(rows=4)
    assert told(table.update({0: [1]}, inserted=1))[3] == (
        "Rows that they changed: 4 added, not counting 1 commit with unknown counts."
    )


def numbers_of(lines: list[str]) -> list[int]:
    return [int(line.split(",")[0].removeprefix("Version ")) for line in lines]


def test_landmarks_are_the_first_tagged_and_largest_commits(tmp_path):
    table = SyntheticTable(tmp_path / "photos.lance").append(rows=2)
    for rows in range(1, 31):
        table.append(rows=rows)
    table.tag("small", 3)
    *lines, rest = landmarks(Facts(HistoryView.open(str(table.path))))
    assert numbers_of(lines) == [1, 3, *range(18, 32)]
    assert lines[-1] == "Version 31, 2026-01-01: 30 rows added; 1 new fragment."
    assert rest == "And 15 more commits: 15 append."


def test_every_kind_of_commit_has_its_landmark_among_many_large_ones(tmp_path):
    table = SyntheticTable(tmp_path / "photos.lance").append(rows=2000)
    for _ in range(30):
        table.append(rows=2000)
    table.delete({0: [1]}).delete({0: [2, 3]}).create_index("one").create_index("two")
    table.update_config(a="b").rename_column("score", "points").update({1: [1]})
    table.compact([2, 3]).append(rows=2000)
    facts = Facts(HistoryView.open(str(table.path)))
    *lines, rest = landmarks(facts)
    told = facts.versions.filter(pl.col("version").is_in(numbers_of(lines)))
    assert set(told["kind"]) == set(facts.versions["kind"])
    assert {33, 35} <= {*told["version"]}, "the larger delete, and the later index"
    assert not {32, 34} & {*told["version"]}
    left_out = len(facts.versions) - len(lines)
    assert rest.startswith(f"And {left_out} more commits: 22 append, ")
    assert "1 delete" in rest
    assert "1 index" in rest


def test_commits_told_and_left_out_are_all(tmp_path):
    table = SyntheticTable(tmp_path / "photos.lance").append(rows=2)
    for _ in range(15):
        table.append()
    assert len(landmarks(Facts(HistoryView.open(str(table.path))))) == 16
    *lines, rest = landmarks(Facts(HistoryView.open(str(table.append().path))))
    assert (len(lines), rest) == (16, "And 1 more commit: 1 append.")


def test_old_writers_leave_unknown_what_they_did_not_store():
    assert ", data of unknown size" in story(Facts(stored("0.10.18/life_cycle.lance")))[0]
