"""Questions that people ask, and that answers are those of the library."""

import ast
import builtins
from pathlib import Path
from typing import Any

import lance
import polars as pl
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.answers import Answer, Line, Place
from lance_explorer.widgets.code_lines import opening_code
from lance_explorer.widgets.found_lines import found_answer
from lance_explorer.widgets.questions import answer_to, examples
from lance_explorer.widgets.search import answered, rows_with


@pytest.fixture(scope="module", params=[True, False], ids=["stable", "addresses"])
def table(request, tmp_path_factory):
    """Return a table in which rows were updated, deleted and brought back; with a branch."""
    path = str(tmp_path_factory.mktemp("questions") / "t.lance")
    rows = pa.table({"id": range(8), "word": [f"word {n}" for n in range(8)], "score": [1.0] * 8})
    dataset = lance.write_dataset(rows, path, enable_stable_row_ids=request.param)
    dataset.update({"score": "2.5"}, "id = 3")
    dataset.delete("id >= 6")
    dataset.create_branch("dev", 3).delete("id = 0")
    dataset.delete("id = 5")
    dataset.checkout_version(3).restore()
    return lx.open_table(path)


def asked(table: lx.Table, question: str) -> Answer:
    answer = answer_to(table, question)
    assert answer is not None
    return answer


def given(table: lx.Table, typed: str) -> tuple[Answer, Any]:
    found = answered(table, typed)
    assert found is not None
    return found


def with_word(table: lx.Table, word: str) -> tuple[Answer, Any]:
    found = rows_with(table, word)
    assert found is not None
    return found


def lines_of(answer: Answer) -> tuple[Line, ...]:
    [section] = answer.sections
    assert isinstance(section.content, tuple)
    return section.content


def place_of(answer: Answer) -> Place:
    assert answer.place is not None
    return answer.place


def frame_of(table, code):
    """Run the lines of an answer; return what the last one gives."""
    *lines, last = opening_code(table, code).splitlines()
    names: dict[str, Any] = {}
    exec("\n".join(lines), names)
    return eval(last, names)


def test_the_code_of_each_answer_has_all_that_it_needs(table):
    for question, _ in examples(table):
        text = f"{question}id = 3" if question.endswith(" ") else question
        whole = ast.parse(opening_code(table, given(table, text)[0].code))
        names = [node for node in ast.walk(whole) if isinstance(node, ast.Name)]
        made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
        for node in ast.walk(whole):
            if isinstance(node, ast.Import | ast.ImportFrom):
                made |= {part.asname or part.name for part in node.names}
        assert {node.id for node in names} <= made | {*dir(builtins)}, question


@pytest.mark.parametrize("typed", ["who deleted id = 7", "What removed id = 7?"])
def test_who_deleted_rows(table, typed):
    answer = asked(table, typed)
    when = f"{table.versions()['timestamp'][2]:%Y-%m-%d %H:%M} UTC"
    commit = f"version 3 on {when} by Delete where `id >= 6`"
    assert answer.sentence == f"1 row was deleted in {commit}. Who did it is not recorded."
    assert (place_of(answer).view, place_of(answer).choices) == ("time_travel", {"version": 3})
    assert frame_of(table, answer.code)["id"].to_list() == [7]


def test_rows_that_are_there_again_are_not_said_to_be_gone(table):
    answer = asked(table, "who deleted id = 5")
    assert answer.sentence.startswith("1 row was deleted in version 4 on ")
    assert "1 of these is live again." in answer.sentence


def test_nobody_deleted_rows_that_are_live(table):
    answer = asked(table, "who deleted id = 1")
    assert answer.sentence.startswith("Nobody: 1 such row is live.")
    assert asked(table, "who deleted id = 99").sentence.startswith("Nobody: there is none.")


def test_who_changed_a_cell(table):
    answer = asked(table, "who changed score of id = 3")
    assert answer.sentence.startswith("`score` is `2.5` since version 2 on ")
    assert answer.sentence.endswith(
        " UTC by Update; before, it was `1.0`. Who did it is not recorded."
    )
    assert "before, it was `1.0`" in answer.sentence
    assert frame_of(table, answer.code)["version"].to_list() == [2]


def test_what_changed_since(table):
    answer = asked(table, "what changed since 1")
    found = table.changes(1).summary().row(0, named=True)
    assert f"{found['deleted']} rows deleted" in answer.sentence
    assert "1 row updated" in answer.sentence
    assert place_of(answer).choices == {"version": 5, "compared_version": 1}
    assert frame_of(table, answer.code).equals(table.changes(1).summary())
    assert asked(table, "what changed since v1").sentence == answer.sentence
    assert "From the empty table" in asked(table, "what changed since yesterday").sentence


def test_why_it_is_big_is_what_is_on_disk(table):
    answer = asked(table, "why is it so big?")
    assert answer.sentence == f"{table.disk_usage().sentence}."
    assert table.compaction_preview().sentence in lines_of(answer)[-1].words
    assert frame_of(table, answer.code).equals(table.disk_usage().summary())


