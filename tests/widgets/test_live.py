"""The explorer follows a table that is written to."""

import shutil

import lance
import pyarrow as pa
import pytest

import lance_explorer as lx
from lance_explorer.errors import StorageError
from lance_explorer.storage.local import LocalStorage
from lance_explorer.widgets.explorer import Explorer
from lance_explorer.widgets.live import Pace
from tests.synthetic import SyntheticTable

GROWING = ["overview", "log", "time_travel", "changes"]


@pytest.fixture
def made(tmp_path):
    return SyntheticTable(tmp_path / "t.lance").append(rows=4).append(rows=2).delete({0: [1]})


@pytest.fixture
def table(made):
    return lx.open_table(made.path)


def settle(explorer):
    assert all(view._worker.wait(60) for view in [explorer, *explorer._views.values()])


def told(browser, name):
    """Return how often a view was told of new versions."""
    number = browser.view.parts[name].number
    line = browser.view._numbered[number].comm
    return sum(1 for content, _ in line.messages if content.get("kind") == "versions")


def test_nothing_is_said_of_a_table_that_stays_as_it_is(table, browse):
    browser = browse(Explorer(table))
    before = browser.view.live
    assert browser.ask("look")["content"] == {"wait": 4000}
    assert browser.view.live == before
    assert (before.news, before.note, before.latest) == ("", "", "3")


@pytest.mark.parametrize("name", GROWING)
def test_new_versions_come_into_the_view_and_nothing_moves(made, table, browse, name):
    explorer = Explorer(table, name)
    explorer.state.version = 2
    browser = browse(explorer)
    chosen, view = explorer.selection, explorer._views[name]
    made.append().append()
    browser.ask("look")
    assert told(browser, name) == 1
    assert explorer.selection == chosen
    assert explorer._views[name] is view
    assert explorer.live.news == "2 new versions"
    assert explorer.live.latest == "5"
    browser.ask("look")
    assert told(browser, name) == 1  # once


def test_a_view_of_one_version_stays_as_it_is_until_the_newest_is_asked_for(made, table, browse):
    explorer = Explorer(table, "encodings")
    browser, view = browse(explorer), explorer._views["encodings"]
    made.append()
    browser.ask("look")
    assert told(browser, "encodings") == 0
    assert explorer._views["encodings"] is view
    browser.ask("newest")
    assert explorer._views["encodings"] is not view
    assert (explorer.state.version, explorer.live.news) == (4, "")
    settle(explorer)


def test_who_looks_at_the_latest_is_told_that_it_is_so_no_more(made, table, browse):
    explorer = Explorer(table, "time_travel")
    browser = browse(explorer)
    made.append()
    browser.ask("look")
    assert explorer.live.news == "1 new version: 3 is no longer the latest"
    assert explorer.state.version == 3
    explorer.state.version = 1
    assert explorer.live.news == "1 new version"
    explorer.state.version = 4
    assert explorer.live.news == ""


@pytest.mark.slow
def test_the_sign_leads_to_the_newest_version(made, table, browse):
    explorer = Explorer(table, "changes")
    browser = browse(explorer)
    made.append().append()
    browser.ask("look")
    browser.ask("newest")
    assert (explorer.state.compared_version, explorer.state.version) == (4, 5)
    assert explorer.live.news == ""
    settle(explorer)


def test_the_table_that_was_given_is_left_alone(made, table, browse):
    browser = browse(Explorer(table))
    made.append()
    browser.ask("look")
    assert browser.view.frame().height == 4
    assert (table._view.latest_version, table.versions().height) == (3, 3)


def test_a_view_that_is_out_of_sight_takes_in_what_is_new_when_it_is_shown(made, table, browse):
    explorer = Explorer(table, "log")
    log = explorer._views["log"]
    explorer.view = "row"
    browser = browse(explorer)
    made.append()
    browser.ask("look")
    assert told(browser, "log") == 0
    explorer.view = "log"
    assert explorer._views["log"] is log  # with its filters
    assert told(browser, "log") == 1
    assert explorer.frame().height == 4


