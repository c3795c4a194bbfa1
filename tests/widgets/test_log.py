"""The log, without a browser: what Python holds, and how it answers."""

import polars as pl
import pytest

from lance_explorer import open_table
from lance_explorer.errors import LanceExplorerError
from lance_explorer.widgets import Log
from lance_explorer.widgets.log_data import MOST_LINES, log_data, parent_lines
from lance_explorer.widgets.messages.base import to_json
from lance_explorer.widgets.state import ExplorerState
from tests.synthetic import SyntheticTable


@pytest.fixture
def written(tmp_path):
    """Five versions, a branch of the third with two of its own, a tag."""
    table = SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=3).delete({0: [1]})
    table.branch("dev").append(rows=2).append(rows=1)
    return table.append(rows=5).update({1: [0]}).tag("good", 2)


@pytest.fixture
def widget(written):
    return Log(open_table(written.path))


def lines(widget, browse, **filters):
    return browse(widget).ask("log", filters=filters)["content"]


def array(answer, name):
    return answer[name].tolist()


def test_lines_are_those_of_the_log(widget, written, browse):
    answer = lines(widget, browse)
    log = open_table(written.path).log()
    assert array(answer, "versions") == log["version"].to_list()
    assert answer["words"] == log["words"].to_list()
    assert answer["branch"] == log["branch"].to_list()
    assert answer["num_found"] == answer["num_commits"] == len(log)
    assert sum(answer["counts"].values()) == len(log)
    assert widget.frame().equals(log)


def test_each_line_leads_to_the_commit_before_it(widget, browse):
    log = widget.frame()
    places = [*log.select("branch", "version").iter_rows()]
    parents = [*log.select("parent_branch", "parent_version").iter_rows()]
    found = array(lines(widget, browse), "parent")
    assert [None if at < 0 else places[at] for at in found] == [
        None if version is None else (branch, version) for branch, version in parents
    ]


def test_what_a_filter_hides_is_passed_over(widget):
    log = widget.frame()
    shown = log.filter((pl.col("version") != 3) | pl.col("branch").is_not_null())
    places = [*shown.select("branch", "version").iter_rows()]
    parents = dict(zip(places, parent_lines(shown, log).tolist(), strict=True))
    assert places[parents[None, 4]] == (None, 2)
    first = min(version for branch, version in places if branch == "dev")
    assert places[parents["dev", first]] == (None, 2)
    assert parents[None, 1] == -1


def test_filters_are_those_of_the_log(widget, written, browse):
    table = open_table(written.path)
    for filters in ({"operation": ["delete"]}, {"text": "GOOD"}, {"since": "3"}, {"column": "id"}):
        content = lines(widget, browse, **filters)
        assert content["num_found"] == len(table.log(**filters))
        assert widget.filters == filters
        assert eval(widget.code()).equals(widget.frame())
    assert lines(widget, browse, text="", operation=[])["num_found"] == len(table.log())
    assert widget.code() == "table.log()"


def test_a_filter_that_means_nothing_is_said_and_not_taken(widget, browse):
    assert "nonsense" in lines(widget, browse, since="nonsense")["problem"]
    assert widget.filters == {}
    with pytest.raises(LanceExplorerError, match="nonsense"):
        widget.show_only(since="nonsense")


def test_python_can_filter_what_is_shown(widget):
    widget.show_only(operation=["update"], text="row")
    assert widget.frame()["kind"].cast(pl.String).to_list() == ["update"]
    assert repr(widget) == "Log(version 5, operation=['update'], text='row')"


@pytest.mark.slow
def test_of_many_commits_the_newest_are_sent(widget):
    count = MOST_LINES + 5
    many = pl.concat([widget.frame().filter(version=1)] * count)
    versions = pl.Series("version", range(count, 0, -1), pl.UInt64)
    every = many.with_columns(versions, parent_version=versions - 1)
    found = log_data(every, every)
    assert (len(found.words), found.num_found) == (MOST_LINES, count)


def test_a_refresh_reads_new_commits(widget, written, browse):
    before = lines(widget, browse)["num_commits"]
    written.append(rows=1)
    assert lines(widget, browse)["num_commits"] == before
    browser = browse(widget)
    assert browser.ask("log", filters={}, refresh=True)["content"]["num_commits"] == before + 1


def test_it_knows_columns_and_its_branch(written, browse):
    widget = Log(open_table(written.path, branch="dev"), state=ExplorerState(version=2))
    about = browse(widget).ask("about")["content"]
    assert about["branch"] == "dev"
    assert {*open_table(written.path).latest.schema.names} <= {*about["columns"]}


def test_of_many_commits_the_newest_are_told_first_as_they_are_told_later(tmp_path, monkeypatch):
    monkeypatch.setattr("lance_explorer.widgets.log._MANY", 10)
    monkeypatch.setattr("lance_explorer.widgets.log._NEWEST", 5)
    table = SyntheticTable(tmp_path / "t.lance")
    for _ in range(12):
        table.append()
    widget = Log(open_table(table.path))
    found = widget.ask("newest")
    newest, every = to_json(found.log), to_json(widget.ask("log", filters={}))
    assert (newest["is_part"], every["is_part"], found.own_branch) == (True, False, None)
    for name in ("words", "branch", "operation", "heads", "parent_versions"):
        assert newest[name] == every[name][:5]
    assert widget.ask("newest").log is None  # all are read by now