def test_what_should_be_done_is_what_checks_find(table):
    answer = asked(table, "what should be done")
    assert len(lines_of(answer)) == len(table.check().filter(pl.col("code") != "not_checked"))


def test_what_touched_a_column(table):
    answer = asked(table, "what touched score")
    log = table.log(column="score")
    rows = log["kind"].is_in(["create", "append", "delete"]).sum()
    assert answer.sentence.startswith(
        f"{len(log) - rows} commits can have changed values of `score`"
    )
    assert answer.sentence.endswith(f"{rows} other added or removed whole rows.")
    assert place_of(answer).filters == {"column": "score"}


@pytest.mark.parametrize("typed", ["how did score change?", "How has column scores changed"])
def test_how_a_column_changed(table, typed):
    answer = asked(table, typed)
    assert answer.sentence.startswith("1 column in 5 versions; `score` moved furthest in version")
    [first, *_] = lines_of(answer)
    assert first.place is not None
    assert (place_of(answer).view, first.place.view) == ("columns", "columns")
    assert place_of(answer).choices == first.place.choices
    assert frame_of(table, answer.code).equals(table.profile("score").shifts())
    assert answer_to(table, "how did nothing change") is None


def test_whether_embeddings_drifted(tmp_path):
    path = str(tmp_path / "t.lance")
    rows = pa.table({"id": range(4), "v": pa.array([[1.0, 0.0]] * 4, pa.list_(pa.float32(), 2))})
    dataset = lance.write_dataset(rows, path, enable_stable_row_ids=True)
    turned = rows.set_column(1, "v", pa.array([[0.0, 1.0]] * 4, rows.schema.field("v").type))
    dataset.merge_insert("id").when_matched_update_all().execute(turned)
    table = lx.open_table(path)
    answer = asked(table, "did the embeddings drift?")
    assert "moved furthest in version 2, by 100 %." in answer.sentence
    assert "4 moved (100 %), with a median cosine of 0." in answer.sentence
    assert frame_of(table, answer.code).equals(table.changes(1, 2).drift("v").summary())
    since = asked(table, "did v drift since 1")
    assert since.sentence == table.changes(1).drift("v").sentence
    assert ("did embeddings drift") in dict(examples(table))


def test_what_is_on_a_branch(table):
    answer = asked(table, "what is on dev")
    assert "left main at version 3" in answer.sentence
    assert "1 row deleted" in answer.sentence
    assert (place_of(answer).branch, place_of(answer).view) == ("dev", "changes")
    assert frame_of(table, answer.code)["deleted"].to_list() == [1]
    assert answer_to(table, "what is on nothing") is None


def test_a_filter_finds_live_and_deleted_rows(table):
    answer, rows = given(table, "id >= 5")
    frame = table.find("id >= 5").to_polars()
    assert rows.to_polars().drop("_rowaddr").equals(frame.drop("_rowaddr"))
    gone = frame.filter(~pl.col("is_live"))["id"].n_unique()
    assert "deleted" in answer.sentence
    assert gone == 3
    assert frame_of(table, answer.code)["id"].to_list() == frame["id"].to_list()


def test_a_row_that_was_found_is_opened_as_it_was(table):
    answer, _ = given(table, "id = 7")
    [line] = [line for line in lines_of(answer) if line.place and line.place.view == "row"][:1]
    assert line.place is not None
    assert line.place.choices["version"] <= 2
    history = table.row(line.place.choices["row_id"]).history()
    assert history["event"].cast(pl.String).to_list()[-1] == "deleted"


def test_a_column_and_a_word_are_understood(table):
    assert place_of(given(table, "score")[0]).filters == {"column": "score"}
    answer, rows = with_word(table, "word 3")
    assert rows.num_rows == answer.sentence.count("found") > 0
    assert rows_with(table, "zebra") is None
    assert answered(table, "dev") is None
    assert answered(table, "v3") is None


def test_a_filter_that_fits_no_column_is_an_error(table):
    with pytest.raises(lx.errors.InvalidArgumentError):
        given(table, "nothing = 3")


def test_what_was_not_searched_is_said(table):
    found = table.find("id >= 0", limit=3)
    answer = found_answer(table, found)
    assert "Of the newest 3: " in answer.sentence
    assert "go_on" not in answer.sentence


def test_examples_are_understood(table):
    told = examples(table)
    assert len(told) >= 6
    for text, hint in told:
        assert hint
        if not text.endswith(" "):
            assert answered(table, text) is not None, text


def test_a_table_that_has_no_values_has_examples_too(tmp_path):
    lance.write_dataset(pa.table({"x": pa.array([], pa.float64())}), tmp_path / "t.lance")
    empty = lx.open_table(tmp_path / "t.lance")
    assert "why is it big" in dict(examples(empty))


def test_what_changed_in_one_column(table):
    answer = asked(table, "what changed in column score since 1")
    assert answer.sentence == (
        "From version 1 to version 5, `score` changed in 1 row; 2 commits can have changed `score`."
    )
    assert asked(table, "what changed in score since v1").sentence == answer.sentence
    changed = frame_of(table, answer.code)
    assert changed.filter(_change_type="update_postimage")["score"].to_list() == [2.5]
    assert answer_to(table, "what changed in nothing since 1") is None