def test_versions_that_are_cleaned_up_are_said_to_be(tmp_path, browse):
    path = str(tmp_path / "t.lance")
    for mode in ("create", "append", "append", "append"):
        lance.write_dataset(pa.table({"n": [1, 2]}), path, mode=mode)
    explorer = Explorer(lx.open_table(path), "time_travel")
    explorer.state.version = 2
    browser = browse(explorer)
    lance.dataset(path).cleanup_old_versions(retain_versions=1, delete_unverified=True)
    browser.ask("look")
    said = "Version 2 was cleaned up, and 2 others: what you see of it was read before."
    assert (explorer.live.note, explorer.live.news) == (said, "")
    assert explorer.state.version == 2
    explorer.state.version = 4
    assert explorer.live.note == "3 versions were cleaned up, 1 to 3."
    assert explorer._table.versions().height == 1
    settle(explorer)


def test_a_table_that_was_dropped_is_said_to_be_gone_and_looked_for_less_often(made, table, browse):
    browser = browse(Explorer(table, "log"))
    shutil.rmtree(made.path)
    assert browser.ask("look")["content"] == {"wait": 8000}
    assert browser.view.live.note.startswith("The table is not there any more: no Lance table")
    assert browser.ask("look")["content"] == {"wait": 16000}


def test_another_table_in_its_place_is_shown_when_somebody_asks(made, table, browse):
    explorer = Explorer(table, "time_travel")
    browser = browse(explorer)
    shutil.rmtree(made.path)
    lance.write_dataset(pa.table({"other": [1]}), made.path)
    browser.ask("look")
    assert explorer.live.news == "Another table is in its place now"
    assert explorer.state.version == 3
    browser.ask("newest")
    assert (explorer.state.version, explorer.live.news) == (1, "")
    assert explorer._table.latest.schema.names == ["other"]
    assert browser.news("about")
    settle(explorer)


def test_a_store_that_fails_is_said_to_and_asked_again_later(table, browse, monkeypatch):
    browser = browse(Explorer(table))

    def fails(self, folder):
        raise StorageError("no connection")

    monkeypatch.setattr(LocalStorage, "list_files", fails)
    assert browser.ask("look")["content"] == {"wait": 8000}
    note = "New versions are not seen at the moment: no connection"
    assert browser.view.live.note == note
    monkeypatch.undo()
    assert browser.ask("look")["content"] == {"wait": 4000}
    assert browser.view.live.note == ""


def test_a_new_branch_and_a_new_tag_are_seen(tmp_path, browse):
    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(pa.table({"n": [1, 2]}), path)
    explorer = Explorer(lx.open_table(path))
    browser = browse(explorer)
    browser.ask("look")
    dataset.create_branch("dev", 1)
    dataset.tags.create("good", 1)
    browser.ask("look")
    assert browser.news("about")[-1]["branches"] == ["dev"]
    assert explorer.frame()["tags"].to_list() == ["good"]


def test_it_is_turned_off_and_on(made, table, browse):
    explorer = table.explore(follow=False)
    browser = browse(explorer)
    made.append()
    browser.ask("look")
    assert (explorer.live.is_on, explorer.live.news) == (False, "")
    browser.ask("follow", on=True)
    assert explorer.follow
    browser.ask("look")
    assert (explorer.live.is_on, explorer.live.news) == (
        True,
        "1 new version: 3 is no longer the latest",
    )


def test_another_branch_is_followed_from_its_latest_version(tmp_path, browse):
    path = str(tmp_path / "t.lance")
    dataset = lance.write_dataset(pa.table({"n": [1, 2]}), path)
    dev = dataset.create_branch("dev", 1)
    explorer = Explorer(lx.open_table(path))
    browser = browse(explorer)
    lance.write_dataset(pa.table({"n": [3]}), path, mode="append")
    browser.ask("branch", branch="dev")
    browser.ask("look")
    assert explorer.live.news == ""
    dev.insert(pa.table({"n": [4]}))
    browser.ask("look")
    assert explorer.live.news.startswith("1 new version")


def test_looking_takes_a_twentieth_of_the_time():
    pace = Pace()
    pace.took(0.001)
    assert pace.wait == pace.shortest
    pace.took(2.0)
    assert pace.wait == 40.0
    pace.took(1e6)
    assert pace.wait == pace.longest
    pace.failed()
    assert pace.wait == pace.longest


def test_a_look_opens_no_manifest_while_there_is_nothing_new(table, browse):
    explorer = Explorer(table)
    browser = browse(explorer)
    explorer.frame()
    before = table.io.bytes_read
    browser.ask("look")
    assert table.io.bytes_read == before