def test_what_a_merge_would_bring(table):
    answer = asked(table, "what would a merge of dev bring?")
    assert answer.sentence == "A merge of `dev` into `main` would delete 1 row."
    assert asked(table, "merge dev").sentence == answer.sentence
    assert frame_of(table, answer.code)["deleted"].item() == 1
    assert place_of(answer).branch == "dev"
    assert answer_to(table, "merge nowhere") is None


def test_what_is_on_a_branch_alone(table):
    answer = asked(table, "what is on dev")
    assert asked(table, "what is on dev that is not on main") == answer


@pytest.mark.parametrize("target", [1, 2])
@pytest.mark.parametrize("has_ids", [True, False])
def test_a_row_that_was_deleted_twice_is_one_row(
    has_ids: bool, target: int, tmp_path: Path
) -> None:
    path = str(tmp_path / "t.lance")
    data = pa.table({"uid": range(6), "note": ["a"] * 6})
    lance.write_dataset(data, path, enable_stable_row_ids=has_ids)
    lance.dataset(path).update({"note": "'b'"}, where="uid = 2")
    lance.dataset(path).delete("uid = 2")
    lance.dataset(path, version=target).restore()
    lance.dataset(path).delete("uid = 2")
    table = lx.open_table(path)
    found = table.find("uid = 2")
    assert found.num_rows == found.to_polars()["_row"].n_unique() == 1
    answer = answer_to(table, "who deleted uid = 2")
    assert answer is not None
    assert answer.sentence.startswith("1 row was deleted in 2 commits, last in version 5")
    two = answer_to(table, "who deleted uid < 3")
    assert two is not None
    assert two.sentence.startswith("1 row was deleted")


# -------------------------------------------------------------------------------------- plans


@pytest.mark.parametrize("ask", ["who deleted id = 6", "id = 6", "who deleted word 6", "word 6"])
def test_rows_that_were_deleted_are_put_back_by_a_plan(table: lx.Table, ask: str) -> None:
    answer = answer_to(table, ask) or (rows_with(table, ask) or given(table, ask))[0]
    [put] = answer.asks
    assert put.words == "Put these rows back"
    plan = asked(table, put.question)
    assert plan.sentence.endswith("back as they were in version 2 with 1 commit: append 1 row.")


def test_rows_that_live_again_are_not_put_back(table: lx.Table) -> None:
    assert asked(table, "who deleted id = 5").asks == ()
    assert given(table, "id = 5")[0].asks == ()


def test_rows_are_not_put_back_as_in_a_version_that_is_not_kept(tmp_path: Path) -> None:
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(3)}), path, enable_stable_row_ids=True)
    lance.dataset(path).update_config({"a": "b"})
    lance.dataset(path).delete("id = 1")
    assert asked(lx.open_table(path), "who deleted id = 1").asks
    Path(path, "_versions", f"{2**64 - 1 - 2}.manifest").unlink()
    answer = asked(lx.open_table(path), "who deleted id = 1")
    assert "deleted in version 3" in answer.sentence
    assert answer.asks == ()


def test_a_changed_cell_leads_to_two_plans(table: lx.Table) -> None:
    rows, commit = asked(table, "who changed score of id = 3").asks
    for ask, number in ((rows, 1), (commit, 1)):
        told = "write `score` of 1 row in place"
        assert told in asked(table, ask.question).sentence, number
    assert asked(table, "undo 3").sentence.startswith("Undo version 3 with 1 commit: append 2 rows")


def test_rows_are_put_back_as_they_were_on_another_branch(table: lx.Table) -> None:
    plan = asked(table, "put id = 3 back as in dev@4")
    assert plan.sentence == (
        "Put the rows of `id = 3` back as they were in version 4 of dev: 1 row is as it was "
        "already."
    )
    assert "at=('dev', 4)" in plan.code.replace('"', "'")
    with pytest.raises(lx.LanceExplorerError):
        asked(table, "put id = 3 back as in dev@77")


def test_how_to_merge_is_a_plan(table: lx.Table) -> None:
    assert asked(table, "how to merge dev").sentence.endswith("1 commit: delete 1 row.")
    assert answer_to(table, "how to merge nowhere") is None


def test_a_damaged_table_leads_to_a_recovery(tmp_path: Path) -> None:
    path = str(tmp_path / "t.lance")
    lance.write_dataset(pa.table({"id": range(6)}), path, max_rows_per_file=3)
    sound = lx.open_table(path)
    assert asked(sound, "what is damaged").asks == asked(sound, "what should be done").asks == ()
    Path(path, "data", lance.dataset(path).get_fragments()[0].data_files()[0].path).unlink()
    broken = lx.open_table(path)
    for question in ("what is damaged", "what should be done"):
        [ask] = asked(broken, question).asks
        assert asked(broken, ask.question).sentence == (
            "Recover with 1 commit: leave out 1 damaged fragment."
        )
